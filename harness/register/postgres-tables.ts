/** Creates the operator's tables in PostgreSQL, and connects to them. */
import type { Pool, PoolClient } from 'pg';
import { HookproofError } from '../../contract/hookproof-error.ts';
import { loadOptional } from '../../contract/optional-package.ts';

/** Statements that create the tables. Each is idempotent. */
const TABLES: readonly string[] = [
  `CREATE TABLE IF NOT EXISTS hookproof_register (
  id uuid PRIMARY KEY,
  partner text NOT NULL,
  event text NOT NULL,
  at timestamptz NOT NULL,
  due timestamptz,
  record jsonb NOT NULL,
  added bigint GENERATED ALWAYS AS IDENTITY
)`,
  'CREATE INDEX IF NOT EXISTS hookproof_register_partner ON hookproof_register (partner, at)',
  `CREATE UNIQUE INDEX IF NOT EXISTS hookproof_register_due ON hookproof_register (partner, due)
  WHERE due IS NOT NULL`,
  'CREATE INDEX IF NOT EXISTS hookproof_register_added ON hookproof_register (partner, added DESC)',
  // Columns for the cause and the week let the trends read an index, instead of millions of documents.
  `DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'hookproof_register'::regclass AND attname = 'cause') THEN
    ALTER TABLE hookproof_register
      ADD cause text GENERATED ALWAYS AS (record #>> '{cause,title}') STORED,
      ADD week date GENERATED ALWAYS AS (date_trunc('week', at AT TIME ZONE 'UTC')::date) STORED;
  END IF;
END $$`,
  `CREATE INDEX IF NOT EXISTS hookproof_register_cause ON hookproof_register (week, cause, partner)
  WHERE cause IS NOT NULL`,
  // A cache: see standing-table.ts. "basis" identifies the keys and the revision that a row was derived with.
  `CREATE TABLE IF NOT EXISTS hookproof_standing (
  partner text PRIMARY KEY,
  state text NOT NULL,
  since timestamptz,
  until timestamptz,
  url text,
  host text,
  cause text,
  reason text,
  warnings jsonb NOT NULL,
  last_event text,
  last_at timestamptz,
  judged_at timestamptz,
  certified_at timestamptz,
  revision integer,
  profile text,
  added bigint NOT NULL,
  basis text NOT NULL,
  "grant" text,
  standing jsonb NOT NULL
)`,
  `CREATE TABLE IF NOT EXISTS hookproof_notice (
  id uuid PRIMARY KEY,
  partner text NOT NULL,
  kind text NOT NULL,
  subject text NOT NULL,
  recipient text NOT NULL,
  record uuid,
  at timestamptz NOT NULL,
  body jsonb NOT NULL,
  sent_at timestamptz,
  attempts integer NOT NULL DEFAULT 0,
  last_error text,
  next_at timestamptz,
  UNIQUE (partner, kind, subject, recipient)
)`,
  'CREATE INDEX IF NOT EXISTS hookproof_notice_next ON hookproof_notice (next_at) WHERE next_at IS NOT NULL',
  `CREATE TABLE IF NOT EXISTS hookproof_audit (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT now(),
  who text NOT NULL,
  action text NOT NULL,
  partner text,
  reason text,
  details jsonb NOT NULL DEFAULT '{}'
)`,
];

/** Key of the advisory lock that keeps processes that start together from creating the tables at the same time. */
const TABLES_LOCK = 7_355_609;

export interface DatabaseOptions {
  /** Maximum number of concurrent connections. */
  readonly max: number;
  readonly name: string;
  /** Statements that create further tables. Each must be idempotent. */
  readonly tables?: readonly string[];
  /** The client's time limit for a statement, in milliseconds, even if the connection is dead. Default: none. */
  readonly queryMs?: number;
  /** The server's time limit for a statement, in milliseconds. Default: none. */
  readonly statementMs?: number;
}

/**
 * Connects to a database, and creates missing tables.
 *
 * @throws HookproofError REGISTER_DATABASE, PACKAGE_MISSING
 */
export async function openDatabase(
  url: string,
  { max, name, queryMs, statementMs, tables = [] }: DatabaseOptions,
): Promise<Pool> {
  const { Pool } = (await loadOptional('pg', () => import('pg'))).default;
  const pool = new Pool({
    connectionString: url,
    max,
    connectionTimeoutMillis: 5000,
    application_name: name,
    ...(queryMs !== undefined && { query_timeout: queryMs }),
    ...(statementMs !== undefined && { statement_timeout: statementMs }),
  });
  // A connection that breaks is replaced, and its next statement rejects. Without these listeners, one that breaks
  // while it is idle, or between two statements of a transaction, would end the process.
  const ignored = () => {};
  pool.on('error', ignored);
  pool.on('connect', (client) => client.on('error', ignored));
  try {
    await inTransaction(pool, async (client) => {
      // Creating an index over millions of records takes longer than the usual time limit.
      await client.query('SET LOCAL statement_timeout = 0');
      await client.query('SELECT pg_advisory_xact_lock($1)', [TABLES_LOCK]);
      for (const statement of [...TABLES, ...tables]) await client.query(statement);
    });
  } catch (cause) {
    await pool.end().catch(() => {});
    throw databaseError('cannot be opened', cause);
  }
  return pool;
}

/** Runs `work` in one transaction. */
export async function inTransaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const result = await work(client);
    await client.query('COMMIT');
    client.release();
    return result;
  } catch (cause) {
    // The connection, whose state is unknown, is closed.
    client.release(true);
    throw cause;
  }
}

export function databaseError(what: string, cause: unknown): HookproofError {
  const { message } = cause as Error;
  return new HookproofError('REGISTER_DATABASE', `the register in PostgreSQL ${what} (${message})`, {
    hint:
      'Check that the server is running, that the database exists, and that this user may create tables. The ' +
      'password can be in PGPASSWORD.',
    cause,
  });
}
