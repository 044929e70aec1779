/**
 * The rules of the kill matrix: pure functions that turn the played outcomes into a list of complaints, which is empty
 * if all rules hold.
 */

import { matchesAny } from '../../../harness/diagnose/index.ts';
import type { Uncertain } from './exceptions.ts';
import type { Played } from './play.ts';

const RULES: readonly ((matrix: Matrix) => readonly Complaint[])[] = [
  survivors,
  failsWhatIsAllowed,
  idleProbes,
  wrongExemptions,
  wrongUncertain,
  undeclaredUncertain,
  alarms,
  leftOut,
  indistinguishable,
  differingEquivalents,
  unknownEquivalents,
  undecidedOutcomes,
  flakyOutcomes,
];

export function complaintsAbout(matrix: Matrix): readonly Complaint[] {
  return RULES.flatMap((rule) => rule(matrix));
}

export interface MatrixFault {
  readonly name: string;
  readonly area: string;
  readonly forbidden?: false;
  /** Set if the scenarios that detect the mutant differ between runs. */
  readonly comesAndGoes?: boolean;
  readonly equivalentTo?: { readonly name: string; readonly reason: string } | undefined;
}

export interface MatrixProbe {
  readonly id: string;
  readonly suite: string;
  readonly level: 'must' | 'should' | 'info';
  /** The features without which the scenario does not apply. */
  readonly needs?: readonly string[];
}

export interface Matrix {
  readonly faults: readonly MatrixFault[];
  readonly probes: readonly MatrixProbe[];
  /** Probes that do not have to kill a mutant, each with the reason. */
  readonly exempt: Readonly<Record<string, string>>;
  /** Outcomes that are left out of `runs`. */
  readonly uncertain: readonly Uncertain[];
  /** One entry per repetition of the whole matrix. */
  readonly runs: readonly (readonly Played[])[];
  /** Receivers that could not be run, with the missing programs. */
  readonly leftOut: readonly { readonly name: string; readonly missing: readonly string[] }[];
}

export const RULE_TITLES = {
  survivor: 'Mutants that survive',
  'fails-what-is-allowed': 'Allowed mutants that fail at level must',
  'idle-probe': 'Probes that kill no mutant',
  'wrong-exemption': 'Exemptions that do not hold',
  alarm: 'Correct receivers that raise an alarm',
  'left-out': 'Correct receivers that cannot be run here',
  indistinguishable: 'Mutants that no scenario distinguishes',
  'differing-equivalents': 'Mutants that are declared equivalent but differ',
  'unknown-equivalent': 'Mutants that are declared equivalent to an unknown one',
  undecided: 'Outcomes without a verdict',
  flaky: 'Outcomes that differ between runs',
} as const;

export interface Complaint {
  readonly rule: keyof typeof RULE_TITLES;
  /** The complaint as a sentence that names its subject. */
  readonly message: string;
}

/** Returns the first result of every mutant. */
function firstRun({ runs }: Matrix): ReadonlyMap<string, Played> {
  return new Map((runs[0] ?? []).map((played) => [played.name, played]));
}

/** Returns the first of many names, for a message. */
function several(names: readonly string[], most = 5): string {
  const shown = names.slice(0, most).join(', ');
  return names.length > most ? `${shown} and ${names.length - most} more` : shown;
}

/** Checks that no correct receiver fails, warns or has no verdict. */

function alarms({ runs }: Matrix): readonly Complaint[] {
  const correct = runs.flat().filter(({ kind }) => kind !== 'fault');
  const messages = correct.flatMap(({ name, outcomes, undecided }) => [
    ...Object.entries(outcomes).map(([id, outcome]) => `${name} gets "${outcome}" for ${id}.`),
    ...Object.entries(undecided).map(([id, reason]) => `${name} gets no verdict for ${id}: ${reason}.`),
  ]);
  return [...new Set(messages)].map((message) => ({ rule: 'alarm', message }));
}

function leftOut({ leftOut: receivers }: Matrix): readonly Complaint[] {
  return receivers.map(({ name, missing }) => ({
    rule: 'left-out',
    message: `${name} needs ${missing.join(' and ')}. Install it, or pass --without-missing.`,
  }));
}

/** Two mutants that look the same from outside must be declared equivalent, and only those. */

