/** Lists, counts, replays and prunes stored entries on both databases. Used by receivers and by `hookproof inbox`. */
import type { EntryFilter, EntryPage, EntryState, EntrySummary, InboxEntry } from './inbox.ts';
import { storableKey } from './inbox-row.ts';
import type { SqlDialect } from './schema.ts';

export type SqlValue = string | number | null | Buffer;
export type SqlRow = Readonly<Record<string, unknown>>;

/** The database access that this module needs. Each statement is a separate transaction. */
export interface EntryDatabase {
  readonly dialect: SqlDialect;
  read(sql: string, values?: readonly SqlValue[]): Promise<readonly SqlRow[]>;
  write(sql: string, values?: readonly SqlValue[]): Promise<{ readonly changes: number }>;
}

/**
 * Access to a stored inbox that receivers may be using. All methods process pages of entries, so that no receiver has
 * to wait long.
 */
export interface InboxArchive {
  /** Returns the number of entries in each state. */
  count(filter: EntryFilter): Promise<ReadonlyMap<EntryState, number>>;
  summaries(filter: EntryFilter, page: EntryPage): Promise<EntrySummary[]>;
  entries(filter: EntryFilter, page: EntryPage): Promise<InboxEntry[]>;
  /**
   * Yields every entry that exists when the method is called, once, in the order of arrival. Each entry is in the state
   * in which its page was read.
   */
  everything(filter: EntryFilter): AsyncGenerator<InboxEntry, void, undefined>;
  /**
   * Makes entries due again with all their attempts, except running entries. Resolves with the number of changed
   * entries.
   */
  replay(filter: EntryFilter): Promise<number>;
  /**
   * Deletes entries that were done or superseded before this time, and the progress of their orders. Resolves with the
   * number of deleted entries.
   */
  prune(before: Date): Promise<number>;
  close(): Promise<void>;
}

/** Number of entries per page. Each contains a body, which can be as large as the receiver's body limit. */
const ENTRIES_PER_PAGE = 50;
/** Number of rows that are changed in one transaction. */
const CHANGES_PER_PAGE = 200;

export function inboxArchive(database: EntryDatabase & { close(): Promise<void> }): InboxArchive {
  const { dialect, read, write } = database;
  const newest = async () => {
    const [row] = await read('SELECT MAX(seq) AS newest FROM hookproof_inbox');
    return Number(row?.newest ?? 0);
  };
  async function* pages<Entry extends { readonly seq: number }>(
    list: (database: EntryDatabase, filter: EntryFilter, page: EntryPage) => Promise<Entry[]>,
    filter: EntryFilter,
    limit: number,
  ): AsyncGenerator<Entry[], void, undefined> {
    const existing = { ...filter, upToSeq: await newest() };
    let afterSeq = 0;
    while (true) {
      const page = await list(database, existing, { limit, afterSeq });
      const last = page.at(-1);
      if (last === undefined) return;
      afterSeq = last.seq;
      yield page;
    }
  }
  const idPages = (filter: EntryFilter) => pages(listSummaries, filter, CHANGES_PER_PAGE);
  const parameters = (values: readonly string[]) => values.map((_, at) => dialect.parameter(at + 1)).join(', ');

  /** Deletes the progress of orders that no longer have entries. */
  async function pruneOrders(before: Date): Promise<void> {
    while (true) {
      // The rows are selected without a lock, and deleted by another statement.
      const rows = await read(
        `SELECT order_key FROM hookproof_orders WHERE at < ${dialect.parameter(1)} AND
          SUBSTR(order_key, CASE WHEN order_key LIKE 'CAAS_BUY %' THEN 10 ELSE 11 END)
            NOT IN (SELECT transaction_id FROM hookproof_inbox WHERE transaction_id IS NOT NULL)
         LIMIT ${CHANGES_PER_PAGE}`,
        [before.getTime()],
      );
      if (rows.length === 0) return;
      const keys = rows.map((row) => String(row.order_key));
      await write(`DELETE FROM hookproof_orders WHERE order_key IN (${parameters(keys)})`, keys);
    }
  }
  return {
    count: (filter) => countEntries(database, filter),
    summaries: (filter, page) => listSummaries(database, filter, page),
    entries: (filter, page) => listEntries(database, filter, page),
    async *everything(filter) {
      for await (const page of pages(listEntries, filter, ENTRIES_PER_PAGE)) yield* page;
    },
    async replay(filter) {
      let replayed = 0;
      for await (const page of idPages(filter)) {
        replayed += await replayEntries(database, { ...filter, ids: page.map(({ id }) => id) });
      }
      return replayed;
    },
    async prune(before) {
      let pruned = 0;
      for await (const page of idPages({ states: ['done', 'superseded'], settledBefore: before })) {
        const ids = page.map(({ id }) => id);
        // The condition is repeated, because an entry may have been replayed since it was selected.
        const sql = `DELETE FROM hookproof_inbox WHERE id IN (${parameters(ids)}) AND state IN ('done', 'superseded')`;
        pruned += (await write(sql, ids)).changes;
      }
      await pruneOrders(before);
      return pruned;
    },
    close: () => database.close(),
  };
}

