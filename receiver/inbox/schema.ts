/**
 * The tables of an inbox, and the expressions in which the SQL dialects differ. All other SQL works on both databases.
 */

export interface SqlDialect {
  readonly bytes: 'BLOB' | 'BYTEA';
  /** Column type of a key that increases and is never reused. */
  readonly counter: string;
  readonly integer: 'INTEGER' | 'BIGINT';
  /**
   * Time in milliseconds since 1970. It comes from the clock of the database, because the clocks of receivers may
   * differ.
   */
  readonly now: string;
  /** Clause that skips rows that another receiver is claiming. */
  readonly skipLocked: string;
  /**
   * Joined to `entry`, which the statement locks. Skips rows that another receiver has changed since the statement
   * began, because what the statement has read about them is outdated.
   */
  readonly unchanged: string;
  /** True when the statements of several receivers can run at the same time. */
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
  // clock_timestamp() is not used, because its value changes during a search, which prevents the use of an index.
  now: 'CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS BIGINT)',
  skipLocked: 'FOR UPDATE OF entry SKIP LOCKED',
  // When PostgreSQL gets the lock of a changed row, it rereads that row, but not rows that are not locked. `seen` is
  // therefore still the old version.
  unchanged: 'JOIN hookproof_inbox AS seen ON seen.seq = entry.seq AND seen.xmin = entry.xmin',
  shared: true,
  parameter: (n) => `$${n}`,
};

/** The steps from an empty database to the current schema. Never change a step; append another one. */
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
      // One index per query, restricted to the rows that the query can return. No index contains entries that are done.
      `CREATE INDEX hookproof_inbox_due ON hookproof_inbox (due_at, seq) WHERE state = 'pending' AND behind = 0`,
      `CREATE INDEX hookproof_inbox_behind ON hookproof_inbox (transaction_id) WHERE state = 'pending' AND behind = 1`,
      `CREATE INDEX hookproof_inbox_in_order ON hookproof_inbox (transaction_id, position, seq)
        WHERE state = 'pending'`,
      `CREATE INDEX hookproof_inbox_leases ON hookproof_inbox (lease_until) WHERE state = 'running'`,
      `CREATE INDEX hookproof_inbox_waiting ON hookproof_inbox (transaction_id)
        WHERE state = 'pending' AND kind = 'REFUND'`,
      `CREATE INDEX hookproof_inbox_dead ON hookproof_inbox (seq) WHERE state = 'dead'`,
      // The database itself guarantees that no two receivers handle one transaction at the same time.
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
