/** Compares a partner's outcomes with those of every mutant: which known mistake does the endpoint behave like? Pure. */
import type { ScenarioResult } from '../result/result-document.ts';
import type { DictionaryFault, FaultDictionary } from './fault-dictionary.ts';
import { outcomeOf } from './outcome.ts';

export interface RankedFault {
  readonly fault: DictionaryFault;
  /** From 0 to 1: how much of what is red, here or there, is red in the same way in both. Rare outcomes count for more. */
  readonly score: number;
  /** Outcomes that are the same, of those that are red here or there. */
  readonly agreement: number;
  readonly outcomes: number;
}

/** What a partner's run shows: the outcome of each scenario that was judged; null for a pass. */
type Vector = ReadonlyMap<string, string | null>;

export function vectorOf(results: readonly ScenarioResult[]): Vector {
  const vector = new Map<string, string | null>();
  for (const result of results) {
    const outcome = outcomeOf(result);
    if (outcome !== undefined) vector.set(result.id, outcome);
  }
  return vector;
}

function redOf(vector: Vector): string[] {
  return [...vector].filter(([, outcome]) => outcome !== null).map(([id]) => id);
}

/** Rare outcomes tell more: a scenario that one mutant in a hundred fails is nearly a name. */
function weigher({ faults }: FaultDictionary): (id: string) => number {
  const seen = new Map<string, number>();
  for (const { outcomes } of faults) for (const id of Object.keys(outcomes)) seen.set(id, (seen.get(id) ?? 0) + 1);
  return (id) => Math.log(1 + faults.length / (seen.get(id) ?? 0.5));
}

/** The same outcome is worth all, another red one half. */
function likeness(mine: string | null, theirs: string | null): number {
  if (mine === theirs) return 1;
  return mine !== null && theirs !== null ? 0.5 : 0;
}

function compare(
  vector: Vector,
  red: readonly string[],
  expected: ReadonlyMap<string, string>,
  weight: (id: string) => number,
) {
  const union = new Set([...red, ...[...expected.keys()].filter((id) => vector.has(id))]);
  let total = 0;
  let alike = 0;
  let agreement = 0;
  for (const id of union) {
    const like = likeness(vector.get(id) ?? null, expected.get(id) ?? null);
    total += weight(id);
    alike += weight(id) * like;
    if (like === 1) agreement++;
  }
  return { score: total === 0 ? 0 : alike / total, agreement, outcomes: union.size };
}

const expectedOf = ({ outcomes }: DictionaryFault) => new Map(Object.entries(outcomes));

/** Every mutant that shares anything with the partner, the most alike first; ties by name. */
export function rankFaults(results: readonly ScenarioResult[], dictionary: FaultDictionary): RankedFault[] {
  const vector = vectorOf(results);
  const red = redOf(vector);
  if (red.length === 0) return [];
  const weight = weigher(dictionary);
  return dictionary.faults
    .map((fault) => ({ fault, ...compare(vector, red, expectedOf(fault), weight) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score || a.fault.name.localeCompare(b.fault.name));
}

/** From here on a mutant is worth naming. Below, nothing fits, and the report says so. */
const WORTH_NAMING = 0.5;
/** By so much a second fault has to better the account of what is red. */
const WORTH_A_SECOND = 0.08;
/** At most so many are tried together with the best few. */
const CANDIDATES = 12;

function together(a: DictionaryFault, b: DictionaryFault): Map<string, string> {
  return new Map([...expectedOf(b), ...expectedOf(a)]);
}

/** The one fault, or the two at once, that account best for what is red; empty when nothing fits. */
export function explainByFaults(results: readonly ScenarioResult[], dictionary: FaultDictionary): RankedFault[] {
  const ranked = rankFaults(results, dictionary);
  const [best] = ranked;
  if (best === undefined) return [];
  const vector = vectorOf(results);
  const red = redOf(vector);
  const weight = weigher(dictionary);
  // A fault whose own outcomes are nearly all there is a candidate, however much else is red.
  const present = dictionary.faults
    .map((fault) => {
      const ids = Object.entries(fault.outcomes).filter(([id]) => vector.has(id));
      const there = ids.filter(([id, outcome]) => vector.get(id) === outcome);
      const sum = (entries: typeof ids) => entries.reduce((total, [id]) => total + weight(id), 0);
      return { fault, share: ids.length === 0 ? 0 : sum(there) / sum(ids), covered: sum(there) };
    })
    .filter(({ share }) => share >= 0.6)
    .toSorted((a, b) => b.covered * b.share - a.covered * a.share)
    .slice(0, CANDIDATES);

  let pair: { faults: [DictionaryFault, DictionaryFault]; score: number } | null = null;
  for (const [at, one] of present.entries()) {
    for (const other of present.slice(at + 1)) {
      const { score } = compare(vector, red, together(one.fault, other.fault), weight);
      if (pair === null || score > pair.score) pair = { faults: [one.fault, other.fault], score };
    }
  }
  if (pair !== null && pair.score > best.score + WORTH_A_SECOND && pair.score >= WORTH_NAMING) {
    return pair.faults
      .map((fault) => ranked.find((one) => one.fault === fault))
      .filter((one) => one !== undefined)
      .toSorted((a, b) => b.score - a.score);
  }
  return best.score >= WORTH_NAMING ? [best] : [];
}
