/** Writes large output with back-pressure: to standard output, or to a file that appears only when it is complete. */
import { once } from 'node:events';
import { lstat, open, rename, rm } from 'node:fs/promises';
import { HookproofError } from '../../../contract/hookproof-error.ts';

/**
 * Returns a function that writes to standard output. It resolves to false once the reader has closed the pipe (`|
 * head`).
 */
export function standardOutput(): (chunk: string | Uint8Array) => Promise<boolean> {
  // Errors are handled in the callback of each write.
  process.stdout.on('error', () => {});
  return (chunk) =>
    new Promise((resolve, reject) => {
      process.stdout.write(chunk, (error) => {
        if (!error) resolve(true);
        else if ('code' in error && error.code === 'EPIPE') resolve(false);
        else reject(notWritten('standard output', error));
      });
    });
}

/**
 * Writes lines to a file that only its owner can read, because notifications are personal data. The file has a
 * temporary name until it is complete. Returns the number of lines.
 *
 * @throws HookproofError INBOX_EXPORT_THERE, INBOX_EXPORT_NOT_WRITTEN
 */
export async function writeLines(path: string, lines: AsyncIterable<string>, force: boolean): Promise<number> {
  const partial = `${path}.partial`;
  let count = 0;
  if (!force) await refuseExisting(path);
  const file = await open(partial, 'w', 0o600).catch((cause: NodeJS.ErrnoException) => {
    throw notWritten(`the file ${path}`, cause);
  });
  try {
    const stream = file.createWriteStream();
    const failed = once(stream, 'error').then(([error]) => Promise.reject(error));
    failed.catch(() => {});
    for await (const line of lines) {
      count += 1;
      if (!stream.write(line)) await Promise.race([once(stream, 'drain'), failed]);
    }
    stream.end();
    await Promise.race([once(stream, 'close'), failed]);
    await rename(partial, path);
    return count;
  } catch (cause) {
    await rm(partial, { force: true });
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
    throw /^E[A-Z]+$/.test(code) ? notWritten(`the file ${path}`, cause as NodeJS.ErrnoException) : cause;
  }
}

async function refuseExisting(path: string): Promise<void> {
  const found = await lstat(path).catch(() => null);
  if (found === null) return;
  throw new HookproofError('INBOX_EXPORT_THERE', `the file ${path} already exists`, {
    hint: 'Give another file, or replace this one with `--force`.',
  });
}

function notWritten(what: string, cause: NodeJS.ErrnoException): HookproofError {
  return new HookproofError('INBOX_EXPORT_NOT_WRITTEN', `${what} cannot be written (${cause.code})`, {
    hint: 'Check the disk space, and that the folder exists and is writable. Nothing was written.',
    cause,
  });
}
