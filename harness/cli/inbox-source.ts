/** Where the inbox is: a flag or HOOKPROOF_INBOX. A password has no place on a command line, where every user of the machine can read it. */
import { HookproofError } from '../../contract/hookproof-error.ts';

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
