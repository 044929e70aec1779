/** Finds the mutant, or the pair of mutants, that explains the red outcomes best. Pure. */
import type { DictionaryFault, FaultDictionary } from './fault-dictionary.ts';
import { isRed } from './outcome.ts';
import {
  expectedIn,
  likeness,
  type RankedFault,
  rankFaults,
  redOf,
  type Vector,
  type Weigher,
  weigher,
} from './rank-faults.ts';

/** From this score on, a mutant is named. Below, none fits, and the report says so. */
const MIN_SCORE = 0.5;
/**
 * Also named: a mutant with nearly all of its own outcomes, and this score. Then the endpoint has another fault as
 * well.
 */
const NEARLY_COMPLETE = 0.9;
const MIN_SCORE_COMPLETE = 0.3;
/**
 * Also named: a mutant that explains nearly all red outcomes but has more of its own. Then the fault is a milder form.
 */
const EXPLAINS_NEARLY_ALL = 0.95;
const MIN_SCORE_MILDER = 0.12;
/** The share, by weight, of its own outcomes that one of two faults needs: the other may hide some. */
const PRESENT = 0.6;
/** A pair needs a score higher by this than a single mutant that explains everything red. */
const MIN_GAIN_OF_PAIR = 0.3;
/** The share of the rest, after the first fault, that the second must explain. */
const MIN_SHARE_OF_REST = 0.5;
/** The number of candidates for the first of two. */
const MAX_FIRST_CANDIDATES = 40;
/** Scores that differ by less are equal. */
const CLOSE = 1e-9;
/** The weight of a missing outcome that the other fault may hide. */
const HIDDEN = 0.5;

/** Probes with two invalid credentials: accepted only where each of them alone is. */
const BOTH_WRONG: readonly (readonly [both: string, first: string, second: string])[] = ['wrong', 'missing'].flatMap(
  (signature) =>
    ['wrong', 'missing'].map(
      (key) =>
        [
          `combination/${signature}-signature-${key}-key`,
          `combination/${signature}-signature-right-key`,
          `combination/right-signature-${key}-key`,
        ] as const,
    ),
);

interface Candidate {
  readonly fault: DictionaryFault;
  readonly expected: Vector;
  /** The scenarios with a red outcome. */
  readonly red: readonly string[];
  /** The weight of its own outcomes that are present, as a share and as a sum. */
  readonly share: number;
  readonly covered: number;
}

export interface Explanation {
  /** One fault, two at once, or none when nothing fits. */
  readonly faults: readonly RankedFault[];
  /** Other single faults that fit nearly as well, the best first. */
  readonly others: readonly RankedFault[];
}

function candidateOf(vector: Vector, all: readonly string[], fault: DictionaryFault, weight: Weigher): Candidate {
  const expected = expectedIn(vector, all, fault);
  const red = redOf(expected);
  const sum = (value: (id: string) => number) => red.reduce((total, id) => total + weight(id) * value(id), 0);
  const covered = sum((id) => likeness(vector.get(id) ?? null, expected.get(id) ?? null));
  return { fault, expected, red, covered, share: red.length === 0 ? 0 : covered / sum(() => 1) };
}

/** The scenarios that fail only with both faults together. */
function interplay(one: Candidate, other: Candidate): ReadonlySet<string> {
  const accepts = ({ expected }: Candidate, id: string) => expected.get(id) === 'fail 200';
  // One fault each: a fault that accepts either credential for both still requires a valid one.
  const isOpen = (first: string, second: string) =>
    (accepts(one, first) && accepts(other, second)) || (accepts(other, first) && accepts(one, second));
  return new Set(BOTH_WRONG.flatMap(([both, first, second]) => (isOpen(first, second) ? [both] : [])));
}

/** The score of two faults together. */
function scoreOfPair(
  vector: Vector,
  red: readonly string[],
  one: Candidate,
  other: Candidate,
  weight: Weigher,
): number {
  const together = interplay(one, other);
  let [total, alike] = [0, 0];
  for (const id of new Set([...red, ...one.red, ...other.red, ...together])) {
    const mine = vector.get(id) ?? null;
    const theirs = [one, other].flatMap(({ expected }) => expected.get(id) ?? []);
    if (together.has(id)) theirs.push('fail 200');
    if (theirs.length === 0 && ![one, other].some(({ expected }) => expected.has(id))) continue;
    const best = mine === null ? 0 : Math.max(0, ...theirs.map((outcome) => likeness(mine, outcome)));
    total += weight(id) * (mine === null ? HIDDEN : 1);
    alike += weight(id) * best;
  }
  return total === 0 ? 0 : alike / total;
}

