/** Encodes the outcome of a scenario as text that can be compared. All functions are pure. */
import type { ScenarioResult } from '../report/result-document.ts';

/**
 * Encodes the outcome of a judged scenario: null for a pass, otherwise `fail 200`, `warn 403`, `fail closed`. Returns
 * undefined for a scenario without a conclusion (not applicable, inconclusive).
 */
export function encodeOutcome(result: Pick<ScenarioResult, 'verdict' | 'outcome'>): string | null | undefined {
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

/** A failure or warning. Its answer is classified independently of the statuses that a receiver uses. */
export interface Deviation {
  readonly level: 'fail' | 'warn';
  /** `accepted`, `rejected`, `crashed` (5xx, or a closed connection), `silence`, or another outcome unchanged. */
  readonly kind: string;
  /** The status of the answer, or `closed`. */
  readonly detail: string;
  /** Whether this receiver rejects invalid credentials with this status. Null if it also crashes with this status. */
  readonly isRefusal: boolean | null;
  /**
   * Whether the answer may be a rejection or a crash: a 5xx with which this receiver also rejects invalid credentials.
   */
  readonly isEither: boolean;
  /** Whether the process ended after this delivery. */
  readonly hasEnded?: boolean;
}

/** Whether an answer deviates in the same way as a mutant's. A receiver that answers has not closed the connection. */
export function goesWrongAs({ kind, detail, isEither }: Deviation, expected: Deviation | undefined): boolean {
  if (expected?.detail === 'closed' && detail !== 'closed') return false;
  return expected?.kind === kind || (isEither && expected?.kind === 'rejected');
}

/** The answers by judged scenario; null for a pass. */
export type Outcomes = ReadonlyMap<string, Deviation | null>;

/** The required status for invalid credentials. */
const REFUSAL: ReadonlySet<string> = new Set(['401']);

/**
 * Parses an outcome such as `fail 403`. `usual` contains the statuses that this receiver uses for invalid credentials.
 */
export function deviationOf(outcome: string, usual: ReadonlySet<string> = REFUSAL): Deviation {
  const [level, ...rest] = outcome.split(' ');
  const detail = rest.join(' ');
  const isEither = usual.has(detail) && /^5/.test(detail);
  return {
    level: level === 'warn' ? 'warn' : 'fail',
    kind: kindOf(detail),
    detail,
    isRefusal: isEither ? null : usual.has(detail),
    isEither,
  };
}

const usualDeviations = new Map<string, Deviation>();

/** Parses the outcome of a mutant. Cached, because thousands of outcomes have few different values. */
export function deviationOfMutant(outcome: string): Deviation {
  const known = usualDeviations.get(outcome) ?? deviationOf(outcome);
  usualDeviations.set(outcome, known);
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
