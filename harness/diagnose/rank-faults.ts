/**
 * Ranks the mutants by how similar their outcomes are to those of the endpoint. "Red" is a failure or a warning. Pure.
 */
import type { ScenarioResult } from '../report/result-document.ts';
import { type DictionaryFault, type FaultDictionary, isUncertain } from './fault-dictionary.ts';
import { isRed, judgedIn, outcomeOf } from './outcome.ts';

export interface RankedFault {
  readonly fault: DictionaryFault;
  /** From 0 to 1: the share of red outcomes of either that is the same in both. Rare outcomes weigh more. */
  readonly score: number;
  /** The number of equal outcomes, of all `outcomes` that are red in either and judged in both. */
  readonly agreement: number;
  readonly outcomes: number;
  /** The scenarios that are red in both, with the same outcome. */
  readonly evidence: readonly string[];
  /** Mutants that the outcomes of this run cannot separate from this one. */
  readonly alike: readonly string[];
}

/** The outcome of each judged scenario; null for a pass. */
export type Vector = ReadonlyMap<string, string | null>;

export function vectorOf(results: readonly Pick<ScenarioResult, 'id' | 'verdict' | 'observed'>[]): Vector {
  const vector = new Map<string, string | null>();
  for (const result of results) {
    const outcome = outcomeOf(result);
    if (outcome === null || isRed(outcome)) vector.set(result.id, outcome);
  }
  return vector;
}

/** The weight of a scenario: high when few mutants fail it, 0 when none does. */
export type Weigher = (id: string) => number;

const weighers = new WeakMap<FaultDictionary, Weigher>();

export function weigher(dictionary: FaultDictionary): Weigher {
  const made = weighers.get(dictionary) ?? makeWeigher(dictionary);
  weighers.set(dictionary, made);
  return made;
}

function makeWeigher({ faults }: FaultDictionary): Weigher {
  const seen = new Map<string, number>();
  for (const { outcomes } of faults) {
    for (const [id, outcome] of Object.entries(outcomes)) if (isRed(outcome)) seen.set(id, (seen.get(id) ?? 0) + 1);
  }
  const weights = new Map([...seen].map(([id, times]) => [id, Math.log(1 + faults.length / times)]));
  return (id) => weights.get(id) ?? 0;
}

/** An equal outcome counts 1. Two rejections with different statuses count nearly as much, other failures half. */
const SAME_KIND = 0.85;
const ONLY_RED = 0.5;
/** Not 401, which comes from the check of credentials and is more specific. */
const REFUSAL = /^(fail|warn) (?:40[0-9]|41[0-9]|42[0-9])$/;

function isSameRefusal(mine: string, theirs: string): boolean {
  const [one, other] = [REFUSAL.exec(mine), REFUSAL.exec(theirs)];
  return one !== null && other !== null && one[1] === other[1] && !mine.endsWith('401') && !theirs.endsWith('401');
}

export function likeness(mine: string | null, theirs: string | null): number {
  if (mine === theirs) return 1;
  if (mine === null || theirs === null) return 0;
  return isSameRefusal(mine, theirs) ? SAME_KIND : ONLY_RED;
}

/** A red outcome that the dictionary leaves open for a mutant counts this much against it. */
const UNKNOWN = 0.5;

export function redOf(vector: Vector): string[] {
  return [...vector].filter(([, outcome]) => outcome !== null).map(([id]) => id);
}

/** The mutant's outcome of each scenario that is red in either and judged in both; null for a pass. */
export function expectedIn(vector: Vector, red: readonly string[], fault: DictionaryFault): Vector {
  const expected = new Map<string, string | null>();
  for (const id of [...red, ...Object.keys(fault.outcomes)]) {
    if (vector.has(id) && judgedIn(fault, id)) expected.set(id, fault.outcomes[id] ?? null);
  }
  return expected;
}

function compare(
  vector: Vector,
  red: readonly string[],
  fault: DictionaryFault,
  weight: Weigher,
): Omit<RankedFault, 'alike'> & { key: string } {
  const evidence: string[] = [];
  const reds: string[] = [];
  let [total, alike, outcomes] = [0, 0, 0];
  for (const [id, theirs] of expectedIn(vector, red, fault)) {
    if (weight(id) === 0) continue;
    const mine = vector.get(id) ?? null;
    const like = likeness(mine, theirs);
    outcomes++;
    total += weight(id);
    alike += weight(id) * like;
    if (like === 1) evidence.push(id);
    if (theirs !== null) reds.push(`${id} ${theirs}`);
  }
  for (const id of red) if (isUncertain(fault, id)) total += UNKNOWN * weight(id);
  const score = total === 0 ? 0 : alike / total;
  return { fault, score, agreement: evidence.length, outcomes, evidence, key: reds.toSorted().join('\n') };
}

/**
 * Of mutants with equal outcomes, the one that the others are declared equivalent to comes first, else the first by
 * name.
 */
function byRank(a: RankedFault, b: RankedFault): number {
  const derived = ({ fault }: RankedFault) => (fault.equivalentTo === undefined ? 0 : 1);
  return (
    b.score - a.score || b.agreement - a.agreement || derived(a) - derived(b) || (a.fault.name < b.fault.name ? -1 : 1)
  );
}

/** All mutants with a score above 0, the highest first. Mutants that the outcomes cannot separate are one entry. */
export function rankFaults(vector: Vector, dictionary: FaultDictionary, weight = weigher(dictionary)): RankedFault[] {
  const red = redOf(vector);
  const compared = dictionary.faults
    .map((fault) => ({ ...compare(vector, red, fault, weight), alike: [] }))
    .filter(({ score }) => score > 0)
    .toSorted(byRank);
  const groups = new Map<string, (typeof compared)[number][]>();
  for (const one of compared) {
    const group = groups.get(one.key);
    if (group === undefined) groups.set(one.key, [one]);
    else group.push(one);
  }
  return [...groups.values()].flatMap(([first, ...others]) => {
    if (first === undefined) return [];
    const { key, ...ranked } = first;
    return [{ ...ranked, alike: others.map(({ fault }) => fault.name) }];
  });
}
