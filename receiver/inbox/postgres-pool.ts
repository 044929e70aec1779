/** Connections to PostgreSQL that come back by themselves, to a database with the schema of today in which a commit is on the disk. */
import type { Pool, PoolClient } from 'pg';
import { HookproofError } from '../../contract/index.ts';
import { POSTGRES } from './dialect.ts';
import { migrations } from './migrations.ts';

/** Told of what is not wise. Of the words of the database, and never the URL, which holds a password. */
export type PostgresWarning = (event: string, message: string, cause?: unknown) => void;

const CONNECTIONS = 6;
/** In milliseconds. The server ends a statement that takes longer; when it says nothing at all, the client ends the connection a little later. */
const CONNECT_TIMEOUT_MS = 2500;
const STATEMENT_TIMEOUT_MS = 4000;
const QUERY_TIMEOUT_MS = 4500;
/** Any number, as long as it is the same everywhere: receivers that start together change the schema one after the other. */
const MIGRATION_LOCK = 7_355_608;

/** Throws {@link HookproofError} `INBOX_OPEN`, `INBOX_SCHEMA`, `INBOX_NOT_DURABLE`. */
export async function openPool(url: string, onWarning: PostgresWarning): Promise<Pool> {
  const { Pool } = (await import('pg')).default;
  const pool = new Pool({
    connectionString: url,
    max: CONNECTIONS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    keepAlive: true,
    application_name: 'hookproof-receiver',
  });
  // Without a listener, a connection that breaks while it is idle would end the process. The pool makes a new one when it is needed.
  // All of them break at once: that is one line in the log.
  let lost = false;
  pool.on('error', (error) => {
    if (!lost) onWarning('inbox-connection', 'connections to the inbox were lost', error);
    lost = true;
  });
  pool.on('connect', () => {
    lost = false;
  });
  try {
    const client = await pool.connect();
    // It says so twice when it breaks: the statement rejects too.
    const onError = () => {};
    client.on('error', onError);
    try {
      await checkDurability(client, onWarning);
      await migrate(client);
    } finally {
      client.off('error', onError);
      client.release();
    }
    return pool;
  } catch (cause) {
    await pool.end().catch(() => {});
    if (cause instanceof HookproofError) throw cause;
    throw new HookproofError('INBOX_OPEN', `The inbox on PostgreSQL cannot be opened (${(cause as Error).message}).`, {
      hint: 'Does the database exist, does it listen, and may this user make tables in it? The password can stand in PGPASSWORD.',
      cause,
    });
  }
}

async function checkDurability(client: PoolClient, onWarning: PostgresWarning): Promise<void> {
  const setting = async (name: string) => String((await client.query(`SHOW ${name}`)).rows[0]?.[name]);
  if ((await setting('synchronous_commit')) === 'off') {
    throw new HookproofError(
      'INBOX_NOT_DURABLE',
      'PostgreSQL commits without waiting for the disk (synchronous_commit is off).',
      {
        hint: 'Turn it on, for example with ALTER ROLE ... SET synchronous_commit = on: an acknowledged notification could be lost.',
      },
    );
  }
  if ((await setting('fsync')) === 'off') {
    onWarning('inbox-not-durable', 'PostgreSQL runs with fsync off: a crash of its machine loses notifications');
  }
}

async function migrate(client: PoolClient): Promise<void> {
  const steps = migrations(POSTGRES);
  await client.query('BEGIN');
  try {
    await client.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    await client.query('CREATE TABLE IF NOT EXISTS hookproof_schema (version INTEGER NOT NULL)');
    const version = Number(
      (await client.query('SELECT MAX(version) AS version FROM hookproof_schema')).rows[0]?.version ?? 0,
    );
    if (version > steps.length) {
      throw new HookproofError('INBOX_SCHEMA', 'The inbox was written by a newer version of this program.', {
        hint: 'Use that version, or another database.',
      });
    }
    for (const step of steps.slice(version)) for (const statement of step) await client.query(statement);
    if (version < steps.length) await client.query('INSERT INTO hookproof_schema VALUES ($1)', [steps.length]);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    throw error;
  }
}
