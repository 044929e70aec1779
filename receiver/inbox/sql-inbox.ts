/** An inbox on a database. What is the same for SQLite and PostgreSQL is here; each brings its way to write many rows at once. */
import type { Dialect } from './dialect.ts';
import { bytesOf, listEntries, replayEntries } from './entries.ts';
import { type Filing, fileDelivery } from './filing.ts';
import type { ClaimedEntry, DurableInbox, EntryState, Settlement } from './inbox.ts';
import { statements } from './statements.ts';

export type SqlValue = string | number | null | Buffer;
export type SqlRow = Readonly<Record<string, unknown>>;

/** What a database has to offer. Every method rejects when the database does, and is tried anew by the next call. */
export interface SqlDatabase {
  readonly dialect: Dialect;
  /** Inserts a row unless its id is there, together with others that come at the same time; resolves when it is durable. */
  put(filing: Filing): Promise<'stored' | 'duplicate'>;
  /** Ends a claim, together with others. False when the claim is not ours any more. */
  settle(settlement: Settlement): Promise<boolean>;
  /** Lets the heads of transactions be claimed. */
  release(transactions: readonly string[]): Promise<void>;
  read(sql: string, values?: readonly SqlValue[]): Promise<readonly SqlRow[]>;
  /** Runs one statement that changes rows, and gives those that it returns. Resolves when it is durable. */
  write(
    sql: string,
    values?: readonly SqlValue[],
  ): Promise<{ readonly rows: readonly SqlRow[]; readonly changes: number }>;
  close(): Promise<void>;
}

/** The error of an entry whose receiver went away in the middle. */
const GONE = 'the receiver that handled it ended, or lost its lease';

/** How many entries a claim looks at in one step when those that are due first cannot run yet, and how many steps it takes when it has found something. */
const LOOK_AT = 256;
const STEPS = 8;
/** How often it is looked whether a release was lost, in milliseconds. That takes a crash at the wrong moment. */
const SWEEP_MS = 60_000;

/** `owner` tells this receiver from every other on the same database. */
export function sqlInbox(database: SqlDatabase, owner: string): DurableInbox {
  const { dialect } = database;
  const sql = statements(dialect);
  let sweepAt = 0;
  return {
    durable: true,
    put: async (delivery) => database.put(fileDelivery(delivery)),
    async claim(limit, leaseMs) {
      const claimed: SqlRow[] = [];
      let lookAt = limit;
      for (let step = 1; claimed.length === 0 || step <= STEPS; step += 1) {
        const { rows } = await database.write(sql.claim, [limit - claimed.length, owner, leaseMs, lookAt]);
        claimed.push(...rows.filter(({ state }) => state === 'running'));
        // All that is due was looked at, or there are enough.
        if (rows.length < lookAt || claimed.length >= limit) break;
        lookAt = LOOK_AT;
      }
      return claimed.toSorted((one, other) => Number(one.seq) - Number(other.seq)).map(readClaim);
    },
    settle: (settlement) => database.settle(settlement),
    async extend(claims, leaseMs) {
      if (claims.length === 0) return;
      const ids = claims.map(({ id }) => id);
      await database.write(sql.extend(ids.length), [owner, leaseMs, ...ids]);
    },
    async recover(maxAttempts) {
      const { rows } = await database.write(sql.reclaim, [maxAttempts, GONE]);
      await database.release(transactionsOf(rows));
      if (dialect.shared && performance.now() >= sweepAt) {
        sweepAt = performance.now() + SWEEP_MS;
        await database.write(sql.releaseMissed);
        await database.write(sql.releaseRefunds);
      }
      return rows.length;
    },
    async nextDueMs() {
      const [row] = await database.read(sql.nextDue);
      return row?.due_in == null ? null : Math.max(0, Number(row.due_in));
    },
    async depths() {
      const rows = await database.read(sql.depths);
      const of = (state: EntryState) => Number(rows.find((row) => row.state === state)?.entries ?? 0);
      return { pending: of('pending'), running: of('running'), dead: of('dead') };
    },
    async ping() {
      await database.read('SELECT 1 AS one');
    },
    list: (filter, page) => listEntries(database, filter, page),
    replay: (filter) => replayEntries(database, filter),
    close: () => database.close(),
  };
}

/** Each transaction of some rows, once. */
export function transactionsOf(rows: readonly SqlRow[]): string[] {
  return [...new Set(rows.map((row) => textOf(row.transaction_id)))].filter((each) => each !== null);
}

function readClaim(row: SqlRow): ClaimedEntry {
  return {
    id: String(row.id),
    rawBody: bytesOf(row.body),
    receivedAt: new Date(Number(row.received_at)),
    attempt: Number(row.attempts),
    owner: String(row.owner),
    progress: row.order_rank == null ? null : { rank: Number(row.order_rank), at: Number(row.order_at) },
    failedSellSeen: row.sell_failed == null ? null : Number(row.sell_failed) === 1,
  };
}

const textOf = (value: unknown) => (value == null ? null : String(value));
