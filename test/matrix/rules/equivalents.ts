/** Two mutants that look the same from outside have to be declared equivalent, and only those. */
import type { Played } from '../played.ts';
import { type Complaint, firstRun, type Matrix, several } from './matrix.ts';

/** All that a run shows of a mutant, as a text that is the same for those that look the same. */
function vectorOf({ outcomes, refusal }: Played): string {
  return JSON.stringify([refusal, Object.entries(outcomes).toSorted(([a], [b]) => (a < b ? -1 : 1))]);
}

/** Mutant to the group that the declarations put it in, directly or by way of others. */
function groupsOf({ faults }: Matrix): ReadonlyMap<string, string> {
  const groups = new Map(faults.map(({ name }) => [name, name]));
  for (const { name, equivalentTo } of faults) {
    const mine = groups.get(name);
    const theirs = groups.get(equivalentTo?.name ?? '');
    if (mine === undefined || theirs === undefined) continue;
    for (const [member, group] of groups) if (group === theirs) groups.set(member, mine);
  }
  return groups;
}

export function indistinguishable(matrix: Matrix): readonly Complaint[] {
  const groups = groupsOf(matrix);
  const played = firstRun(matrix);
  const alike = new Map<string, string[]>();
  for (const { name } of matrix.faults) {
    const said = played.get(name);
    // Survivors look like the right receiver, and are complained about as survivors.
    if (said === undefined || Object.keys(said.outcomes).length === 0) continue;
    const vector = vectorOf(said);
    alike.set(vector, [...(alike.get(vector) ?? []), name]);
  }
  return [...alike.values()].flatMap((names): Complaint[] => {
    const distinct = new Set(names.map((name) => groups.get(name)));
    if (distinct.size < 2) return [];
    const red = Object.keys(played.get(names[0] ?? '')?.outcomes ?? {});
    const message = `${names.join(' = ')}, all red in ${several(red, 3)}.`;
    return [{ rule: 'indistinguishable', message }];
  });
}

export function differingEquivalents(matrix: Matrix): readonly Complaint[] {
  const played = firstRun(matrix);
  return matrix.faults.flatMap(({ name, equivalentTo }): Complaint[] => {
    const mine = played.get(name);
    const theirs = played.get(equivalentTo?.name ?? '');
    if (mine === undefined || theirs === undefined || vectorOf(mine) === vectorOf(theirs)) return [];
    const ids = new Set([...Object.keys(mine.outcomes), ...Object.keys(theirs.outcomes)]);
    const telling = [...ids].filter((id) => mine.outcomes[id] !== theirs.outcomes[id]);
    const where = telling.length > 0 ? several(telling) : 'what a refused control was accepted as';
    return [
      {
        rule: 'differing-equivalents',
        message: `${name} is declared equivalent to ${theirs.name}, but differs in ${where}.`,
      },
    ];
  });
}

export function unknownEquivalents({ faults }: Matrix): readonly Complaint[] {
  const known = new Set(faults.map(({ name }) => name));
  return faults.flatMap(({ name, equivalentTo }): Complaint[] => {
    if (equivalentTo === undefined || (known.has(equivalentTo.name) && equivalentTo.name !== name)) return [];
    const what = equivalentTo.name === name ? 'itself' : `${equivalentTo.name}, which does not exist`;
    return [{ rule: 'unknown-equivalent', message: `${name} is declared equivalent to ${what}.` }];
  });
}
