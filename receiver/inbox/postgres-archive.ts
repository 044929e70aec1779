/** The database of receivers, looked into from outside. */
import { HookproofError } from '../../contract/index.ts';
import { type InboxArchive, inboxArchive } from './archive.ts';
import { POSTGRES } from './dialect.ts';
import { migrations } from './migrations.ts';

const CONNECT_TIMEOUT_MS = 5000;
/** A person waits, and no sender: to count millions of entries may take a while. */
const STATEMENT_TIMEOUT_MS = 60_000;

/** Throws `HookproofError` `INBOX_MISSING`, `INBOX_OPEN`, `INBOX_SCHEMA`. Makes no table. */
export async function postgresArchive(url: string, { readOnly }: { readOnly: boolean }): Promise<InboxArchive> {
  const { Client } = (await import('pg')).default;
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    application_name: 'hookproof-inbox',
  });
  // The statement that is under way rejects as well, and says more.
  client.on('error', () => {});
  const query = (text: string, values: readonly unknown[] = []) => client.query(text, [...values]);
  try {
    await client.connect();
    if (readOnly) await query('SET default_transaction_read_only = on');
    await checkSchema(query);
  } catch (cause) {
    await client.end().catch(() => {});
    if (cause instanceof HookproofError) throw cause;
    throw new HookproofError('INBOX_OPEN', `the inbox on PostgreSQL cannot be opened (${(cause as Error).message})`, {
      hint: 'Does it listen, does the database exist, and may this user read it? The password can stand in PGPASSWORD.',
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

async function checkSchema(query: (text: string) => Promise<{ rows: { version?: unknown; found?: unknown }[] }>) {
  const { rows } = await query("SELECT to_regclass('hookproof_schema') IS NOT NULL AS found");
  if (rows[0]?.found !== true) {
    throw new HookproofError('INBOX_MISSING', 'there is no inbox in this database', {
      hint: 'Is it the right database? `hookproof receiver --inbox` makes an inbox.',
    });
  }
  const version = Number((await query('SELECT MAX(version) AS version FROM hookproof_schema')).rows[0]?.version);
  if (version === migrations(POSTGRES).length) return;
  throw new HookproofError('INBOX_SCHEMA', 'the inbox was written by another version of this program', {
    hint: 'Use the version of its receivers. A newer receiver changes an older inbox when it starts.',
  });
}
