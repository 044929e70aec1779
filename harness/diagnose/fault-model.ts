/**
 * The probability of the outcomes of a run, given a set of faults. A cost is a negative logarithm of a probability.
 *
 * For each fault and check, the matrix records what the mutant of that fault answers. Another receiver with the same
 * fault gives mostly the same answers, but other code or another framework changes some of them. Each fault of a set
 * shows in its checks independently (noisy-or), so one of them is enough to explain an outcome. An outcome that none of
 * them explains comes from a variant of one of them, or from an unknown fault, which tends to show several times in a
 * suite. Pure.
 *
 * The problem is that of Barinel (Abreu, Zoeteweij and van Gemund, 2009), with mutants instead of components.
 */
import { PLAIN_FORGERIES } from '../judge/index.ts';
import { type DictionaryFault, type FaultDictionary, isUncertain } from './fault-dictionary.ts';
import { ANSWERS, type Answer, answerOf, goesWrongAs, isRed, judgedIn, type Outcomes } from './outcome.ts';

/** Costs and probabilities, calibrated on receivers from which no mutant was derived. */
const MODEL = {
  /** The share of outcomes in its own area that must agree; below it, a fault is contradicted. */
  agreement: 0.75,
  /** How often a receiver with a fault differs from its mutant in a check: most never, some often (beta). */
  differs: { a: 0.1, b: 2 },
  /** How many receivers have another fault that resembles a known one, and shows in any share of its checks. */
  similar: 0.02,
  /** A check that the mutant fails has another bad outcome here. */
  otherWay: 2.5,
  /** All answers have another status than the mutant's, or close the connection instead. */
  otherStatus: 1.6,
  /** All rejections are for another reason: for the payload instead of the credentials, or the reverse. */
  otherReason: 6,
  /** An outcome that the dictionary leaves open for the fault. */
  open: 4,
  /** A 5xx that may as well be the rejection of credentials, with a fault that rejects valid ones. */
  either: 1,
  /** An unknown fault, in addition to how rare its rarest outcome is; a suite's first outcome, and each further. */
  unknown: 4.5,
  spread: 5,
  more: 1.8,
  /** An outcome next to those of a fault: its variant may be the cause. */
  sameGroup: 3,
  /** A warning that is not explained, while only failures are. */
  background: { code: 2, stack: 0.8 },
  /** How much a warning counts, compared with a failure. */
  warning: { code: 0.6, stack: 0.3 },
  /** How rare a warning is, compared with a failure. */
  rarity: { code: 1, stack: 0.85 },
  /** A further fault in a receiver that has one. */
  further: 0.7,
};

/** The suites whose warnings depend more on the HTTP stack than on the receiver's code. */
const STACK_SUITES = ['http', 'leaks'];

/** What a fault is expected to show in the checks that a run judged. */
export interface Expected {
  readonly fault: DictionaryFault;
  /** The number of failures and warnings of its mutant in the checks of this run. */
  readonly size: number;
  /** Equal for faults that the run cannot separate. */
  readonly key: string;
  /** The cost of the fault itself and of everything that differs from its mutant. */
  readonly price: number;
  /** How many of the fault's outcomes the run has. */
  readonly agreement: Agreement;
  /** For each red outcome of the run, the cost with this fault; infinite where the fault does not explain it. */
  readonly costs: Float64Array;
  /** The groups of outcomes in which it shows. */
  readonly groups: ReadonlySet<number>;
  /** The status or `closed` that all checks of the mutant got, and that all of the receiver got, where they differ. */
  readonly otherAnswer: { readonly expected: string; readonly observed: string } | null;
  /** The red outcomes that go wrong as the fault predicts. */
  readonly evidence: readonly string[];
  /** The checks that it accepts although the credentials are invalid. */
  readonly accepts: ReadonlySet<string>;
}

interface RedOutcome {
  readonly id: string;
  readonly answer: Answer;
  readonly weight: number;
  /** The kind of the answer, and its group: the same kind in the same suite, which one unknown fault may explain. */
  readonly kind: number;
  readonly group: number;
  /** The cost if an unknown fault shows here. */
  readonly rarity: number;
  /** The cost if it is not explained, while only failures are. */
  readonly background: number;
}

export interface Model {
  readonly red: readonly RedOutcome[];
  readonly kinds: number;
  readonly groups: number;
  readonly faults: readonly Expected[];
}

