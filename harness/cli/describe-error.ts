/** What a person reads when a command cannot go on. */
import { HookproofError } from '../../contract/hookproof-error.ts';

/** One error as text for standard error. `clean` removes secrets, where any are known. */
export function describeError(error: unknown, clean: (text: string) => string = (text) => text): string {
  if (error instanceof HookproofError) {
    return clean(`hookproof: ${error.message}\n  ${error.hint.replaceAll('\n', '\n  ')}\n  (${error.code})\n`);
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return clean(`hookproof: internal error, please report it\n${text}\n`);
}
