/** The files of certification: keys, certificates, what lies beside them. */
import { open, readFile, rm, stat } from 'node:fs/promises';
import { HookproofError } from '../../../contract/hookproof-error.ts';

/** The files that `hookproof certify` leaves in its folder beside run.json. */
export const CERTIFICATE_FILES = { certificate: 'certificate.dsse.json', configuration: 'configuration.json' } as const;

/** Where certificates go when nothing else is said. */
export const CERTIFICATE_FOLDER = 'hookproof-certificate';

const MOST_KEY_BYTES = 64 * 1024;
/** Result documents of runs with many failures are large. */
const MOST_DOCUMENT_BYTES = 512 * 1024 * 1024;

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
}

/** The bytes of a file that somebody named. Throws `CERTIFY_FILE`. */
export async function readNamed(path: string, what: string, most = MOST_DOCUMENT_BYTES): Promise<Buffer> {
  const refuse = (reason: string, cause?: unknown) =>
    new HookproofError('CERTIFY_FILE', `${what} ${path} ${reason}`, { hint: 'Check the path.', cause });
  try {
    if ((await stat(path)).size > most) throw refuse('is too large');
    return await readFile(path);
  } catch (error) {
    if (error instanceof HookproofError) throw error;
    throw refuse(codeOf(error) === 'ENOENT' ? 'does not exist' : `cannot be read (${codeOf(error)})`, error);
  }
}

/** The text of a key file. What looks like the key itself is not repeated. */
export function readKeyText(path: string, flag: string): Promise<string> {
  if (/BEGIN|[\r\n]/.test(path)) {
    throw new HookproofError('CERTIFY_KEY', `${flag} takes the path of a file, and was given a key`, {
      hint: 'Whoever can see the processes of this machine has seen it now: make another one if it was a private key.',
    });
  }
  return readNamed(path, `${flag}: the file`, MOST_KEY_BYTES).then((bytes) => bytes.toString());
}

/** Writes a new file. Throws `CERTIFY_IN_THE_WAY` when there is one: keys and certificates are never replaced. */
export async function writeNew(path: string, text: string | Uint8Array, mode = 0o644): Promise<void> {
  let file: Awaited<ReturnType<typeof open>>;
  try {
    file = await open(path, 'wx', mode);
  } catch (cause) {
    if (codeOf(cause) === 'EEXIST') throw inTheWay(path);
    throw notWritten(path, cause);
  }
  try {
    await file.writeFile(text);
    // It is evidence: on the disk before anybody is told that it exists.
    await file.sync();
  } catch (cause) {
    await rm(path, { force: true });
    throw notWritten(path, cause);
  } finally {
    await file.close();
  }
}

export function inTheWay(path: string): HookproofError {
  return new HookproofError('CERTIFY_IN_THE_WAY', `${path} is there already, and is never replaced`, {
    hint: 'Move it away, or name another place.',
  });
}

function notWritten(path: string, cause: unknown): HookproofError {
  return new HookproofError('CERTIFY_NOT_WRITTEN', `${path} cannot be written (${codeOf(cause)})`, {
    hint: 'Check that the folder exists and can be written to.',
    cause,
  });
}

export async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
