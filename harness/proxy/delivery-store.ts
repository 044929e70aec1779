/**
 * Stores the last deliveries as files, so that another process can resend them: one file per delivery, with exactly the
 * bytes of the request. Only the user can read them.
 */
import { appendFile, lstat, mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { HookproofError } from '../../contract/hookproof-error.ts';
import { stateFolder } from '../state-folder.ts';

export interface DeliveryStore {
  /** Writes a delivery in the background, and removes the oldest files beyond the limits. Never throws. */
  add(id: string, raw: Buffer, answer: StoredAnswer): void;
  /**
   * Returns the number of deliveries that were not written, because they arrived faster than the disk could accept
   * them or because writing failed.
   */
  missed(): number;
  /** Resolves when everything is written. */
  settled(): Promise<void>;
}

/** The receiver's answer when the delivery was captured. */
export interface StoredAnswer {
  /** The status; undefined if there was no answer. */
  readonly status: number | undefined;
  /** Whether the answer was the expected one; undefined if unknown. */
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

/** The file with the answers, one JSON line each. They are separate because a delivery's file has only its request. */
const ANSWERS = 'answers.ndjson';
/** Maximum size in bytes; a larger file was not written by a proxy and is not read. */
const MAX_ANSWERS_BYTES = 64 * 1024 * 1024;
/** Number of answers to removed deliveries at which the file is rewritten without them. */
const MAX_OLD_ANSWERS = 1000;

const answerSchema = z.object({
  id: z.string(),
  status: z.int().min(0).max(999).optional(),
  answered: z.enum(['correct', 'incorrect', 'unsafe']).optional(),
});

/** Matches `INSTANCE-NUMBER.request`. The inspector's page shows the same id. */
const FILE = /^([0-9a-f]{6}-(\d{1,15}))\.request$/;
/** Maximum number of bytes waiting to be written; further deliveries are not stored. */
const MAX_WAITING_BYTES = 32 * 1024 * 1024;

/** Returns the folder where deliveries are kept by default. */
export function defaultStoreFolder(env: NodeJS.ProcessEnv, platform?: NodeJS.Platform): string {
  return join(stateFolder(env, platform), 'deliveries');
}

/** Opens a store. @throws HookproofError STORE_UNUSABLE if others could read the folder, or if it cannot be created */
export async function openStore(folder: string, limits: StoreLimits): Promise<DeliveryStore> {
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    throw unusable(folder, `it cannot be created (${error.code})`, 'Choose another folder with `--store`.');
  });
  await requirePrivate(folder);
  const kept = await listStored(folder);
  return new FolderStore(folder, limits, kept, (await readAnswers(folder)).size);
}

interface WaitingDelivery {
  readonly id: string;
  readonly raw: Buffer;
  readonly answer: StoredAnswer;
}

class FolderStore implements DeliveryStore {
  readonly #folder: string;
  readonly #limits: StoreLimits;
  /** The files in the folder, oldest first, and the sum of their sizes. */
  readonly #kept: StoredDelivery[];
  #bytes: number;
  readonly #waiting: WaitingDelivery[] = [];
  #waitingBytes = 0;
  #answerLines: number;
  #missed = 0;
  /** Resolves when the current write has finished; undefined while nothing is being written. */
  #writing: Promise<void> | undefined;