/** Returns the scenarios that apply to both of two mutants, which may have been played with different features. */
function sharedScenarios({ probes }: Matrix, a: Played, b: Played): ReadonlySet<string> {
  const features = a.features.filter((feature) => b.features.includes(feature));
  return new Set(probes.filter(({ needs = [] }) => needs.every((need) => features.includes(need))).map(({ id }) => id));
}

/**
 * Returns the outcomes of a mutant in some scenarios as a text that is equal for equal outcomes. Null if the mutant
 * passes all of them.
 */
function lookOf({ outcomes, refusal }: Played, scenarios: ReadonlySet<string>): string | null {
  const cells = Object.entries(outcomes).filter(([id]) => scenarios.has(id));
  return cells.length === 0 ? null : JSON.stringify([refusal, cells.toSorted(([a], [b]) => (a < b ? -1 : 1))]);
}

/** Maps each mutant to its group of declared equivalents, direct or indirect. */
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

/** Groups the mutants by features. */
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

/** Returns groups of two or more mutants with equal outcomes in the scenarios that apply to all of them. */
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
      // Members of a mixed group with the same features were already compared in more scenarios.
      const isNew = (group: Played[]) =>
        !mixed || (group.some((each) => one.includes(each)) && group.some((each) => other.includes(each)));
      found.push(...[...looks.values()].filter((group) => group.length > 1 && isNew(group)));
    }
  }
  return found;
}

