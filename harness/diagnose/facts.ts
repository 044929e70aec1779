/**
 * Derives the facts of a run: for each failure or warning, the harm and what the answer looks like, compared with this
 * endpoint's answers in known situations. Facts hold for any receiver, whatever statuses it uses. All functions are
 * pure.
 */
import { MISTAKES, type MistakeId } from '../../contract/mistakes/index.ts';
import { findScenario, type RunObservations } from '../../scenarios/index.ts';
import { is2xx, mustBeRejected } from '../judge/index.ts';
import { groupBy } from '../report/index.ts';
import type { ScenarioResult } from '../report/result-document.ts';
import { type Cell, cellsOf, type Trait } from './traits.ts';

/** The kinds of harm, the worst first. Causes are listed in this order. */
export const HARMS = [
  'reveals',
  'forged',
  'ended by anyone',
  'ends',
  'refuses',
  'repeats',
  'status',
  'malformed',
  'lenient',
  'rest',
] as const;
export type Harm = (typeof HARMS)[number];

/** Which of the endpoint's other answers a rejection of a valid delivery resembles. */
export type Likeness = 'signature' | 'payload' | 'elsewhere' | 'crash' | 'unknown';

export interface Fact {
  readonly id: string;
  readonly result: ScenarioResult;
  readonly isFailure: boolean;
  readonly harm: Harm;
  /** Which other answers this answer resembles. `unknown`, except for rejected valid deliveries. */
  readonly likeness: Likeness;
  /** The mistake that this outcome of the check indicates. */
  readonly mistake: MistakeId;
  /** Whether the accepted delivery can be made without the secret. */
  readonly isForgery: boolean;
  /** The delivery that decided; null for observations over the whole run or in a handshake. */
  readonly cell: Cell | null;
  /** The part of the delivery that is enough, as isolated by a follow-up: `X-Client-Verify: SUCCESS`. */
  readonly part: string | null;
  /** Whether such a body ended the process both with and without a valid signature, so before any check. */
  readonly endsUnchecked: boolean;
}

/** The endpoint's usual status in known situations; null if the run does not show it. */
export interface Fingerprints {
  readonly invalidSignature: string | null;
  readonly malformedPayload: string | null;
  /** The status that a copy of an accepted notification gets, if it is not 200. */
  readonly copy: string | null;
  /** The statuses of every check that passed, and that of a copy. */
  readonly usual: ReadonlySet<string>;
}

type Results = readonly ScenarioResult[];

const isRedResult = ({ verdict }: ScenarioResult) => verdict === 'fail' || verdict === 'warn';

export function fingerprintsOf(results: Results): Fingerprints {
  const passed = results.filter(({ verdict }) => verdict === 'pass');
  const statusOf = (result: ScenarioResult) => `${result.answered?.status ?? ''}`;
  const of = (suites: readonly string[]) =>
    mostFrequent(passed.filter(({ suite, answered }) => suites.includes(suite) && isRejection(answered)).map(statusOf));
  const copies = results.filter((result) => isRedResult(result) && result.id === COPY && isRejection(result.answered));
  return {
    invalidSignature: of(['signature', 'api-key', 'combination']),
    malformedPayload: of(['malformed']),
    copy: mostFrequent(copies.map(statusOf)),
    usual: new Set([...passed, ...copies].map(statusOf)),
  };
}

/** The check that sends a notification again. */
const COPY = 'delivery/twice';

const isRejection = (answered: ScenarioResult['answered']) => answered?.class === 'rejected';

function mostFrequent(values: readonly string[]): string | null {
  const groups = groupBy(values, (value) => value);
  return groups.toSorted(([, a], [, b]) => b.length - a.length)[0]?.[0] ?? null;
}

