/** Looking at entries, and putting them back: the same for the receiver and for whoever looks into its inbox from outside. */
import type { Dialect } from './dialect.ts';
import { storableKey } from './filing.ts';
import type { EntryFilter, EntryPage, EntryState, EntrySummary, InboxEntry } from './inbox.ts';
import type { SqlRow, SqlValue } from './sql-inbox.ts';

/** What has to be there to work with entries. Each statement is a transaction of its own. */
export interface EntryDatabase {
  readonly dialect: Dialect;
  read(sql: string, values?: readonly SqlValue[]): Promise<readonly SqlRow[]>;
  write(sql: string, values?: readonly SqlValue[]): Promise<{ readonly changes: number }>;
}

const COLUMNS =
  'seq, id, kind, type, transaction_id, status, at, received_at, state, attempts, due_at, last_error, settled_at, LENGTH(body) AS body_bytes';

/** In the order of arrival, with their bodies. */
export async function listEntries(
  database: EntryDatabase,
  filter: EntryFilter,
  page: EntryPage,
): Promise<InboxEntry[]> {
  return (await selectPage(database, `${COLUMNS}, body`, filter, page)).map((row) => ({
    ...readSummary(row),
    rawBody: bytesOf(row.body),
  }));
}

/** The same without their bodies, which are most of what is stored. */
export async function listSummaries(
  database: EntryDatabase,
  filter: EntryFilter,
  page: EntryPage,
): Promise<EntrySummary[]> {
  return (await selectPage(database, COLUMNS, filter, page)).map(readSummary);
}

function selectPage(
  { dialect, read }: EntryDatabase,
  columns: string,
  filter: EntryFilter,
  { limit, afterSeq, newestFirst = false }: EntryPage,
): Promise<readonly SqlRow[]> {
  const { where, values } = conditions(filter, dialect);
  const beyond = afterSeq ?? (newestFirst ? Number.MAX_SAFE_INTEGER : 0);
  return read(
    `SELECT ${columns} FROM hookproof_inbox WHERE ${where} AND seq ${newestFirst ? '<' : '>'} ${dialect.parameter(values.length + 1)}
     ORDER BY seq ${newestFirst ? 'DESC' : 'ASC'} LIMIT ${dialect.parameter(values.length + 2)}`,
    [...values, beyond, limit],
  );
}

/** How many are in each state; none of those of which there are none. */
export async function countEntries(
  { dialect, read }: EntryDatabase,
  filter: EntryFilter,
): Promise<ReadonlyMap<EntryState, number>> {
  const { where, values } = conditions(filter, dialect);
  const rows = await read(
    `SELECT state, COUNT(*) AS entries FROM hookproof_inbox WHERE ${where} GROUP BY state`,
    values,
  );
  return new Map(rows.map(({ state, entries }) => [state as EntryState, Number(entries)]));
}

/** Makes entries due again, with all their attempts before them. What is running is left alone. Gives how many it were. */
export async function replayEntries({ dialect, write }: EntryDatabase, filter: EntryFilter): Promise<number> {
  const { where, values } = conditions(filter, dialect);
  const { changes } = await write(
    `UPDATE hookproof_inbox SET state = 'pending', attempts = 0, due_at = ${dialect.now}, settled_at = NULL
     WHERE state <> 'running' AND ${where}`,
    values,
  );
  return changes;
}

/** A filter as SQL, with its parameters from 1 on. */
function conditions(filter: EntryFilter, { parameter }: Dialect): { where: string; values: SqlValue[] } {
  const values: SqlValue[] = [];
  const add = (value: SqlValue) => parameter(values.push(value));
  const anyOf = (column: string, wanted: readonly string[]) => `${column} IN (${wanted.map(add).join(', ') || 'NULL'})`;
  const before = (column: string, time: Date) => `${column} < ${add(time.getTime())}`;
  const parts = [
    filter.ids && anyOf('id', filter.ids.flatMap(spellings)),
    filter.idPrefix === undefined ? undefined : startsWith('id', filter.idPrefix, add),
    filter.states && anyOf('state', filter.states),
    filter.kinds && anyOf('kind', filter.kinds),
    filter.transactionId === undefined ? undefined : anyOf('transaction_id', spellings(filter.transactionId)),
    filter.since && `received_at >= ${add(filter.since.getTime())}`,
    filter.until && before('received_at', filter.until),
    filter.settledBefore && before('settled_at', filter.settledBefore),
    filter.upToSeq === undefined ? undefined : `seq <= ${add(filter.upToSeq)}`,
  ];
  return { where: ['1 = 1', ...parts.filter((part) => part !== undefined)].join(' AND '), values };
}

/** As it came, or as it is stored and shown. */
function spellings(key: string): string[] {
  return [...new Set([key, storableKey(key)])];
}

function startsWith(column: string, prefix: string, add: (value: SqlValue) => string): string {
  // Not LIKE: SQLite takes upper and lower case for the same there.
  return `SUBSTR(${column}, 1, ${add(Array.from(prefix).length)}) = ${add(prefix)}`;
}

function readSummary(row: SqlRow): EntrySummary {
  return {
    seq: Number(row.seq),
    id: String(row.id),
    kind: String(row.kind),
    type: String(row.type),
    transactionId: textOf(row.transaction_id),
    status: textOf(row.status),
    at: timeOf(row.at),
    receivedAt: new Date(Number(row.received_at)),
    state: row.state as EntryState,
    attempts: Number(row.attempts),
    dueAt: row.state === 'pending' ? timeOf(row.due_at) : null,
    lastError: textOf(row.last_error),
    settledAt: timeOf(row.settled_at),
    bodyBytes: Number(row.body_bytes),
  };
}

const textOf = (value: unknown) => (value == null ? null : String(value));
const timeOf = (value: unknown) => (value == null ? null : new Date(Number(value)));

/** Without a copy: SQLite gives a Uint8Array. */
export function bytesOf(value: unknown): Buffer {
  const bytes = value as Uint8Array;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
