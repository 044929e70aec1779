/** Finds the faults that best explain the outcomes of a run, with their probabilities. Pure. */
import type { DictionaryFault, FaultDictionary } from './fault-dictionary.ts';
import { costOf, type Expected, type Focus, type Model, modelOf, samenessOf } from './fault-model.ts';
import type { Outcomes } from './outcome.ts';

/** A fault that explains some of the outcomes, or several of which one probably does. */
export interface Explanation {
  /** Whether the first candidate is probable enough to be named. */
  readonly isNamed: boolean;
  /** The possible faults, the most probable first. */
  readonly candidates: readonly Candidate[];
  /** The checks that went wrong as the first candidate predicts. */
  readonly evidence: readonly string[];
  /** How many failures and warnings the first candidate predicts in this run. */
  readonly outcomes: number;
  readonly otherAnswer: Expected['otherAnswer'];
}

export interface Candidate {
  readonly fault: DictionaryFault;
  /** The probability that the receiver has this fault, and not another one or an unknown one. */
  readonly posterior: number;
  /** Names of the faults that are declared equivalent to it. */
  readonly alike: readonly string[];
}

/** What is reported: a name, a list of candidates, or nothing. */
const DECISION = {
  /** A fault with at least this posterior is named. */
  named: 0.5,
  /** A fault with at least this posterior is a candidate. */
  candidate: 0.08,
  /** Candidates are listed if their posteriors sum to at least `together`, and if there are at most `most`. */
  together: 0.5,
  most: 4,
};

const MAX_FAULTS = 8;
/** The number of faults that the search begins with, one after the other. */
const BEGINNINGS = 3;
/** Costs that differ by less are equal. */
const CLOSE = 1e-9;

interface Solution {
  readonly set: readonly Expected[];
  readonly cost: number;
}

/** The best explanation of the failures and warnings, the one with the most failures first. */
export function explainByFaults(
  outcomes: Outcomes,
  dictionary: FaultDictionary,
  isPossible: (fault: DictionaryFault) => boolean = () => true,
): Explanation[] {
  const model = modelOf(outcomes, dictionary, isPossible);
  // Warnings depend more on framework and style than failures do, so they decide little about a cause of failures.
  const failing = bestSet(model, [], 'failures');
  const all = bestSet(model, failing, 'warnings');
  const importance = ({ evidence }: Explanation) => evidence.filter((id) => outcomes.get(id)?.level === 'fail').length;
  const byImportance = (a: Explanation, b: Explanation) =>
    importance(b) - importance(a) || b.evidence.length - a.evidence.length || posteriorOf(b) - posteriorOf(a);
  return [
    ...failing.flatMap((one) => decide(model, one, without(failing, one), 'failures') ?? []),
    ...without(all, ...failing).flatMap((one) => decide(model, one, without(all, one), 'warnings') ?? []),
  ].toSorted(byImportance);
}

const posteriorOf = ({ candidates: [first] }: Explanation) => first?.posterior ?? 0;

const without = (set: readonly Expected[], ...removed: readonly Expected[]) =>
  set.filter((one) => !removed.includes(one));

/** The cheapest set found that contains `fixed`. */
function bestSet(model: Model, fixed: readonly Expected[], focus: Focus): readonly Expected[] {
  const explained = new Set(fixed.flatMap(({ evidence }) => evidence));
  const level = focus === 'failures' ? 'fail' : 'warn';
  const open = model.red.filter(({ id, answer }) => !explained.has(id) && answer.level === level);
  const ids = new Set(open.map(({ id }) => id));
  const useful = without(model.faults, ...fixed).filter(({ evidence }) => evidence.some((id) => ids.has(id)));
  const faults = distinct(useful);
  let best: Solution = solve(model, fixed, focus);
  const beginnings = faults
    .map((one) => solve(model, [...fixed, one], focus))
    .toSorted((a, b) => a.cost - b.cost)
    .slice(0, BEGINNINGS);
  for (const beginning of beginnings) {
    const improved = improve(model, faults, fixed, beginning, focus);
    if (improved.cost < best.cost - CLOSE) best = improved;
  }
  return best.set;
}

const solve = (model: Model, set: readonly Expected[], focus: Focus): Solution => ({
  set,
  cost: costOf(model, set, focus),
});

