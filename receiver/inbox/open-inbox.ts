/**
 * Opens inboxes by URL: `file:./inbox.db` names a SQLite file, `postgres://user@host/database` a PostgreSQL database.
 */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { fileURLToPath } from 'node:url';
import { HookproofError } from '../../contract/hookproof-error.ts';
import { errorFields, type ReceiverLogger, silentLogger } from '../logger.ts';
import type { InboxArchive } from './entries.ts';
import type { DurableInbox, InboxMeter, InboxWarning } from './inbox.ts';

/**
 * Opens a durable inbox for a receiver, and creates missing tables. A SQLite file serves one receiver, a PostgreSQL
 * database several. Throws {@link HookproofError} (`INBOX_URL`, `INBOX_OPEN`, `INBOX_SCHEMA`, `INBOX_DAMAGED`,
 * `INBOX_NOT_DURABLE`, `INBOX_ENCODING`, `PACKAGE_MISSING`).
 *
 * @example
 * const inbox = await openInbox('file:./inbox.db', { logger });
 * const receiver = await startReceiver({ signing, inbox, handlers, logger });
 */
export async function openInbox(
  url: string,
  { logger = silentLogger, meter }: { logger?: ReceiverLogger; meter?: InboxMeter } = {},
): Promise<DurableInbox> {
  const owner = `${hostname()}/${process.pid}/${randomUUID()}`;
  const onWarning: InboxWarning = (event, message, cause) =>
    logger.warn({ event, ...(cause === undefined ? {} : { error: errorFields(cause) }) }, message);
  const options = { owner, onWarning, ...(meter === undefined ? {} : { meter }) };
  const file = inboxFile(url);
  return file === null
    ? (await import('./postgres-inbox.ts')).postgresInbox(url, options)
    : (await import('./sqlite-inbox.ts')).sqliteInbox(file, options);
}

/**
 * Opens an existing inbox that receivers may be using, and creates nothing. With `readOnly`, the inbox cannot be
 * changed. Throws {@link HookproofError} (`INBOX_URL`, `INBOX_MISSING`, `INBOX_OPEN`, `INBOX_SCHEMA`,
 * `PACKAGE_MISSING`).
 */
export async function openArchive(url: string, options: { readOnly: boolean }): Promise<InboxArchive> {
  const file = inboxFile(url);
  return file === null
    ? (await import('./postgres-database.ts')).postgresArchive(url, options)
    : (await import('./sqlite-database.ts')).sqliteArchive(file, options);
}

/** Returns the path of a SQLite file, or null for a PostgreSQL URL. Throws {@link HookproofError} `INBOX_URL`. */
function inboxFile(url: string): string | null {
  if (url.startsWith('file:')) return filePath(url);
  if (/^postgres(?:ql)?:\/\//.test(url)) return null;
  // The message does not contain the URL, which may include a password.
  throw new HookproofError('INBOX_URL', 'The inbox is neither a file: nor a postgres: URL.', {
    hint: 'Use file:./inbox.db, for example, or postgres://user@localhost/database with the password in PGPASSWORD.',
  });
}

/** Returns the path of a file URL: `file:inbox.db`, `file:./inbox.db` or `file:///var/lib/inbox.db`. */
function filePath(url: string): string {
  try {
    const path = url.startsWith('file://') ? fileURLToPath(url) : decodeURIComponent(url.slice('file:'.length));
    if (path !== '' && !path.endsWith('/')) return path;
  } catch {
    // The URL is invalid as a file URL, too.
  }
  throw new HookproofError('INBOX_URL', 'The file: URL of the inbox does not name a file.', {
    hint: 'For example file:./inbox.db.',
  });
}
