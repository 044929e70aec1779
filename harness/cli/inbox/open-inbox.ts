/** Opens the inbox that `--inbox` or HOOKPROOF_INBOX names. */
import { HookproofError } from '../../../contract/hookproof-error.ts';
import { visible } from '../../../contract/visible.ts';
import { hasPassword } from '../command-input.ts';
import { type InboxArchive, openArchive } from '../receiver-entry.ts';

export interface InboxFlags {
  readonly inbox?: string;
}

/**
 * Opens the inbox, calls `use`, and closes the inbox.
 *
 * @throws HookproofError INBOX_NOT_NAMED, INBOX_FAILED, and the errors of `openArchive`
 */
export async function withArchive<T>(
  { inbox }: InboxFlags,
  readOnly: boolean,
  use: (archive: InboxArchive) => Promise<T>,
): Promise<T> {
  const url = inboxUrl(inbox);
  if (url === undefined) {
    throw new HookproofError('INBOX_NOT_NAMED', 'no inbox was given', {
      hint: 'Give `--inbox file:./inbox.db` or `--inbox postgres://user@host/database`, or set HOOKPROOF_INBOX.',
    });
  }
  const archive = await openArchive(url, { readOnly });
  try {
    return await use(archive);
  } catch (cause) {
    // Database errors have a code; an error without one is a bug.
    if (cause instanceof HookproofError || !(cause instanceof Error) || !('code' in cause)) throw cause;
    throw new HookproofError('INBOX_FAILED', `the inbox failed (${visible(cause.message)})`, {
      hint: 'Try again when the database can be reached. Changes that were made before the error are kept.',
      cause,
    });
  } finally {
    await archive.close().catch(() => {});
  }
}

/**
 * Returns the URL from `--inbox` or HOOKPROOF_INBOX; undefined if neither is given. The flag must not contain a
 * password, because other users of the machine can read the command line.
 *
 * @throws HookproofError INBOX_PASSWORD_IN_ARGUMENT
 */
export function inboxUrl(flag: string | undefined): string | undefined {
  if (flag === undefined) return process.env.HOOKPROOF_INBOX || undefined;
  if (!hasPassword(flag)) return flag;
  throw new HookproofError('INBOX_PASSWORD_IN_ARGUMENT', 'the URL in `--inbox` contains a password', {
    hint: 'Set HOOKPROOF_INBOX to the URL, or remove the password from the URL and set PGPASSWORD.',
  });
}
