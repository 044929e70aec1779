/** Finds the one mutant, or the two at once, that account best for what is red. Pure. */
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

/** From here on a mutant is worth naming. Below, nothing fits, and the report says so. */
const WORTH_NAMING = 0.5;
/** So does a mutant whose own outcomes are all there, when it accounts for this much of the whole: something else is wrong beside it. */
const WHOLLY_PRESENT = 0.9;
const BESIDE_OTHERS = 0.3;
/** And so does one that accounts for all that is red, though it would show more: a milder form of the same mistake. */
const ACCOUNTS_FOR = 0.95;
const MILDER = 0.12;
/** A fault that is one of two shows this share of its own outcomes at the least, by weight: the other one may hide some. */
const PRESENT = 0.6;
/** By so much two have to be the better account than one that turns red all that is red here. */
const WORTH_A_SECOND = 0.3;
/** A second fault accounts for this share of what the first one leaves over. */
const COVERS_THE_REST = 0.5;
/** So many are tried as the first of two. */
const FIRSTS = 40;
/** Scores that differ by less are the same. */
const CLOSE = 1e-9;
/** What one fault shows alone and the other may hide counts so much when it is not there. */
const HIDDEN = 0.5;

/** Probes with both credentials wrong: accepted only where each of the two alone is. */
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
  /** The scenarios that it turns red. */
  readonly red: readonly string[];
  /** By weight: of its own outcomes, those that are there, and how much they are together. */
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

/** What two faults at once give that neither gives alone. */
function interplay(one: Candidate, other: Candidate): ReadonlySet<string> {
  const accepts = ({ expected }: Candidate, id: string) => expected.get(id) === 'fail 200';
  // Each of the two its own: one that takes either credential for both still wants one that is right.
  const isOpen = (first: string, second: string) =>
    (accepts(one, first) && accepts(other, second)) || (accepts(other, first) && accepts(one, second));
  return new Set(BOTH_WRONG.flatMap(([both, first, second]) => (isOpen(first, second) ? [both] : [])));
}

/** How well two faults account for the whole, as the score of one does. */
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

/** The fault as one of two: held against its own outcomes, because what else is red is the other's. */
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
  const firsts = all.toSorted((a, b) => b.covered * b.share - a.covered * a.share).slice(0, FIRSTS);
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
      if (sum(new Set(covers)) / left < COVERS_THE_REST) continue;
      const score = scoreOfPair(vector, red, one, other, weight);
      // Of pairs that fit alike the one that says the least twice.
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

/** The best account of what is red. */
export function explainByFaults(vector: Vector, dictionary: FaultDictionary): Explanation {
  const weight = weigher(dictionary);
  const ranked = rankFaults(vector, dictionary, weight);
  const [best, ...rest] = ranked;
  if (best === undefined) return { faults: [], others: [] };
  const red = redOf(vector);
  const pair = best.score === 1 ? null : bestPair(vector, ranked, weight);
  if (
    pair !== null &&
    pair.score > best.score + (accountsForAll(red, best.fault) ? WORTH_A_SECOND : 0) &&
    pair.score >= WORTH_NAMING
  ) {
    const { one, other } = pair;
    const faults = [one, other].map((candidate) => asOneOfTwo(vector, candidate, ranked));
    return { faults: faults.toSorted((a, b) => b.agreement - a.agreement), others: [] };
  }
  const { share, covered } = candidateOf(vector, red, best.fault, weight);
  const accounts = covered / red.reduce((total, id) => total + weight(id), 0);
  const fits =
    best.score >= WORTH_NAMING ||
    (share >= WHOLLY_PRESENT && best.score >= BESIDE_OTHERS) ||
    (accounts >= ACCOUNTS_FOR && best.score >= MILDER && best.agreement > 0);
  if (!fits) return { faults: [], others: [] };
  const others = rest.filter(({ score }) => score >= WORTH_NAMING && score > best.score - 0.25).slice(0, 2);
  return { faults: [best], others };
}