  constructor(folder: string, limits: StoreLimits, kept: StoredDelivery[], answerLines: number) {
    this.#folder = folder;
    this.#limits = limits;
    this.#kept = kept;
    this.#bytes = kept.reduce((sum, { size }) => sum + size, 0);
    this.#answerLines = answerLines;
    this.#writing = this.#prune()
      .catch(() => {})
      .finally(() => this.#writeNext());
  }

  add(id: string, raw: Buffer, answer: StoredAnswer): void {
    if (this.#waitingBytes + raw.length > MAX_WAITING_BYTES) {
      this.#missed += 1;
      return;
    }
    this.#waiting.push({ id, raw, answer });
    this.#waitingBytes += raw.length;
    // The oldest waiting delivery would be removed once the others are written, so it is not written at all.
    if (this.#waiting.length > this.#limits.maxFiles) this.#waitingBytes -= this.#waiting.shift()?.raw.length ?? 0;
    if (this.#writing === undefined) this.#writeNext();
  }

  missed(): number {
    return this.#missed;
  }

  async settled(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
  }

  /** Writes the waiting deliveries one at a time, in order. */
  #writeNext(): void {
    const first = this.#waiting.shift();
    this.#waitingBytes -= first?.raw.length ?? 0;
    this.#writing =
      first &&
      this.#write(first)
        .catch(() => {
          this.#missed += 1;
        })
        .finally(() => this.#writeNext());
  }

  async #write({ id, raw, answer }: WaitingDelivery): Promise<void> {
    const path = fileOf(this.#folder, id);
    // The file is written under another name and renamed, so that no reader sees part of it.
    const file = await open(`${path}.new`, 'wx', 0o600);
    try {
      await file.writeFile(raw);
    } finally {
      await file.close();
    }
    await rename(`${path}.new`, path);
    this.#kept.push({ id, size: raw.length, receivedAt: new Date() });
    this.#bytes += raw.length;
    await this.#writeAnswer(id, answer).catch(() => {});
    await this.#prune();
  }

  /** Appends the answer. A failure is ignored: `replay --list` then shows no status, but the delivery is kept. */
  async #writeAnswer(id: string, answer: StoredAnswer): Promise<void> {
    const path = join(this.#folder, ANSWERS);
    await appendFile(path, `${JSON.stringify({ id, ...answer })}\n`, { mode: 0o600 });
    this.#answerLines += 1;
    if (this.#answerLines <= this.#kept.length + MAX_OLD_ANSWERS) return;
    const answers = await readAnswers(this.#folder);
    const lines = this.#kept.flatMap((one) => {
      const its = answers.get(one.id);
      return its === undefined ? [] : [`${JSON.stringify({ id: one.id, ...its })}\n`];
    });
    await rm(`${path}.new`, { force: true });
    await writeFile(`${path}.new`, lines.join(''), { mode: 0o600, flag: 'wx' });
    await rename(`${path}.new`, path);
    this.#answerLines = lines.length;
  }

  async #prune(): Promise<void> {
    const { maxBytes, maxFiles } = this.#limits;
    while (this.#kept.length > maxFiles || (this.#bytes > maxBytes && this.#kept.length > 1)) {
      const oldest = this.#kept.shift();
      if (oldest === undefined) return;
      this.#bytes -= oldest.size;
      await rm(fileOf(this.#folder, oldest.id), { force: true });
    }
  }
}

/** Lists the deliveries in a folder, oldest first. The list is empty if the folder does not exist. */
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

/**
 * Returns the receiver's answers by the ids of deliveries. They include older deliveries, and may be missing for some.
 */
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

/** Parses JSON; undefined for invalid text, such as a partially written line. */
function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** Explains why a folder has no deliveries, as advice. */
export async function whyNothingStored(folder: string, isDefault: boolean): Promise<string> {
  const stat = await lstat(folder).catch(() => undefined);
  const start = '`hookproof proxy --to URL` keeps the deliveries that it forwards';
  const other = isDefault ? 'If the proxy was started with `--store FOLDER`, give the same folder here.' : OTHER_FOLDER;
  if (stat === undefined) return `The folder does not exist. ${isDefault ? `${start}. ` : ''}${other}`;
  if (!stat.isDirectory()) return `It is not a folder. ${other}`;
  const names = await readdir(folder).catch(() => null);
  if (names === null) return 'The folder cannot be read by this user.';
  const holdsOthers = names.some((name) => !name.startsWith(ANSWERS));
  if (holdsOthers) return `The folder contains other files, but no deliveries. ${other}`;
  return `The folder is empty. ${start}${isDefault ? '' : ` here with \`--store ${folder}\``}. ${other}`;
}

const OTHER_FOLDER = 'Omit `--store` for the default folder, or give the `--store` of the proxy.';

/** Reads the bytes of a request. @throws HookproofError DELIVERY_UNKNOWN, which lists the newest stored deliveries */
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
  throw unusable(folder, what, 'Deliveries contain credentials. Run `chmod 700` on it, or choose another folder.');
}

function unusable(folder: string, what: string, hint: string): HookproofError {
  return new HookproofError('STORE_UNUSABLE', `deliveries cannot be kept in ${folder}: ${what}`, { hint });
}

function fileOf(folder: string, id: string): string {
  return join(folder, `${id}.request`);
}
