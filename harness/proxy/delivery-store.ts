/**
 * The last deliveries as files, so that another process can send them again: one file for each, with exactly the bytes
 * of the request. Only the user can read them.
 */
import { lstat, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { HookproofError } from '../../contract/hookproof-error.ts';
import { stateFolder } from '../state-folder.ts';

export interface DeliveryStore {
  /** Writes it in the background, and removes the oldest files that are too many. Never throws. */
  add(id: string, raw: Buffer): void;
  /** Deliveries that were not written: they came faster than the disk takes them, or writing failed. */
  missed(): number;
  /** Resolves when everything is written. */
  settled(): Promise<void>;
}

interface StoreLimits {
  readonly maxFiles: number;
  readonly maxBytes: number;
}

/** A stored delivery, without its content. */
export interface StoredDelivery {
  readonly id: string;
  readonly size: number;
  readonly receivedAt: Date;
}

/** `INSTANCE-NUMBER`, as on the page of the inspector. */
const FILE = /^([0-9a-f]{6}-(\d{1,15}))\.request$/;
/** The bytes that wait to be written; with more, deliveries are not stored. */
const MAX_WAITING_BYTES = 32 * 1024 * 1024;

/** Where deliveries are kept unless a folder is given. */
export function defaultStoreFolder(env: NodeJS.ProcessEnv, platform?: NodeJS.Platform): string {
  return join(stateFolder(env, platform), 'deliveries');
}

/** @throws HookproofError STORE_UNUSABLE when others could read the folder, or it cannot be made */
export async function openStore(folder: string, limits: StoreLimits): Promise<DeliveryStore> {
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    throw unusable(folder, `it cannot be created (${error.code})`, 'Choose another folder with `--store`.');
  });
  await requirePrivate(folder);
  const kept = await listStored(folder);
  let bytes = kept.reduce((sum, { size }) => sum + size, 0);
  const waiting: { readonly id: string; readonly raw: Buffer }[] = [];
  let waitingBytes = 0;
  let missed = 0;
  let writing: Promise<void> | undefined = prune()
    .catch(() => {})
    .finally(next);

  async function prune(): Promise<void> {
    while (kept.length > limits.maxFiles || (bytes > limits.maxBytes && kept.length > 1)) {
      const oldest = kept.shift();
      if (oldest === undefined) return;
      bytes -= oldest.size;
      await rm(fileOf(folder, oldest.id), { force: true });
    }
  }

  async function write(id: string, raw: Buffer): Promise<void> {
    const path = fileOf(folder, id);
    // Under another name first: a reader never sees a part of it.
    const file = await open(`${path}.new`, 'wx', 0o600);
    try {
      await file.writeFile(raw);
    } finally {
      await file.close();
    }
    await rename(`${path}.new`, path);
    kept.push({ id, size: raw.length, receivedAt: new Date() });
    bytes += raw.length;
    await prune();
  }

  /** One at a time, in their order. */
  function next(): void {
    const first = waiting.shift();
    waitingBytes -= first?.raw.length ?? 0;
    writing =
      first &&
      write(first.id, first.raw)
        .catch(() => {
          missed += 1;
        })
        .finally(next);
  }

  return {
    add(id, raw) {
      if (waitingBytes + raw.length > MAX_WAITING_BYTES) {
        missed += 1;
        return;
      }
      waiting.push({ id, raw });
      waitingBytes += raw.length;
      // As a file it would be removed as soon as the others are written.
      if (waiting.length > limits.maxFiles) waitingBytes -= waiting.shift()?.raw.length ?? 0;
      if (writing === undefined) next();
    },
    missed: () => missed,
    async settled() {
      while (writing !== undefined) await writing;
    },
  };
}

/** The deliveries in a folder, the oldest first; none when there is no such folder. */
export async function listStored(folder: string): Promise<StoredDelivery[]> {
  const names = await readdir(folder).catch((): string[] => []);
  const found = await Promise.all(
    names.map(async (name) => {
      const [, id, number] = FILE.exec(name) ?? [];
      const stat = id === undefined ? undefined : await lstat(join(folder, name)).catch(() => undefined);
      if (id === undefined || stat?.isFile() !== true) return [];
      return [{ id, number: Number(number), size: stat.size, receivedAt: stat.mtime }];
    }),
  );
  return found
    .flat()
    .sort((a, b) => a.receivedAt.getTime() - b.receivedAt.getTime() || a.number - b.number)
    .map(({ id, size, receivedAt }) => ({ id, size, receivedAt }));
}

/** The bytes of a request. @throws HookproofError DELIVERY_UNKNOWN, which names the newest that are kept */
export async function readStored(folder: string, id: string): Promise<Buffer> {
  const raw = FILE.test(`${id}.request`) ? await readFile(fileOf(folder, id)).catch(() => undefined) : undefined;
  if (raw !== undefined) return raw;
  const newest = (await listStored(folder)).slice(-5).map((one) => one.id);
  throw new HookproofError('DELIVERY_UNKNOWN', `there is no delivery "${id.slice(0, 60)}" in ${folder}`, {
    hint:
      newest.length === 0
        ? 'The folder is empty. `hookproof proxy --to URL` keeps deliveries; `--store` names another folder.'
        : `The newest are ${newest.join(', ')}. \`hookproof replay --list\` lists all; old ones are removed.`,
  });
}

async function requirePrivate(folder: string): Promise<void> {
  const stat = await lstat(folder);
  if (!stat.isDirectory()) throw unusable(folder, 'it is not a folder', 'Choose another folder with `--store`.');
  const uid = process.getuid?.();
  if (uid === undefined) return;
  if (stat.uid === uid && (stat.mode & 0o077) === 0) return;
  const what = stat.uid === uid ? 'other users may read it' : 'it belongs to another user';
  throw unusable(folder, what, 'Deliveries hold credentials. Run `chmod 700` on it, or choose another folder.');
}

function unusable(folder: string, what: string, hint: string): HookproofError {
  return new HookproofError('STORE_UNUSABLE', `deliveries cannot be kept in ${folder}: ${what}`, { hint });
}

function fileOf(folder: string, id: string): string {
  return join(folder, `${id}.request`);
}