/** A fault as one of two: compared with its own outcomes only, because the other fault causes the rest. */
function asOneOfTwo(
  vector: Vector,
  { fault, expected, red, share }: Candidate,
  ranked: readonly RankedFault[],
): RankedFault {
  const evidence = red.filter((id) => vector.get(id) === expected.get(id));
  const entry = ranked.find((one) => one.fault === fault || one.alike.includes(fault.name));
  return { fault, score: share, agreement: evidence.length, outcomes: red.length, evidence, alike: entry?.alike ?? [] };
}

function bestPair(vector: Vector, ranked: readonly RankedFault[], weight: Weigher) {
  const red = redOf(vector);
  const all = ranked
    .map(({ fault }) => candidateOf(vector, red, fault, weight))
    .filter(({ share }) => share >= PRESENT);
  const firsts = all.toSorted((a, b) => b.covered * b.share - a.covered * a.share).slice(0, MAX_FIRST_CANDIDATES);
  let best: { one: Candidate; other: Candidate; score: number; twice: number } | null = null;
  for (const one of firsts) {
    const rest = new Set(red.filter((id) => likeness(vector.get(id) ?? null, one.expected.get(id) ?? null) < 1));
    const sum = (ids: Iterable<string>) => [...ids].reduce((total, id) => total + weight(id), 0);
    const left = sum(rest);
    if (left === 0) continue;
    for (const other of all) {
      if (other === one || !other.red.some((id) => rest.has(id))) continue;
      const more = interplay(one, other);
      const covers = [...other.red, ...more].filter(
        (id) => rest.has(id) && (more.has(id) || vector.get(id) === other.expected.get(id)),
      );
      if (sum(new Set(covers)) / left < MIN_SHARE_OF_REST) continue;
      const score = scoreOfPair(vector, red, one, other, weight);
      // Of pairs with equal scores, the one with the least overlap.
      const twice = sum(one.red.filter((id) => other.expected.get(id)));
      const better = best === null || score > best.score + CLOSE || (score > best.score - CLOSE && twice < best.twice);
      if (better) best = { one, other, score, twice };
    }
  }
  return best;
}

function accountsForAll(red: readonly string[], fault: DictionaryFault): boolean {
  return red.every((id) => isRed(fault.outcomes[id]));
}

/** The best explanation of the red outcomes. */
export function explainByFaults(vector: Vector, dictionary: FaultDictionary): Explanation {
  const weight = weigher(dictionary);
  const ranked = rankFaults(vector, dictionary, weight);
  const [best, ...rest] = ranked;
  if (best === undefined) return { faults: [], others: [] };
  const red = redOf(vector);
  const pair = best.score === 1 ? null : bestPair(vector, ranked, weight);
  if (
    pair !== null &&
    pair.score > best.score + (accountsForAll(red, best.fault) ? MIN_GAIN_OF_PAIR : 0) &&
    pair.score >= MIN_SCORE
  ) {
    const { one, other } = pair;
    const faults = [one, other].map((candidate) => asOneOfTwo(vector, candidate, ranked));
    return { faults: faults.toSorted((a, b) => b.agreement - a.agreement), others: [] };
  }
  const { share, covered } = candidateOf(vector, red, best.fault, weight);
  const accounts = covered / red.reduce((total, id) => total + weight(id), 0);
  const fits =
    best.score >= MIN_SCORE ||
    (share >= NEARLY_COMPLETE && best.score >= MIN_SCORE_COMPLETE) ||
    (accounts >= EXPLAINS_NEARLY_ALL && best.score >= MIN_SCORE_MILDER && best.agreement > 0);
  if (!fits) return { faults: [], others: [] };
  const others = rest.filter(({ score }) => score >= MIN_SCORE && score > best.score - 0.25).slice(0, 2);
  return { faults: [best], others };
}
