/** Reads the inbox with SQL, and the file in which the handlers record what they did, without using the receiver. */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { loadSqlite } from '../../../receiver/inbox/sqlite-database.ts';

interface StoredRow {
  readonly id: string;
  readonly state: string;
}

/** Returns every row of the inbox. */
export async function storedRows(url: string): Promise<StoredRow[]> {
  return query(url, 'SELECT id, state FROM hookproof_inbox');
}

/** Returns how many entries are not settled yet. */
export async function unsettled(url: string): Promise<number> {
  const [row] = await query<{ count: number | string }>(
    url,
    "SELECT COUNT(*) AS count FROM hookproof_inbox WHERE state IN ('pending', 'running')",
  );
  return Number(row?.count);
}

/**
 * Returns true if no entry is open. Reads at most one row, because repeatedly counting hundreds of thousands of rows
 * would itself cause load.
 */
export async function isSettled(url: string): Promise<boolean> {
  const one = (state: string) =>
    `SELECT * FROM (SELECT id FROM hookproof_inbox WHERE state = '${state}' LIMIT 1) AS ${state}`;
  return (await query(url, `${one('pending')} UNION ALL ${one('running')}`)).length === 0;
}

export async function query<Row = StoredRow>(url: string, sql: string): Promise<Row[]> {
  if (url.startsWith('file:')) {
    const { DatabaseSync } = await loadSqlite();
    const database = new DatabaseSync(fileURLToPath(url));
    try {
      database.exec('PRAGMA busy_timeout = 5000');
      return database.prepare(sql).all() as Row[];
    } finally {
      database.close();
    }
  }
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows as Row[];
  } finally {
    await client.end();
  }
}

/**
 * One run of a handler. Times are in microseconds of the machine's clock. `endedAt` is null if the run was interrupted.
 */
export interface HandlerRun {
  readonly pid: number;
  readonly id: string;
  readonly attempt: number;
  readonly transactionId: string;
  readonly startedAt: number;
  endedAt: number | null;
}

/** Returns the runs that `recording-handlers.mjs` has recorded in a file. */
export function handlerRuns(file: string): HandlerRun[] {
  const runs = new Map<string, HandlerRun>();
  const lines = existsSync(file) ? readFileSync(file, 'latin1').split('\n') : [];
  for (const line of lines) {
    const [word, pid = '', id = '', attempt = '', transactionId = '', at = ''] = line.split(' ');
    const key = `${pid} ${id} ${attempt}`;
    if (word === 'start') {
      const run = {
        pid: Number(pid),
        id,
        attempt: Number(attempt),
        transactionId,
        startedAt: Number(at),
        endedAt: null,
      };
      runs.set(key, run);
    }
    const run = runs.get(key);
    if (word === 'end' && run !== undefined) run.endedAt = Number(at);
  }
  return [...runs.values()];
}

export function endedIds(file: string): string[] {
  return handlerRuns(file)
    .filter(({ endedAt }) => endedAt !== null)
    .map(({ id }) => id);
}

/** Returns the ids that are in the first list but not in the second. */
export function missingFrom(one: Iterable<string>, other: Iterable<string>): string[] {
  const known = new Set(other);
  return [...new Set(one)].filter((each) => !known.has(each));
}

/** Polls until the condition holds. Throws an error that names `what` if this takes too long. */
export async function waitUntil(
  what: string,
  isSo: () => Promise<boolean> | boolean,
  withinMs = 60_000,
  everyMs = 25,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`not within ${withinMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
