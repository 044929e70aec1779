/**
 * Reads secrets from files, standard input and the environment. Secrets are never given on the command line or in the
 * configuration file itself.
 */
import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import {
  type Environment,
  type Given,
  givenByFlag,
  givenByVariable,
  type Input,
  type PartnerScope,
  problemWith,
  type Resolution,
  startResolution,
} from './given.ts';
import { adviceTexts, throwIfAny } from './problems.ts';
import { MAX_SECRET_BYTES, readStream, utf8Text } from './read-file.ts';

/** A reference to a value stored elsewhere: `${env:NAME}` or `${file:PATH}`. */
export type Reference =
  | { readonly kind: 'env'; readonly name: string }
  | { readonly kind: 'file'; readonly path: string };

/**
 * Matches text that is exactly one reference. Also used as the pattern in the JSON Schema of the configuration file.
 */
export const WHOLE_REFERENCE = /^\$\{(?:env:[A-Za-z_][A-Za-z0-9_]*|file:[^{}]+)\}$/;

/** Headers that always carry credentials. Their values must be given by reference. */
export const CREDENTIAL_HEADERS = /^(?:authorization|proxy-authorization|cookie)$/i;

export const REFERENCE_HINT = `Write \${env:NAME} for an environment variable, or \${file:PATH} for a file.`;

/** Splits text into literal text and references; undefined if a `${` does not begin a valid reference. */
export function splitReferences(text: string): (string | Reference)[] | undefined {
  const pieces: (string | Reference)[] = [];
  let rest = text;
  for (;;) {
    const start = rest.indexOf('${');
    if (start < 0) break;
    const end = rest.indexOf('}', start);
    const reference = end < 0 ? undefined : wholeReference(rest.slice(start, end + 1));
    if (reference === undefined) return undefined;
    if (start > 0) pieces.push(rest.slice(0, start));
    pieces.push(reference);
    rest = rest.slice(end + 1);
  }
  return rest === '' && pieces.length > 0 ? pieces : [...pieces, rest];
}

function wholeReference(text: string): Reference | undefined {
  if (!WHOLE_REFERENCE.test(text)) return undefined;
  const content = text.slice(2, -1);
  const target = content.slice(content.indexOf(':') + 1);
  return content.startsWith('env:') ? { kind: 'env', name: target } : { kind: 'file', path: target };
}

export interface CredentialSource {
  /** The name of the credential in messages: "signature secret". */
  readonly noun: string;
  /** The flag that names a file; `-` is standard input. */
  readonly flag: string;
  readonly file: string | undefined;
  /** The environment variable to use if no file is named. */
  readonly variable: string;
  readonly env: Environment;
  readonly cwd: string;
  readonly stdin?: Input | undefined;
}

export interface Credential {
  /** The value; undefined if none was given. */
  readonly value: string | undefined;
  readonly advice: readonly string[];
}

/**
 * Reads one credential for a command without a configuration: `sign`, `verify`, `receiver`.
 *
 * @throws HookproofError of kind `usage`, which never contains the value. A variable that is set but empty is an error.
 */
export async function readCredential(source: CredentialSource): Promise<Credential> {
  const { file, flag, variable, env, cwd, noun } = source;
  const set = env[variable];
  if (file === undefined && set === undefined) return { value: undefined, advice: [] };
  const resolution = startResolution(source);
  const given = file === undefined ? givenByVariable(variable, variable, set ?? '', cwd) : givenByFlag(flag, file, cwd);
  if (file === undefined && set === '') {
    note(resolution, given, 'is set but empty', `Set it to the ${noun}, or unset it.`, 'empty');
  }
  const value = resolution.problems.length > 0 ? undefined : await readSecret(given, noun, resolution);
  throwIfAny(resolution.problems);
  return { value, advice: adviceTexts(resolution.advice) };
}

/**
 * Reads the secret that a value refers to: a flag names a file (`-` is standard input), a variable contains the secret
 * itself, and the configuration file contains a reference. If that fails, notes the problem and returns undefined.
 * `noun` is the name of the secret in messages.
 */
