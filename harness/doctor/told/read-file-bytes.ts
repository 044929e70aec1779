import { createReadStream } from 'node:fs';

/** Reads a file up to a limit. What is wrong comes as the end of the sentence "the file X …". */
export async function readFileBytes(
  path: string,
  limit: number,
): Promise<{ readonly bytes: Buffer } | { readonly reason: string }> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of createReadStream(path, { end: limit })) chunks.push(chunk as Buffer);
  } catch (error) {
    return { reason: reasonOf(error instanceof Error && 'code' in error ? error.code : undefined) };
  }
  const bytes = Buffer.concat(chunks);
  return bytes.length > limit ? { reason: `is larger than ${limit / 1024} KiB` } : { bytes };
}

function reasonOf(code: unknown): string {
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return 'does not exist';
    case 'EISDIR':
      return 'is a directory';
    case 'EACCES':
    case 'EPERM':
      return 'may not be read by this user';
    default:
      return `cannot be read (${String(code)})`;
  }
}
