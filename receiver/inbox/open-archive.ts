import type { InboxArchive } from './archive.ts';
import { fileOfInbox } from './inbox-url.ts';

/**
 * Opens an inbox that is there, beside the receivers that use it, and makes nothing. With `readOnly` it cannot change anything. Throws
 * {@link HookproofError} `INBOX_URL`, `INBOX_MISSING`, `INBOX_OPEN`, `INBOX_SCHEMA`.
 */
export async function openArchive(url: string, options: { readOnly: boolean }): Promise<InboxArchive> {
  const file = fileOfInbox(url);
  return file === null
    ? (await import('./postgres-archive.ts')).postgresArchive(url, options)
    : (await import('./sqlite-archive.ts')).sqliteArchive(file, options);
}
