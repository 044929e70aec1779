/** Secrets come from files, standard input and the environment, and never from the command line or the configuration file itself. */
import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type Given, problemWith } from './given.ts';
import { readBounded, utf8Text } from './read-bounded.ts';
import { HOW_TO_REFER, type Reference, wholeReference } from './references.ts';
import type { Input, Resolution } from './resolution.ts';
import { MAX_SECRET_BYTES } from './settings.ts';

/**
 * The secret behind a given value: a flag names a file (`-` is standard input), a variable holds the secret as it is, the
 * configuration file holds a reference. undefined when that fails; the problem is noted. `noun` is what messages call it.
 */
export async function readSecret(
  given: Given<string>,
  noun: string,
  resolution: Resolution,
): Promise<string | undefined> {
  const secret = await (given.layer === 'flag'
    ? given.value === '-'
      ? fromInput(given, noun, resolution)
      : fromFile(given.value, given, noun, resolution)
    : given.layer === 'environment'
      ? given.value
      : fromReference(given, noun, resolution));
  if (secret === undefined) return undefined;
  resolution.secrets.push(secret);
  if (secret.startsWith('\uFEFF')) {
    resolution.advice.push(
      `${given.where}: the ${noun} begins with a byte order mark, which is kept as a part of it; save it without one.`,
    );
  }
  return secret;
}

/** The value of one reference in the configuration file or in a header flag. */
export async function readReference(
  reference: Reference,
  given: Given<string>,
  noun: string,
  resolution: Resolution,
): Promise<string | undefined> {
  if (reference.kind === 'file') return fromFile(reference.path, given, noun, resolution);
  const value = resolution.env[reference.name];
  if (value !== undefined && value !== '') return value;
  const what = `the environment variable ${reference.name} is ${value === undefined ? 'not set' : 'set but empty'}`;
  note(resolution, given, what, `Set it to the ${noun}, or refer to something else.`);
  return undefined;
}

async function fromReference(given: Given<string>, noun: string, resolution: Resolution): Promise<string | undefined> {
  const reference = wholeReference(given.value);
  if (reference !== undefined) return readReference(reference, given, noun, resolution);
  note(resolution, given, `the ${noun} must be a reference`, HOW_TO_REFER);
  return undefined;
}

async function fromFile(
  path: string,
  given: Given<string>,
  noun: string,
  resolution: Resolution,
): Promise<string | undefined> {
  const absolute = resolve(given.base, path);
  const name = fileName(path, absolute);
  const content = await readBounded(absolute, MAX_SECRET_BYTES);
  if ('bytes' in content) return secretText(content.bytes, name, given, noun, resolution);
  const hint = content.missing
    ? `Give the path of a file that holds the ${noun}.${looksLikeSecret(path, absolute) ? ` The ${noun} itself does not belong here.` : ''}`
    : `Give a readable file that holds the ${noun} and nothing else.`;
  note(resolution, given, `${name} ${content.reason}`, hint);
  return undefined;
}

async function fromInput(given: Given<string>, noun: string, resolution: Resolution): Promise<string | undefined> {
  const hint = `Pipe the ${noun} in, or name a file.`;
  if (resolution.stdinReader !== null) {
    note(
      resolution,
      given,
      `standard input is already read for ${resolution.stdinReader}`,
      'Use a file for one of them.',
    );
    return undefined;
  }
  resolution.stdinReader = given.where;
  if (resolution.stdin === undefined || resolution.stdin.isTTY === true) {
    note(resolution, given, 'standard input is not a pipe or a file', hint);
    return undefined;
  }
  const bytes = await readInput(resolution.stdin);
  if (bytes !== undefined) return secretText(bytes, 'standard input', given, noun, resolution);
  note(resolution, given, `standard input is larger than ${MAX_SECRET_BYTES / 1024} KiB`, hint);
  return undefined;
}

async function readInput(input: Input): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of input) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > MAX_SECRET_BYTES) return undefined;
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

/** One newline at the end is what editors and `echo` add; more than that is taken to be meant. */
function secretText(
  bytes: Buffer,
  name: string,
  given: Given<string>,
  noun: string,
  resolution: Resolution,
): string | undefined {
  const text = utf8Text(bytes);
  if (text === undefined) {
    note(resolution, given, `${name} is not UTF-8 text`, `The ${noun} is used as text: keep it as UTF-8 without NUL.`);
    return undefined;
  }
  const secret = text.replace(/\r?\n$/, '');
  if (secret === '') {
    note(resolution, given, `${name} is empty`, `Put the ${noun} into it.`);
    return undefined;
  }
  if (secret !== text) {
    resolution.advice.push(`${given.where}: the newline at the end of ${name} is not taken as a part of the ${noun}.`);
  }
  return secret;
}

function note(resolution: Resolution, given: Given<string>, what: string, hint: string): void {
  resolution.problems.push(problemWith(given, what, hint, 'CONFIG_SECRET'));
}

/** What to call a file in a message: its path, unless that could be a secret that somebody gave in place of a path. */
function fileName(path: string, absolute: string): string {
  return looksLikeSecret(path, absolute) ? 'the file' : `the file ${path}`;
}

/** No such file, and not like a path: no directory that exists, no extension, or marks that base64 has and paths do not. */
function looksLikeSecret(path: string, absolute: string): boolean {
  if (existsSync(absolute)) return false;
  if (/[+=]/.test(path)) return true;
  return path.includes('/') ? !existsSync(dirname(absolute)) : path.length >= 16 && !/\.\w{1,8}$/.test(path);
}
