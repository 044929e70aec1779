/** A file of SQLite, opened so that a commit is on the disk, and with the schema of today. */
import { closeSync, openSync } from 'node:fs';
import { HookproofError } from '../../contract/index.ts';
import { SQLITE } from './dialect.ts';
import { migrations } from './migrations.ts';
import type { SqlValue } from './sql-inbox.ts';

/** What is used of node:sqlite, for which Node 20 has no types. */
export interface SqliteDatabase {
  exec(sql: string): void;
  prepare(sql: string): SqliteStatement;
  close(): void;
}
export interface SqliteStatement {
  run(...values: readonly SqlValue[]): { changes: number | bigint };
  all(...values: readonly SqlValue[]): unknown[];
}

/** How long a statement waits for the lock of another process, in milliseconds: at the start, and later, when the event loop stands still meanwhile. */
const OPENING_BUSY_MS = 3000;
const BUSY_MS = 20;
/**
 * How long the log grows before its pages are written to the file: 16 MiB. Ids are random, so most pages of their index change again soon; four times
 * what is usual writes each of them to the file less often.
 */
const CHECKPOINT_PAGES = 4000;

/** Throws {@link HookproofError} `INBOX_OPEN`, `INBOX_SCHEMA`. */
export async function openSqlite(file: string): Promise<SqliteDatabase> {
  const { DatabaseSync } = await loadSqlite();
  let database: SqliteDatabase | undefined;
  try {
    // The notifications are personal data: SQLite itself would let everyone on the machine read them.
    closeSync(openSync(file, 'a', 0o600));
    database = new DatabaseSync(file);
    database.exec(`PRAGMA busy_timeout = ${OPENING_BUSY_MS}`);
    database.exec('PRAGMA journal_mode = WAL');
    // With NORMAL, what was acknowledged is lost when the power fails.
    database.exec('PRAGMA synchronous = FULL');
    database.exec('PRAGMA fullfsync = ON');
    database.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    migrate(database, file);
    database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
    return database;
  } catch (cause) {
    database?.close();
    if (cause instanceof HookproofError) throw cause;
    throw new HookproofError('INBOX_OPEN', `The inbox ${file} cannot be opened (${(cause as Error).message}).`, {
      hint: 'Does its folder exist, may this user write there, and is it a file of SQLite?',
      cause,
    });
  }
}

/** The version stands in the header of the file. */
function migrate(database: SqliteDatabase, file: string): void {
  const steps = migrations(SQLITE);
  const version = () =>
    Number((database.prepare('PRAGMA user_version').all()[0] as { user_version: number }).user_version);
  if (version() > steps.length) {
    throw new HookproofError('INBOX_SCHEMA', `The inbox ${file} was written by a newer version of this program.`, {
      hint: 'Use that version, or another file.',
    });
  }
  database.exec('BEGIN IMMEDIATE');
  for (const step of steps.slice(version())) for (const statement of step) database.exec(statement);
  database.exec(`PRAGMA user_version = ${steps.length}`);
  database.exec('COMMIT');
}

/** Node's own SQLite where Node has it, else the package with the same interface. */
export async function loadSqlite(): Promise<{
  DatabaseSync: {
    new (file: string, options?: { readOnly: boolean }): SqliteDatabase;
    prototype: SqliteDatabase;
  };
}> {
  try {
    // In a variable, so that no compiler looks for a module that Node 20 lacks.
    const builtIn = 'node:sqlite';
    return await import(builtIn);
  } catch {
    return await import('@photostructure/sqlite');
  }
}
