/** `hookproof certs`: writes test certificates for HTTPS and mutual TLS, and prints how to use them. */
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
import { numberOfFlag } from '../../config/index.ts';
import { errorCode } from '../terminal.ts';

interface CertsFlags {
  readonly host?: string[];
  readonly days?: string;
  readonly key: WorkingSetOptions['key'];
  readonly clientCn?: string;
  readonly keepCaKeys?: boolean;
  readonly force?: boolean;
}

const THIS_MACHINE = ['localhost', '127.0.0.1', '::1'];
/** Default validity in days: well over 30, because a run warns about certificates that expire sooner. */
const DEFAULT_DAYS = 90;
/** Maximum validity in days. Apple's systems reject server certificates that are valid for longer. */
const MAX_DAYS = 825;

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
    throw new HookproofError('CERTS_EXISTS', `${directory} already contains ${present.join(', ')}`, {
      hint: 'Give another folder, or replace the whole set with `--force`.',
    });
  }
  const set = await makeWorkingSet(options);
  // The key of a replaced CA no longer matches any certificate.
  const names = new Set(set.files.map(({ name }) => name));
  const obsolete = present.filter((name) => !names.has(name));
  await placeFiles(directory, set.files, obsolete);
  process.stdout.write(summary(directory, set, obsolete));
  return 0;
}

const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;

/** Parses a host name, a wildcard (`*.` and a host name) or an IP address. */
function readHost(host: string): string {
  const labels = host.replace(/^\*\./, '').split('.');
  const isAddress = isIP(host) !== 0 && !host.includes('%');
  // Digits and dots that are not an address, such as 127.0.0.300, are not a host name either.
  const isName = host.length <= 253 && labels.every((label) => LABEL.test(label)) && !/^[\d.]+$/.test(host);
  if (isAddress || isName) return host;
  throw new HookproofError(
    'CERTS_BAD_HOST',
    `\`--host ${JSON.stringify(host)}\` is neither a host name nor an address`,
    {
      hint: /[^\x00-\x7f]/.test(host)
        ? 'Write the name in ASCII: each label with other characters in its `xn--` form.'
        : 'Write it without scheme, port, path or brackets: `--host partner.test`, `--host 127.0.0.1`, `--host ::1`.',
    },
  );
}

function readDays(text: string): number {
  return numberOfFlag('--days', text, [1, MAX_DAYS], {
    code: 'CERTS_BAD_DAYS',
    hint: `For example \`--days ${DEFAULT_DAYS}\`. Some systems reject certificates with a longer validity.`,
  });
}

function readClientName(name: string): string {
  if (name.trim() !== '' && [...name].length <= 64 && !/\p{Cc}/u.test(name)) return name;
  const message = 'the name in `--client-cn` is empty, too long, or contains control characters';
  throw new HookproofError('CERTS_BAD_CLIENT_NAME', message, {
    hint: 'A common name has 1 to 64 characters: `--client-cn "Partner webhooks"`.',
  });
}

/**
 * Returns the names of the files that already exist.
 *
 * @throws HookproofError CERTS_NOT_A_FOLDER if the folder, or one inside it, is not a folder; CERTS_IN_THE_WAY if one
 * of the files is a folder
 */
async function presentFiles(directory: string, names: readonly string[]): Promise<string[]> {
  const folders = new Set([directory, ...names.map((name) => dirname(join(directory, name)))]);
  for (const folder of folders) await checkFolder(folder);
  const present: string[] = [];
  for (const name of names) {
    const found = await entryAt(join(directory, name), directory);
    if (found?.isDirectory() === true) {
      const message = `${join(directory, name)} is a folder, so the file with this name cannot be written`;
      throw new HookproofError('CERTS_IN_THE_WAY', message, {
        hint: 'Move it away, or give another folder for the certificates.',
      });
    }
    if (found !== null) present.push(name);
  }
  return present;
}

