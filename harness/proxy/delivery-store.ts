/**
 * The last deliveries as files, so that another process can send them again: one file for each, with exactly the bytes
 * of the request. Only the user can read them.
 */
import { appendFile, lstat, mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { HookproofError } from '../../contract/hookproof-error.ts';
import { stateFolder } from '../state-folder.ts';

export interface DeliveryStore {
  /** Writes it in the background, and removes the oldest files that are too many. Never throws. */
  add(id: string, raw: Buffer, answer: StoredAnswer): void;
  /** Deliveries that were not written: they came faster than the disk takes them, or writing failed. */
  missed(): number;
  /** Resolves when everything is written. */
  settled(): Promise<void>;
}

/** What the receiver answered when the delivery was captured. */
export interface StoredAnswer {
  /** Undefined when there was no answer. */
  readonly status: number | undefined;
  /** Whether it was the expected one; undefined where this is not known. */
  readonly answered: 'correct' | 'incorrect' | 'unsafe' | undefined;
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

/** The answers, a line of JSON each: a file of a delivery holds the bytes of the request and nothing else. */
const ANSWERS = 'answers.ndjson';
/** A larger file is not read: it is not one that a proxy has written. In bytes. */
const MAX_ANSWERS_BYTES = 64 * 1024 * 1024;
/** The file is rewritten without the answers to removed deliveries when it has so many lines too many. */
const MAX_OLD_ANSWERS = 1000;

const answerSchema = z.object({
  id: z.string(),
  status: z.int().min(0).max(999).optional(),
  answered: z.enum(['correct', 'incorrect', 'unsafe']).optional(),
});

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
  const waiting: { readonly id: string; readonly raw: Buffer; readonly answer: StoredAnswer }[] = [];
  let answerLines = (await readAnswers(folder)).size;
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

  /** Without it, `replay --list` shows no status: not a reason to lose the delivery. */
  async function writeAnswer(id: string, answer: StoredAnswer): Promise<void> {
    const path = join(folder, ANSWERS);
    await appendFile(path, `${JSON.stringify({ id, ...answer })}\n`, { mode: 0o600 });
    answerLines += 1;
    if (answerLines <= kept.length + MAX_OLD_ANSWERS) return;
    const answers = await readAnswers(folder);
    const lines = kept.flatMap((one) => {
      const its = answers.get(one.id);
      return its === undefined ? [] : [`${JSON.stringify({ id: one.id, ...its })}\n`];
    });
    await rm(`${path}.new`, { force: true });
    await writeFile(`${path}.new`, lines.join(''), { mode: 0o600, flag: 'wx' });
    await rename(`${path}.new`, path);
    answerLines = lines.length;
  }

  async function write({ id, raw, answer }: (typeof waiting)[number]): Promise<void> {
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
    await writeAnswer(id, answer).catch(() => {});
    await prune();
  }

  /** One at a time, in their order. */
  function next(): void {
    const first = waiting.shift();
    waitingBytes -= first?.raw.length ?? 0;
    writing =
      first &&
      write(first)
        .catch(() => {
          missed += 1;
        })
        .finally(next);
  }

  return {
    add(id, raw, answer) {
      if (waitingBytes + raw.length > MAX_WAITING_BYTES) {
        missed += 1;
        return;
      }
      waiting.push({ id, raw, answer });
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

/** What the receiver answered, by the ids of deliveries; of older ones too, and of some nothing is known. */
export async function readAnswers(folder: string): Promise<ReadonlyMap<string, StoredAnswer>> {
  const path = join(folder, ANSWERS);
  const stat = await lstat(path).catch(() => undefined);
  if (stat?.isFile() !== true || stat.size > MAX_ANSWERS_BYTES) return new Map();
  const text = await readFile(path, 'utf8').catch(() => '');
  const answers = text.split('\n').flatMap((line): [string, StoredAnswer][] => {
    const read = answerSchema.safeParse(parsed(line));
    return read.success ? [[read.data.id, { status: read.data.status, answered: read.data.answered }]] : [];
  });
  return new Map(answers);
}

/** Undefined for what is not JSON, as a line of which only a part was written. */
function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** Why a folder has no deliveries, as advice. */
export async function whyNothingStored(folder: string, isDefault: boolean): Promise<string> {
  const stat = await lstat(folder).catch(() => undefined);
  const start = '`hookproof proxy --to URL` keeps the deliveries that it forwards';
  const other = isDefault ? 'If the proxy was started with `--store FOLDER`, give the same here.' : OTHER_FOLDER;
  if (stat === undefined) return `The folder does not exist. ${isDefault ? `${start}. ` : ''}${other}`;
  if (!stat.isDirectory()) return `It is not a folder. ${other}`;
  const names = await readdir(folder).catch(() => null);
  if (names === null) return 'The folder cannot be read by this user.';
  const holdsOthers = names.some((name) => !name.startsWith(ANSWERS));
  if (holdsOthers) return `The folder has other files, but no deliveries. ${other}`;
  return `The folder is empty. ${start}${isDefault ? '' : ` here with \`--store ${folder}\``}. ${other}`;
}

const OTHER_FOLDER = 'Leave out `--store` for the default folder, or give the `--store` of the proxy.';

/** The bytes of a request. @throws HookproofError DELIVERY_UNKNOWN, which names the newest that are kept */
export async function readStored(folder: string, id: string, isDefault = false): Promise<Buffer> {
  const raw = FILE.test(`${id}.request`) ? await readFile(fileOf(folder, id)).catch(() => undefined) : undefined;
  if (raw !== undefined) return raw;
  const newest = (await listStored(folder)).slice(-5).map((one) => one.id);
  throw new HookproofError('DELIVERY_UNKNOWN', `there is no delivery "${id.slice(0, 60)}" in ${folder}`, {
    hint:
      newest.length === 0
        ? await whyNothingStored(folder, isDefault)
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