const suiteOf = (id: string) => id.slice(0, id.indexOf('/'));

const sourceOf = (id: string) => (STACK_SUITES.includes(suiteOf(id)) ? 'stack' : 'code');

const weightOf = (id: string, { level }: Answer) => (level === 'fail' ? 1 : MODEL.warning[sourceOf(id)]);

/** Prepares the model for the outcomes of a run. */
export function modelOf(
  outcomes: Outcomes,
  dictionary: FaultDictionary,
  isPossible: (fault: DictionaryFault) => boolean,
): Model {
  const frequency = frequencies(dictionary);
  const size = dictionary.faults.length;
  const [groups, kinds] = [new Map<string, number>(), new Map<string, number>()];
  const numberOf = (numbers: Map<string, number>, key: string) => {
    const number = numbers.get(key) ?? numbers.size;
    numbers.set(key, number);
    return number;
  };
  const red = [...outcomes].flatMap(([id, answer]): RedOutcome[] => {
    // A check that no mutant fails is newer than the dictionary, which says nothing about it.
    const often = frequency.get(id);
    if (answer === null || often === undefined) return [];
    const isFailure = answer.level === 'fail';
    const rarity = MODEL.unknown + Math.log(size / Math.max(often, 1));
    return [
      {
        id,
        answer,
        weight: weightOf(id, answer),
        kind: numberOf(kinds, answer.kind),
        group: numberOf(groups, `${suiteOf(id)} ${answer.kind}`),
        rarity: (isFailure ? 1 : MODEL.rarity[sourceOf(id)]) * rarity,
        background: isFailure ? Number.POSITIVE_INFINITY : MODEL.background[sourceOf(id)],
      },
    ];
  });
  const faults = dictionary.faults.flatMap((fault) =>
    isPossible(fault) ? (expectedOf(fault, outcomes, red, Math.log(size)) ?? []) : [],
  );
  return { red, kinds: kinds.size, groups: groups.size, faults };
}

/** How often a fault shows in a check: each mutant counts once, in equal parts for all checks that it fails. */
function frequencies({ faults }: FaultDictionary): ReadonlyMap<string, number> {
  const frequency = new Map<string, number>();
  for (const { outcomes } of faults) {
    const red = Object.keys(outcomes).filter((id) => isRed(outcomes[id]));
    for (const id of red) frequency.set(id, (frequency.get(id) ?? 0) + 1 / red.length);
  }
  return frequency;
}

/** Null for a fault that less than half of the outcomes agree with, or that those in its own area contradict. */
function expectedOf(
  fault: DictionaryFault,
  outcomes: Outcomes,
  red: readonly RedOutcome[],
  prior: number,
): Expected | null {
  const answers = new Map<string, Answer>();
  for (const [id, outcome] of Object.entries(fault.outcomes)) {
    if (isRed(outcome) && outcomes.has(id)) answers.set(id, answerOf(outcome));
  }
  const agreeing = red.filter(({ id, answer }) => goesWrongAs(answer, answers.get(id)));
  if (agreeing.length === 0) return null;
  const agreement = agreementOf(fault, answers, outcomes);
  if (agreement.all.misses > agreement.all.hits || isContradicted(fault, agreement.defining)) return null;
  if (PLAIN.some((id) => answers.get(id)?.kind === 'accepted' && outcomes.get(id) === null)) return null;
  const rejectsValid = agreeing.some(({ id, answer }) => answer.isEither && answers.get(id)?.kind === 'rejected');
  const key = [...answers].map(([id, { kind, detail }]) => `${id} ${kind} ${detail}`).toSorted();
  return {
    fault,
    size: answers.size,
    key: key.join('\n'),
    price: prior + detailCost(agreeing, answers) + likenessCost(agreement.all),
    agreement: agreement.all,
    costs: Float64Array.from(red, (one) => {
      const cost = costWith(fault, answers.get(one.id), one);
      return rejectsValid && one.answer.isEither ? Math.min(cost, one.weight * MODEL.either) : cost;
    }),
    groups: new Set(agreeing.map(({ group }) => group)),
    otherAnswer: otherAnswerOf(agreeing, answers),
    evidence: agreeing.map(({ id }) => id),
    accepts: new Set([...answers].flatMap(([id, { kind }]) => (kind === 'accepted' ? [id] : []))),
  };
}

