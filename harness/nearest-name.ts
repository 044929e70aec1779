import { distance } from 'fastest-levenshtein';

/**
 * Returns the candidate that a mistyped word most likely stands for, or null if none is near. Letter case is ignored,
 * and `_` equals `-`. A candidate is near if it differs by at most one typo (an extra, missing, wrong or swapped
 * letter) for every three letters, or if one of the two contains the other. Of equally near candidates, the first
 * wins.
 */
export function nearestName(word: string, candidates: Iterable<string>): string | null {
  const wanted = fold(word);
  // A word far longer than any name is not a typo, and comparing it would take quadratic time.
  if (wanted === '' || wanted.length > 100) return null;
  let best: { name: string; mistakes: number } | undefined;
  let containing: string | undefined;
  for (const name of candidates) {
    const candidate = fold(name);
    const mistakes = mistakesBetween(wanted, candidate);
    const allowed = Math.max(1, Math.floor(Math.max(wanted.length, candidate.length) / 3));
    // The word must share a character with the name: "b" is one substitution away from "a", but not a typo of it.
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