async function checkFolder(folder: string): Promise<void> {
  const reason = await stat(folder).then(
    (found) => (found.isDirectory() ? null : 'is not a folder'),
    (cause) => {
      if (errorCode(cause) === 'ENOENT') return null;
      if (errorCode(cause) === 'ENOTDIR') return 'is inside a file';
      throw notWritten(folder, cause);
    },
  );
  if (reason === null) return;
  throw new HookproofError('CERTS_NOT_A_FOLDER', `${folder} ${reason}`, {
    hint: 'Give a folder; it is created if it does not exist.',
  });
}

/**
 * Writes the files and removes the obsolete ones: all or nothing. Files are written to a staging folder and then moved;
 * after an error, every step is undone. New folders are readable only by their owner.
 *
 * @throws HookproofError CERTS_NOT_WRITTEN
 */
async function placeFiles(
  directory: string,
  files: readonly WorkingSetFile[],
  obsolete: readonly string[],
): Promise<void> {
  const made: Undo = [];
  const moved: Undo = [];
  let staging: string | undefined;
  try {
    await makeFolder(directory, made);
    staging = await mkdtemp(join(directory, '.hookproof-certs-'));
    await stage(join(staging, 'new'), files);
    await setAside(directory, join(staging, 'old'), [...files.map(({ name }) => name), ...obsolete], moved);
    for (const { name } of files) {
      const place = join(directory, name);
      await makeFolder(dirname(place), moved);
      await rename(join(staging, 'new', name), place);
      moved.push(() => rm(place));
    }
  } catch (cause) {
    // The order matters: files that were set aside are in the staging folder, inside the folder to remove.
    await undoAll(moved);
    if (staging !== undefined) await rm(staging, { recursive: true, force: true });
    await undoAll(made);
    throw notWritten(directory, cause);
  }
  await rm(staging, { recursive: true, force: true });
}

/** Functions that undo the completed steps. */
type Undo = (() => Promise<unknown>)[];

async function undoAll(steps: Undo): Promise<void> {
  for (const step of steps.toReversed()) await step().catch(() => {});
}

/** Creates the folder and its missing parents. */
async function makeFolder(folder: string, undo: Undo): Promise<void> {
  const missing: string[] = [];
  for (let at = folder; (await entryAt(at, folder)) === null; at = dirname(at)) missing.unshift(at);
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
    if ((await entryAt(place, directory)) === null) continue;
    await mkdir(dirname(aside), { recursive: true, mode: 0o700 });
    await rename(place, aside);
    undo.push(() => rename(aside, place));
  }
}

async function entryAt(path: string, directory: string) {
  try {
    return await lstat(path);
  } catch (cause) {
    if (errorCode(cause) === 'ENOENT') return null;
    throw notWritten(directory, cause);
  }
}

function notWritten(directory: string, cause: unknown): HookproofError {
  const code = errorCode(cause);
  return new HookproofError(
    'CERTS_NOT_WRITTEN',
    `the folder ${directory} ${code === 'ENOENT' ? 'could not be created' : 'is not writable'} (${code})`,
    {
      hint:
        code === 'ENOSPC' || code === 'EDQUOT'
          ? 'No space is left on the disk. Nothing was changed.'
          : code === 'ENOENT'
            ? 'Choose a folder whose parent exists and is writable. Nothing was changed.'
            : 'Check its permissions, or give another folder. Nothing was changed.',
      cause,
    },
  );
}

/** Describes what was written and how to use it. Never contains a key. */
function summary(directory: string, { files, guide, validUntil }: WorkingSet, obsolete: readonly string[]): string {
  return [
    `wrote ${files.length} files to ${directory}, valid until ${validUntil.toISOString()}, not for production:`,
    ...files.map(({ name, secret }) => `  ${name}${secret ? '  (private key)' : ''}`),
    ...obsolete.map((name) => `removed ${name}, which belonged to the replaced CA`),
    '',
    ...guide.flatMap(({ title, text, lines }) => [`# ${title}`, `# ${text}`, ...lines, '']),
    `${join(directory, 'README.md')} describes each file, and repeats these lines.`,
    '',
  ].join('\n');
}