/** The cost of a red outcome with a fault whose mutant has the outcome `expected`. */
function costWith(fault: DictionaryFault, expected: Answer | undefined, { id, answer, weight }: RedOutcome): number {
  if (expected === undefined) {
    return isUncertain(fault, id) || !judgedIn(fault, id) ? weight * MODEL.open : Number.POSITIVE_INFINITY;
  }
  if (goesWrongAs(answer, expected)) return 0;
  return goesWrongOtherwise(id, answer, expected) ? weight * MODEL.otherWay : Number.POSITIVE_INFINITY;
}

/** Whether both answers are wrong, in two ways that one fault can have. */
function goesWrongOtherwise(id: string, answer: Answer, expected: Answer): boolean {
  const kinds = [expected.kind, answer.kind];
  // Accepting a forgery is never the same as rejecting it, unless the payload is rejected after the signature.
  const isRelated = !kinds.includes('accepted') || id.startsWith(MIRRORED);
  if (kinds.some((one) => ANSWERS.includes(one))) return isRelated && kinds.every((one) => ANSWERS.includes(one));
  // Answers that leak: more than the mutant's.
  const leaks = answer.kind.split(', ');
  return expected.kind.split(', ').every((leak) => leaks.includes(leak));
}

/**
 * The first forgeries of a run, before which nothing has changed the state of the receiver. One that rejects them does
 * not have a fault that accepts them.
 */
const PLAIN = Object.values(PLAIN_FORGERIES).flat();

/** The cost of other statuses. It counts once, however many answers differ: a receiver uses one status throughout. */
function detailCost(agreeing: readonly RedOutcome[], answers: ReadonlyMap<string, Answer>): number {
  let cost = 0;
  for (const { id, answer } of agreeing) {
    const mine = answers.get(id);
    if (answer.isRefusal !== null && mine?.isRefusal !== answer.isRefusal) cost += MODEL.otherReason;
    else if (mine?.detail !== answer.detail) cost += MODEL.otherStatus;
  }
  return cost / agreeing.length;
}

function otherAnswerOf(agreeing: readonly RedOutcome[], answers: ReadonlyMap<string, Answer>): Expected['otherAnswer'] {
  const [observed, ...others] = new Set(agreeing.map(({ answer }) => answer.detail));
  const [expected, ...more] = new Set(agreeing.map(({ id }) => answers.get(id)?.detail));
  if (observed === undefined || expected === undefined || observed === expected) return null;
  return others.length + more.length === 0 ? { expected, observed } : null;
}

/** Outcomes of a mutant that a run has and does not have, weighted. */
interface Agreement {
  hits: number;
  misses: number;
}

/**
 * How far the outcomes agree with a mutant's, and those of them that define the fault. A check that goes wrong in
 * another way has a separate cost ({@link costWith}).
 */
function agreementOf(fault: DictionaryFault, answers: ReadonlyMap<string, Answer>, outcomes: Outcomes) {
  const all: Agreement = { hits: 0, misses: 0 };
  const defining: Agreement = { hits: 0, misses: 0 };
  const suites = OWN_SUITES[fault.area] ?? [];
  for (const [id, answer] of answers) {
    const isOwn = suites.includes(suiteOf(id)) && !id.startsWith(MIRRORED);
    const observed = outcomes.get(id) ?? null;
    const isHit = observed !== null && goesWrongAs(observed, answer);
    if (!isHit && observed !== null && goesWrongOtherwise(id, observed, answer)) continue;
    const count = (part: Agreement, weight: number) => {
      if (isHit) part.hits += weight;
      else part.misses += weight;
    };
    count(all, isOwn ? 1 : weightOf(id, answer));
    if (isOwn && (fault.area !== 'combination' || suiteOf(id) === 'combination')) count(defining, 1);
  }
  return { all, defining };
}

/** The suites whose outcomes define the faults of an area. Elsewhere they show only in some receivers. */
const OWN_SUITES: Readonly<Record<string, readonly string[]>> = {
  'raw-body': ['raw-body'],
  signature: ['signature', 'combination'],
  'api-key': ['api-key', 'combination'],
  combination: ['combination', 'signature', 'api-key'],
  payload: ['valid', 'typo-key', 'delivery'],
  delivery: ['delivery'],
  http: ['http', 'valid'],
  leaks: ['leaks'],
  effects: ['effects'],
  tls: ['tls'],
  mtls: ['mtls'],
};