/** Returns the facts, in the order of the results. */
export function factsOf(results: Results, outages: RunObservations['outages']): Fact[] {
  const fingerprints = fingerprintsOf(results);
  const culprits = new Set(outages.flatMap(({ culprit }) => culprit ?? []));
  // The name of a member that every object inherits also counts as an unknown value.
  const failsOnUnknown = results.some(
    ({ id, outcome = '' }) => /^5/.test(outcome) && findScenario(id)?.mistake === 'unknown-values-rejected',
  );
  const unchecked = mistakesBeforeChecks(results, culprits);
  return results.filter(isRedResult).flatMap((result): Fact[] => {
    const scenario = findScenario(result.id);
    if (scenario === undefined) return [];
    const cell = decisiveCell(result);
    // Every parser limits nesting, and most receivers with this mistake also have another one.
    const isNesting = scenario.mistake === 'deep-nesting-unhandled';
    const found = harmOf(result, cell, culprits);
    const endsUnchecked = result.suite === 'malformed' && isEnd(found) && unchecked.has(scenario.mistake);
    const harm = endsUnchecked ? 'ended by anyone' : isNesting && found === 'malformed' ? 'rest' : found;
    return [
      {
        id: result.id,
        result,
        isFailure: result.verdict === 'fail',
        harm,
        likeness:
          harm === 'refuses' && !result.decidedBy.startsWith('effect') ? likenessOf(result, fingerprints) : 'unknown',
        mistake:
          failsOnUnknown && scenario.mistake === 'inherited-name-lookup'
            ? 'unknown-values-rejected'
            : endsUnchecked
              ? scenario.mistake
              : mistakeShown(scenario.mistake, harm, result, cell, fingerprints),
        isForgery: harm === 'forged' && scenario.needsSecret !== true,
        cell,
        part: partOf(result),
        endsUnchecked,
      },
    ];
  });
}

export const isEnd = (harm: Harm) => harm === 'ends' || harm === 'ended by anyone';

/** Returns the mistakes in reading a body that ended the process both with and without a valid signature. */
function mistakesBeforeChecks(results: Results, culprits: ReadonlySet<string>): ReadonlySet<MistakeId> {
  const malformed = results.filter((result) => result.suite === 'malformed' && isRedResult(result));
  const endedBy = (harm: Harm) =>
    malformed
      .filter((result) => harmOf(result, decisiveCell(result), culprits) === harm)
      .flatMap(({ id }) => findScenario(id)?.mistake ?? []);
  const signed = new Set(endedBy('ends'));
  return new Set(endedBy('ended by anyone').filter((mistake) => signed.has(mistake)));
}

/**
 * Whether a notification of an unknown kind, in the shape of an order, gets the same answer as these facts show. The
 * receiver then decides by a list of known kinds.
 */
export function isAnsweredAsUnknownKind(some: readonly Fact[], facts: readonly Fact[]): boolean {
  const unknown = facts.find(
    ({ mistake, cell }) =>
      mistake === 'unknown-values-rejected' && cell?.traits.some((trait) => /^notification: TEST_/.test(trait)),
  );
  return unknown !== undefined && some.every((one) => one.result.outcome === unknown.result.outcome);
}

function decisiveCell({ id, delivery }: ScenarioResult): Cell | null {
  const cells = cellsOf(id);
  return cells.get(delivery ?? '') ?? (cells.size === 1 ? ([...cells.values()][0] ?? null) : null);
}

function partOf({ id, decidedBy, delivery }: ScenarioResult): string | null {
  return decidedBy === 'forgery-accepted' && delivery !== null && !cellsOf(id).has(delivery) ? delivery : null;
}

/** Leaks of values that an attacker can use directly. */
const CREDENTIALS = 'signature secret api-key credential-part sent-signature private-key'.split(' ');

const HARM_BY_DECISION: Readonly<Record<string, Harm>> = {
  'forgery-accepted': 'forged',
  'effect-of-rejected': 'forged',
  'effect-missing': 'refuses',
  'effect-repeated': 'repeats',
  'effect-value': 'repeats',
  'effect-overwritten': 'repeats',
  'other-2xx': 'status',
};

/** The check that the receiver stays up during the run. */
export const STAYS_UP = 'delivery/stays-up';

