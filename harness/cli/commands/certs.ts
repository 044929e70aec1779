/** `hookproof certs`: writes certificates for trying out HTTPS and mutual TLS, and says how they are used. */

import { lstat, mkdir, mkdtemp, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import {
  makeWorkingSet,
  WORKING_SET_FILES,
  type WorkingSet,
  type WorkingSetFile,
  type WorkingSetOptions,
} from '../../../certs/index.ts';
import { HookproofError } from '../../../contract/hookproof-error.ts';

interface CertsFlags {
  readonly host?: string[];
  readonly days?: string;
  readonly key: WorkingSetOptions['key'];
  readonly clientCn?: string;
  readonly keepCaKeys?: boolean;
  readonly force?: boolean;
}

const THIS_MACHINE = ['localhost', '127.0.0.1', '::1'];
/** Well over the 30 days below which a run warns of the end. */
const DEFAULT_DAYS = 90;
/** Apple's systems refuse server certificates that are valid for longer. */
const MAX_DAYS = 825;
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;

/** A host name, `*.` and a host name, or an address, as a certificate can hold it. */
function readHost(host: string): string {
  const labels = host.replace(/^\*\./, '').split('.');
  const isAddress = isIP(host) !== 0 && !host.includes('%');
  // All digits and dots, and no address: 127.0.0.300.
  const isName = host.length <= 253 && labels.every((label) => LABEL.test(label)) && !/^[\d.]+$/.test(host);
  if (isAddress || isName) return host;
  throw new HookproofError('CERTS_BAD_HOST', `--host ${JSON.stringify(host)} is neither a host name nor an address`, {
    hint: /[^\x00-\x7f]/.test(host)
      ? 'Write the name in ASCII, each part of it that has other characters in its xn-- form.'
      : 'Give the name alone, without scheme, port, path or brackets: --host partner.test, --host 127.0.0.1, --host ::1.',
  });
}

function readDays(text: string): number {
  const days = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (days >= 1 && days <= MAX_DAYS) return days;
  throw new HookproofError('CERTS_BAD_DAYS', `--days ${text} is not a whole number from 1 to ${MAX_DAYS}`, {
    hint: `For example --days ${DEFAULT_DAYS}. Some systems refuse certificates that are valid for longer than ${MAX_DAYS} days.`,
  });
}

function readClientName(name: string): string {
  if (name.trim() !== '' && [...name].length <= 64 && !/\p{Cc}/u.test(name)) return name;
  throw new HookproofError('CERTS_BAD_CLIENT_NAME', '--client-cn is empty, too long, or has control characters', {
    hint: 'A common name has 1 to 64 characters: --client-cn "Partner webhooks".',
  });
}

export async function certsCommand(folder: string, flags: CertsFlags): Promise<number> {
  const directory = resolve(folder);
  const options: WorkingSetOptions = {
    directory,
    hosts: [...new Set((flags.host ?? THIS_MACHINE).map(readHost))],
    days: flags.days === undefined ? DEFAULT_DAYS : readDays(flags.days),
    key: flags.key,
    clientName: readClientName(flags.clientCn ?? 'hookproof test client'),
    keepCaKeys: flags.keepCaKeys === true,
  };
  const present = await presentFiles(directory, WORKING_SET_FILES);
  if (present.length > 0 && flags.force !== true) {
    throw new HookproofError('CERTS_EXISTS', `in ${directory} there are already ${present.join(', ')}`, {
      hint: 'Name another folder, or replace the whole set with --force.',
    });
  }
  const set = await makeWorkingSet(options);
  // The key of an authority that is replaced fits nothing any more.
  const names = new Set(set.files.map(({ name }) => name));
  const gone = present.filter((name) => !names.has(name));
  await placeFiles(directory, set.files, gone);
  process.stdout.write(summary(directory, set, gone));
  return 0;
}

/** What was written, and the commands. Never the text of a key. */
function summary(directory: string, { files, guide, validUntil }: WorkingSet, gone: readonly string[]): string {
  return [
    `wrote ${files.length} files to ${directory}, valid until ${validUntil.toISOString()}, never for production:`,
    ...files.map(({ name, secret }) => `  ${name}${secret ? '  (private key)' : ''}`),
    ...gone.map((name) => `removed ${name}, which belonged to the authority before`),
    '',
    ...guide.flatMap(({ title, text, lines }) => [`# ${title}`, `# ${text}`, ...lines, '']),
    `${join(directory, 'README.md')} says what each file is, and holds these lines.`,
    '',
  ].join('\n');
}

/** Writes several files into a folder, all of them or none. */

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
}

