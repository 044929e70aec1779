/** A file of SQLite that a receiver made, opened beside it. */
import { stat } from 'node:fs/promises';
import { HookproofError } from '../../contract/index.ts';
import { type InboxArchive, inboxArchive } from './archive.ts';
import { SQLITE } from './dialect.ts';
import { migrations } from './migrations.ts';
import type { SqlRow } from './sql-inbox.ts';
import { loadSqlite, type SqliteDatabase } from './sqlite-database.ts';

/** How long it waits while the receiver writes, in milliseconds. Who reads never waits. */
const BUSY_TIMEOUT_MS = 5000;

/** Throws `HookproofError` `INBOX_MISSING`, `INBOX_OPEN`, `INBOX_SCHEMA`. Makes neither a file nor a table. */
export async function sqliteArchive(file: string, { readOnly }: { readOnly: boolean }): Promise<InboxArchive> {
  const found = await stat(file).catch(() => null);
  if (found?.isFile() !== true) {
    throw new HookproofError('INBOX_MISSING', `there is no inbox at ${file}`, {
      hint: 'Is the path right? It counts from the folder that you are in. `hookproof receiver --inbox` makes an inbox.',
    });
  }
  const database = await open(file, readOnly);
  return inboxArchive({
    dialect: SQLITE,
    read: async (sql, values = []) => database.prepare(sql).all(...values) as SqlRow[],
    write: async (sql, values = []) => ({ changes: Number(database.prepare(sql).run(...values).changes) }),
    close: async () => database.close(),
  });
}

async function open(file: string, readOnly: boolean): Promise<SqliteDatabase> {
  const { DatabaseSync } = await loadSqlite();
  let database: SqliteDatabase | undefined;
  try {
    database = new DatabaseSync(file, { readOnly });
    database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    // The notifications are personal data: what is removed is overwritten.
    if (!readOnly) database.exec('PRAGMA secure_delete = ON');
    checkSchema(database, file);
    return database;
  } catch (cause) {
    database?.close();
    if (cause instanceof HookproofError) throw cause;
    throw new HookproofError('INBOX_OPEN', `the inbox ${file} cannot be opened (${(cause as Error).message})`, {
      hint: 'Is it a file of SQLite, and may this user read it, and write to its folder?',
      cause,
    });
  }
}

function checkSchema(database: SqliteDatabase, file: string): void {
  const [row] = database.prepare('PRAGMA user_version').all() as { user_version: number }[];
  const tables = database.prepare("SELECT name FROM sqlite_master WHERE name = 'hookproof_inbox'").all();
  if (tables.length === 0) {
    throw new HookproofError('INBOX_MISSING', `${file} is a database, and no inbox`, {
      hint: 'Name the file that `hookproof receiver --inbox` was given.',
    });
  }
  if (Number(row?.user_version) === migrations(SQLITE).length) return;
  throw new HookproofError('INBOX_SCHEMA', `the inbox ${file} was written by another version of this program`, {
    hint: 'Use the version of its receiver. A newer receiver changes an older inbox when it starts.',
  });
}
