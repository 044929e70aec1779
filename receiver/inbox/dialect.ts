/** The few words in which the two databases differ: everything else is said in SQL that both understand. */

export interface Dialect {
  readonly bytes: 'BLOB' | 'BYTEA';
  /** A key that counts up, never used again. */
  readonly counter: string;
  readonly integer: 'INTEGER' | 'BIGINT';
  /** The time in milliseconds since 1970, by the clock of the database: receivers may have clocks that differ. */
  readonly now: string;
  /** Skips rows that another receiver is claiming at this moment. */
  readonly skipLocked: string;
  /**
   * Joined to `entry` where it is locked: skips rows that another receiver has changed since this statement began. What the statement found out about
   * them is not true any more.
   */
  readonly unchanged: string;
  /** Whether statements of several receivers overlap. */
  readonly shared: boolean;
  /** The text of the n-th parameter, from 1 on. */
  readonly parameter: (n: number) => string;
}

export const SQLITE: Dialect = {
  bytes: 'BLOB',
  counter: 'INTEGER PRIMARY KEY AUTOINCREMENT',
  integer: 'INTEGER',
  now: "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
  skipLocked: '',
  unchanged: '',
  shared: false,
  parameter: (n) => `?${n}`,
};

export const POSTGRES: Dialect = {
  bytes: 'BYTEA',
  counter: 'BIGSERIAL PRIMARY KEY',
  integer: 'BIGINT',
  // Of the statement, and not clock_timestamp(): an index cannot be searched for a value that changes while it is searched.
  now: 'CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS BIGINT)',
  skipLocked: 'FOR UPDATE OF entry SKIP LOCKED',
  // When it gets the lock of a changed row, PostgreSQL looks at the row as it is now, and at all that is not locked as it was: `seen` is still the old one.
  unchanged: 'JOIN hookproof_inbox AS seen ON seen.seq = entry.seq AND seen.xmin = entry.xmin',
  shared: true,
  parameter: (n) => `$${n}`,
};