export async function readSecret(
  given: Given<string>,
  noun: string,
  resolution: Resolution,
): Promise<string | undefined> {
  const secret = await secretOf(given, noun, resolution);
  if (secret === undefined) return undefined;
  resolution.secrets.push(secret);
  if (secret.startsWith('\uFEFF')) {
    resolution.advice.push({
      path: given.path,
      reason: 'byte-order-mark',
      message: `${given.where}: the ${noun} begins with a byte order mark, which is part of it; save it without one.`,
      hint: '',
    });
  }
  return secret;
}

async function secretOf(given: Given<string>, noun: string, resolution: Resolution): Promise<string | undefined> {
  const { layer, value } = given;
  if (layer === 'environment') return value;
  if (layer === 'flag') {
    return value === '-' ? fromInput(given, noun, resolution) : fromFile(value, given, noun, resolution);
  }
  const reference = wholeReference(value);
  if (reference !== undefined) return readReference(reference, given, noun, resolution);
  // Already reported at its position when the file was parsed. The value must not be shown anywhere.
  resolution.secrets.push(value);
  return undefined;
}

/** Reads the value of a reference in the configuration file or in a header flag. */
export async function readReference(
  reference: Reference,
  given: Given<string>,
  noun: string,
  resolution: Resolution,
): Promise<string | undefined> {
  if (reference.kind === 'file') return fromFile(reference.path, given, noun, resolution);
  const refused = refusedVariable(reference.name, given.scope);
  if (refused !== null) {
    note(resolution, given, `must not refer to the environment variable ${reference.name}`, refused);
    return undefined;
  }
  const value = resolution.env[reference.name];
  if (value !== undefined && value !== '') return value;
  const what = `the environment variable ${reference.name} is ${value === undefined ? 'not set' : 'set but empty'}`;
  note(resolution, given, what, `Set it to the ${noun}, or refer to something else.`, 'missing');
  return undefined;
}

/**
 * Returns the prefix of a partner's variables: `PARTNER_ACME_EU__` for `acme-eu`. No prefix begins with that of another
 * partner, because a name never has two underscores in a row.
 */
export function variablePrefix(partner: string): string {
  const name = partner.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_');
  return `PARTNER_${name.replace(/_$/, '')}__`;
}

/** Returns a hint if the file must not refer to this variable; null if it may. Windows ignores letter case. */
function refusedVariable(name: string, scope: PartnerScope | undefined): string | null {
  if (scope?.partner != null) {
    const prefix = variablePrefix(scope.partner);
    if (name.startsWith(prefix)) return null;
    return `Rename the variable: those of this partner begin with ${prefix}, for example ${prefix}SECRET.`;
  }
  const reserved = scope === undefined ? /^HOOKPROOF_CERTIFY_/i : /^HOOKPROOF_/i;
  return reserved.test(name) ? 'hookproof reads this variable itself. Refer to another one.' : null;
}

/**
 * The folder, next to that of the partners, whose files partners may also refer to: Kubernetes mounts secrets
 * separately.
 */
const SECRETS = 'secrets';

/** Returns a hint if the configuration file must not refer to this file; null if it may. */
export async function refusedFile(path: string, scope: PartnerScope | undefined): Promise<string | null> {
  if (scope?.partner == null) return null;
  const { partner, names } = scope;
  const isOwn = (start: string, file: string) => {
    const inside = relative(start, file);
    const steps = inside.split(sep);
    const owners = new Set(steps.map((step) => ownerOf(step, names)).filter((owner) => owner !== undefined));
    return !isAbsolute(inside) && steps[0] !== '..' && owners.size === 1 && owners.has(partner);
  };
  // Resolves symbolic links. A file that does not exist keeps its path.
  const real = (one: string) => realpath(one).catch(() => one);
  const realFile = await real(path);
  const partners = resolve(scope.folder);
  for (const folder of [partners, join(dirname(partners), SECRETS)]) {
    if (isOwn(folder, path) && isOwn(await real(folder), realFile)) return null;
  }
  const examples = `${partner}/client.key, ${SECRETS}/${partner}, ../${SECRETS}/${partner}.api-key`;
  return `Put it in ${scope.folder}, or in ${SECRETS} next to it, with the partner's name in its path: ${examples}.`;
}

