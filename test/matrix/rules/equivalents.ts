/** Two mutants that look the same from outside have to be declared equivalent, and only those. */
import type { Played } from '../played.ts';
import { type Complaint, firstRun, type Matrix, several } from './matrix.ts';

/** The scenarios that apply to both of two receivers, which may have been played with different features. */
function sharedScenarios({ probes }: Matrix, a: Played, b: Played): ReadonlySet<string> {
  const features = a.features.filter((feature) => b.features.includes(feature));
  return new Set(probes.filter(({ needs = [] }) => needs.every((need) => features.includes(need))).map(({ id }) => id));
}

/** What a run shows of a mutant in some scenarios, as a text that is the same for those that look the same. Null for one that passes them. */
function lookOf({ outcomes, refusal }: Played, scenarios: ReadonlySet<string>): string | null {
  const cells = Object.entries(outcomes).filter(([id]) => scenarios.has(id));
  return cells.length === 0 ? null : JSON.stringify([refusal, cells.toSorted(([a], [b]) => (a < b ? -1 : 1))]);
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

/** What was played, together with whatever was played with the same features. */
function byFeatures(played: readonly Played[]): readonly (readonly [Played, ...Played[]])[] {
  const sets = new Map<string, [Played, ...Played[]]>();
  for (const one of played) {
    const key = one.features.toSorted().join(' ');
    const set = sets.get(key);
    if (set === undefined) sets.set(key, [one]);
    else set.push(one);
  }
  return [...sets.values()];
}

/** Groups of two and more that look the same in the scenarios that apply to all of them. */
function alike(matrix: Matrix, played: readonly Played[], mixed: boolean): readonly (readonly Played[])[] {
  const sets = byFeatures(played);
  const found: Played[][] = [];
  for (const [at, one] of sets.entries()) {
    for (const other of mixed ? sets.slice(at + 1) : [one]) {
      const scenarios = sharedScenarios(matrix, one[0], other[0]);
      const looks = new Map<string, Played[]>();
      for (const each of new Set([...one, ...other])) {
        const look = lookOf(each, scenarios);
        if (look !== null) looks.set(look, [...(looks.get(look) ?? []), each]);
      }
      // Of a mixed group, those with the same features have been compared in more scenarios already.
      const isNew = (group: Played[]) =>
        !mixed || (group.some((each) => one.includes(each)) && group.some((each) => other.includes(each)));
      found.push(...[...looks.values()].filter((group) => group.length > 1 && isNew(group)));
    }
  }
  return found;
}

export function indistinguishable(matrix: Matrix): readonly Complaint[] {
  const groups = groupsOf(matrix);
  const first = firstRun(matrix);
  const played = matrix.faults.flatMap(({ name }) => first.get(name) ?? []);
  return [false, true].flatMap((mixed) =>
    alike(matrix, played, mixed).flatMap((group): Complaint[] => {
      const names = group.map(({ name }) => name);
      if (new Set(names.map((name) => groups.get(name))).size < 2) return [];
      const red = Object.keys(group[0]?.outcomes ?? {});
      const where = `all red in ${several(red, 3)}${mixed ? ', as far as the same scenarios apply' : ''}`;
      return [{ rule: 'indistinguishable', message: `${names.join(' = ')}, ${where}.` }];
    }),
  );
}

export function differingEquivalents(matrix: Matrix): readonly Complaint[] {
  const played = firstRun(matrix);
  return matrix.faults.flatMap(({ name, equivalentTo }): Complaint[] => {
    const mine = played.get(name);
    const theirs = played.get(equivalentTo?.name ?? '');
    if (mine === undefined || theirs === undefined) return [];
    const scenarios = sharedScenarios(matrix, mine, theirs);
    if (lookOf(mine, scenarios) === lookOf(theirs, scenarios)) return [];
    const telling = [...scenarios].filter((id) => mine.outcomes[id] !== theirs.outcomes[id]);
    const where = telling.length > 0 ? several(telling) : 'what a refused control was accepted as';
    const message = `${name} is declared equivalent to ${theirs.name}, but differs in ${where}.`;
    return [{ rule: 'differing-equivalents', message }];
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
