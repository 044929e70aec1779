/**
 * The mutants whose outcomes overlap most with those of a run. A receiver with the same fault has mostly the same
 * outcomes; other code or another framework changes some of them. Pure.
 */
import { PLAIN_FORGERIES } from '../judge/index.ts';
import { type DictionaryFault, type FaultDictionary, isUncertain } from './fault-dictionary.ts';
import { type Answer, answerOfMutant, goesWrongAs, isRed, type Outcomes } from './outcome.ts';

/** A fault that explains some of the outcomes. */
export interface Explanation {
  readonly fault: DictionaryFault;
  /** Whether no other fault is as close. Otherwise only their mistake, which is the same, is certain. */
  readonly isExact: boolean;
  /** Names of the faults that are declared equivalent to it. */
  readonly alike: readonly string[];
  /** The checks that went wrong as the fault predicts. */
  readonly evidence: readonly string[];
  /** How many failures and warnings the fault predicts in this run. */
  readonly outcomes: number;
}

interface Overlap {
  readonly fault: DictionaryFault;
  readonly hits: readonly string[];
  readonly size: number;
  /** The share of its outcomes that the run has, by weight. */
  readonly precision: number;
}

/** The check that a receiver fails which rejects some plain valid deliveries and accepts others. */
export const STEADY = 'valid/steady';

const MAX_FAULTS = 6;
/** A fault that as many outcomes contradict as confirm is not named. What was not run does neither. */
const MIN_PRECISION = 0.5;
/** Warnings depend more on the framework and its style than on the fault. */
const weightOf = ({ level }: Pick<Answer, 'level'>) => (level === 'fail' ? 1 : 0.2);
/** Scores that differ by less are equal. */
const CLOSE = 0.999;

/** The faults that explain the outcomes, the one that explains most of them first, without those that contradict. */
export function explainByOverlap(
  outcomes: Outcomes,
  { faults }: FaultDictionary,
  isPossible: (fault: DictionaryFault) => boolean,
): Explanation[] {
  const red = new Map([...outcomes].flatMap(([id, answer]) => (answer === null ? [] : [[id, answer] as const])));
  const weight = (ids: Iterable<string>) => {
    let sum = 0;
    for (const id of ids) sum += weightOf(red.get(id) ?? { level: 'warn' });
    return sum;
  };
  const left = new Set(red.keys());
  // A receiver that fails now and then has single outcomes by chance.
  const isSteady = !red.has(STEADY);
  const overlaps = faults
    .filter((fault) => isPossible(fault) && (isSteady || isRed(fault.outcomes[STEADY])))
    .flatMap((fault) => overlapOf(fault, outcomes, red) ?? [])
    .map((one) => ({ ...one, weight: weight(one.hits) }));
  const found: Explanation[] = [];
  for (let turn = 0; turn < MAX_FAULTS; turn++) {
    const ranked = overlaps
      .map((one) => ({ ...one, gain: weight(one.hits.filter((id) => left.has(id))) }))
      .filter((one) => one.gain > 0 && one.gain * 2 >= one.weight)
      .map((one) => ({ ...one, score: one.precision * one.gain }))
      .toSorted((a, b) => b.score - a.score);
    const [best] = ranked;
    if (best === undefined) break;
    for (const id of best.hits) left.delete(id);
    const close = ranked.filter(({ score }) => score >= best.score * CLOSE).map(({ fault }) => fault);
    const roots = close.filter(({ equivalentTo }) => !close.some(({ name }) => name === equivalentTo?.name));
    const first = roots[0] ?? best.fault;
    if (new Set(roots.map(({ mistake }) => mistake)).size > 1) continue;
    found.push({
      fault: first,
      isExact: roots.length === 1,
      alike: close.filter(({ equivalentTo }) => equivalentTo?.name === first.name).map(({ name }) => name),
      evidence: best.hits,
      outcomes: best.size,
    });
  }
  return found;
}

const COMBINATION = 'combination/';

/** A rejection of the credentials is never one of the payload, where the endpoint tells them apart. */
function isForSameReason(observed: Answer, expected: Answer): boolean {
  return observed.kind !== 'rejected' || observed.isRefusal === null || observed.isRefusal === expected.isRefusal;
}

/**
 * The first forgeries of a run, before which nothing has changed the state of the receiver. One that rejects them does
 * not have a fault that accepts them.
 */
const PLAIN: ReadonlySet<string> = new Set(Object.values(PLAIN_FORGERIES).flat());

function overlapOf(fault: DictionaryFault, outcomes: Outcomes, red: ReadonlyMap<string, Answer>): Overlap | null {
  // What one credential does for the other is all that such a fault is about.
  const isExact = fault.area === 'combination';
  if (isExact && [...red.keys()].some((id) => id.startsWith(COMBINATION) && !isRed(fault.outcomes[id]))) return null;
  const hits: string[] = [];
  let [right, wrong, size] = [0, 0, 0];
  for (const id in fault.outcomes) {
    const outcome = fault.outcomes[id];
    if (!isRed(outcome) || !outcomes.has(id)) continue;
    const answer = answerOfMutant(outcome);
    const observed = red.get(id);
    size++;
    if (observed === undefined && answer.kind === 'accepted' && PLAIN.has(id)) return null;
    if (observed !== undefined && goesWrongAs(observed, answer) && isForSameReason(observed, answer)) {
      hits.push(id);
      right += weightOf(answer);
    } else if (isExact && id.startsWith(COMBINATION)) return null;
    else if (!isUncertain(fault, id)) wrong += weightOf(answer);
  }
  const precision = right / (right + wrong);
  return hits.length * 2 <= size || precision <= MIN_PRECISION ? null : { fault, hits, size, precision };
}
