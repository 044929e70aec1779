import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { errorFields, type ReceiverLogger, silentLogger } from '../logger.ts';
import type { DurableInbox } from './inbox.ts';
import { fileOfInbox } from './inbox-url.ts';
import type { InboxMeter } from './meter.ts';

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
  const file = fileOfInbox(url);
  if (file !== null) return (await import('./sqlite-inbox.ts')).sqliteInbox(file, options);
  const onWarning = (event: string, message: string, cause?: unknown) =>
    logger.warn({ event, ...(cause === undefined ? {} : { error: errorFields(cause) }) }, message);
  return (await import('./postgres-inbox.ts')).postgresInbox(url, { ...options, onWarning });
}
