/** Opens a PostgreSQL database with the current schema, for a receiver (as a pool) or as an archive. */
import type { Pool, PoolClient } from 'pg';
import { HookproofError } from '../../contract/index.ts';
import { loadOptional } from '../../contract/optional-package.ts';
import { type InboxArchive, inboxArchive } from './entries.ts';
import type { InboxWarning } from './inbox.ts';
import { migrations, POSTGRES } from './schema.ts';

const CONNECTIONS = 6;
/**
 * Timeouts of a receiver, in milliseconds. The server aborts a statement after `statement_timeout`. If the server does
 * not respond at all, the client closes the connection slightly later, after `query_timeout`.
 */
const POOL_TIMEOUTS = { connectionTimeoutMillis: 2500, statement_timeout: 4000, query_timeout: 4500 };
/** Timeouts of an archive, in milliseconds. They are longer, because counting millions of entries may take a while. */
const ARCHIVE_TIMEOUTS = { connectionTimeoutMillis: 5000, statement_timeout: 60_000 };
/**
 * Id of the advisory lock: an arbitrary fixed number. Receivers that start together migrate the schema one after the
 * other.
 */
const MIGRATION_LOCK = 7_355_608;

/**
 * Connects a receiver. The pool replaces broken connections. Throws {@link HookproofError} (`INBOX_OPEN`,
 * `INBOX_SCHEMA`, `INBOX_NOT_DURABLE`, `INBOX_ENCODING`).
 */
export async function openPool(url: string, onWarning: InboxWarning): Promise<Pool> {
  const { Pool } = (await loadOptional('pg', () => import('pg'))).default;
  const pool = new Pool({
    connectionString: url,
    max: CONNECTIONS,
    ...POOL_TIMEOUTS,
    keepAlive: true,
    application_name: 'hookproof-receiver',
  });
  // Without a listener, an idle connection that breaks would end the process. Connections usually break at the same
  // time, so only one line is logged.
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
    // The statement on a broken connection rejects as well, so the error event can be ignored.
    const onError = () => {};
    client.on('error', onError);
    try {
      await checkSettings(client, onWarning);
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
      hint:
        'Check that the server is running, that the database exists, and that this user may create tables. ' +
        'The password can be in PGPASSWORD.',
      cause,
    });
  }
}

async function checkSettings(client: PoolClient, onWarning: InboxWarning): Promise<void> {
  const setting = async (name: string) => String((await client.query(`SHOW ${name}`)).rows[0]?.[name]);
  const encoding = await setting('server_encoding');
  if (encoding !== 'UTF8') {
    throw new HookproofError('INBOX_ENCODING', `The encoding of the PostgreSQL database is ${encoding}, not UTF8.`, {
      hint:
        'It cannot store every id. Create another database, for example: ' +
        "CREATE DATABASE ... ENCODING 'UTF8' TEMPLATE template0.",
    });
  }
  if ((await setting('synchronous_commit')) === 'off') {
    throw new HookproofError(
      'INBOX_NOT_DURABLE',
      'PostgreSQL commits without waiting for the disk (synchronous_commit is off).',
      {
        hint:
          'An acknowledged notification could be lost. Turn it on, for example: ' +
          'ALTER ROLE ... SET synchronous_commit = on.',
      },
    );
  }
  if ((await setting('fsync')) === 'off') {
    onWarning('inbox-not-durable', 'PostgreSQL runs with fsync off: a crash of its machine can lose notifications');
  }
}

async function migrate(client: PoolClient): Promise<void> {
  const steps = migrations(POSTGRES);
  await client.query('BEGIN');
  try {
    await client.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    await client.query('CREATE TABLE IF NOT EXISTS hookproof_schema (version INTEGER NOT NULL)');
    const version = await schemaVersion(client);
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

async function schemaVersion(client: Pick<PoolClient, 'query'>): Promise<number> {
  const { rows } = await client.query('SELECT MAX(version) AS version FROM hookproof_schema');
  return Number(rows[0]?.version ?? 0);
}

/**
 * Opens an inbox that receivers may be using. Creates no table. Throws `HookproofError` (`INBOX_MISSING`, `INBOX_OPEN`,
 * `INBOX_SCHEMA`).
 */
export async function postgresArchive(url: string, { readOnly }: { readOnly: boolean }): Promise<InboxArchive> {
  const { Client } = (await loadOptional('pg', () => import('pg'))).default;
  const client = new Client({ connectionString: url, ...ARCHIVE_TIMEOUTS, application_name: 'hookproof-inbox' });
  // The running statement rejects as well, with more details.
  client.on('error', () => {});
  const query = (text: string, values: readonly unknown[] = []) => client.query(text, [...values]);
  try {
    await client.connect();
    if (readOnly) await query('SET default_transaction_read_only = on');
    const { rows } = await query("SELECT to_regclass('hookproof_schema') IS NOT NULL AS found");
    if (rows[0]?.found !== true) {
      throw new HookproofError('INBOX_MISSING', 'there is no inbox in this database', {
        hint: 'Check that it is the correct database. `hookproof receiver --inbox` creates an inbox.',
      });
    }
    if ((await schemaVersion(client)) !== migrations(POSTGRES).length) {
      throw new HookproofError('INBOX_SCHEMA', 'the inbox was written by another version of this program', {
        hint: 'Use the version of its receivers. A newer receiver upgrades an older inbox when it starts.',
      });
    }
  } catch (cause) {
    await client.end().catch(() => {});
    if (cause instanceof HookproofError) throw cause;
    throw new HookproofError('INBOX_OPEN', `the inbox on PostgreSQL cannot be opened (${(cause as Error).message})`, {
      hint:
        'Check that the server is running, that the database exists, and that this user may read it. ' +
        'The password can be in PGPASSWORD.',
      cause,
    });
  }
  return inboxArchive({
    dialect: POSTGRES,
    read: async (text, values) => (await query(text, values)).rows,
    write: async (text, values) => ({ changes: (await query(text, values)).rowCount ?? 0 }),
    close: () => client.end(),
  });
}