function harmOf(result: ScenarioResult, cell: Cell | null, culprits: ReadonlySet<string>): Harm {
  const { id, suite, decidedBy, outcome = '' } = result;
  if (suite === 'leaks' || decidedBy === 'leak' || id.startsWith('effects/log')) {
    if (outcome.split(', ').some((leak) => CREDENTIALS.includes(leak))) return 'reveals';
    if (decidedBy === 'leak') return 'rest';
  }
  if (id === STAYS_UP) return 'ends';
  if (culprits.has(id) || decidedBy === 'receiver-stopped') {
    return cell?.expect.authentic === false ? 'ended by anyone' : 'ends';
  }
  // The sender signed another form of the same notification, so an attacker cannot invent one.
  if (decidedBy === 'forgery-accepted' && suite === 'raw-body') return 'lenient';
  const decided = HARM_BY_DECISION[decidedBy];
  if (decided !== undefined) return decided;
  if (suite === 'mtls' && is2xx(Number(outcome)) && (cell === null || mustBeRejected(cell.expect))) return 'forged';
  if (cell === null || decidedBy === 'answers-differ') {
    return ['signature', 'api-key'].includes(suite) ? 'status' : suite === 'valid' ? 'refuses' : 'rest';
  }
  const { authentic, malformed, pass } = cell.expect;
  if (!authentic) return is2xx(Number(outcome)) ? 'forged' : 'status';
  if (malformed === true && !(pass.includes(200) && /^[34]/.test(outcome))) return 'malformed';
  return pass.includes(200) && !is2xx(Number(outcome)) ? 'refuses' : 'rest';
}

/**
 * The mistakes that can cause a notification not to be handled, or to be handled repeatedly. If the check tests one of
 * them, that one is meant. Otherwise the first is assumed, because such a check sends no duplicates.
 */
const MISTAKES_BY_EFFECT: Readonly<Record<string, readonly [MistakeId, ...MistakeId[]]>> = {
  'effect-missing': ['acknowledged-before-stored', 'kind-not-handled', 'unknown-value-stops-work', 'copies-by-content'],
  'effect-repeated': ['effect-and-id-apart', 'copy-handled-again', 'ids-kept-in-memory', 'lookup-before-insert'],
};

/** The mistakes that a status alone indicates. */
const MISTAKE_BY_STATUS: Readonly<Record<number, MistakeId>> = {
  413: 'valid-body-size-rejected',
  429: 'load-rejected',
  431: 'header-limits-too-low',
};

/**
 * Returns the mistake that an outcome indicates. A check for accepted forgeries indicates another mistake if the
 * forgery was rejected with an invalid answer.
 */
function mistakeShown(
  ofCheck: MistakeId,
  harm: Harm,
  result: ScenarioResult,
  cell: Cell | null,
  { copy }: Fingerprints,
): MistakeId {
  const { answered, decidedBy, id, outcome = '' } = result;
  const byEffect = MISTAKES_BY_EFFECT[decidedBy];
  if (byEffect !== undefined) return byEffect.includes(ofCheck) ? ofCheck : byEffect[0];
  // The checks of amounts also fail where the receiver does not read the amount or its currency.
  if (outcome === 'no-amount' || outcome === 'currency') return 'mapping-shared-by-kinds';
  const byStatus = MISTAKE_BY_STATUS[answered?.status ?? 0];
  if (byStatus !== undefined && (harm === 'refuses' || harm === 'status')) return byStatus;
  if (cell === null) return ofCheck;
  const isCrash = /^(?:5\d\d|closed)$/.test(outcome);
  if (harm === 'ended by anyone') return 'verification-ends-process';
  if (harm === 'ends' && isCrash) return 'uncaught-error';
  if (harm === 'refuses') {
    if (outcome === 'silence') return 'slow-answer';
    if (decidedBy === 'unreadable-answer') return 'body-length-in-characters';
    // The receiver takes the notification for a copy of a rejected one, so no lock is held.
    if (ofCheck === 'resource-not-released' && outcome === copy) return 'remembered-before-checks';
    // A filter would reject the body, so a 5xx comes from the code that used the text.
    if (isCrash && ofCheck === 'body-content-filter')
      return id.endsWith('sql') ? 'sql-from-payload-text' : 'unstorable-characters';
  }
  if (harm !== 'status') return ofCheck;
  const has = (...starts: readonly string[]) =>
    cell.traits.some((trait) => starts.some((start) => trait.startsWith(start)));
  if (isCrash || outcome === 'silence') {
    if (has('Content-Type', 'body: no bytes', 'framing: no body')) return 'undefined-body-throws';
    if (has('header: Content-Encoding')) return 'decompression-unguarded';
    // An accepted forgery would show that such a body is not verified, and an error only that it cannot be read.
    if (has('framing') && ofCheck === 'verification-per-framing') return 'malformed-http-error';
    if (has('framing', 'method', 'URL')) return ofCheck;
    if (has('body: more than')) return 'oversized-body-unhandled';
    return has('API key') && !has('signature') ? 'key-check-throws' : 'signature-check-throws';
  }
  return has('body', 'notification', 'Content-Type') ? 'parsing-before-verification' : 'wrong-refusal-status';
}

