/** An inbox in a PostgreSQL database, which several receivers can share. */
import type { DatabaseError, Pool } from 'pg';
import type { SqlRow, SqlValue } from './entries.ts';
import { groupCommit } from './group-commit.ts';
import { type DurableInbox, type InboxMeter, type InboxWarning, type Settlement, silentMeter } from './inbox.ts';
import type { InboxRow } from './inbox-row.ts';
import { openPool } from './postgres-database.ts';
import { POSTGRES } from './schema.ts';
import { orderValues, rowValues, type SqlDatabase, settlementValues, sqlInbox, transactionsOf } from './sql-inbox.ts';
import { ADVANCE_ORDER, releaseHeads, sellFailed, statements } from './statements.ts';

/**
 * Number of concurrent writes: one batch is collected while another is written. More writes would only make the batches
 * smaller.
 */
const PARALLEL_WRITES = 2;
const DEADLOCK = '40P01';
const MAX_ROWS = 512;
const MAX_BYTES = 8 * 1024 * 1024;
/**
 * Maximum time, in milliseconds, for a delivery to be stored. After this time, it is answered 503. The time limit of
 * senders is 10 seconds.
 */
const TIMEOUT_MS = 5000;

/**
 * Connects to the database. `owner` identifies this receiver. Throws `HookproofError` (`INBOX_OPEN`, `INBOX_SCHEMA`,
 * `INBOX_NOT_DURABLE`, `INBOX_ENCODING`).
 */
export async function postgresInbox(
  url: string,
  { owner, meter = silentMeter, onWarning }: { owner: string; meter?: InboxMeter; onWarning: InboxWarning },
): Promise<DurableInbox> {
  const pool = await openPool(url, onWarning);
  const unreleased = new Set<string>();
  const release = async (transactions: readonly string[]) => {
    for (const each of transactions) unreleased.add(each);
    if (unreleased.size === 0) return;
    const all = [...unreleased];
    await pool.query({ name: 'release-many', text: RELEASE_MANY, values: [all] });
    for (const each of all) unreleased.delete(each);
  };
  const puts = groupCommit<InboxRow, 'stored' | 'duplicate'>({
    write: (rows) => measured(meter, rows.length, () => putMany(pool, rows)),
    parallel: PARALLEL_WRITES,
    timeoutMs: TIMEOUT_MS,
    maxItems: MAX_ROWS,
    maxSize: MAX_BYTES,
    sizeOf: ({ rawBody }) => rawBody.length,
    isCausedByOneItem: isCausedByOneRow,
  });
  const settlements = groupCommit<Settlement, boolean>({
    write: async (given) => {
      const rows = await measured(meter, given.length, () => settleMany(pool, given));
      // Repeated after the commit, because entries that other receivers have inserted and deferred in the meantime are
      // only visible now. If this fails, the next release includes them.
      await release(transactionsOf(rows)).catch(() => {});
      const settled = new Set(rows.map((row) => claimKey(String(row.id), Number(row.attempt))));
      return given.map(({ claim }) => settled.has(claimKey(claim.id, claim.attempt)));
    },
    parallel: 1,
    maxItems: MAX_ROWS,
    maxSize: MAX_BYTES,
    sizeOf: () => 1,
    isCausedByOneItem: isCausedByOneRow,
  });
  const database: SqlDatabase = {
    dialect: POSTGRES,
    put: (row) => puts.write(row),
    settle: (settlement) => settlements.write(settlement),
    release,
    read: async (text, values = []) => (await pool.query(text, [...values])).rows,
    write: async (text, values = []) => {
      try {
        const { rows, rowCount } = await pool.query(text, [...values]);
        return { rows, changes: rowCount ?? 0 };
      } catch (error) {
        // This claim has changed nothing: another receiver has just claimed an entry of the same transaction that
        // arrived later but must be handled earlier. When two receivers do this to each other, PostgreSQL reports a
        // deadlock.
        const { constraint, code } = error as DatabaseError;
        if (constraint === 'hookproof_inbox_one_at_a_time' || code === DEADLOCK) return { rows: [], changes: 0 };
        throw error;
      }
    },
    async probe(byWriting) {
      await pool.query(byWriting ? statements(POSTGRES).probe : 'SELECT 1');
    },
    async close() {
      await Promise.all([puts.settled(), settlements.settled()]);
      await pool.end();
    },
  };
  return sqlInbox(database, owner);
}

/**
 * Returns true when a single row may have caused the error of a statement: a value, a constraint, a limit, a trigger, a
 * damaged index page. https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
function isCausedByOneRow(error: unknown): boolean {
  return /^(?:21|22|23|54|P0|XX)/.test(String((error as DatabaseError).code));
}

async function measured<T>(meter: InboxMeter, writes: number, write: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  const result = await write();
  meter.committed(writes, (performance.now() - startedAt) / 1000);
  return result;
}

async function putMany(pool: Pool, given: readonly InboxRow[]): Promise<('stored' | 'duplicate')[]> {
  const { rows } = await pool.query({ name: 'put-many', text: PUT_MANY, values: columns(given.map(rowValues), 11) });
  const fresh = new Set(rows.map(({ id }) => String(id)));
  // When a batch contains duplicates, the first one was stored.
  return given.map(({ id }) => (fresh.delete(id) ? 'stored' : 'duplicate'));
}

/** Writes settlements. Returns the rows whose claims still belonged to this receiver. */
async function settleMany(pool: Pool, settlements: readonly Settlement[]): Promise<readonly SqlRow[]> {
  const steps = settlements.flatMap((each) =>
    'order' in each && each.order !== null ? [[each.claim.id, each.claim.attempt, ...orderValues(each.order)]] : [],
  );
  const values = [...columns(settlements.map(settlementValues), 7), ...columns(steps, 6)];
  return (await pool.query({ name: 'settle-many', text: SETTLE_MANY, values })).rows;
}

