/** Where an inbox is: `file:./inbox.db` is a file of SQLite, `postgres://user@host/database` a database that several receivers share. */
import { fileURLToPath } from 'node:url';
import { HookproofError } from '../../contract/hookproof-error.ts';

const POSTGRES_URL = /^postgres(?:ql)?:\/\//;

/** The file of an inbox; null for one on PostgreSQL. Throws {@link HookproofError} `INBOX_URL`. */
export function fileOfInbox(url: string): string | null {
  if (url.startsWith('file:')) return pathOf(url);
  if (POSTGRES_URL.test(url)) return null;
  // Not the value: it may hold a password all the same.
  throw new HookproofError('INBOX_URL', 'The inbox is neither a file: nor a postgres: URL.', {
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