/** Probes of a fallback that reads the body differently. Their outcomes also depend on the rest of the receiver. */
const MIRRORED = 'raw-body/mirror';

/** Whether the outcomes that define a fault contradict it. */
function isContradicted({ area }: DictionaryFault, { hits, misses }: Agreement): boolean {
  if (misses === 0) return false;
  return area === 'combination' || hits === 0 || (misses > 1 && hits < (hits + misses) * MODEL.agreement);
}

/** Either it is the fault, and most of it agrees; or another that resembles it, and any share of it agrees. */
function likenessOf({ hits, misses }: Agreement): { same: number; similar: number } {
  const { a, b } = MODEL.differs;
  const same = beta(misses + a, hits + b) / beta(a, b);
  return { same: (1 - MODEL.similar) * same, similar: MODEL.similar * beta(misses + 1, hits + 1) };
}

function likenessCost(agreement: Agreement): number {
  const { same, similar } = likenessOf(agreement);
  return -Math.log(same + similar);
}

/**
 * The probability that the receiver has this fault of the set, and not an unknown one that resembles it. A failure that
 * no fault of the set predicts counts like an outcome that is missing.
 */
export function samenessOf({ red }: Model, { agreement }: Expected, set: readonly Expected[]): number {
  const more = red.filter(({ answer }, at) => answer.level === 'fail' && set.every(({ costs }) => costs[at] !== 0));
  const { same, similar } = likenessOf({ ...agreement, misses: agreement.misses + more.length });
  return same / (same + similar);
}

const beta = (a: number, b: number) => Math.exp(logGamma(a) + logGamma(b) - logGamma(a + b));

/** Stirling's series, after shifting the argument to where the series is accurate enough. */
function logGamma(x: number): number {
  let [shift, at] = [0, x];
  for (; at < 8; at++) shift += Math.log(at);
  return (at - 0.5) * Math.log(at) - at + 0.5 * Math.log(2 * Math.PI) + 1 / (12 * at) - 1 / (360 * at ** 3) - shift;
}

/** What is explained: the failures, with warnings as background; or warnings too. */
export type Focus = 'failures' | 'warnings';

/** The cost of the outcomes, given these faults. */
export function costOf({ red, groups, kinds }: Model, set: readonly Expected[], focus: Focus): number {
  let cost = MODEL.further * Math.max(0, set.length - 1);
  for (const { price } of set) cost += price;
  const together = acceptedTogether(set);
  const isSeen = new Uint8Array(groups);
  // By kind of answer: the cost with an unknown fault, and with variants of the given ones, if they can be the cause.
  const unknown = new Float64Array(kinds);
  const rarest = new Float64Array(kinds);
  const variants = new Float64Array(kinds);
  for (const [at, { id, answer, weight, group, kind, rarity, background }] of red.entries()) {
    let best = together.has(id) && answer.kind === 'accepted' ? 0 : Number.POSITIVE_INFINITY;
    for (const { costs } of set) best = Math.min(best, costs[at] ?? best);
    if (best < Number.POSITIVE_INFINITY) cost += best;
    else if (focus === 'failures' && background < Number.POSITIVE_INFINITY) cost += background;
    else {
      unknown[kind] = (unknown[kind] ?? 0) + weight * (isSeen[group] ? MODEL.more : MODEL.spread);
      isSeen[group] = 1;
      rarest[kind] = Math.max(rarest[kind] ?? 0, rarity - weight * MODEL.spread);
      const isSameGroup = answer.kind !== 'accepted' && set.some((one) => one.groups.has(group));
      variants[kind] = (variants[kind] ?? 0) + (isSameGroup ? weight * MODEL.sameGroup : Number.POSITIVE_INFINITY);
    }
  }
  for (const [kind, sum] of unknown.entries()) cost += Math.min(sum + (rarest[kind] ?? 0), variants[kind] ?? 0);
  return cost;
}

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

/** The checks that fail only with several of the faults together, one for each credential. */
function acceptedTogether(set: readonly Expected[]): ReadonlySet<string> {
  if (set.length < 2) return new Set();
  const accepting = (id: string) => set.filter(({ accepts }) => accepts.has(id));
  return new Set(
    BOTH_WRONG.flatMap(([both, first, second]) => {
      const seconds = accepting(second);
      return accepting(first).some((one) => seconds.some((other) => other !== one)) ? [both] : [];
    }),
  );
}
