/**
 * An inbox in a database. This part is common to SQLite and PostgreSQL; each has its own way to write many rows at
 * once.
 */
import {
  type EntryDatabase,
  listEntries,
  replayEntries,
  type SqlRow,
  type SqlValue,
  toBuffer,
  toText,
} from './entries.ts';
import type { ClaimedEntry, DurableInbox, EntryState, OrderStep, Settlement } from './inbox.ts';
import { type InboxRow, toInboxRow } from './inbox-row.ts';
import { statements } from './statements.ts';

/** The operations that a database provides. A method rejects when the database fails; the next call tries again. */
export interface SqlDatabase extends EntryDatabase {
  /** Inserts a row unless its id exists. Concurrent calls are batched. Resolves when the row is durable. */
  put(row: InboxRow): Promise<'stored' | 'duplicate'>;
  /**
   * Ends a claim. Concurrent calls are batched. Resolves with false if another receiver has since claimed the entry.
   */
  settle(settlement: Settlement): Promise<boolean>;
  /** Makes the first pending entry of each transaction claimable. */
  release(transactions: readonly string[]): Promise<void>;
  /**
   * Runs a statement that changes rows, and resolves with the rows of its RETURNING clause when the change is durable.
   */
  write(
    sql: string,
    values?: readonly SqlValue[],
  ): Promise<{ readonly rows: readonly SqlRow[]; readonly changes: number }>;
  /** Rejects when nothing can be stored. With `byWriting`, stores an entry and deletes it in the same transaction. */
  probe(byWriting: boolean): Promise<void>;
  close(): Promise<void>;
}

/** Stored as the error of an entry whose receiver disappeared during an attempt. */
const LEASE_EXPIRED = 'the receiver that handled it ended, or lost its lease';

/**
 * A claim inspects due entries in steps, because the first ones may not be able to run yet. The first step inspects as
 * many as are wanted, each further step `ENTRIES_PER_STEP`. After `MAX_STEPS` steps, a claim continues only if it has
 * not claimed any entry.
 */
const ENTRIES_PER_STEP = 256;
const MAX_STEPS = 8;
/** Interval between repairs of lost releases, in milliseconds. Releases are lost only in rare failures and crashes. */
const REPAIR_INTERVAL_MS = 60_000;
const CLOCK_TOLERANCE_MS = 1000;

/** Creates an inbox. `owner` distinguishes this receiver from others that use the same database. */
export function sqlInbox(database: SqlDatabase, owner: string): DurableInbox {
  const { dialect } = database;
  const sql = statements(dialect);
  let nextRepairAt = 0;
  let clockOffset = Number.NaN;
  let lastPutFailed = false;
  let probing: Promise<void> | undefined;
  return {
    durable: true,
    async put(delivery) {
      try {
        const stored = await database.put(toInboxRow(delivery));
        lastPutFailed = false;
        return stored;
      } catch (error) {
        lastPutFailed = true;
        throw error;
      }
    },
    async claim(limit, leaseMs) {
      const claimed: SqlRow[] = [];
      let inspect = limit;
      for (let step = 1; claimed.length === 0 || step <= MAX_STEPS; step += 1) {
        const { rows } = await database.write(sql.claim, [limit - claimed.length, owner, leaseMs, inspect]);
        claimed.push(...rows.filter(({ state }) => state === 'running'));
        // Every due entry was inspected, or enough entries were claimed.
        if (rows.length < inspect || claimed.length >= limit) break;
        inspect = ENTRIES_PER_STEP;
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
      const { rows } = await database.write(sql.reclaim, [maxAttempts, LEASE_EXPIRED]);
      await database.release(transactionsOf(rows));
      const repairs = dialect.shared && performance.now() >= nextRepairAt;
      if (repairs) {
        nextRepairAt = performance.now() + REPAIR_INTERVAL_MS;
        await database.write(sql.releaseMissed);
        await database.write(sql.releaseRefunds);
      }
      // Runs at the start, and after the clock of this machine was set. A database on another machine has its own
      // clock.
      const offset = Date.now() - performance.now();
      if (repairs || !(Math.abs(offset - clockOffset) < CLOCK_TOLERANCE_MS)) await database.write(sql.clockSetBack);
      clockOffset = offset;
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
    ping() {
      // All callers share one probe. Otherwise they could use up the connections to a database that does not respond.
      probing ??= database.probe(lastPutFailed).finally(() => {
        probing = undefined;
      });
      return probing;
    },
    list: (filter, page) => listEntries(database, filter, page),
    replay: (filter) => replayEntries(database, filter),
    close: () => database.close(),
  };
}

/** Returns the distinct transactions of these rows. */
export function transactionsOf(rows: readonly SqlRow[]): string[] {
  return [...new Set(rows.map((row) => toText(row.transaction_id)))].filter((each) => each !== null);
}

function readClaim(row: SqlRow): ClaimedEntry {
  return {
    id: String(row.id),
    rawBody: toBuffer(row.body),
    receivedAt: new Date(Number(row.received_at)),
    attempt: Number(row.attempts),
    owner: String(row.owner),
    progress: row.order_rank == null ? null : { rank: Number(row.order_rank), at: Number(row.order_at) },
    failedSellSeen: row.sell_failed == null ? null : Number(row.sell_failed) === 1,
  };
}

/** Returns the parameters of the statement `put`, in order. */
export function rowValues(row: InboxRow): SqlValue[] {
  const { id, kind, type, transactionId, status, at, receivedAt, position, state, waitMs, rawBody } = row;
  return [id, kind, type, transactionId, status, at, receivedAt, position, state, waitMs, rawBody];
}

/** Returns the parameters of the statement `settle`, in order. */
export function settlementValues(settlement: Settlement): SqlValue[] {
  const { claim, state } = settlement;
  const again = state === 'pending';
  return [
    claim.id,
    claim.owner,
    claim.attempt,
    state,
    again ? settlement.delayMs : 0,
    again || state === 'dead' ? settlement.error : null,
    again && settlement.uncounted ? 1 : 0,
  ];
}

/** Returns the parameters of the statement `advance`, in order. */
export function orderValues(order: OrderStep): SqlValue[] {
  return [order.key, order.rank, order.at, order.failed ? 1 : 0];
}
