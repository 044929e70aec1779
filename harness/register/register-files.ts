/**
 * The register as files: `register.ndjson` in a folder, and one `register-*.ndjson` for each writer that is running or
 * was killed. A writer appends whole lines to a separate file, so that writers on a shared volume never mix their
 * lines. When it closes, it joins its file into `register.ndjson`, one writer at a time.
 */
import type { KeyObject } from 'node:crypto';
import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { HookproofError } from '../../contract/hookproof-error.ts';
import { type RegisterRecord, registerRecord } from './record.ts';
import type { RefreshOptions } from './standing-table.ts';

const MAIN = 'register.ndjson';
const OWN = /^register-[0-9a-f-]{36}\.ndjson$/;
const LOCK = 'register.lock';
/** Age at which a lock is considered to be left by a killed writer: joining a file takes only milliseconds. */
const STALE_MS = 60_000;
const LOCK_TRIES = 50;
const LOCK_PAUSE_MS = 20;

/** The records that were read, and notes on what could not be read. Nothing is omitted silently. */
export interface RegisterContent {
  /** Ordered by time within each file. A record that is in several files is listed once. */
  readonly records: readonly RegisterRecord[];
  readonly notes: readonly string[];
}

export interface Register {
  read(): Promise<RegisterContent>;
  /** Adds records. When the promise is fulfilled, they have been stored. */
  append(records: readonly RegisterRecord[]): Promise<void>;
  /** Updates the stored standings of these partners. Does nothing for files, which store no standings. */
  refresh(keys: readonly KeyObject[], options: RefreshOptions, partners: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

export class RegisterFiles implements Register {
  readonly #folder: string;
  #own: { readonly path: string; readonly handle: FileHandle } | null = null;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async read(): Promise<RegisterContent> {
    const names = await this.#names();
    const records = new Map<string, RegisterRecord>();
    const notes: string[] = [];
    for (const name of names) {
      const path = join(this.#folder, name);
      for await (const found of recordsIn(path)) {
        if (typeof found === 'string') notes.push(found);
        else records.set(found.id, found);
      }
    }
    return { records: [...records.values()], notes };
  }

  async append(records: readonly RegisterRecord[]): Promise<void> {
    if (records.length === 0) return;
    if (this.#own === null) {
      await mkdir(this.#folder, { recursive: true });
      const path = join(this.#folder, `register-${randomUUID()}.ndjson`);
      this.#own = { path, handle: await open(path, 'ax') };
    }
    const { handle } = this.#own;
    await handle.appendFile(records.map((record) => `${JSON.stringify(record)}\n`).join(''));
    await handle.datasync();
  }

  async refresh(): Promise<void> {}

  /** Appends this writer's file to the main one. If another writer holds the lock, the file stays and is still read. */
  async close(): Promise<void> {
    const own = this.#own;
    this.#own = null;
    await own?.handle.close();
    if (own === null) return;
    const lock = join(this.#folder, LOCK);
    if (!(await acquired(lock))) return;
    try {
      await appendTo(join(this.#folder, MAIN), own.path);
      // A crash before this line leaves each record in both files, with the same id.
      await rm(own.path);
    } finally {
      await rm(lock, { recursive: true });
    }
  }

  async #names(): Promise<string[]> {
    try {
      const all = await readdir(this.#folder);
      return [...all.filter((name) => name === MAIN), ...all.filter((name) => OWN.test(name)).toSorted()];
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw new HookproofError('REGISTER_FOLDER', `the folder of the register, ${this.#folder}, cannot be read`, {
        hint: 'Name the output folder of `hookproof certify --partners`, or a PostgreSQL URL.',
        cause,
      });
    }
  }
}

/** Tries for a second to take the lock for joining files. Removes a killed writer's lock after {@link STALE_MS}. */
async function acquired(lock: string): Promise<boolean> {
  const isMade = () =>
    mkdir(lock).then(
      () => true,
      () => false,
    );
  for (let tries = 0; tries < LOCK_TRIES; tries++) {
    if (await isMade()) return true;
    await delay(LOCK_PAUSE_MS);
  }
  const age = Date.now() - (await stat(lock).then(({ mtimeMs }) => mtimeMs, Date.now));
  if (age < STALE_MS) return false;
  await rm(lock, { recursive: true, force: true });
  return isMade();
}

/** Appends one file to another, after a newline if the last line was left unfinished by a killed writer. */
async function appendTo(path: string, from: string): Promise<void> {
  const source = await open(from, 'r');
  const target = await open(path, 'a+');
  try {
    const { size } = await target.stat();
    if (size > 0) {
      const { buffer } = await target.read(Buffer.alloc(1), 0, 1, size - 1);
      if (buffer[0] !== 0x0a) await target.appendFile('\n');
    }
    await target.appendFile(await source.readFile());
    await target.datasync();
  } finally {
    await Promise.all([source.close(), target.close()]);
  }
}

/** Yields the records of a file, and a note for each line that is not a record, such as an unfinished line. */
async function* recordsIn(path: string): AsyncGenerator<RegisterRecord | string> {
  const handle = await open(path, 'r');
  let at = 0;
  try {
    for await (const line of handle.readLines({ encoding: 'utf8' })) {
      at += 1;
      if (line === '') continue;
      const value = parsedOrUndefined(line);
      const { success, data } = registerRecord.safeParse(value);
      if (success) yield data;
      else if (value === undefined) yield `${path}:${at}: an unfinished line, left by a killed writer, is ignored`;
      else yield `${path}:${at}: not a record that this version of hookproof can read, so it is ignored`;
    }
  } finally {
    await handle.close();
  }
}

function parsedOrUndefined(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
