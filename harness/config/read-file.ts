/** Reads a whole file up to a size limit, and explains why a file cannot be read. */
import { constants, type Stats } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';

const MIB = 1024 * 1024;

/**
 * Maximum sizes in bytes of a secret, a file of certificates or keys (enough for a whole trust store), and a
 * configuration file.
 */
export const MAX_SECRET_BYTES = 64 * 1024;
export const MAX_PEM_BYTES = MIB;
export const MAX_CONFIG_BYTES = MIB;
/**
 * Maximum size in bytes of a result document (five times a whole run with `--evidence`), a body to sign, and a
 * baseline.
 */
export const MAX_DOCUMENT_BYTES = 64 * MIB;

/** The bytes, or why they cannot be read, as the end of the sentence "the file X …". */
export type FileContent = { readonly bytes: Buffer } | { readonly reason: string; readonly missing: boolean };

/** Matches a pipe that the shell opened for this process: `<(command)`, or a standard stream by its path. */
export const INHERITED = /^\/(?:dev\/(?:fd\/\d+|std(?:in|out|err))|proc\/self\/fd\/\d+)$/;

/**
 * Reads at most `limit` bytes of a regular file, or of a pipe that the shell opened (`<(command)`), whose size is known
 * only after reading. Rejects a named pipe, a device or a socket without waiting for it.
 */
export async function readFile(path: string, limit: number): Promise<FileContent> {
  let file: FileHandle | undefined;
  try {
    const inherited = INHERITED.test(path);
    const kind = kindOf(await stat(path), inherited);
    if (kind !== null) return { reason: `is ${kind}`, missing: false };
    // Opened in non-blocking mode, in case a pipe has replaced the file.
    file = await open(path, constants.O_RDONLY | (inherited ? 0 : (constants.O_NONBLOCK ?? 0)));
    const opened = kindOf(await file.stat(), inherited);
    if (opened !== null) return { reason: `is ${opened}`, missing: false };
    const chunks: Buffer[] = [];
    let size = 0;
    for (;;) {
      const { bytesRead, buffer } = await file.read({
        buffer: Buffer.alloc(Math.min(limit + 1, 65_536)),
        position: null,
      });
      if (bytesRead === 0) return { bytes: Buffer.concat(chunks) };
      size += bytesRead;
      const words = limit % MIB === 0 ? `${limit / MIB} MiB` : `${limit / 1024} KiB`;
      if (size > limit) return { reason: `is larger than ${words}`, missing: false };
      chunks.push(buffer.subarray(0, bytesRead));
    }
  } catch (error) {
    return whyUnreadable(error);
  } finally {
    await file?.close();
  }
}

export type ReadFile = typeof readFile;

/** Returns a reader that caches the content of each file. `changed` returns a file whose content has changed since. */
export function recordedFiles(): { readonly read: ReadFile; changed(): Promise<string | null> } {
  const contents = new Map<string, { readonly limit: number; readonly content: Promise<FileContent> }>();
  return {
    read(path, limit) {
      const known = contents.get(path)?.content;
      const content = known ?? readFile(path, limit);
      if (known === undefined) contents.set(path, { limit, content });
      return content;
    },
    async changed() {
      for (const [path, { limit, content }] of contents) {
        const [before, now] = [await content, await readFile(path, limit)];
        const isSame = 'bytes' in before ? 'bytes' in now && before.bytes.equals(now.bytes) : !('bytes' in now);
        if (!isSame) return path;
      }
      return null;
    },
  };
}

/** Reads a stream such as standard input. Returns undefined if it has more than `most` bytes. */
export async function readStream(input: AsyncIterable<Uint8Array | string>, most: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of input) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > most) return undefined;
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

/** Describes the type of a directory entry that cannot be read as a file; null for a file. */
function kindOf(found: Stats, inherited: boolean): string | null {
  if (found.isFile() || (inherited && found.isFIFO())) return null;
  if (found.isDirectory()) return 'a directory';
  if (found.isFIFO()) return 'a named pipe, expected a regular file';
  return found.isSocket() ? 'a socket, expected a regular file' : 'a device, expected a regular file';
}

/** Describes a file system error. */
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

/** Decodes UTF-8, keeping a byte order mark; undefined if the bytes are not UTF-8 or contain a zero byte. */
export function utf8Text(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}
