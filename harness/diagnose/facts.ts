/**
 * The facts of a run: for each check that went wrong, what harm it does and what the answer looks like, compared with
 * how this endpoint answers in known situations. They hold for any receiver, whatever statuses it uses. Pure.
 */
import { MISTAKES, type MistakeId } from '../../contract/mistakes/index.ts';
import { findScenario, type RunObservations } from '../../scenarios/index.ts';
import { is2xx, mustBeRejected } from '../judge/index.ts';
import { groupBy } from '../report/index.ts';
import type { ScenarioResult } from '../report/result-document.ts';
import { type Cell, cellsOf, type Trait } from './traits.ts';

/** What goes wrong for the partner, the worst first. Causes are listed in this order. */
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

/** What a rejection of a valid delivery looks like, compared with the other answers of this endpoint. */
export type Likeness = 'signature' | 'payload' | 'elsewhere' | 'crash' | 'unknown';

export interface Fact {
  readonly id: string;
  readonly result: ScenarioResult;
  readonly isFailure: boolean;
  readonly harm: Harm;
  /** Only of refused valid deliveries. */
  readonly likeness: Likeness;
  /** The mistake that the check shows with this outcome. */
  readonly mistake: MistakeId;
  /** The delivery that decided; null for what is observed over the whole run, or in a handshake. */
  readonly cell: Cell | null;
  /** The part of the delivery that a follow-up isolated as enough: `X-Client-Verify: SUCCESS`. */
  readonly part: string | null;
}

/** How the endpoint answers in known situations, by the usual status; null where the run does not show it. */
export interface Fingerprints {
  readonly invalidSignature: string | null;
  readonly malformedPayload: string | null;
  /** The statuses of every check that passed. */
  readonly usual: ReadonlySet<string>;
}

type Results = readonly ScenarioResult[];

const isRedResult = ({ verdict }: ScenarioResult) => verdict === 'fail' || verdict === 'warn';

export function fingerprintsOf(results: Results): Fingerprints {
  const passed = results.filter(({ verdict }) => verdict === 'pass');
  const statusOf = (result: ScenarioResult) => `${result.answered?.status ?? ''}`;
  const of = (suites: readonly string[]) =>
    mostFrequent(passed.filter(({ suite, answered }) => suites.includes(suite) && isRejection(answered)).map(statusOf));
  return {
    invalidSignature: of(['signature', 'api-key', 'combination']),
    malformedPayload: of(['malformed']),
    usual: new Set(passed.map(statusOf)),
  };
}

const isRejection = (answered: ScenarioResult['answered']) => answered?.class === 'rejected';

function mostFrequent(values: readonly string[]): string | null {
  const groups = groupBy(values, (value) => value);
  return groups.toSorted(([, a], [, b]) => b.length - a.length)[0]?.[0] ?? null;
}

/** The facts, in the order of the results. */
export function factsOf(results: Results, outages: RunObservations['outages']): Fact[] {
  const fingerprints = fingerprintsOf(results);
  const culprits = new Set(outages.flatMap(({ culprit }) => culprit ?? []));
  return results.filter(isRedResult).flatMap((result): Fact[] => {
    const scenario = findScenario(result.id);
    if (scenario === undefined) return [];
    const cell = decisiveCell(result);
    // Every parser has a limit, and most receivers have this mistake next to another one.
    const isNesting = scenario.mistake === 'deep-nesting-unhandled';
    const found = harmOf(result, cell, culprits);
    const harm = isNesting && found === 'malformed' ? 'rest' : found;
    return [
      {
        id: result.id,
        result,
        isFailure: result.verdict === 'fail',
        harm,
        likeness:
          harm === 'refuses' && !result.decidedBy.startsWith('effect') ? likenessOf(result, fingerprints) : 'unknown',
        mistake: mistakeShown(scenario.mistake, harm, result, cell),
        cell,
        part: partOf(result),
      },
    ];
  });
}

function decisiveCell({ id, delivery }: ScenarioResult): Cell | null {
  const cells = cellsOf(id);
  return cells.get(delivery ?? '') ?? (cells.size === 1 ? ([...cells.values()][0] ?? null) : null);
}

function partOf({ id, decidedBy, delivery }: ScenarioResult): string | null {
  return decidedBy === 'forgery-accepted' && delivery !== null && !cellsOf(id).has(delivery) ? delivery : null;
}

/** What a leak gives away that an attacker can use at once. */
const CREDENTIALS = ['signature', 'secret', 'api-key', 'credential-part', 'sent-signature', 'private-key'];

