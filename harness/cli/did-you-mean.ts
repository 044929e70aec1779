/** Suggests known names for a mistyped word. */
import { HookproofError } from '../../contract/hookproof-error.ts';
import { STACKS, type Stack } from '../../contract/stacks.ts';
import { nearestName } from '../nearest-name.ts';

/** Returns "Did you mean X, Y or Z? ", or nothing if no name is similar. */
export function didYouMean(word: string, names: readonly string[]): string {
  const similar = similarNames(word, names, 5);
  const last = similar.at(-1);
  if (last === undefined) return '';
  if (similar.length === 1) return `Did you mean "${last}"? `;
  return `Did you mean ${similar.slice(0, -1).join(', ')} or ${last}? `;
}

/** Returns the stack with this name. Throws a HookproofError with `code` for any other. */
export function stackCalled(word: string, code: string): Stack {
  const found = STACKS.find((stack) => stack === word);
  if (found !== undefined) return found;
  throw new HookproofError(code, `unknown stack "${word}"`, {
    hint: `${didYouMean(word, STACKS)}Choose from ${STACKS.join(', ')}.`,
  });
}

/**
 * Returns the nearest name, then those that share every word; if there are none, those that share at least half the
 * words.
 */
function similarNames(word: string, names: readonly string[], max: number): string[] {
  const nearest = nearestName(word, names);
  const wanted = wordsOf(word);
  const sharing = (min: number) =>
    names.filter((name) => {
      const words = wordsOf(name);
      return name !== nearest && min > 0 && wanted.filter((part) => words.includes(part)).length >= min;
    });
  const best = [...(nearest === null ? [] : [nearest]), ...sharing(wanted.length)];
  return (best.length > 0 ? best : sharing(Math.ceil(wanted.length / 2))).slice(0, max);
}

/** Returns the words of three or more letters: "is" and "a" occur in too many names. */
function wordsOf(name: string): string[] {
  return name
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((part) => part.length >= 3);
}
