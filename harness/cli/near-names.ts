/** The names that a mistyped one was most likely meant to be. */
import { nearestName } from '../config/nearest-name.ts';

/** At most `most` names, the nearest first; then those that share the most words with it. Empty when none is near. */
export function nearNames(word: string, names: readonly string[], most = 5): string[] {
  const nearest = nearestName(word, names);
  const wanted = wordsOf(word);
  const shared = names
    .filter((name) => name !== nearest)
    .map((name) => ({ name, common: wordsOf(name).filter((part) => wanted.includes(part)).length }))
    .filter(({ common }) => common >= Math.max(1, Math.ceil(wanted.length / 2)))
    .toSorted((a, b) => b.common - a.common)
    .map(({ name }) => name);
  return [...(nearest === null ? [] : [nearest]), ...shared].slice(0, most);
}

/** Words of three letters and more: "is" and "a" are in everything. */
function wordsOf(name: string): string[] {
  return name
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((part) => part.length >= 3);
}

/** "Did you mean X, Y or Z? ", or nothing. */
export function didYouMean(word: string, names: readonly string[]): string {
  const near = nearNames(word, names);
  const last = near.at(-1);
  if (last === undefined) return '';
  return near.length === 1 ? `Did you mean "${last}"? ` : `Did you mean ${near.slice(0, -1).join(', ')} or ${last}? `;
}
