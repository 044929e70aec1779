/** Asks before something is changed. */
import { createInterface } from 'node:readline/promises';
import { HookproofError } from '../../../contract/hookproof-error.ts';

/**
 * Whether to go on: with --yes, or when a person at a terminal says so. `plan` is what would be done, "replay 3 entries (3 dead)". Throws
 * {@link HookproofError} `INBOX_NOT_CONFIRMED` where nobody can be asked.
 */
export async function confirmed(plan: string, yes: boolean | undefined): Promise<boolean> {
  if (yes === true) return true;
  if (process.stdin.isTTY !== true || process.stderr.isTTY !== true) {
    throw new HookproofError('INBOX_NOT_CONFIRMED', `nothing was done: it would ${plan}`, {
      hint: 'Say --yes to do it without being asked.',
    });
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // The end of the input is no yes.
  const ended = new Promise<string>((resolve) => terminal.once('close', () => resolve('')));
  const answer = await Promise.race([terminal.question(`${plan}? [y/N] `), ended]);
  terminal.close();
  if (/^y(?:es)?$/i.test(answer.trim())) return true;
  process.stderr.write('nothing was done\n');
  return false;
}
