/** One credential for a command that needs no whole configuration: `sign`, `verify`, `receiver`. */
import type { Environment } from './gather-settings.ts';
import { type Given, givenByFlag } from './given.ts';
import { throwIfAny } from './problems.ts';
import { readSecret } from './read-secret.ts';
import { type Input, startResolution } from './resolution.ts';

export interface CredentialSource {
  /** What messages call it: "signature secret". */
  readonly noun: string;
  /** The flag that names a file, and its value; `-` is standard input. */
  readonly flag: string;
  readonly file: string | undefined;
  /** The variable that is taken when no file is named. */
  readonly variable: string;
  readonly env: Environment;
  readonly cwd: string;
  readonly stdin?: Input | undefined;
}

export interface Credential {
  /** undefined: none was given. */
  readonly value: string | undefined;
  readonly advice: readonly string[];
}

function givenBy({ file, flag, variable, env, cwd }: CredentialSource): Given<string> | undefined {
  if (file !== undefined) return givenByFlag(flag, file, cwd);
  const value = env[variable];
  if (value === undefined) return undefined;
  return { value, layer: 'environment', source: `environment ${variable}`, where: variable, base: cwd };
}

/** Reads it. Throws a {@link HookproofError} of kind `usage` that never holds the value; a variable that is set and empty is one. */
export async function readCredential(source: CredentialSource): Promise<Credential> {
  const given = givenBy(source);
  if (given === undefined) return { value: undefined, advice: [] };
  const resolution = startResolution(source);
  const { problems, advice } = resolution;
  if (given.layer === 'environment' && given.value === '') {
    problems.push({
      code: 'CONFIG_SECRET',
      message: `${given.where}: is set but empty`,
      hint: `Set it to the ${source.noun}, or unset it.`,
    });
  }
  const value = problems.length > 0 ? undefined : await readSecret(given, source.noun, resolution);
  throwIfAny(problems);
  return { value, advice };
}
