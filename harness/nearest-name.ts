import { distance } from 'fastest-levenshtein';

/**
 * Returns the candidate that a mistyped word most likely stands for, or null if none is near. Letter case is ignored,
 * and `_` equals `-`. A candidate is near if there is at most one mistake (a letter too many, missing, wrong, or two
 * swapped) for every three letters, or if one of the two contains the other. Of equally near candidates, the first
 * wins.
 */
export function nearestName(word: string, candidates: Iterable<string>): string | null {
  const wanted = fold(word);
  // A word far longer than any name is not a typing mistake, and the comparison takes quadratic time.
  if (wanted === '' || wanted.length > 100) return null;
  let best: { name: string; mistakes: number } | undefined;
  let containing: string | undefined;
  for (const name of candidates) {
    const candidate = fold(name);
    const mistakes = mistakesBetween(wanted, candidate);
    const allowed = Math.max(1, Math.floor(Math.max(wanted.length, candidate.length) / 3));
    // The word must share a character with the name: "b" is one mistake away from "a", but not meant to be "a".
    if (mistakes <= allowed && mistakes < candidate.length && (best === undefined || mistakes < best.mistakes)) {
      best = { name, mistakes };
    }
    if (Math.min(wanted.length, candidate.length) >= 3 && (candidate.includes(wanted) || wanted.includes(candidate))) {
      containing ??= name;
    }
  }
  return best?.name ?? containing ?? null;
}

function fold(name: string): string {
  return name.trim().toLowerCase().replaceAll('_', '-');
}

/** Counts insertions, deletions and substitutions; two swapped letters count as one. */
function mistakesBetween(a: string, b: string): number {
  const mistakes = distance(a, b);
  const sorted = (text: string) => [...text].toSorted().join('');
  return mistakes === 2 && sorted(a) === sorted(b) ? 1 : mistakes;
}
