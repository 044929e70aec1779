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
    const mistakes = editDistance(wanted, candidate);
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

/**
 * Insertions, deletions, substitutions and swaps of neighbours that turn one word into the other (optimal string
 * alignment).
 */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(at(last, j) + 1, at(row, j - 1) + 1, at(last, j - 1) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, at(beforeLast, j - 2) + 1);
      }
      row.push(cost);
    }
    beforeLast = last;
    last = row;
  }
  return at(last, b.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
