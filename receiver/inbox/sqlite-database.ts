/** Opens a SQLite file with the current schema, for a receiver or as an archive. Every commit reaches the disk. */
import { accessSync, closeSync, constants, openSync, realpathSync, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { HookproofError } from '../../contract/index.ts';
import { loadOptional } from '../../contract/optional-package.ts';
import { type InboxArchive, inboxArchive, type SqlRow, type SqlValue } from './entries.ts';
import { migrations, SQLITE } from './schema.ts';
import { checkLog, checkPages, damagedFile, isDamage, sqliteCode } from './sqlite-damage.ts';

/** The part of node:sqlite that is used here. The type definitions of Node 20 lack this module. */
export interface SqliteDatabase {
  exec(sql: string): void;
  prepare(sql: string): SqliteStatement;
  close(): void;
}
export interface SqliteStatement {
  run(...values: readonly SqlValue[]): { changes: number | bigint };
  all(...values: readonly SqlValue[]): unknown[];
}

/**
 * Maximum time, in milliseconds, that a statement waits for the lock of another process: while opening; later, when
 * waiting blocks the event loop; and in an archive, which blocks no receiver.
 */
const OPENING_BUSY_MS = 3000;
const BUSY_MS = 20;
const ARCHIVE_BUSY_MS = 5000;
/**
 * Size of the write-ahead log, in pages, at which SQLite copies it into the file: 16 MiB. Ids are random, so most pages
 * of their index change again soon. With four times SQLite's default, each page is written less often.
 */
const CHECKPOINT_PAGES = 4000;

/** An open database, and what its receiver needs to know about the file. */
interface OpenSqlite {
  readonly database: SqliteDatabase;
  /** Throws when the path no longer refers to the open file: everything that is written to that file would be lost. */
  readonly checkFiles: () => void;
  /** False when the file is too large to be checked for damage at start-up. */
  readonly checked: boolean;
}

/**
 * Opens or creates the inbox of a receiver. Throws {@link HookproofError} (`INBOX_OPEN`, `INBOX_SCHEMA`,
 * `INBOX_DAMAGED`).
 */
export async function openSqlite(given: string): Promise<OpenSqlite> {
  const { DatabaseSync } = await loadSqlite();
  const file = resolve(given);
  let database: SqliteDatabase | undefined;
  try {
    // Notifications are personal data, and SQLite would create a file that every user of the machine can read.
    closeSync(openSync(file, 'a', 0o600));
    // If the path is a symbolic link, the log is next to the target.
    const path = realpathSync(file);
    // SQLite creates its log in this folder, but its error message would not name the folder.
    accessSync(dirname(path), constants.W_OK);
    checkLog(path);
    database = new DatabaseSync(path);
    database.exec(`PRAGMA busy_timeout = ${OPENING_BUSY_MS}`);
    const checked = checkPages(database, path);
    database.exec('PRAGMA journal_mode = WAL');
    // With NORMAL, a power failure would lose acknowledged notifications.
    database.exec('PRAGMA synchronous = FULL');
    database.exec('PRAGMA fullfsync = ON');
    database.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    migrate(database, file);
    endLeases(database);
    database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
    return { database, checkFiles: watchFiles([file, `${path}-wal`]), checked };
  } catch (cause) {
    database?.close();
    if (cause instanceof HookproofError) throw cause;
    const { message } = cause as Error;
    if (isDamage(cause)) throw damagedFile(file, message);
    throw new HookproofError('INBOX_OPEN', `The inbox ${file} cannot be opened (${message}).`, {
      hint:
        'Check that the folder exists, that this user can write to it and to the file, that the disk is neither ' +
        'read-only nor full, and that the file is a SQLite database.',
      cause,
    });
  }
}

/**
 * Ends all leases when no other process has the file open, because their receivers are then gone. This needs no clock,
 * which may have been set back. If another process has the file open, it could be a receiver, so leases end only when
 * they expire.
 */
function endLeases(database: SqliteDatabase): void {
  // In this mode, a write takes a lock that excludes every other connection.
  database.exec('PRAGMA busy_timeout = 0; PRAGMA locking_mode = EXCLUSIVE');
  try {
    database.exec('BEGIN IMMEDIATE');
    database.exec("UPDATE hookproof_inbox SET lease_until = 0 WHERE state = 'running'; COMMIT");
  } catch (error) {
    if (!isBusy(error)) throw error;
  }
  database.exec('PRAGMA locking_mode = NORMAL');
  // SQLite releases the lock at the next access to the file.
  schemaVersion(database);
}

/** Returns true when SQLite reports that another process holds the lock. */
export function isBusy(error: unknown): boolean {
  const BUSY = 5;
  return sqliteCode(error) === BUSY;
}

/** Records to which files these paths refer, and returns a function that throws when that has changed. */
function watchFiles(paths: readonly string[]): () => void {
  const files = paths.map((path) => {
    const { ino, dev } = statSync(path);
    return { path, ino, dev };
  });
  return () => {
    for (const { path, ino, dev } of files) {
      const found = statSync(path, { throwIfNoEntry: false });
      if (found?.ino === ino && found.dev === dev) continue;
      throw new Error(
        `${path} was removed or replaced while the receiver had it open: ` +
          'put it back, or restart the receiver to use the new file',
      );
    }
  };
}

function migrate(database: SqliteDatabase, file: string): void {
  const steps = migrations(SQLITE);
  if (schemaVersion(database) > steps.length) {
    throw new HookproofError('INBOX_SCHEMA', `The inbox ${file} was written by a newer version of this program.`, {
      hint: 'Use that version, or another file.',
    });
  }
  database.exec('BEGIN IMMEDIATE');
  for (const step of steps.slice(schemaVersion(database))) for (const statement of step) database.exec(statement);
  database.exec(`PRAGMA user_version = ${steps.length}`);
  database.exec('COMMIT');
}

/** Reads the version of the schema from the header of the file. */
function schemaVersion(database: SqliteDatabase): number {
  const [row] = database.prepare('PRAGMA user_version').all() as { user_version: number }[];
  return Number(row?.user_version);
}

/**
 * Opens an inbox that a receiver may be using. Creates neither a file nor a table. Throws `HookproofError`
 * (`INBOX_MISSING`, `INBOX_OPEN`, `INBOX_SCHEMA`).
 */
export async function sqliteArchive(file: string, { readOnly }: { readOnly: boolean }): Promise<InboxArchive> {
  const found = await stat(file).catch(() => null);
  if (found?.isFile() !== true) {
    throw new HookproofError('INBOX_MISSING', `there is no inbox at ${file}`, {
      hint: 'Check the path; it is relative to the current folder. `hookproof receiver --inbox` creates an inbox.',
    });
  }
  const database = await openExisting(file, readOnly);
  return inboxArchive({
    dialect: SQLITE,
    read: async (sql, values = []) => database.prepare(sql).all(...values) as SqlRow[],
    write: async (sql, values = []) => ({ changes: Number(database.prepare(sql).run(...values).changes) }),
    close: async () => database.close(),
  });
}

async function openExisting(file: string, readOnly: boolean): Promise<SqliteDatabase> {
  const { DatabaseSync } = await loadSqlite();
  let database: SqliteDatabase | undefined;
  try {
    database = new DatabaseSync(file, { readOnly });
    database.exec(`PRAGMA busy_timeout = ${ARCHIVE_BUSY_MS}`);
    // Overwrites deleted data, because notifications are personal data.
    if (!readOnly) database.exec('PRAGMA secure_delete = ON');
    checkSchema(database, file);
    return database;
  } catch (cause) {
    database?.close();
    if (cause instanceof HookproofError) throw cause;
    throw new HookproofError('INBOX_OPEN', `the inbox ${file} cannot be opened (${(cause as Error).message})`, {
      hint: 'Check that it is a SQLite file, and that this user can read it and write to its folder.',
      cause,
    });
  }
}

function checkSchema(database: SqliteDatabase, file: string): void {
  const tables = database.prepare("SELECT name FROM sqlite_master WHERE name = 'hookproof_inbox'").all();
  if (tables.length === 0) {
    throw new HookproofError('INBOX_MISSING', `${file} is a database, but not an inbox`, {
      hint: 'Name the file that was given to `hookproof receiver --inbox`.',
    });
  }
  if (schemaVersion(database) === migrations(SQLITE).length) return;
  throw new HookproofError('INBOX_SCHEMA', `the inbox ${file} was written by another version of this program`, {
    hint: 'Use the version of its receiver. A newer receiver upgrades an older inbox when it starts.',
  });
}

/** Loads node:sqlite if this version of Node has it, otherwise a package with the same interface. */
export async function loadSqlite(): Promise<{
  DatabaseSync: {
    new (file: string, options?: { readOnly: boolean }): SqliteDatabase;
    prototype: SqliteDatabase;
  };
}> {
  const { emitWarning } = process;
  try {
    // Node 22 warns once that the module is experimental. Users of the receiver cannot do anything about that.
    process.emitWarning = (warning: string | Error, ...rest: unknown[]) => {
      const isAboutSqlite = rest[0] === 'ExperimentalWarning' && String(warning).startsWith('SQLite');
      if (!isAboutSqlite) Reflect.apply(emitWarning, process, [warning, ...rest]);
    };
    // The name is in a variable, so that the compiler does not resolve a module that Node 20 lacks.
    const builtIn = 'node:sqlite';
    return await import(builtIn);
  } catch {
    return await loadOptional('@photostructure/sqlite', () => import('@photostructure/sqlite'));
  } finally {
    process.emitWarning = emitWarning;
  }
}
