/** Reads a whole file with a limit, and says in words why it cannot be read. */
import { type FileHandle, open } from 'node:fs/promises';

/** The largest secret, file of certificates or keys (a whole trust store fits), and configuration file, in bytes. */
export const MAX_SECRET_BYTES = 64 * 1024;
export const MAX_PEM_BYTES = 1024 * 1024;
export const MAX_CONFIG_BYTES = 1024 * 1024;

/** The bytes, or what is wrong as the end of the sentence "the file X …". */
export type FileContent = { readonly bytes: Buffer } | { readonly reason: string; readonly missing: boolean };

/** Reads at most `limit` bytes. Pipes work (`<(command)` in a shell), so the size is found by reading. */
export async function readFile(path: string, limit: number): Promise<FileContent> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, 'r');
    const chunks: Buffer[] = [];
    let size = 0;
    for (;;) {
      const { bytesRead, buffer } = await file.read({
        buffer: Buffer.alloc(Math.min(limit + 1, 16_384)),
        position: null,
      });
      if (bytesRead === 0) return { bytes: Buffer.concat(chunks) };
      size += bytesRead;
      if (size > limit) return { reason: `is larger than ${limit / 1024} KiB`, missing: false };
      chunks.push(buffer.subarray(0, bytesRead));
    }
  } catch (error) {
    return whyUnreadable(error);
  } finally {
    await file?.close();
  }
}

/** The words for an error of the file system. */
export function whyUnreadable(error: unknown): { reason: string; missing: boolean } {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return { reason: 'does not exist', missing: true };
    case 'EISDIR':
      return { reason: 'is a directory', missing: false };
    case 'EACCES':
    case 'EPERM':
      return { reason: 'is not readable by this user', missing: false };
    default:
      return { reason: `cannot be read (${code})`, missing: false };
  }
}

/** The text of UTF-8 bytes, a byte order mark included; undefined when they are not text. */
export function utf8Text(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}
