/**
 * Records what was done with each notification, in memory or in a file. For test environments only, because nothing is
 * ever removed.
 */
import { closeSync, constants, openSync, realpathSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import * as z from 'zod';
import { type EffectsAnswer, type EffectsQuery, effectsAnswer, type Handled } from '../../contract/effects.ts';
import { HookproofError } from '../../contract/index.ts';
import { isSuperseded } from '../handling/handle-entry.ts';
import { groupCommit } from '../inbox/group-commit.ts';
import type { OrderProgress } from '../inbox/inbox.ts';
import { FINAL_RANK } from '../inbox/inbox-row.ts';
import type { SqliteDatabase } from '../inbox/sqlite-database.ts';

/** The handling of a notification, and the progress that the notification reports for its order. */
export interface Effect {
  readonly handled: Handled;
  readonly place: OrderProgress;
}

/** Answers the queries of the effects window. */
export interface EffectsRecord {
  /**
   * Records a handling unless one with this key exists. Resolves with true when it was recorded. A durable record
   * resolves when the handling is on disk.
   */
  apply(effect: Effect, key: string): Promise<boolean>;
  /** Answers a query from everything that is recorded. A durable record includes only what is on disk. */
  answer(query: EffectsQuery): Promise<EffectsAnswer>;
  close(): Promise<void>;
}

/** Creates a record that is lost when the process ends. */
export function memoryEffects(): EffectsRecord {
  const index = createIndex();
  return {
    async apply(effect, key) {
      if (index.has(key)) return false;
      index.add(effect, key);
      return true;
    },
    answer: async (query) => index.answer(query),
    async close() {},
  };
}

/** Maximum number of handlings that are written together. */
const MAX_BATCH = 1000;

/** The text with which every line begins. */
const LINE_START = '{"key":"';

const lineShape = z.object({
  key: z.string(),
  handled: effectsAnswer.shape.handled.element,
  place: z.object({ rank: z.number(), at: z.number() }),
});

/**
 * Opens a record in a file with one JSON object per line, which survives a crash of the process or the machine. The
 * file is read completely at the start, and a truncated last line is removed. Only one process can open it at a time:
 * the file FILE.lock next to it is locked while the record is open, and is not removed afterwards.
 *
 * @throws HookproofError EFFECTS_FILE, EFFECTS_FILE_IN_USE
 */
export async function fileEffects(path: string): Promise<EffectsRecord> {
  const name = resolve(path);
  let lock: SqliteDatabase | undefined;
  let file: FileHandle | undefined;
  try {
    lock = await lockFile(name);
    file = await open(name, constants.O_RDWR | constants.O_CREAT, 0o600);
    await syncFolder(name);
    const { lines, size } = await readLines(name, file);
    const index = createIndex();
    for (const { key, ...effect } of lines) if (!index.has(key)) index.add(effect, key);
    return openRecord(file, size, index, lock);
  } catch (cause) {
    await file?.close();
    lock?.close();
    if (cause instanceof HookproofError) throw cause;
    throw new HookproofError('EFFECTS_FILE', `The record ${path} cannot be opened (${(cause as Error).message}).`, {
      hint: 'Check that the folder exists, and that this user can write to it and to the file.',
      cause,
    });
  }
}

function openRecord(file: FileHandle, initialSize: number, index: Index, lock: SqliteDatabase): EffectsRecord {
  const underWay = new Map<string, Promise<boolean>>();
  let size = initialSize;
  let isCut = false;
  const commit = groupCommit<Effect & { readonly key: string }, boolean>({
    parallel: 1,
    maxItems: MAX_BATCH,
    maxSize: Number.POSITIVE_INFINITY,
    sizeOf: () => 0,
    async write(items) {
      const bytes = Buffer.from(items.map((item) => `${JSON.stringify(item)}\n`).join(''));
      // Removes what an earlier failed write may have left.
      if (isCut) await file.truncate(size);
      isCut = true;
      const { bytesWritten } = await file.write(bytes, 0, bytes.length, size);
      if (bytesWritten !== bytes.length) throw new Error('only part of the record was written');
      await file.datasync();
      isCut = false;
      size += bytes.length;
      for (const { key, ...effect } of items) index.add(effect, key);
      return items.map(() => true);
    },
  });
  return {
    async apply({ handled, place }, key) {
      if (index.has(key)) return false;
      const other = underWay.get(key);
      if (other !== undefined) return other.then(() => false);
      const writing = commit.write({ key, handled, place }).finally(() => underWay.delete(key));
      underWay.set(key, writing);
      return writing;
    },
    answer: async (query) => index.answer(query),
    async close() {
      await commit.settled();
      await file.close();
      lock.close();
    },
  };
}

/** Creates a lock that ends with the process, even after a crash. Node provides no such lock for plain files. */
async function lockFile(name: string): Promise<SqliteDatabase> {
  const { isBusy, loadSqlite } = await import('../inbox/sqlite-database.ts');
  const { DatabaseSync } = await loadSqlite();
  const path = `${name}.lock`;
  // SQLite itself would create a file that every user of the machine can read.
  closeSync(openSync(path, 'a', 0o600));
  const database = new DatabaseSync(realpathSync(path));
  try {
    database.exec('PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE');
    return database;
  } catch (cause) {
    database.close();
    if (!isBusy(cause)) throw cause;
    throw new HookproofError('EFFECTS_FILE_IN_USE', `The record ${name} is in use by another process.`, {
      hint: 'End that process, or name another file.',
      cause,
    });
  }
}

/**
 * Ensures that a new file still exists after a power failure. Windows cannot open folders, and does not need this step.
 */
async function syncFolder(name: string): Promise<void> {
  const folder = await open(dirname(name), 'r').catch(() => null);
  await folder?.sync().catch(() => {});
  await folder?.close();
}

async function readLines(name: string, file: FileHandle) {
  const bytes = await file.readFile();
  const size = bytes.lastIndexOf('\n') + 1;
  const texts = bytes.subarray(0, size).toString('utf8').split('\n').slice(0, -1);
  const lines = texts.map((text, at) => {
    try {
      return lineShape.parse(JSON.parse(text));
    } catch (cause) {
      throw new HookproofError('EFFECTS_FILE', `Line ${at + 1} of the record ${name} is damaged.`, {
        hint: 'Name another file. If this one was a record, restore it from a copy.',
        cause,
      });
    }
  });
  if (size < bytes.length) {
    // Only an incomplete line of a record is removed. Other content belongs to another program.
    if (
      !bytes
        .subarray(size)
        .toString('latin1')
        .startsWith(LINE_START.slice(0, bytes.length - size))
    ) {
      throw new HookproofError('EFFECTS_FILE', `The last line of ${name} does not belong to an effects record.`, {
        hint: 'Name another file. This one was not changed.',
      });
    }
    await file.truncate(size);
  }
  return { lines, size };
}

type Index = ReturnType<typeof createIndex>;

/** Creates an index of the handlings in memory, by notification and by transaction. */
function createIndex() {
  const keys = new Set<string>();
  const byNotification = new Map<string, Numbered[]>();
  const byTransaction = new Map<string, Transaction>();
  return {
    has: (key: string) => keys.has(key),
    add({ handled, place }: Effect, key: string): void {
      const entry = { nth: keys.size, handled };
      keys.add(key);
      const others = byNotification.get(handled.notification);
      if (others === undefined) byNotification.set(handled.notification, [entry]);
      else others.push(entry);
      if (handled.transaction == null) return;
      const transaction: Transaction = byTransaction.get(handled.transaction) ?? { handled: [], states: new Map() };
      byTransaction.set(handled.transaction, transaction);
      transaction.handled.push(handled);
      const kind = handled.kind ?? '';
      const before = transaction.states.get(kind);
      // Moved to the end, because the last entry must be the kind that was handled last.
      transaction.states.delete(kind);
      transaction.states.set(kind, nextState(before, handled, place));
    },
    answer(query: EffectsQuery): EffectsAnswer {
      const total = keys.size;
      if ('transaction' in query) {
        const { handled = [], states } = byTransaction.get(query.transaction) ?? {};
        return { total, handled: [...handled], current: states === undefined ? null : currentOf(states) };
      }
      const found = [...new Set(query.notifications)].flatMap((id) => byNotification.get(id) ?? []);
      return { total, handled: found.sort((one, other) => one.nth - other.nth).map(({ handled }) => handled) };
    },
  };
}

interface Transaction {
  readonly handled: Handled[];
  /** Latest state of the transaction for each kind of notification. */
  readonly states: Map<string, State>;
}

interface Numbered {
  readonly nth: number;
  readonly handled: Handled;
}

/** The status and the hash that notifications of one kind have given to a transaction. */
interface State {
  readonly status: string | null;
  readonly hash: string | null;
  readonly place: OrderProgress;
}

/**
 * Returns the state after a handling. An earlier status does not overwrite a later one, and an unlisted status does not
 * overwrite a final one. A known hash is never removed.
 */
function nextState(before: State | undefined, { status = null, hash = null }: Handled, place: OrderProgress): State {
  if (before === undefined) return { status, hash, place };
  const isLate =
    place.rank === 0
      ? before.place.rank === FINAL_RANK || place.at < before.place.at
      : isSuperseded(place, before.place);
  if (isLate) return { ...before, hash: before.hash ?? hash };
  const rank = Math.max(place.rank, before.place.rank);
  return { status, hash: hash ?? before.hash, place: { ...place, rank } };
}

/**
 * Returns the state of the buy or sell order if there is one, even after a refund. Otherwise returns the state that the
 * last handled kind of notification has given.
 */
function currentOf(states: ReadonlyMap<string, State>): EffectsAnswer['current'] {
  const last = [...states].reverse();
  const [, state] = last.find(([kind]) => kind === 'CAAS_BUY' || kind === 'CAAS_SELL') ?? last[0] ?? [];
  return state === undefined ? null : { status: state.status, hash: state.hash };
}
