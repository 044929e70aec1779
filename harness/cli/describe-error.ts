/** What a person reads when a command cannot go on. */
import { HookproofError } from '../../contract/hookproof-error.ts';
import { visible } from '../report/visible.ts';

/** An argument, a file or an endpoint may have given the words of a message. */
const printable = (text: string) => text.split('\n').map(visible).join('\n');

/** One error as text for standard error. `clean` removes secrets, where any are known. */
export function describeError(error: unknown, clean: (text: string) => string = (text) => text): string {
  if (error instanceof HookproofError) {
    return printable(
      clean(`hookproof: ${error.message}\n  ${error.hint.replaceAll('\n', '\n  ')}\n  (${error.code})\n`),
    );
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return printable(clean(`hookproof: internal error, please report it\n${text}\n`));
}