/**
 * Returns the partner to which a file or folder belongs by its name: the partner's name, possibly followed by a dot and
 * more, because the keys of a Kubernetes Secret are flat. If both `acme` and `acme.eu` exist, `acme.eu.api-key` belongs
 * to the longer name.
 */
function ownerOf(step: string, names: readonly string[]): string | undefined {
  const owners = names.filter((name) => step === name || step.startsWith(`${name}.`));
  return owners.toSorted((a, b) => b.length - a.length)[0];
}

async function fromFile(
  path: string,
  given: Given<string>,
  noun: string,
  resolution: Resolution,
): Promise<string | undefined> {
  const absolute = resolve(given.base, path);
  const suspect = looksLikeSecret(path, absolute);
  const name = suspect ? 'the file' : `the file ${path}`;
  const refused = await refusedFile(absolute, given.scope);
  if (refused !== null) {
    note(resolution, given, `must not refer to ${name}`, refused);
    return undefined;
  }
  const content = await resolution.readFile(absolute, MAX_SECRET_BYTES);
  if ('bytes' in content) {
    resolution.files.set(given.path, absolute);
    return secretText(content.bytes, { name, ifEmpty: 'unreadable' }, given, noun, resolution);
  }
  const hint = content.missing
    ? `Give the path of a file that contains the ${noun}${suspect ? `, not the ${noun} itself` : ''}.`
    : `Give a readable file that contains the ${noun} and nothing else.`;
  note(resolution, given, `${name} ${content.reason}`, hint);
  return undefined;
}

async function fromInput(given: Given<string>, noun: string, resolution: Resolution): Promise<string | undefined> {
  const hint = `Pipe the ${noun} in, or name a file.`;
  const { stdin, stdinReader } = resolution;
  if (stdinReader !== null) {
    note(resolution, given, `standard input is already read for ${stdinReader}`, 'Use a file for one of them.');
    return undefined;
  }
  resolution.stdinReader = given.where;
  if (stdin === undefined || stdin.isTTY === true) {
    note(resolution, given, 'standard input is not a pipe or a file', hint);
    return undefined;
  }
  const bytes = await readStream(stdin, MAX_SECRET_BYTES);
  const input = { name: 'standard input', ifEmpty: 'empty' } as const;
  if (bytes !== undefined) return secretText(bytes, input, given, noun, resolution);
  note(resolution, given, `standard input is larger than ${MAX_SECRET_BYTES / 1024} KiB`, hint);
  return undefined;
}

/** Decodes a secret and removes one newline at the end, which editors and `echo` add. Further newlines are kept. */
function secretText(
  bytes: Buffer,
  { name, ifEmpty }: { readonly name: string; readonly ifEmpty: 'empty' | 'unreadable' },
  given: Given<string>,
  noun: string,
  resolution: Resolution,
): string | undefined {
  const text = utf8Text(bytes);
  if (text === undefined) {
    note(resolution, given, `${name} is not UTF-8 text`, `Save the ${noun} as UTF-8 text without NUL.`);
    return undefined;
  }
  const secret = text.replace(/\r?\n$/, '');
  if (secret === '') {
    note(resolution, given, `${name} is empty`, `Write the ${noun} to it.`, ifEmpty);
    return undefined;
  }
  if (secret !== text) {
    resolution.advice.push({
      path: given.path,
      reason: 'newline-dropped',
      message: `${given.where}: the newline at the end of ${name} is not part of the ${noun} and is removed.`,
      hint: '',
    });
  }
  return secret;
}

function note(
  { problems }: Resolution,
  given: Given<string>,
  what: string,
  hint: string,
  reason: 'empty' | 'missing' | 'unreadable' = 'unreadable',
): void {
  problems.push(problemWith(given, what, hint, 'CONFIG_SECRET', reason));
}

/**
 * Whether a path may be a secret given by mistake: no such file exists, and the text does not look like a path (no
 * existing folder, no extension, or base64 characters that are unusual in paths).
 */
function looksLikeSecret(path: string, absolute: string): boolean {
  if (existsSync(absolute)) return false;
  if (/[+=]/.test(path)) return true;
  return path.includes('/') ? !existsSync(dirname(absolute)) : path.length >= 16 && !/\.\w{1,8}$/.test(path);
}
