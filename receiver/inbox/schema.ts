/** The tables of an inbox, and the few expressions that differ between the databases. All other SQL works on both. */

export interface SqlDialect {
  readonly bytes: 'BLOB' | 'BYTEA';
  /** A key that increases and is never reused. */
  readonly counter: string;
  readonly integer: 'INTEGER' | 'BIGINT';
  /** Time in milliseconds since 1970 by the clock of the database, because the clocks of receivers may differ. */
  readonly now: string;
  /** Skips rows that another receiver is claiming at this moment. */
  readonly skipLocked: string;
  /**
   * Joined to `entry` where it is locked. Skips rows that another receiver has changed since this statement began,
   * because what the statement has read about them is outdated.
   */
  readonly unchanged: string;
  /** True when statements of several receivers can overlap. */
  readonly shared: boolean;
  /** Returns the placeholder of the n-th parameter, starting at 1. */
  readonly parameter: (n: number) => string;
}

export const SQLITE: SqlDialect = {
  bytes: 'BLOB',
  counter: 'INTEGER PRIMARY KEY AUTOINCREMENT',
  integer: 'INTEGER',
  now: "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
  skipLocked: '',
  unchanged: '',
  shared: false,
  parameter: (n) => `?${n}`,
};

export const POSTGRES: SqlDialect = {
  bytes: 'BYTEA',
  counter: 'BIGSERIAL PRIMARY KEY',
  integer: 'BIGINT',
  // clock_timestamp() is not used, because an index cannot be searched for a value that changes during the search.
  now: 'CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS BIGINT)',
  skipLocked: 'FOR UPDATE OF entry SKIP LOCKED',
  // When PostgreSQL gets the lock of a changed row, it rereads that row but not the rows that are not locked: `seen` is
  // still the old version.
  unchanged: 'JOIN hookproof_inbox AS seen ON seen.seq = entry.seq AND seen.xmin = entry.xmin',
  shared: true,
  parameter: (n) => `$${n}`,
};

/** Every step from an empty database to the current schema. Never change a step; add another one. */
export function migrations({ bytes, counter, integer }: SqlDialect): readonly (readonly string[])[] {
  return [
    [
      `CREATE TABLE hookproof_inbox (
        seq ${counter},
        id TEXT NOT NULL UNIQUE,
        kind TEXT NOT NULL,
        type TEXT NOT NULL,
        transaction_id TEXT,
        status TEXT,
        at ${integer},
        received_at ${integer} NOT NULL,
        position ${integer} NOT NULL,
        state TEXT NOT NULL,
        behind INTEGER NOT NULL DEFAULT 0,
        attempts INTEGER NOT NULL DEFAULT 0,
        due_at ${integer},
        owner TEXT,
        lease_until ${integer},
        last_error TEXT,
        settled_at ${integer},
        body ${bytes} NOT NULL
      )`,
      // There is one index per query, restricted to the rows that the query can return. Entries that are done are in
      // none of them.
      `CREATE INDEX hookproof_inbox_due ON hookproof_inbox (due_at, seq) WHERE state = 'pending' AND behind = 0`,
      `CREATE INDEX hookproof_inbox_behind ON hookproof_inbox (transaction_id) WHERE state = 'pending' AND behind = 1`,
      `CREATE INDEX hookproof_inbox_in_order ON hookproof_inbox (transaction_id, position, seq)
        WHERE state = 'pending'`,
      `CREATE INDEX hookproof_inbox_leases ON hookproof_inbox (lease_until) WHERE state = 'running'`,
      `CREATE INDEX hookproof_inbox_waiting ON hookproof_inbox (transaction_id)
        WHERE state = 'pending' AND kind = 'REFUND'`,
      `CREATE INDEX hookproof_inbox_dead ON hookproof_inbox (seq) WHERE state = 'dead'`,
      // Makes the database itself guarantee that no two receivers handle one transaction at the same time.
      `CREATE UNIQUE INDEX hookproof_inbox_one_at_a_time ON hookproof_inbox (transaction_id) WHERE state = 'running'`,
      `CREATE TABLE hookproof_orders (
        order_key TEXT PRIMARY KEY,
        rank ${integer} NOT NULL,
        at ${integer} NOT NULL,
        failed INTEGER NOT NULL
      )`,
    ],
  ];
}