const COLUMNS = `seq, id, kind, type, transaction_id, status, at, received_at, state, attempts, due_at, last_error,
  settled_at, LENGTH(body) AS body_bytes`;

/** Lists one page of entries with their bodies, in the order of arrival. */
export async function listEntries(
  database: EntryDatabase,
  filter: EntryFilter,
  page: EntryPage,
): Promise<InboxEntry[]> {
  return (await selectPage(database, `${COLUMNS}, body`, filter, page)).map((row) => ({
    ...readSummary(row),
    rawBody: toBuffer(row.body),
  }));
}

/** Lists one page of entries without their bodies, which take most of the space. */
async function listSummaries(database: EntryDatabase, filter: EntryFilter, page: EntryPage): Promise<EntrySummary[]> {
  return (await selectPage(database, COLUMNS, filter, page)).map(readSummary);
}

function selectPage(
  { dialect, read }: EntryDatabase,
  columns: string,
  filter: EntryFilter,
  { limit, afterSeq, newestFirst = false }: EntryPage,
): Promise<readonly SqlRow[]> {
  const { where, values } = conditions(filter, dialect);
  const from = afterSeq ?? (newestFirst ? Number.MAX_SAFE_INTEGER : 0);
  const isBeyond = `seq ${newestFirst ? '<' : '>'} ${dialect.parameter(values.length + 1)}`;
  return read(
    `SELECT ${columns} FROM hookproof_inbox WHERE ${where} AND ${isBeyond}
     ORDER BY seq ${newestFirst ? 'DESC' : 'ASC'} LIMIT ${dialect.parameter(values.length + 2)}`,
    [...values, from, limit],
  );
}

/** Counts the entries in each state. States without entries are absent. */
async function countEntries(
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

/**
 * Makes entries due again with all their attempts, except running entries. Resolves with the number of changed entries.
 */
export async function replayEntries({ dialect, write }: EntryDatabase, filter: EntryFilter): Promise<number> {
  const { where, values } = conditions(filter, dialect);
  const { changes } = await write(
    `UPDATE hookproof_inbox SET state = 'pending', attempts = 0, due_at = ${dialect.now}, settled_at = NULL
     WHERE state <> 'running' AND ${where}`,
    values,
  );
  return changes;
}

/** Converts a filter to SQL, with parameters numbered from 1. */
function conditions(filter: EntryFilter, { parameter }: SqlDialect): { where: string; values: SqlValue[] } {
  const values: SqlValue[] = [];
  const add = (value: SqlValue) => parameter(values.push(value));
  const anyOf = (column: string, wanted: readonly string[]) => `${column} IN (${wanted.map(add).join(', ') || 'NULL'})`;
  const before = (column: string, time: Date) => `${column} < ${add(time.getTime())}`;
  const parts = [
    filter.ids && anyOf('id', filter.ids.flatMap(possibleKeys)),
    filter.idPrefix === undefined ? undefined : startsWith('id', filter.idPrefix, add),
    filter.states && anyOf('state', filter.states),
    filter.kinds && anyOf('kind', filter.kinds),
    filter.transactionId === undefined ? undefined : anyOf('transaction_id', possibleKeys(filter.transactionId)),
    filter.since && `received_at >= ${add(filter.since.getTime())}`,
    filter.until && before('received_at', filter.until),
    filter.settledBefore && before('settled_at', filter.settledBefore),
    filter.upToSeq === undefined ? undefined : `seq <= ${add(filter.upToSeq)}`,
  ];
  return { where: ['1 = 1', ...parts.filter((part) => part !== undefined)].join(' AND '), values };
}

/** Returns both spellings of a key: as it is in the notification, and as it is stored and shown. */
function possibleKeys(key: string): string[] {
  return [...new Set([key, storableKey(key)])];
}

function startsWith(column: string, prefix: string, add: (value: SqlValue) => string): string {
  // LIKE is not used, because it ignores letter case in SQLite.
  return `SUBSTR(${column}, 1, ${add(Array.from(prefix).length)}) = ${add(prefix)}`;
}

function readSummary(row: SqlRow): EntrySummary {
  return {
    seq: Number(row.seq),
    id: String(row.id),
    kind: String(row.kind),
    type: String(row.type),
    transactionId: toText(row.transaction_id),
    status: toText(row.status),
    at: toTime(row.at),
    receivedAt: new Date(Number(row.received_at)),
    state: row.state as EntryState,
    attempts: Number(row.attempts),
    dueAt: row.state === 'pending' ? toTime(row.due_at) : null,
    lastError: toText(row.last_error),
    settledAt: toTime(row.settled_at),
    bodyBytes: Number(row.body_bytes),
  };
}

export function toText(value: unknown): string | null {
  return value == null ? null : String(value);
}

function toTime(value: unknown): Date | null {
  return value == null ? null : new Date(Number(value));
}

/** Converts a value from a database to a Buffer without copying it. SQLite returns a Uint8Array. */
export function toBuffer(value: unknown): Buffer {
  const bytes = value as Uint8Array;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