const HARM_BY_DECISION: Readonly<Record<string, Harm>> = {
  'forgery-accepted': 'forged',
  'effect-of-rejected': 'forged',
  'effect-missing': 'refuses',
  'effect-repeated': 'repeats',
  'effect-value': 'repeats',
  'effect-overwritten': 'repeats',
  'other-2xx': 'status',
};

/** The check of a receiver that stays up. */
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
  // The sender signed another form of this very notification, so an attacker cannot invent one.
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

/** What it means that a notification was not handled, or too often, whatever else the check is about. */
const MISTAKES_BY_EFFECT: Readonly<Record<string, readonly [MistakeId, ...MistakeId[]]>> = {
  'effect-missing': ['acknowledged-before-stored', 'kind-not-handled', 'unknown-value-stops-work', 'copies-by-content'],
  'effect-repeated': ['copy-handled-again', 'ids-kept-in-memory', 'lookup-before-insert', 'effect-and-id-apart'],
};

/** What a status says by itself. */
const MISTAKE_BY_STATUS: Readonly<Record<number, MistakeId>> = {
  413: 'valid-body-size-rejected',
  429: 'load-rejected',
  431: 'header-limits-too-low',
};

/** A check for accepted forgeries shows something else where the forgery was refused with a wrong answer. */
function mistakeShown(ofCheck: MistakeId, harm: Harm, result: ScenarioResult, cell: Cell | null): MistakeId {
  const { answered, decidedBy, id, outcome = '' } = result;
  const byEffect = MISTAKES_BY_EFFECT[decidedBy];
  if (byEffect !== undefined) return byEffect.includes(ofCheck) ? ofCheck : byEffect[0];
  const byStatus = MISTAKE_BY_STATUS[answered?.status ?? 0];
  if (byStatus !== undefined && (harm === 'refuses' || harm === 'status')) return byStatus;
  if (cell === null) return ofCheck;
  const isCrash = /^(?:5\d\d|closed)$/.test(outcome);
  if (harm === 'ended by anyone') return 'verification-ends-process';
  if (harm === 'ends' && isCrash) return 'uncaught-error';
  if (harm === 'refuses') {
    if (outcome === 'silence') return 'slow-answer';
    if (decidedBy === 'unreadable-answer') return 'body-length-in-characters';
    // A filter rejects; an error is of the code that used the text.
    if (isCrash && ofCheck === 'body-content-filter')
      return id.endsWith('sql') ? 'sql-from-payload-text' : 'unstorable-characters';
  }
  if (harm !== 'status') return ofCheck;
  const has = (...starts: readonly string[]) =>
    cell.traits.some((trait) => starts.some((start) => trait.startsWith(start)));
  if (isCrash || outcome === 'silence') {
    if (has('Content-Type', 'body: no bytes', 'framing: no body')) return 'undefined-body-throws';
    if (has('header: Content-Encoding')) return 'decompression-unguarded';
    if (has('framing', 'method', 'URL')) return ofCheck;
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

/** Whether a receiver that makes one mistake shows the other as well. */
export function implies(one: MistakeId, other: MistakeId): boolean {
  return one === other || MISTAKES[one].implies?.includes(other) === true;
}

/** Whether a delivery deviates from the plain one in everything that another does, and answers alike. */
export function isSpecialCaseOf(fact: Fact, simpler: Fact): boolean {
  if (fact.cell === null || simpler.cell === null) return false;
  if (kindOf(fact) !== kindOf(simpler)) return false;
  if (fact.harm !== simpler.harm && !isAkin(fact, simpler)) return false;
  const { traits } = fact.cell;
  return simpler.cell.traits.length > 0 && simpler.cell.traits.every((trait) => hasAtLeast(traits, trait));
}

/** An accepted body of another form is a forgery too, and an error has the same cause whether the payload is valid. */
function isAkin({ harm }: Fact, simpler: Fact): boolean {
  if (harm === 'lenient') return simpler.harm === 'forged';
  return kindOf(simpler) === 'crashed' && [harm, simpler.harm].every((one) => one === 'refuses' || one === 'malformed');
}

/** Where an invented credential is accepted, so is any other that is there. */
function hasAtLeast(traits: readonly Trait[], trait: Trait): boolean {
  if (traits.includes(trait)) return true;
  const [, name] = /^(.*): invented$/.exec(trait) ?? [];
  return name !== undefined && traits.some((one) => one.startsWith(`${name}: `) && !/: (?:missing|empty)$/.test(one));
}

/** `accepted`, `rejected`, `crashed`, or the outcome as it is. */
export function kindOf({ result: { answered, outcome = '' } }: Fact): string {
  if (answered !== undefined && answered.class !== 'closed') return answered.class;
  return outcome === 'closed' ? 'crashed' : outcome;
}
