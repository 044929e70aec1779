/** Reads the runs of a partner in the output folder, and their files. No name can lead outside the folder. */
import { open, readdir, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { MAX_DOCUMENT_BYTES, readFile } from '../config/read-file.ts';
import { partnerName } from './schemas.ts';

/** The files that are served, with their media types. */
const SERVED: Readonly<Record<string, string>> = {
  'report.html': 'text/html; charset=utf-8',
  'run.json': 'application/json',
  'certificate.dsse.json': 'application/json',
  'configuration.json': 'application/json',
};

/** The folder to which a certification moves the results of earlier ones. */
const EARLIER = '_earlier';
const CURRENT = 'current';
const MAX_RUNS = 50;
/** Number of bytes at the start of a result document that contain its `startedAt`. */
const HEAD_BYTES = 64 * 1024;

export interface StoredRun {
  /** The name in URLs: `current`, or the name of the folder in `_earlier`. */
  readonly id: string;
  /** ISO 8601; null if it cannot be read from the result document. */
  readonly startedAt: string | null;
  readonly files: readonly string[];
}

/** Returns the runs of a partner, newest first. */
export async function listRuns(outputDir: string | undefined, partner: string): Promise<StoredRun[]> {
  if (outputDir === undefined || !partnerName.safeParse(partner).success) return [];
  const asides = await readdir(join(outputDir, EARLIER)).catch(() => []);
  const ids = [
    CURRENT,
    ...asides
      .filter((name) => /^[\w.-]{1,100}$/.test(name))
      .toSorted()
      .toReversed(),
  ];
  const runs: StoredRun[] = [];
  for (const id of ids) {
    const folder = folderOf(outputDir, partner, id);
    const files = (await readdir(folder).catch(() => [])).filter((name) => Object.hasOwn(SERVED, name));
    if (files.length > 0) runs.push({ id, files, startedAt: await startOf(join(folder, 'run.json')) });
    if (runs.length === MAX_RUNS) break;
  }
  return runs;
}

/** Reads a file of a run; null if there is none. */
export async function readRunFile(
  outputDir: string | undefined,
  partner: string,
  { id, file }: { readonly id: string; readonly file: string },
): Promise<{ readonly type: string; readonly bytes: Buffer } | null> {
  const type = Object.hasOwn(SERVED, file) ? SERVED[file] : undefined;
  if (outputDir === undefined || type === undefined) return null;
  const path = await pathOfRun(outputDir, partner, { id, file });
  if (path === null) return null;
  const content = await readFile(path, MAX_DOCUMENT_BYTES);
  return 'bytes' in content ? { type, bytes: content.bytes } : null;
}

/** Returns the real path of a file of a listed run; null if it is missing or outside the output folder. */
export async function pathOfRun(
  outputDir: string,
  partner: string,
  { id, file }: { readonly id: string; readonly file: string },
): Promise<string | null> {
  const run = (await listRuns(outputDir, partner)).find((one) => one.id === id);
  if (run === undefined || !run.files.includes(file)) return null;
  try {
    const [root, path] = await Promise.all([
      realpath(outputDir),
      realpath(join(folderOf(outputDir, partner, id), file)),
    ]);
    return path.startsWith(root + sep) ? path : null;
  } catch {
    return null;
  }
}

function folderOf(outputDir: string, partner: string, id: string): string {
  return id === CURRENT ? join(outputDir, partner) : join(outputDir, EARLIER, id, partner);
}

async function startOf(path: string): Promise<string | null> {
  const handle = await open(path).catch(() => null);
  if (handle === null) return null;
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    const head = buffer.subarray(0, bytesRead).toString('latin1');
    return /"startedAt": ?"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z)"/.exec(head)?.[1] ?? null;
  } catch {
    return null;
  } finally {
    await handle.close();
  }
}
