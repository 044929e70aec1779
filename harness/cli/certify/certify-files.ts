/** Reads and writes the files of certification: keys, certificates and their evidence. */
import { open, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { HookproofError } from '../../../contract/hookproof-error.ts';
import { readFile } from '../../config/read-file.ts';
import { whyNotWritable } from '../../writable.ts';
import { errorCode } from '../terminal.ts';

/** The files that `hookproof certify` writes to its folder in addition to run.json. */
export const CERTIFICATE_FILES = { certificate: 'certificate.dsse.json', configuration: 'configuration.json' } as const;

/** Default output folder of `certify`. */
export const CERTIFICATE_FOLDER = 'hookproof-certificate';

const MAX_KEY_BYTES = 64 * 1024;
/** Maximum size of a result document in bytes. Runs with many failures have large ones. */
export const MAX_RESULT_BYTES = 512 * 1024 * 1024;

/**
 * Reads a file that the user named, of at most `most` bytes. `what` is its name in messages.
 *
 * @throws HookproofError CERTIFY_FILE
 */
export async function readNamed(path: string, what: string, most = MAX_RESULT_BYTES): Promise<Buffer> {
  const content = await readFile(path, most);
  if ('bytes' in content) return content.bytes;
  throw new HookproofError('CERTIFY_FILE', `${what} ${path} ${content.reason}`, { hint: 'Check the path.' });
}

/** Reads the text of a key file. If the user gives a key instead of a path, the key is never printed. */
export function readKeyText(path: string, flag: string): Promise<string> {
  if (/BEGIN|[\r\n]/.test(path)) {
    throw new HookproofError('CERTIFY_KEY', `${flag} takes the path of a file, but a key was given`, {
      hint: 'Other users of this machine could read it: if it is a private key, replace it.',
    });
  }
  return readNamed(path, `${flag}: the file`, MAX_KEY_BYTES).then((bytes) => bytes.toString());
}

/** Writes a new file. Throws `CERTIFY_IN_THE_WAY` if it exists: keys and certificates are never replaced. */
export async function writeNew(path: string, text: string | Uint8Array, mode = 0o644): Promise<void> {
  let file: Awaited<ReturnType<typeof open>>;
  try {
    file = await open(path, 'wx', mode);
  } catch (cause) {
    if (errorCode(cause) === 'EEXIST') throw fileExists(path);
    throw notWritten(path, cause);
  }
  try {
    await file.writeFile(text);
    // The file is synced to disk before its path is printed, because it is evidence.
    await file.sync();
  } catch (cause) {
    await rm(path, { force: true });
    throw notWritten(path, cause);
  } finally {
    await file.close();
  }
}

export function fileExists(path: string): HookproofError {
  return new HookproofError('CERTIFY_IN_THE_WAY', `${path} already exists and is never replaced`, {
    hint: 'Move it away, or give another path.',
  });
}

export async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

function notWritten(path: string, cause: unknown): HookproofError {
  return new HookproofError('CERTIFY_NOT_WRITTEN', `${path} cannot be written (${errorCode(cause)})`, {
    hint: whyNotWritable(dirname(path))?.fix ?? 'Check that its folder exists and is writable.',
    cause,
  });
}
