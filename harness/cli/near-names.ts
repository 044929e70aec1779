/** The names that a mistyped one was most likely meant to be. */
import { nearestName } from '../config/nearest-name.ts';

/** At most `most` names: the nearest, then those with all the words; without either those with half of them. Empty when none is near. */
function nearNames(word: string, names: readonly string[], most = 5): string[] {
  const nearest = nearestName(word, names);
  const wanted = wordsOf(word);
  const sharing = (least: number) =>
    names.filter((name) => {
      const words = wordsOf(name);
      return name !== nearest && least > 0 && wanted.filter((part) => words.includes(part)).length >= least;
    });
  const whole = [...(nearest === null ? [] : [nearest]), ...sharing(wanted.length)];
  return (whole.length > 0 ? whole : sharing(Math.ceil(wanted.length / 2))).slice(0, most);
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