function likenessOf({ answered, outcome = '' }: ScenarioResult, fingerprints: Fingerprints): Likeness {
  const status = `${answered?.status ?? outcome}`;
  const { invalidSignature, malformedPayload, usual } = fingerprints;
  if (!/^(?:\d{3}|closed|silence)$/.test(status)) return 'unknown';
  if (status === invalidSignature) return status === malformedPayload ? 'unknown' : 'signature';
  if (status === malformedPayload) return 'payload';
  if (/^(?:5\d\d|closed|silence)$/.test(status)) return 'crash';
  return usual.has(status) ? 'unknown' : 'elsewhere';
}

/** Whether a receiver with one mistake also shows the other. */
export function implies(one: MistakeId, other: MistakeId): boolean {
  return one === other || MISTAKES[one].implies?.includes(other) === true;
}

/**
 * Whether a delivery has all deviations of a simpler one, or one of the kinds of which no notification is accepted, and
 * the same kind of answer.
 */
export function isSpecialCaseOf(fact: Fact, simpler: Fact, kinds: readonly Trait[] = []): boolean {
  if (fact.cell === null || simpler.cell === null) return false;
  if (kindOf(fact) !== kindOf(simpler)) return false;
  if (fact.harm !== simpler.harm && !isAkin(fact, simpler)) return false;
  const { traits } = fact.cell;
  if (kinds.some((kind) => traits.includes(kind))) return true;
  return simpler.cell.traits.length > 0 && simpler.cell.traits.every((trait) => hasAtLeast(traits, trait));
}

/**
 * Whether two different harms have the same cause: an accepted body of another form is also a forgery, and an error has
 * the same cause whether the payload is valid or not.
 */
function isAkin({ harm }: Fact, simpler: Fact): boolean {
  if (harm === 'lenient') return simpler.harm === 'forged';
  return kindOf(simpler) === 'crashed' && [harm, simpler.harm].every((one) => one === 'refuses' || one === 'malformed');
}

/**
 * Whether the traits include this one. If an invented credential is accepted, so is any other credential that is
 * present.
 */
function hasAtLeast(traits: readonly Trait[], trait: Trait): boolean {
  if (traits.includes(trait)) return true;
  const [, name] = /^(.*): invented$/.exec(trait) ?? [];
  return name !== undefined && traits.some((one) => one.startsWith(`${name}: `) && !/: (?:missing|empty)$/.test(one));
}

/** Returns `accepted`, `rejected`, `crashed`, or the outcome unchanged. */
export function kindOf({ result: { answered, outcome = '' } }: Fact): string {
  if (answered !== undefined && answered.class !== 'closed') return answered.class;
  return outcome === 'closed' ? 'crashed' : outcome;
}
