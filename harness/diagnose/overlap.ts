/**
 * Finds the mutants whose outcomes overlap most with those of a run. A receiver with the same fault has mostly the same
 * outcomes; different code or another framework changes some of them. All functions are pure.
 */
import { PLAIN_FORGERIES } from '../judge/index.ts';
import { STAYS_UP } from './facts.ts';
import { type DictionaryFault, type FaultDictionary, isUncertain } from './fault-dictionary.ts';
import { type Deviation, deviationOfMutant, goesWrongAs, isRed, type Outcomes } from './outcome.ts';

/** A fault that explains some of the outcomes. */
export interface ExplainingFault {
  readonly fault: DictionaryFault;
  /** Whether no other fault explains the outcomes about as well. Otherwise only their common mistake is certain. */
  readonly isExact: boolean;
  /** The names of the faults that are declared equivalent to this one. */
  readonly alike: readonly string[];
  /** The checks that failed as the fault predicts. */
  readonly evidence: readonly string[];
  /** The number of failures and warnings that the fault predicts for this run. */
  readonly outcomes: number;
}

interface Overlap {
  readonly fault: DictionaryFault;
  readonly hits: readonly string[];
  readonly size: number;
  /** The weighted share of the fault's outcomes that the run shows. */
  readonly precision: number;
}

/** The check that fails if the receiver rejects some plain valid deliveries and accepts others. */
export const STEADY = 'valid/steady';
/** The check that accepted notifications are handled, which reveals intermittent losses. */
export const ALL_HANDLED = 'effects/accepted-handled';

const MAX_FAULTS = 6;
/**
 * Minimum precision. Below it, more outcomes contradict a fault than confirm it. Checks that were not run do neither.
 */
const MIN_PRECISION = 0.5;
/** A fault with at least this precision is named, even if other variants of its mistake also fit. */
const FITS_WELL = 0.8;
/** Warnings depend more on the framework and its style than on the fault. */
const weightOf = ({ level }: Pick<Deviation, 'level'>) => (level === 'fail' ? 1 : 0.2);
/** Scores whose ratio is at least this count as equal. */
const CLOSE = 0.999;

/**
 * Returns the faults that explain the outcomes, starting with those that explain the most. Faults that the outcomes
 * contradict are left out.
 */
export function explainByOverlap(
  outcomes: Outcomes,
  { faults }: FaultDictionary,
  isPossible: (fault: DictionaryFault) => boolean,
): ExplainingFault[] {
  const red = new Map([...outcomes].flatMap(([id, answer]) => (answer === null ? [] : [[id, answer] as const])));
  const weight = (ids: Iterable<string>) => {
    let sum = 0;
    for (const id of ids) sum += weightOf(red.get(id) ?? { level: 'warn' });
    return sum;
  };
  const left = new Set(red.keys());
  // A receiver that fails intermittently produces some outcomes by chance.
  const comesAndGoes = [STEADY, ALL_HANDLED].filter((id) => red.has(id));
  const mayComeAndGo = ({ area, outcomes: its }: DictionaryFault) =>
    comesAndGoes.every((id) => isRed(its[id]) || (id === ALL_HANDLED && area !== 'effects'));
  const overlaps = faults
    .filter((fault) => isPossible(fault) && mayComeAndGo(fault))
    .flatMap((fault) => overlapOf(fault, outcomes, red) ?? [])
    .map((one) => ({ ...one, weight: weight(one.hits) }));
  const found: ExplainingFault[] = [];
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
    // If another variant of the mistake fits better but explains less, the receiver may have a third variant.
    const isContested =
      best.precision < FITS_WELL &&
      ranked.some(
        ({ fault, gain, precision }) =>
          fault.mistake === first.mistake && precision > best.precision && gain * 2 >= best.gain,
      );
    found.push({
      fault: first,
      isExact: roots.length === 1 && !isContested,
      alike: close.filter(({ equivalentTo }) => equivalentTo?.name === first.name).map(({ name }) => name),
      evidence: best.hits,
      outcomes: best.size,
    });
  }
  return found;
}

const COMBINATION = 'combination/';

/** Whether both are rejections for the same reason (credentials or payload), if the endpoint distinguishes them. */
function isForSameReason(observed: Deviation, expected: Deviation): boolean {
  return observed.kind !== 'rejected' || observed.isRefusal === null || observed.isRefusal === expected.isRefusal;
}

/**
 * The first forgeries of a run, before anything has changed the receiver's state. A receiver that rejects them does not
 * have a fault that accepts them.
 */
export const PLAIN_FORGERY_IDS: ReadonlySet<string> = new Set(Object.values(PLAIN_FORGERIES).flat());

function overlapOf(fault: DictionaryFault, outcomes: Outcomes, red: ReadonlyMap<string, Deviation>): Overlap | null {
  // Faults of this area concern only how one credential affects the other.
  const isExact = fault.area === 'combination';
  if (isExact && [...red.keys()].some((id) => id.startsWith(COMBINATION) && !isRed(fault.outcomes[id]))) return null;
  // A receiver that answers, or closes one connection, has not ended its process.
  const canEnd = isRed(fault.outcomes[STAYS_UP]);
  const hits: string[] = [];
  let [right, wrong, size] = [0, 0, 0];
  for (const id in fault.outcomes) {
    const outcome = fault.outcomes[id];
    if (!isRed(outcome) || !outcomes.has(id)) continue;
    const answer = deviationOfMutant(outcome);
    const observed = red.get(id);
    size++;
    if (observed === undefined && answer.kind === 'accepted' && PLAIN_FORGERY_IDS.has(id)) return null;
    if (
      observed !== undefined &&
      goesWrongAs(observed, answer) &&
      isForSameReason(observed, answer) &&
      (canEnd || !observed.hasEnded)
    ) {
      hits.push(id);
      right += weightOf(answer);
    } else if (isExact && id.startsWith(COMBINATION)) return null;
    else if (!isUncertain(fault, id)) wrong += weightOf(answer);
  }
  const precision = right / (right + wrong);
  return hits.length * 2 <= size || precision <= MIN_PRECISION ? null : { fault, hits, size, precision };
}
