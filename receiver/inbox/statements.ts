/**
 * The statements of an inbox. Each is one step, so that several receivers can do them at the same time; what changes several rows leaves alone those that
 * another receiver is changing, so that no two wait for each other.
 */
import type { Dialect } from './dialect.ts';

export interface Statements {
  /** The columns of a Filing in the order of `filingValues`. One row; SQLite only. */
  readonly put: string;
  /** The values of `settlementValues`. One row; SQLite only. */
  readonly settle: string;
  /** order key, rank, at, failed. */
  readonly advance: string;
  /** limit, owner, lease in milliseconds. */
  readonly claim: string;
  /** Lets every REFUND go whose failed SELL has been handled since. */
  readonly releaseRefunds: string;
  /** owner, lease in milliseconds, then the ids. */
  readonly extend: (ids: number) => string;
  /** the most attempts, the error of those that are given up. */
  readonly reclaim: string;
  readonly nextDue: string;
  readonly depths: string;
}

function failedSell(transactionId: string): string {
  return `EXISTS (SELECT 1 FROM hookproof_orders WHERE order_key = 'CAAS_SELL ' || ${transactionId} AND failed = 1)`;
}

/** The usual case: the failed SELL was handled before the REFUND came. */
export function refundNeedNotWait(waitMs: string, transactionId: string): string {
  return `${waitMs} > 0 AND ${failedSell(transactionId)}`;
}

export function statements({ now, skipLocked, parameter: p }: Dialect): Statements {
  // A transaction has one entry at the head, and none while one of its entries runs.
  const isHead = `NOT EXISTS (
    SELECT 1 FROM hookproof_inbox AS before
    WHERE before.transaction_id = entry.transaction_id AND before.state IN ('pending', 'running')
      AND (before.state = 'running' OR (before.position, before.seq) < (entry.position, entry.seq)))`;
  const sellFailed = (table: string) => failedSell(`${table}.transaction_id`);
  return {
    put: `INSERT INTO hookproof_inbox (id, kind, type, transaction_id, status, at, received_at, position, state, due_at, settled_at, body)
      VALUES (${p(1)}, ${p(2)}, ${p(3)}, ${p(4)}, ${p(5)}, ${p(6)}, ${p(7)}, ${p(8)}, ${p(9)},
        CASE ${p(9)} WHEN 'pending' THEN ${now} + CASE WHEN ${refundNeedNotWait(p(10), p(4))} THEN 0 ELSE ${p(10)} END END, CASE ${p(9)} WHEN 'done' THEN ${now} END, ${p(11)})
      ON CONFLICT (id) DO NOTHING`,
    settle: `UPDATE hookproof_inbox
      SET state = ${p(4)}, due_at = CASE ${p(4)} WHEN 'pending' THEN ${now} + ${p(5)} END, last_error = CASE WHEN ${p(7)} = 1 AND ${p(6)} IS NULL THEN last_error ELSE ${p(6)} END,
        attempts = attempts - ${p(7)}, settled_at = CASE ${p(4)} WHEN 'pending' THEN NULL ELSE ${now} END, owner = NULL, lease_until = NULL
      WHERE id = ${p(1)} AND state = 'running' AND owner = ${p(2)} AND attempts = ${p(3)}`,
    advance: `INSERT INTO hookproof_orders AS known (order_key, rank, at, failed) VALUES (${p(1)}, ${p(2)}, ${p(3)}, ${p(4)})
      ON CONFLICT (order_key) DO UPDATE SET
        rank = CASE WHEN (excluded.rank, excluded.at) > (known.rank, known.at) THEN excluded.rank ELSE known.rank END,
        at = CASE WHEN (excluded.rank, excluded.at) > (known.rank, known.at) THEN excluded.at ELSE known.at END,
        failed = CASE WHEN excluded.failed = 1 THEN 1 ELSE known.failed END`,
    claim: `WITH head AS (
        SELECT seq FROM hookproof_inbox AS entry
        WHERE state = 'pending' AND due_at <= ${now} AND ${isHead}
        ORDER BY due_at, seq LIMIT ${p(1)} ${skipLocked}
      )
      UPDATE hookproof_inbox
      SET state = 'running', owner = ${p(2)}, lease_until = ${now} + ${p(3)}, attempts = attempts + 1
      WHERE seq IN (SELECT seq FROM head)
      RETURNING seq, id, body, received_at, attempts, owner,
        (SELECT rank FROM hookproof_orders WHERE order_key = hookproof_inbox.kind || ' ' || hookproof_inbox.transaction_id) AS order_rank,
        (SELECT at FROM hookproof_orders WHERE order_key = hookproof_inbox.kind || ' ' || hookproof_inbox.transaction_id) AS order_at,
        CASE WHEN kind = 'REFUND' THEN CASE WHEN ${sellFailed('hookproof_inbox')} THEN 1 ELSE 0 END END AS sell_failed`,
    releaseRefunds: `UPDATE hookproof_inbox SET due_at = ${now}
      WHERE seq IN (SELECT seq FROM hookproof_inbox AS entry
        WHERE state = 'pending' AND kind = 'REFUND' AND attempts = 0 AND due_at > ${now} AND ${sellFailed('entry')} ${skipLocked})`,
    extend: (ids) => `UPDATE hookproof_inbox SET lease_until = ${now} + ${p(2)}
      WHERE seq IN (SELECT seq FROM hookproof_inbox AS entry
        WHERE state = 'running' AND owner = ${p(1)} AND id IN (${Array.from({ length: ids }, (_, index) => p(index + 3))}) ${skipLocked})`,
    reclaim: `UPDATE hookproof_inbox
      SET state = CASE WHEN attempts >= ${p(1)} THEN 'dead' ELSE 'pending' END,
        settled_at = CASE WHEN attempts >= ${p(1)} THEN ${now} END,
        last_error = ${p(2)}, due_at = ${now}, owner = NULL, lease_until = NULL
      WHERE seq IN (SELECT seq FROM hookproof_inbox AS entry WHERE state = 'running' AND lease_until < ${now} ${skipLocked})`,
    nextDue: `SELECT due_at - ${now} AS due_in FROM hookproof_inbox AS entry WHERE state = 'pending' AND ${isHead} ORDER BY due_at, seq LIMIT 1`,
    depths: `SELECT state, COUNT(*) AS entries FROM hookproof_inbox WHERE state IN ('pending', 'running') GROUP BY state
      UNION ALL SELECT 'dead', COUNT(*) FROM hookproof_inbox WHERE state = 'dead'`,
  };
}
