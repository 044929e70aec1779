/** The outcome of a scenario as one word that can be compared. Pure. */
import type { ScenarioResult } from '../report/result-document.ts';

/**
 * The outcome of a judged scenario: null for a pass, else `fail 200`, `warn 403`, `fail closed`. Undefined without a
 * conclusion: not applicable, or inconclusive.
 */
export function outcomeOf(result: Pick<ScenarioResult, 'verdict' | 'outcome'>): string | null | undefined {
  switch (result.verdict) {
    case 'pass':
      return null;
    case 'fail':
    case 'warn':
      return `${result.verdict} ${result.outcome ?? 'seen'}`;
    default:
      return undefined;
  }
}

/** A failure or warning, with the answer in classes that do not depend on the status that a receiver prefers. */
export interface Answer {
  readonly level: 'fail' | 'warn';
  /** `accepted`, `rejected`, `crashed` (5xx, or a closed connection), `silence`, or another outcome as it is. */
  readonly kind: string;
  /** The status of the answer or `closed`. */
  readonly detail: string;
  /** Whether invalid credentials are rejected with this status; null if the receiver uses it elsewhere too. */
  readonly isRefusal: boolean | null;
  /** A 5xx with which this receiver also rejects invalid credentials: it may be a rejection or a crash. */
  readonly isEither: boolean;
}

/** Whether an answer goes wrong as a mutant's does. A receiver that answers has not closed the connection. */
export function goesWrongAs({ kind, detail, isEither }: Answer, expected: Answer | undefined): boolean {
  if (expected?.detail === 'closed' && detail !== 'closed') return false;
  return expected?.kind === kind || (isEither && expected?.kind === 'rejected');
}

/** The answer of each judged scenario; null for a pass. */
export type Outcomes = ReadonlyMap<string, Answer | null>;

/** The status with which invalid credentials must be rejected. */
const REFUSAL: ReadonlySet<string> = new Set(['401']);

/**
 * Reads `fail 403`. `usual`: the statuses that this receiver uses for invalid credentials; `alsoElsewhere`: it uses
 * them for other deliveries too.
 */
export function answerOf(outcome: string, usual: ReadonlySet<string> = REFUSAL, alsoElsewhere = false): Answer {
  const [level, ...rest] = outcome.split(' ');
  const detail = rest.join(' ');
  const isEither = usual.has(detail) && /^5/.test(detail);
  return {
    level: level === 'warn' ? 'warn' : 'fail',
    kind: kindOf(detail),
    detail,
    isRefusal: alsoElsewhere || isEither ? null : usual.has(detail),
    isEither,
  };
}

const usualAnswers = new Map<string, Answer>();

/** Reads the outcome of a mutant. There are thousands of them, and few are different. */
export function answerOfMutant(outcome: string): Answer {
  const known = usualAnswers.get(outcome) ?? answerOf(outcome);
  usualAnswers.set(outcome, known);
  return known;
}

function kindOf(detail: string): string {
  if (/^2\d\d$/.test(detail)) return 'accepted';
  if (/^[34]\d\d$/.test(detail)) return 'rejected';
  return detail === 'closed' || /^5\d\d$/.test(detail) ? 'crashed' : detail;
}

/** Whether an outcome is a failure or a warning. */
export const isRed = (outcome: string | undefined): outcome is string =>
  outcome !== undefined && (outcome.startsWith('fail ') || outcome.startsWith('warn '));
