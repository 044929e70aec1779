/** The inbox that a command is about. */
import { HookproofError } from '../../../contract/hookproof-error.ts';
import { visible } from '../../report/index.ts';
import { type InboxArchive, openArchive } from '../inbox-door.ts';
import { inboxUrl } from '../inbox-source.ts';

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
