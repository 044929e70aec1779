/**
 * The SQL statements of an inbox. Each is atomic, so that several receivers can run them at the same time. Statements
 * that change several rows skip the rows that another receiver is changing, so that no two receivers wait for each
 * other.
 *
 * The first pending entry of a transaction is its head, and the only one that may run. A claim inspects due entries,
 * and defers those that are not heads (`behind = 1`), so that later claims need not inspect them again. Otherwise every
 * claim would be slowed down by a transaction with thousands of entries, or by thousands of transactions that wait for
 * another attempt. When a claim ends, the head of its transaction is released, so that no head stays deferred.
 */
import type { SqlDialect } from './schema.ts';

/** Updates the progress of a known order: the later progress is kept, and a failure is never removed. */
export const ADVANCE_ORDER = `ON CONFLICT (order_key) DO UPDATE SET
  rank = CASE WHEN (excluded.rank, excluded.at) > (known.rank, known.at) THEN excluded.rank ELSE known.rank END,
  at = CASE WHEN (excluded.rank, excluded.at) > (known.rank, known.at) THEN excluded.at ELSE known.at END,
  failed = CASE WHEN excluded.failed = 1 THEN 1 ELSE known.failed END`;

export interface Statements {
  /** Inserts one row. Parameters: `rowValues`. SQLite only. */
  readonly put: string;
  /** Updates one claimed row, and returns its transaction. Parameters: `settlementValues`. SQLite only. */
  readonly settle: string;
  /** Updates the progress of an order. Parameters: `orderValues`. */
  readonly advance: string;
  /**
   * Inspects due entries, and claims heads. Parameters: limit, owner, lease in milliseconds, number of entries to
   * inspect. Returns the inspected entries; those in the state `running` were claimed.
   */
  readonly claim: string;
  /** Releases the head of a transaction. Parameter: the transaction. */
  readonly release: string;
  /** Releases every head that stayed deferred because a release failed. */
  readonly releaseMissed: string;
  /** Makes every REFUND due whose failed SELL has been handled. */
  readonly releaseRefunds: string;
  /**
   * Returns a statement that extends leases. `ids` is the number of ids. Parameters: owner, lease in milliseconds, then
   * the ids.
   */
  readonly extend: (ids: number) => string;
  /** Ends expired claims, and returns their transactions. Parameters: maximum number of attempts, error to record. */
  readonly reclaim: string;
  /** Makes new entries due that have a later time only because the clock was set back. */
  readonly clockSetBack: string;
  readonly nextDue: string;
  readonly depths: string;
  /** Two statements without parameters that store an entry and delete it. Run both in one transaction. */
  readonly probe: string;
}

const IS_HEAD = `NOT EXISTS (SELECT 1 FROM hookproof_inbox AS other
      WHERE other.transaction_id = entry.transaction_id AND other.state = 'running')
    AND NOT EXISTS (SELECT 1 FROM hookproof_inbox AS other
      WHERE other.transaction_id = entry.transaction_id AND other.state = 'pending'
        AND (other.position, other.seq) < (entry.position, entry.seq))`;

function selectProgress(column: string): string {
  return `(SELECT ${column} FROM hookproof_orders
      WHERE order_key = hookproof_inbox.kind || ' ' || hookproof_inbox.transaction_id)`;
}