/** Distinguishes two claims of one entry in a batch: one whose lease expired, and the current one. */
function claimKey(id: string, attempt: number): string {
  return `${attempt} ${id}`;
}

/** Transposes rows to columns, because PostgreSQL receives one array per column. */
function columns(rows: readonly (readonly SqlValue[])[], width: number): SqlValue[][] {
  return Array.from({ length: width }, (_, column) => rows.map((row) => row[column] ?? null));
}

const { now } = POSTGRES;

/**
 * Inserts many rows. Parameters: arrays of ids, kinds, types, transactions, statuses, times, times of receipt,
 * positions, states, waits, bodies.
 *
 * Rows are numbered in the order of arrival but inserted in the order of their ids, so that two receivers that insert
 * the same ids cannot deadlock.
 */
export const PUT_MANY = `
  INSERT INTO hookproof_inbox
    (seq, id, kind, type, transaction_id, status, at, received_at, position, state, due_at, settled_at, body)
  SELECT seq, id, kind, type, transaction_id, status, at, received_at, position, state,
    CASE state WHEN 'pending' THEN
      ${now} + CASE WHEN kind = 'REFUND' AND ${sellFailed('transaction_id')} THEN 0 ELSE wait END END,
    CASE state WHEN 'done' THEN ${now} END, body
  FROM (
    SELECT nextval(pg_get_serial_sequence('hookproof_inbox', 'seq')) AS seq, given.*
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[], $8::bigint[],
      $9::text[], $10::bigint[], $11::bytea[])
      AS given (id, kind, type, transaction_id, status, at, received_at, position, state, wait, body)
    OFFSET 0
  ) AS numbered
  ORDER BY id
  ON CONFLICT (id) DO NOTHING
  RETURNING id`;

/**
 * Returns a statement that releases the heads of transactions. It locks rows in the order of the entries, so that two
 * receivers that release the same heads cannot deadlock.
 */
function releaseHeadsOf(transactions: string): string {
  return releaseHeads(
    now,
    `IN (
      SELECT entry.seq FROM (${transactions}) AS given
      CROSS JOIN LATERAL (
        SELECT seq FROM hookproof_inbox
        WHERE transaction_id = given.transaction_id AND state = 'pending' ORDER BY position, seq LIMIT 1
      ) AS first
      JOIN hookproof_inbox AS entry ON entry.seq = first.seq
      ORDER BY entry.seq FOR UPDATE OF entry)`,
  );
}

/**
 * Writes many settlements. Parameters: arrays of ids, owners, attempts, states, delays, errors, uncounted. For the
 * orders, arrays of the ids and attempts of their entries, keys, ranks, times, failed.
 */
export const SETTLE_MANY = `
  WITH settled AS (
    UPDATE hookproof_inbox AS entry
    SET state = given.state, due_at = CASE given.state WHEN 'pending' THEN ${now} + given.delay END,
      last_error = CASE WHEN given.uncounted = 1 AND given.error IS NULL THEN entry.last_error ELSE given.error END,
      attempts = entry.attempts - given.uncounted,
      settled_at = CASE given.state WHEN 'pending' THEN NULL ELSE ${now} END,
      owner = NULL, lease_until = NULL
    FROM unnest($1::text[], $2::text[], $3::int[], $4::text[], $5::bigint[], $6::text[], $7::int[])
      AS given (id, owner, attempt, state, delay, error, uncounted)
    WHERE entry.id = given.id AND entry.state = 'running' AND entry.owner = given.owner
      AND entry.attempts = given.attempt
    RETURNING entry.id, given.attempt, entry.transaction_id
  ), advanced AS (
    INSERT INTO hookproof_orders AS known (order_key, rank, at, failed)
    SELECT order_key, rank, at, failed
    FROM unnest($8::text[], $9::int[], $10::text[], $11::bigint[], $12::bigint[], $13::int[])
      AS step (id, attempt, order_key, rank, at, failed)
    WHERE (id, attempt) IN (SELECT id, attempt FROM settled)
    ${ADVANCE_ORDER}
  )
  , released AS (${releaseHeadsOf('SELECT DISTINCT transaction_id FROM settled')})
  SELECT id, attempt, transaction_id FROM settled`;

/** Releases the heads of many transactions. Parameter: an array of transactions. */
export const RELEASE_MANY = releaseHeadsOf('SELECT DISTINCT unnest($1::text[]) AS transaction_id');
