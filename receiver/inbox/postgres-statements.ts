/** Writing many rows at once in PostgreSQL: one array a column. */
import { POSTGRES } from './dialect.ts';
import { KEEP_THE_FURTHEST, releaseHeads, sellFailed } from './statements.ts';

const { now } = POSTGRES;

/**
 * ids, kinds, types, transactions, statuses, times, times of receipt, positions, states, waits, bodies.
 *
 * In the order of the ids, so that two receivers that insert the same ones do not wait for each other in a circle; numbered before
 * that, in the order of arrival.
 */
export const PUT_MANY = `
  INSERT INTO hookproof_inbox (seq, id, kind, type, transaction_id, status, at, received_at, position, state, due_at, settled_at, body)
  SELECT seq, id, kind, type, transaction_id, status, at, received_at, position, state,
    CASE state WHEN 'pending' THEN ${now} + CASE WHEN kind = 'REFUND' AND ${sellFailed('transaction_id')} THEN 0 ELSE wait END END, CASE state WHEN 'done' THEN ${now} END, body
  FROM (
    SELECT nextval(pg_get_serial_sequence('hookproof_inbox', 'seq')) AS seq, given.*
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[], $8::bigint[], $9::text[], $10::bigint[], $11::bytea[])
      AS given (id, kind, type, transaction_id, status, at, received_at, position, state, wait, body)
    OFFSET 0
  ) AS numbered
  ORDER BY id
  ON CONFLICT (id) DO NOTHING
  RETURNING id`;

/** In the order of the entries, so that two receivers that release the same ones do not wait for each other in a circle. */
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

/** ids, owners, attempts, states, delays, errors, uncounted; then of the orders: ids and attempts of their entries, keys, ranks, times, failed. */
export const SETTLE_MANY = `
  WITH settled AS (
    UPDATE hookproof_inbox AS entry
    SET state = given.state, due_at = CASE given.state WHEN 'pending' THEN ${now} + given.delay END, 
      last_error = CASE WHEN given.uncounted = 1 AND given.error IS NULL THEN entry.last_error ELSE given.error END,
      attempts = entry.attempts - given.uncounted, settled_at = CASE given.state WHEN 'pending' THEN NULL ELSE ${now} END,
      owner = NULL, lease_until = NULL
    FROM unnest($1::text[], $2::text[], $3::int[], $4::text[], $5::bigint[], $6::text[], $7::int[])
      AS given (id, owner, attempt, state, delay, error, uncounted)
    WHERE entry.id = given.id AND entry.state = 'running' AND entry.owner = given.owner AND entry.attempts = given.attempt
    RETURNING entry.id, given.attempt, entry.transaction_id
  ), advanced AS (
    INSERT INTO hookproof_orders AS known (order_key, rank, at, failed)
    SELECT order_key, rank, at, failed
    FROM unnest($8::text[], $9::int[], $10::text[], $11::bigint[], $12::bigint[], $13::int[]) AS step (id, attempt, order_key, rank, at, failed)
    WHERE (id, attempt) IN (SELECT id, attempt FROM settled)
    ${KEEP_THE_FURTHEST}
  )
  , released AS (${releaseHeadsOf('SELECT DISTINCT transaction_id FROM settled')})
  SELECT id, attempt, transaction_id FROM settled`;

/** transactions. */
export const RELEASE_MANY = releaseHeadsOf('SELECT DISTINCT unnest($1::text[]) AS transaction_id');