/** One of each group of faults that the run cannot separate, preferably one not declared equivalent to another. */
function distinct(faults: readonly Expected[]): Expected[] {
  const byKey = new Map<string, Expected>();
  for (const one of faults) {
    const other = byKey.get(one.key);
    const isBetter = other?.fault.equivalentTo !== undefined && one.fault.equivalentTo === undefined;
    if (other === undefined || isBetter) byKey.set(one.key, one);
  }
  return [...byKey.values()];
}

/** Adds, replaces and removes faults as long as the cost falls. */
function improve(
  model: Model,
  faults: readonly Expected[],
  fixed: readonly Expected[],
  start: Solution,
  focus: Focus,
): Solution {
  let best = start;
  for (;;) {
    const now = best;
    const free = without(faults, ...now.set);
    const sets = without(now.set, ...fixed).flatMap((one) => {
      const rest = without(now.set, one);
      return [rest, ...free.filter((other) => sharesEvidence(one, other)).map((other) => [...rest, other])];
    });
    if (now.set.length < MAX_FAULTS) sets.push(...free.map((one) => [...now.set, one]));
    for (const set of sets) {
      const variant = solve(model, set, focus);
      if (variant.cost < best.cost - CLOSE) best = variant;
    }
    if (best === now) return best;
  }
}

function sharesEvidence({ evidence }: Expected, other: Expected): boolean {
  return evidence.some((id) => other.evidence.includes(id));
}

/** The posterior of a fault, compared with each alternative and with no fault; null when no fault is probable. */
function decide(model: Model, one: Expected, others: readonly Expected[], focus: Focus): Explanation | null {
  const base = costOf(model, others, focus);
  const rivals = without(model.faults, ...others)
    .filter((rival) => rival === one || sharesEvidence(one, rival))
    .map((rival) => ({ rival, cost: costOf(model, [...others, rival], focus) }));
  const least = Math.min(base, ...rivals.map(({ cost }) => cost));
  const groups = new Map<string, { readonly members: Expected[]; mass: number }>();
  let total = Math.exp(least - base);
  for (const { rival, cost } of rivals) {
    const mass = Math.exp(least - cost);
    total += mass;
    const group = groups.get(rival.key) ?? { members: [], mass: 0 };
    group.members.push(rival);
    group.mass += mass;
    groups.set(rival.key, group);
  }
  const ranked = [...groups.values()]
    .flatMap(({ members, mass }) =>
      separate(members, mass / total, (rival) => samenessOf(model, rival, [...others, rival])),
    )
    .toSorted((a, b) => b.likeness - a.likeness);
  const [first] = ranked;
  const top = rivals.find(({ rival }) => rival.fault === first?.fault)?.rival;
  if (first === undefined || top === undefined) return null;
  const found = { evidence: top.evidence, outcomes: top.size, otherAnswer: top.otherAnswer };
  const isCertain = first.posterior >= DECISION.named && explainsChance(model, [top, ...others]);
  if (isCertain) return { isNamed: true, candidates: [first], ...found };
  const candidates = ranked.filter(({ posterior }) => posterior >= DECISION.candidate);
  const together = candidates.reduce((sum, { likeness }) => sum + likeness, 0);
  const isUseful = candidates.length > 0 && candidates.length <= DECISION.most && together >= DECISION.together;
  return isUseful ? { isNamed: false, candidates, ...found } : null;
}

/** The check that a receiver fails which rejects some plain valid deliveries and accepts others. */
const STEADY = 'valid/steady';

/** With such a receiver, single outcomes may be chance, unless a fault of the set predicts it. */
function explainsChance({ red }: Model, set: readonly Expected[]): boolean {
  return red.every(({ id }) => id !== STEADY) || set.some(({ evidence }) => evidence.includes(STEADY));
}

/** Faults that the run cannot separate share their probability, except those declared equivalent to another. */
function separate(
  members: readonly Expected[],
  together: number,
  sameness: (one: Expected) => number,
): (Candidate & { readonly likeness: number })[] {
  const faults = members.map(({ fault }) => fault);
  const roots = members.filter(({ fault }) => !faults.some(({ name }) => name === fault.equivalentTo?.name));
  const likeness = together / roots.length;
  return roots.map((root) => ({
    fault: root.fault,
    likeness,
    posterior: likeness * sameness(root),
    alike: faults.filter(({ equivalentTo }) => equivalentTo?.name === root.fault.name).map(({ name }) => name),
  }));
}
