/**
 * The embedded inbox: one SQLite file for one receiver process. Concurrent writes are committed together. Otherwise, a
 * disk that takes 2 ms to flush would limit the receiver to 500 deliveries per second.
 */
import type { SqlRow, SqlValue } from './entries.ts';
import { type DurableInbox, type InboxMeter, type InboxWarning, type Settlement, silentMeter } from './inbox.ts';
import type { InboxRow } from './inbox-row.ts';
import { SQLITE } from './schema.ts';
import { orderValues, rowValues, type SqlDatabase, settlementValues, sqlInbox } from './sql-inbox.ts';
import { isBusy, openSqlite, type SqliteDatabase, type SqliteStatement } from './sqlite-database.ts';
import { statements } from './statements.ts';

/** Maximum number of rows in one transaction, because a transaction blocks the event loop. */
const MAX_BATCH = 512;
/**
 * Maximum time for which a write is retried while another process writes (`hookproof inbox replay`, a backup), and the
 * interval between two tries, in milliseconds.
 */
const BUSY_MS = 3000;
const RETRY_MS = 30;

/**
 * Opens or creates the file. `owner` identifies this receiver. Throws {@link HookproofError} (`INBOX_OPEN`,
 * `INBOX_SCHEMA`, `INBOX_DAMAGED`).
 */
export async function sqliteInbox(
  file: string,
  { owner, meter = silentMeter, onWarning }: { owner: string; meter?: InboxMeter; onWarning: InboxWarning },
): Promise<DurableInbox> {
  const { database, checkFiles, checked } = await openSqlite(file);
  if (!checked) {
    const check = `sqlite3 ${file} 'PRAGMA quick_check'`;
    onWarning('inbox-not-checked', `the inbox is too large to be checked for damage at start-up: run ${check}`);
  }
  const queue = writeQueue(database, checkFiles, meter);
  const prepared = new Map<string, SqliteStatement>();
  const prepare = (sql: string): SqliteStatement => {
    const known = prepared.get(sql) ?? database.prepare(sql);
    prepared.set(sql, known);
    return known;
  };
  const sql = statements(SQLITE);
  const run = (text: string, values: readonly SqlValue[]) => Number(prepare(text).run(...values).changes);

  const adapter: SqlDatabase = {
    dialect: SQLITE,
    put: (row: InboxRow) => queue.write(() => (run(sql.put, rowValues(row)) === 1 ? 'stored' : 'duplicate')),
    settle: (settlement: Settlement) =>
      queue.write(() => {
        const [settled] = prepare(sql.settle).all(...settlementValues(settlement)) as SqlRow[];
        if (settled === undefined) return false;
        if ('order' in settlement && settlement.order !== null) run(sql.advance, orderValues(settlement.order));
        if (settled.transaction_id !== null) run(sql.release, [String(settled.transaction_id)]);
        return true;
      }),
    release: (transactions) =>
      queue.write(() => {
        for (const each of transactions) run(sql.release, [each]);
      }),
    async read(text, values = []) {
      return prepare(text).all(...values) as SqlRow[];
    },
    write: (text, values = []) =>
      queue.write(() => {
        // A statement that returns rows must be read completely, and does not report the number of changes.
        if (!/\bRETURNING\b/.test(text)) return { rows: [], changes: run(text, values) };
        const rows = prepare(text).all(...values) as SqlRow[];
        return { rows, changes: rows.length };
      }),
    async probe(byWriting) {
      checkFiles();
      if (byWriting) await queue.write(() => database.exec(sql.probe));
    },
    async close() {
      // Waits for the last write in the queue. Earlier writes are on disk, or were rejected because another process was
      // writing.
      await queue.write(() => {}).catch(() => {});
      prepared.clear();
      database.close();
    },
  };
  return sqlInbox(adapter, owner);
}

interface Write {
  readonly since: number;
  readonly run: () => void;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Returns a queue that commits all writes of one turn of the event loop in one transaction. The writes resolve when the
 * transaction is on disk. `checkFiles` throws when the path no longer refers to the open file.
 */
function writeQueue(database: SqliteDatabase, checkFiles: () => void, meter: InboxMeter) {
  const waiting: Write[] = [];
  let scheduled = false;
  let filesChanged = false;

  const schedule = () => {
    if (scheduled || waiting.length === 0) return;
    scheduled = true;
    setImmediate(commit);
  };
  const commit = () => {
    scheduled = false;
    if (waiting.length === 0) return;
    const startedAt = performance.now();
    try {
      // Stops writing to a file that is gone. Otherwise, claims whose handlers never run would use up attempts.
      if (filesChanged) checkFiles();
      database.exec('BEGIN IMMEDIATE');
    } catch (error) {
      // Nothing has been written yet, so the writes can be retried later without blocking the event loop.
      const isLate = ({ since }: Write) => !isBusy(error) || startedAt - since >= BUSY_MS;
      for (const { reject } of waiting.splice(0, waiting.filter(isLate).length)) reject(error);
      scheduled = waiting.length > 0;
      if (scheduled) setTimeout(commit, RETRY_MS);
      return;
    }
    let batch = waiting.splice(0, MAX_BATCH);
    try {
      batch = runAll(database, batch);
      database.exec('COMMIT');
      filesChanged = true;
      checkFiles();
      filesChanged = false;
    } catch (error) {
      rollBack(database);
      for (const { reject } of batch) reject(error);
      schedule();
      return;
    }
    meter.committed(batch.length, (performance.now() - startedAt) / 1000);
    for (const { resolve } of batch) resolve();
    schedule();
  };
  return {
    write<T>(run: () => T): Promise<T> {
      return new Promise((resolve, reject) => {
        let result: T;
        waiting.push({
          since: performance.now(),
          run: () => {
            result = run();
          },
          resolve: () => resolve(result),
          reject,
        });
        schedule();
      });
    },
  };
}

/**
 * Runs the writes in the open transaction. Returns the writes that succeeded; a write that fails does not affect the
 * others.
 */
function runAll(database: SqliteDatabase, batch: Write[]): Write[] {
  try {
    for (const { run } of batch) run();
    return batch;
  } catch (error) {
    if (batch.length === 1) throw error;
  }
  // Repeats the writes in a slower way, in which each can be undone separately.
  rollBack(database);
  database.exec('BEGIN IMMEDIATE');
  return batch.filter(({ run, reject }) => {
    database.exec('SAVEPOINT one');
    try {
      run();
    } catch (error) {
      undoOne(database, error);
      reject(error);
      return false;
    }
    database.exec('RELEASE one');
    return true;
  });
}

/** Undoes one write. Throws its error when it has ended the whole transaction, as a full disk does. */
function undoOne(database: SqliteDatabase, error: unknown): void {
  try {
    database.exec('ROLLBACK TO one; RELEASE one');
  } catch {
    throw error;
  }
}

function rollBack(database: SqliteDatabase): void {
  try {
    database.exec('ROLLBACK');
  } catch {
    // Some errors, such as a full disk, have already rolled the transaction back.
  }
}