function notWritten(directory: string, cause: unknown): HookproofError {
  const code = codeOf(cause);
  return new HookproofError('CERTS_NOT_WRITTEN', `the folder ${directory} cannot be written to (${code})`, {
    hint:
      code === 'ENOSPC' || code === 'EDQUOT'
        ? 'There is no space left. Nothing was kept.'
        : 'Check its permissions, or name another folder. Nothing was kept.',
    cause,
  });
}

/**
 * Which of these names are there already. Throws `CERTS_NOT_A_FOLDER` when the folder, or one that has to be inside it, is something else,
 * and `CERTS_IN_THE_WAY` when a folder stands where a file has to be.
 */
export async function presentFiles(directory: string, names: readonly string[]): Promise<string[]> {
  const folders = new Set([directory, ...names.map((name) => dirname(join(directory, name)))]);
  for (const folder of folders) await checkFolder(folder);
  const present: string[] = [];
  for (const name of names) {
    const found = await lookAt(join(directory, name), directory);
    if (found?.isDirectory() === true) {
      throw new HookproofError('CERTS_IN_THE_WAY', `${join(directory, name)} is a folder, and a file has to be there`, {
        hint: 'Move it away, or name another folder for the certificates.',
      });
    }
    if (found !== null) present.push(name);
  }
  return present;
}

async function lookAt(path: string, directory: string) {
  try {
    return await lstat(path);
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return null;
    throw notWritten(directory, cause);
  }
}

async function checkFolder(folder: string): Promise<void> {
  const reason = await stat(folder).then(
    (found) => (found.isDirectory() ? null : 'is not a folder'),
    (cause) => {
      if (codeOf(cause) === 'ENOENT') return null;
      if (codeOf(cause) === 'ENOTDIR') return 'lies below a file';
      throw notWritten(folder, cause);
    },
  );
  if (reason === null) return;
  throw new HookproofError('CERTS_NOT_A_FOLDER', `${folder} ${reason}`, {
    hint: 'Name a folder; it is made when it is not there.',
  });
}

/**
 * Writes the files, and removes those of `gone`. Everything is written beside its place first and then moved there; whatever fails, the folder
 * is left as it was found. A folder that has to be made is open to its owner only. Throws `CERTS_NOT_WRITTEN`.
 */
export async function placeFiles(
  directory: string,
  files: readonly WorkingSetFile[],
  gone: readonly string[],
): Promise<void> {
  const made: Undo = [];
  const moved: Undo = [];
  let staging: string | undefined;
  try {
    await makeFolder(directory, made);
    staging = await mkdtemp(join(directory, '.hookproof-certs-'));
    await stage(join(staging, 'new'), files);
    await setAside(directory, join(staging, 'old'), [...files.map(({ name }) => name), ...gone], moved);
    for (const { name } of files) {
      const place = join(directory, name);
      await makeFolder(dirname(place), moved);
      await rename(join(staging, 'new', name), place);
      moved.push(() => rm(place));
    }
  } catch (cause) {
    // In this order: what was set aside lies in the staging folder, and that lies in the folder that may have to go.
    await takeBack(moved);
    if (staging !== undefined) await rm(staging, { recursive: true, force: true });
    await takeBack(made);
    throw notWritten(directory, cause);
  }
  await rm(staging, { recursive: true, force: true });
}

/** What takes back the steps that were done, the last one first. */
type Undo = (() => Promise<unknown>)[];

async function takeBack(steps: Undo): Promise<void> {
  for (const step of steps.toReversed()) await step().catch(() => {});
}

/** Makes the folder, and those above it, when they are missing. */
async function makeFolder(folder: string, undo: Undo): Promise<void> {
  const missing: string[] = [];
  for (let at = folder; (await lookAt(at, folder)) === null; at = dirname(at)) missing.unshift(at);
  for (const one of missing) {
    await mkdir(one, { mode: 0o700 });
    undo.push(() => rmdir(one));
  }
}

async function stage(folder: string, files: readonly WorkingSetFile[]): Promise<void> {
  for (const { name, text, secret } of files) {
    await mkdir(dirname(join(folder, name)), { recursive: true, mode: 0o700 });
    await writeFile(join(folder, name), text, { flag: 'wx', mode: secret ? 0o600 : 0o644 });
  }
}

async function setAside(directory: string, folder: string, names: readonly string[], undo: Undo): Promise<void> {
  for (const name of names) {
    const [place, aside] = [join(directory, name), join(folder, name)];
    if ((await lookAt(place, directory)) === null) continue;
    await mkdir(dirname(aside), { recursive: true, mode: 0o700 });
    await rename(place, aside);
    undo.push(() => rename(aside, place));
  }
}
