import { distance } from 'fastest-levenshtein';

/**
 * The candidate that a mistyped word was most likely meant to be, or null when none is near. Letter case does not
 * count, and `_` is as good as `-`. Near is: at most one mistake (a letter too many, too few, wrong, or two swapped)
 * for every three letters, or one of the two contains the other. The first of several equally near candidates wins.
 */
export function nearestName(word: string, candidates: Iterable<string>): string | null {
  const wanted = fold(word);
  // A word far longer than any name is no typing mistake, and comparing costs length times length.
  if (wanted === '' || wanted.length > 100) return null;
  let best: { name: string; mistakes: number } | undefined;
  let containing: string | undefined;
  for (const name of candidates) {
    const candidate = fold(name);
    const mistakes = mistakesBetween(wanted, candidate);
    const allowed = Math.max(1, Math.floor(Math.max(wanted.length, candidate.length) / 3));
    // The word has to share something with the name: "b" is one mistake away from "a", and is not "a".
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

/** Insertions, deletions and substitutions; two letters in the wrong order are one mistake. */
function mistakesBetween(a: string, b: string): number {
  const mistakes = distance(a, b);
  const sorted = (text: string) => [...text].toSorted().join('');
  return mistakes === 2 && sorted(a) === sorted(b) ? 1 : mistakes;
}