export function statements({ now, bytes, skipLocked, unchanged, parameter: p }: SqlDialect): Statements {
  return {
    put: `INSERT INTO hookproof_inbox
        (id, kind, type, transaction_id, status, at, received_at, position, state, due_at, settled_at, body)
      VALUES (${p(1)}, ${p(2)}, ${p(3)}, ${p(4)}, ${p(5)}, ${p(6)}, ${p(7)}, ${p(8)}, ${p(9)},
        CASE ${p(9)} WHEN 'pending' THEN
          ${now} + CASE WHEN ${p(2)} = 'REFUND' AND ${sellFailed(p(4))} THEN 0 ELSE ${p(10)} END END,
        CASE ${p(9)} WHEN 'done' THEN ${now} END, ${p(11)})
      ON CONFLICT (id) DO NOTHING`,
    settle: `UPDATE hookproof_inbox
      SET state = ${p(4)}, due_at = CASE ${p(4)} WHEN 'pending' THEN ${now} + ${p(5)} END,
        last_error = CASE WHEN ${p(7)} = 1 AND ${p(6)} IS NULL THEN last_error ELSE ${p(6)} END,
        attempts = attempts - ${p(7)}, settled_at = CASE ${p(4)} WHEN 'pending' THEN NULL ELSE ${now} END,
        owner = NULL, lease_until = NULL
      WHERE id = ${p(1)} AND state = 'running' AND owner = ${p(2)} AND attempts = ${p(3)}
      RETURNING transaction_id`,
    advance: `INSERT INTO hookproof_orders AS known (order_key, rank, at, failed)
      VALUES (${p(1)}, ${p(2)}, ${p(3)}, ${p(4)})
      ${ADVANCE_ORDER}`,
    claim: `WITH inspected AS (
        SELECT entry.seq, entry.due_at, CASE WHEN ${IS_HEAD} THEN 1 ELSE 0 END AS head
        FROM hookproof_inbox AS entry ${unchanged}
        WHERE entry.state = 'pending' AND entry.behind = 0 AND entry.due_at <= ${now}
        ORDER BY entry.due_at, entry.seq LIMIT ${p(4)} ${skipLocked}
      ), chosen AS (
        SELECT seq, head, ROW_NUMBER() OVER (PARTITION BY head ORDER BY due_at, seq) AS place FROM inspected
      )
      UPDATE hookproof_inbox
      SET state = CASE head WHEN 1 THEN 'running' ELSE 'pending' END, behind = 1 - head, attempts = attempts + head,
        owner = CASE head WHEN 1 THEN ${p(2)} END, lease_until = CASE head WHEN 1 THEN ${now} + ${p(3)} END
      FROM chosen WHERE hookproof_inbox.seq = chosen.seq AND (head = 0 OR place <= ${p(1)})
      RETURNING hookproof_inbox.seq, id, state, CASE state WHEN 'running' THEN body END AS body, received_at, attempts,
        owner,
        ${selectProgress('rank')} AS order_rank, ${selectProgress('at')} AS order_at,
        CASE WHEN kind = 'REFUND' THEN
          CASE WHEN ${sellFailed('hookproof_inbox.transaction_id')} THEN 1 ELSE 0 END END AS sell_failed`,
    release: releaseHeads(
      now,
      `= (SELECT seq FROM hookproof_inbox
        WHERE transaction_id = ${p(1)} AND state = 'pending' ORDER BY position, seq LIMIT 1)`,
    ),
    releaseMissed: releaseHeads(
      now,
      `IN (SELECT entry.seq
        FROM (SELECT DISTINCT transaction_id FROM hookproof_inbox WHERE state = 'pending' AND behind = 1) AS held
        JOIN hookproof_inbox AS entry ON entry.seq = (SELECT seq FROM hookproof_inbox
          WHERE transaction_id = held.transaction_id AND state = 'pending' ORDER BY position, seq LIMIT 1)
        WHERE entry.behind = 1 AND ${IS_HEAD} ${skipLocked})`,
    ),
    releaseRefunds: `UPDATE hookproof_inbox SET due_at = ${now}
      WHERE seq IN (SELECT seq FROM hookproof_inbox AS entry
        WHERE state = 'pending' AND kind = 'REFUND' AND attempts = 0 AND due_at > ${now}
          AND ${sellFailed('entry.transaction_id')} ${skipLocked})`,
    extend: (ids) => `UPDATE hookproof_inbox SET lease_until = ${now} + ${p(2)}
      WHERE seq IN (SELECT seq FROM hookproof_inbox AS entry
        WHERE state = 'running' AND owner = ${p(1)}
          AND id IN (${Array.from({ length: ids }, (_, index) => p(index + 3))}) ${skipLocked})`,
    reclaim: `UPDATE hookproof_inbox
      SET state = CASE WHEN attempts >= ${p(1)} THEN 'dead' ELSE 'pending' END,
        settled_at = CASE WHEN attempts >= ${p(1)} THEN ${now} END,
        last_error = ${p(2)}, due_at = ${now}, owner = NULL, lease_until = NULL
      WHERE seq IN (SELECT seq FROM hookproof_inbox AS entry
        WHERE state = 'running' AND lease_until < ${now} ${skipLocked})
      RETURNING transaction_id`,
    clockSetBack: `UPDATE hookproof_inbox SET due_at = ${now}
      WHERE seq IN (SELECT seq FROM hookproof_inbox AS entry
        WHERE state = 'pending' AND due_at > ${now} AND attempts = 0 AND kind <> 'REFUND' ${skipLocked})`,
    nextDue: `SELECT MIN(due_at) - ${now} AS due_in FROM hookproof_inbox WHERE state = 'pending' AND behind = 0`,
    depths: `SELECT 'pending' AS state, COUNT(*) AS entries FROM hookproof_inbox WHERE state = 'pending'
      UNION ALL SELECT 'running', COUNT(*) FROM hookproof_inbox WHERE state = 'running'
      UNION ALL SELECT 'dead', COUNT(*) FROM hookproof_inbox WHERE state = 'dead'`,
    probe: `INSERT INTO hookproof_inbox (id, kind, type, received_at, position, state, body)
      VALUES ('sha256:probe', 'UNKNOWN', '', 0, 0, 'done', CAST('' AS ${bytes}));
      DELETE FROM hookproof_inbox WHERE id = 'sha256:probe'`,
  };
}

/** Returns an SQL expression that is true when a failed SELL of the transaction was handled. */
export function sellFailed(transactionId: string): string {
  return `EXISTS (SELECT 1 FROM hookproof_orders WHERE order_key = 'CAAS_SELL ' || ${transactionId} AND failed = 1)`;
}

/**
 * Returns a statement that makes heads claimable, and a REFUND due at once when its SELL has failed. It also writes
 * heads that are not deferred, so that a concurrent claim which found them deferred notices that its data is outdated.
 */
export function releaseHeads(now: string, which: string): string {
  return `UPDATE hookproof_inbox AS head SET behind = 0,
      due_at = CASE WHEN kind = 'REFUND' AND attempts = 0 AND due_at > ${now} AND ${sellFailed('head.transaction_id')}
        THEN ${now} ELSE due_at END
    WHERE state = 'pending' AND seq ${which}`;
}
