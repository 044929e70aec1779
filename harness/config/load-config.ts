/** Puts the configuration of a run together: flags, then environment, then hookproof.yaml, then defaults. */
import { HookproofError } from '../../contract/index.ts';
import { checkProfile } from './check-profile.ts';
import type { ConfigFlags, ResolvedConfig } from './config.ts';
import { findConfigFile } from './find-config-file.ts';
import { adviseOnVariables, type Environment, gatherSettings } from './gather-settings.ts';
import { givenText } from './given.ts';
import { throwIfAny } from './problems.ts';
import { type Input, startResolution } from './resolution.ts';
import { resolveFixtures } from './resolve-fixtures.ts';
import { resolvePartner } from './resolve-partner.ts';
import { resolveReporters } from './resolve-reporters.ts';
import { resolveRun } from './resolve-run.ts';

export interface LoadOptions {
  readonly flags: ConfigFlags;
  readonly env: Environment;
  /** Where `hookproof.yaml` is looked for, and what relative paths in flags and variables stand against. */
  readonly cwd: string;
  /** The file that `--config` names; null reads no file, not even `hookproof.yaml`. */
  readonly configFile?: string | null | undefined;
  /** For `--secret-file -` and `--api-key-file -`. */
  readonly stdin?: Input | undefined;
  /** False: no variable is a setting. The file may still refer to variables. For one of many partners, who share the environment. */
  readonly variables?: boolean | undefined;
  /** A file whose settings stand behind those of the configuration file. */
  readonly defaultsFile?: string | undefined;
}

/**
 * Loads and checks everything, so that whatever is wrong is known before the first request.
 *
 * Throws a {@link HookproofError} of kind `usage`: the one problem, or `CONFIG_INVALID` with all of them. Neither the error nor
 * anything but `partner`, `clientFixtures` and `secrets` of the result holds the value of a secret.
 */
export async function loadConfig(options: LoadOptions): Promise<ResolvedConfig> {
  const started = startResolution(options);
  const { problems, advice } = started;
  const file = await findConfigFile(options, problems, advice);
  const { cwd, defaultsFile } = options;
  const defaults =
    defaultsFile === undefined ? null : await findConfigFile({ configFile: defaultsFile, cwd }, problems, advice);
  const fileBroken = problems.length > 0;
  const settings = new Map([...(defaults?.settings ?? []), ...file.settings]);
  const layers = { flags: options.flags, env: options.variables === false ? {} : options.env, file: settings, cwd };
  const resolution = { ...started, ...gatherSettings(layers, problems) };
  const partner = await resolvePartner(resolution, fileBroken);
  const clientFixtures = await resolveFixtures(resolution, partner?.tls?.clientCert);
  const run = resolveRun(resolution);
  const reporters = resolveReporters(resolution);
  const profile = givenText(resolution.settings, 'profile');
  if (profile !== undefined && run.profile !== null && !fileBroken) {
    checkProfile(run.profile, profile, partner, resolution);
  }
  if (run.revision !== null && run.profile === null) {
    advice.push(
      'A revision says what is scored for a profile; without a profile everything is, so it is not looked at.',
    );
  }
  throwIfAny(problems);
  if (partner === undefined) {
    throw new HookproofError('CONFIG_INTERNAL', 'the configuration has no URL and no problem says so', {
      hint: 'This is a fault of hookproof; please report it.',
      kind: 'internal',
    });
  }
  if (options.variables !== false) advice.push(...adviseOnVariables(options.env, file.referenced));
  return {
    partner,
    clientFixtures,
    run,
    reporters,
    advice: [...new Set(advice)],
    sources: Object.fromEntries(resolution.shown.map(({ path, source }) => [path, source])),
    settings: resolution.shown,
    secrets: [...new Set(resolution.secrets)],
    configFile: file.name,
  };
}
