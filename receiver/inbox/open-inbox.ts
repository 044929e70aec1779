import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { fileURLToPath } from 'node:url';
import { HookproofError } from '../../contract/index.ts';
import { errorFields, type ReceiverLogger, silentLogger } from '../logger.ts';
import type { InboxArchive } from './archive.ts';
import type { DurableInbox } from './inbox.ts';
import type { InboxMeter } from './meter.ts';

const POSTGRES_URL = /^postgres(?:ql)?:\/\//;

/**
 * Opens a durable inbox: `file:./inbox.db` is a file of SQLite, for one receiver; `postgres://user@host/database` a database that several
 * receivers share. Makes the tables when they are not there. Throws {@link HookproofError} `INBOX_URL`, `INBOX_OPEN`, `INBOX_SCHEMA`,
 * `INBOX_NOT_DURABLE`.
 */
export async function openInbox(
  url: string,
  { logger = silentLogger, meter }: { logger?: ReceiverLogger; meter?: InboxMeter } = {},
): Promise<DurableInbox> {
  const options = { owner: `${hostname()}/${process.pid}/${randomUUID()}`, ...(meter === undefined ? {} : { meter }) };
  if (url.startsWith('file:')) {
    return (await import('./sqlite-inbox.ts')).sqliteInbox(pathOf(url), options);
  }
  if (POSTGRES_URL.test(url)) {
    const onWarning = (event: string, message: string, cause?: unknown) =>
      logger.warn({ event, ...(cause === undefined ? {} : { error: errorFields(cause) }) }, message);
    return (await import('./postgres-inbox.ts')).postgresInbox(url, { ...options, onWarning });
  }
  throw unknownUrl();
}

/**
 * Opens an inbox that is there, beside the receivers that use it, and makes nothing. With `readOnly` it cannot change anything. Throws
 * {@link HookproofError} `INBOX_URL`, `INBOX_MISSING`, `INBOX_OPEN`, `INBOX_SCHEMA`.
 */
export async function openArchive(url: string, options: { readOnly: boolean }): Promise<InboxArchive> {
  if (url.startsWith('file:')) return (await import('./sqlite-archive.ts')).sqliteArchive(pathOf(url), options);
  if (POSTGRES_URL.test(url)) return (await import('./postgres-archive.ts')).postgresArchive(url, options);
  throw unknownUrl();
}

function unknownUrl(): HookproofError {
  // Not the value: it may hold a password all the same.
  return new HookproofError('INBOX_URL', 'The inbox is neither a file: nor a postgres: URL.', {
    hint: 'For example file:./inbox.db, or postgres://user@localhost/database with the password in PGPASSWORD.',
  });
}

/** `file:inbox.db`, `file:./inbox.db` and `file:///var/lib/inbox.db`. */
function pathOf(url: string): string {
  try {
    const path = url.startsWith('file://') ? fileURLToPath(url) : decodeURIComponent(url.slice('file:'.length));
    if (path !== '' && !path.endsWith('/')) return path;
  } catch {
    // No file either.
  }
  throw new HookproofError('INBOX_URL', 'The file: URL of the inbox names no file.', {
    hint: 'For example file:./inbox.db.',
  });
}
