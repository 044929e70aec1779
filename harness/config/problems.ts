/** What is wrong with the configuration. Problems are collected, so that one run names all of them. */
import { HookproofError } from '../../contract/index.ts';
import { printable } from './printable.ts';

/** One thing that is wrong. `message` begins with the place. Neither text ever holds the value of a secret. */
export interface Problem {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

export const ALL_LISTED = 'All that is wrong is listed, so one pass can mend it.';

/** Throws when there is a problem: one as itself, several under the code `CONFIG_INVALID` with `hint`, each with its own hint too. */
export function throwIfAny(found: readonly Problem[], hint = `Nothing was sent. ${ALL_LISTED}`): void {
  // Paths and names come from the user as they are.
  const problems = found.map((problem) => ({ ...problem, message: printable(problem.message) }));
  const [first] = problems;
  if (first === undefined) return;
  if (problems.length === 1) throw new HookproofError(first.code, first.message, { hint: first.hint });
  const list = problems.map(({ message, hint }) => `  ${message}\n    ${hint}`).join('\n');
  throw new HookproofError('CONFIG_INVALID', `${problems.length} things are wrong with the configuration:\n${list}`, {
    hint,
  });
}

/**
 * A word from the user, quoted for a message, or `fallback` when it is long or odd: a secret that was put in the wrong place
 * must not be shown, and terminal control characters neither.
 */
export function quoted(word: string, fallback: string): string {
  return /^[\w ./:=+%-]{1,24}$/.test(word) ? `"${word}"` : fallback;
}