function indistinguishable(matrix: Matrix): readonly Complaint[] {
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

function differingEquivalents(matrix: Matrix): readonly Complaint[] {
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

function unknownEquivalents({ faults }: Matrix): readonly Complaint[] {
  const known = new Set(faults.map(({ name }) => name));
  return faults.flatMap(({ name, equivalentTo }): Complaint[] => {
    if (equivalentTo === undefined || (known.has(equivalentTo.name) && equivalentTo.name !== name)) return [];
    const what = equivalentTo.name === name ? 'itself' : `${equivalentTo.name}, which does not exist`;
    return [{ rule: 'unknown-equivalent', message: `${name} is declared equivalent to ${what}.` }];
  });
}

/** Every probe must turn a mutant red, or be listed as exempt with a reason. */

/** Maps each probe of the catalogue to the names of the mutants that it turns red. */
export function killsOf({
  faults,
  probes,
  runs,
}: Pick<Matrix, 'faults' | 'probes'> & {
  readonly runs: readonly (readonly Pick<Played, 'name' | 'outcomes'>[])[];
}): ReadonlyMap<string, readonly string[]> {
  const mutants = new Set(faults.map(({ name }) => name));
  const kills = new Map<string, string[]>(probes.map(({ id }) => [id, []]));
  for (const { name, outcomes } of runs[0] ?? []) {
    if (mutants.has(name)) for (const id of Object.keys(outcomes)) kills.get(id)?.push(name);
  }
  return kills;
}

/** Returns true for a probe of level `info`, which is only recorded and never red. */
export function isIdleByLevel({ level }: Matrix['probes'][number]): boolean {
  return level === 'info';
}

function idleProbes(matrix: Matrix): readonly Complaint[] {
  const kills = killsOf(matrix);
  return matrix.probes
    .filter((probe) => !isIdleByLevel(probe) && !Object.hasOwn(matrix.exempt, probe.id))
    .filter(({ id }) => kills.get(id)?.length === 0)
    .map(({ id }) => ({ rule: 'idle-probe', message: `${id} kills nothing.` }));
}

function wrongExemptions(matrix: Matrix): readonly Complaint[] {
  const kills = killsOf(matrix);
  return Object.keys(matrix.exempt).flatMap((id): Complaint[] => {
    const killed = kills.get(id);
    const [first] = killed ?? [];
    if (killed === undefined) return [{ rule: 'wrong-exemption', message: `There is no scenario ${id}.` }];
    if (first === undefined) return [];
    return [{ rule: 'wrong-exemption', message: `${id} is exempt but kills ${killed.length}, for example ${first}.` }];
  });
}

/** The outcomes of a mutant must be the same in every run, and exist. */

/** Checks that every scenario has a verdict, unless the run was stopped early. */
function undecidedOutcomes({ runs }: Matrix): readonly Complaint[] {
  const messages = runs.flat().flatMap(({ name, kind, stopped, undecided }) => {
    const ids = Object.keys(undecided);
    if (kind !== 'fault' || stopped === 'gate' || stopped === 'down' || ids.length === 0) return [];
    return [`${name} gets no verdict for ${several(ids)}: ${Object.values(undecided)[0]}.`];
  });
  return [...new Set(messages)].map((message) => ({ rule: 'undecided', message }));
}

/** Returns an outcome as text. */
function outcomeIn({ outcomes, undecided }: Played, id: string): string {
  return outcomes[id] ?? (undecided[id] === undefined ? 'pass' : 'no verdict');
}

function flakyOutcomes({ runs }: Matrix): readonly Complaint[] {
  const [first = [], ...others] = runs;
  return first.flatMap((one): Complaint[] => {
    const again = others.flatMap((run) => run.find(({ name }) => name === one.name) ?? []);
    const all = [one, ...again];
    const ids = new Set(
      all.flatMap(({ outcomes, undecided }) => [...Object.keys(outcomes), ...Object.keys(undecided)]),
    );
    const cells = [...ids].flatMap((id) => {
      const said = new Set(all.map((played) => outcomeIn(played, id)));
      return said.size > 1 ? [`${id} (${[...said].join(' or ')})`] : [];
    });
    const refusals = new Set(all.map(({ refusal }) => refusal ?? 'nothing'));
    if (refusals.size > 1) cells.push(`the refused control (${[...refusals].join(' or ')})`);
    if (cells.length === 0) return [];
    return [{ rule: 'flaky', message: `${one.name} differs over ${all.length} runs in ${several(cells)}.` }];
  });
}

/**
 * Returns the scenarios with this verdict. Every mutant must be found: forbidden ones by a failure, others by a warning
 * and no failure.
 */

function scenariosWith(played: Played | undefined, verdict: 'fail' | 'warn'): string[] {
  return Object.entries(played?.outcomes ?? {}).flatMap(([id, outcome]) => (outcome.startsWith(verdict) ? [id] : []));
}

function survivors(matrix: Matrix): readonly Complaint[] {
  const played = firstRun(matrix);
  return matrix.faults.flatMap(({ name, forbidden = true }): Complaint[] => {
    const said = played.get(name);
    if (said === undefined) return [{ rule: 'survivor', message: `${name} was not played.` }];
    const warned = scenariosWith(said, 'warn');
    if (scenariosWith(said, 'fail').length > 0 || (!forbidden && warned.length > 0)) return [];
    const message = !forbidden
      ? `${name} passes everything.`
      : warned.length > 0
        ? `${name} is forbidden and only warned about (${several(warned)}).`
        : `${name} is forbidden and passes everything.`;
    return [{ rule: 'survivor', message }];
  });
}

function failsWhatIsAllowed(matrix: Matrix): readonly Complaint[] {
  const played = firstRun(matrix);
  return matrix.faults.flatMap(({ name, forbidden = true }): Complaint[] => {
    const failed = forbidden ? [] : scenariosWith(played.get(name), 'fail');
    if (failed.length === 0) return [];
    return [{ rule: 'fails-what-is-allowed', message: `${name} is not forbidden and fails ${several(failed)}.` }];
  });
}

/** Checks that declared uncertain outcomes exist, and that mutants that come and go declare theirs. */

function wrongUncertain({ uncertain, faults, probes }: Matrix): readonly Complaint[] {
  const known = new Set(faults.map(({ name }) => name));
  return uncertain.flatMap(({ fault, scenarios, sure = [] }): Complaint[] => {
    if (!known.has(fault)) return [{ rule: 'wrong-exemption', message: `There is no mutant ${fault}.` }];
    const gone = [...scenarios, ...sure].filter((pattern) => !probes.some(({ id }) => matchesAny([pattern], id)));
    return gone.map((pattern) => ({ rule: 'wrong-exemption', message: `There is no scenario ${pattern}.` }));
  });
}

function undeclaredUncertain({ uncertain, faults }: Matrix): readonly Complaint[] {
  return faults
    .filter(({ name, comesAndGoes }) => comesAndGoes === true && !uncertain.some(({ fault }) => fault === name))
    .map(({ name }) => ({
      rule: 'wrong-exemption',
      message: `${name} comes and goes: say in uncertain-cells.ts which scenarios find it every time.`,
    }));
}
