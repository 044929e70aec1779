/** The inbox that a command is about. */
import { HookproofError } from '../../../contract/hookproof-error.ts';
import { visible } from '../../report/index.ts';
import { type InboxArchive, openArchive } from '../receiver-entry.ts';

export interface InboxFlags {
  readonly inbox?: string;
}

/** Opens it for as long as `use` takes. Throws {@link HookproofError} `INBOX_NOT_NAMED`, `INBOX_FAILED` and what opening throws. */
export async function withArchive<T>(
  { inbox }: InboxFlags,
  readOnly: boolean,
  use: (archive: InboxArchive) => Promise<T>,
): Promise<T> {
  const url = inboxUrl(inbox);
  if (url === undefined) {
    throw new HookproofError('INBOX_NOT_NAMED', 'no inbox is named', {
      hint: 'Give --inbox file:./inbox.db or --inbox postgres://user@host/database, or set HOOKPROOF_INBOX.',
    });
  }
  const archive = await openArchive(url, { readOnly });
  try {
    return await use(archive);
  } catch (cause) {
    // Errors of a database have a code; one of our own without any is ours.
    if (cause instanceof HookproofError || !(cause instanceof Error) || !('code' in cause)) throw cause;
    throw new HookproofError('INBOX_FAILED', `the inbox cannot be used any more (${visible(cause.message)})`, {
      hint: 'Try again when the database can be reached. What was done up to here stays done.',
      cause,
    });
  } finally {
    await archive.close().catch(() => {});
  }
}

/** Where the inbox is: a flag or HOOKPROOF_INBOX. A password has no place on a command line, where every user of the machine can read it. */

/** Undefined when neither is given. Throws {@link HookproofError} `INBOX_PASSWORD_IN_ARGUMENT`. */
export function inboxUrl(flag: string | undefined): string | undefined {
  if (flag === undefined) return process.env.HOOKPROOF_INBOX || undefined;
  if (!hasPassword(flag)) return flag;
  throw new HookproofError('INBOX_PASSWORD_IN_ARGUMENT', 'the URL in --inbox holds a password', {
    hint: 'Give the URL in HOOKPROOF_INBOX, or leave the password out and set PGPASSWORD.',
  });
}

function hasPassword(url: string): boolean {
  try {
    const { password, searchParams } = new URL(url);
    return password !== '' || searchParams.has('password');
  } catch {
    return false;
  }
}
