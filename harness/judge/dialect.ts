/**
 * The statuses with which an endpoint accepts and rejects. A wrong status is reported once. All other checks are judged
 * only by whether a delivery was accepted or rejected. Pure.
 */
import type { Expectation } from '../../scenarios/index.ts';
import type { AnswerClass } from '../report/result-document.ts';
import type { Attempt } from '../transport/index.ts';

export type Credential = 'signature' | 'api-key';

/** The dialect of an endpoint, learnt from the first deliveries of a run. */
export interface Dialect {
  /** The status of accepted deliveries. 200, unless the plain valid delivery got another 2xx. */
  readonly accepts: number;
  /** The usual status for an invalid credential. 401, unless the plain forgeries got another one. */
  readonly rejects: Readonly<Record<Credential, number>>;
  /**
   * The usual status for a missing credential. It may differ, because a framework may reject the request before the
   * check.
   */
  readonly missing: Readonly<Record<Credential, number>>;
  /** The status for a malformed payload with valid credentials. Null if it is unknown or the payload was accepted. */
  readonly malformed: number | null;
  /** Set in a scheme, which leaves the statuses to the receiver: any 2xx accepts, and any 4xx rejects. */
  readonly isFree?: true;
}

/** The check that reports a wrong status for accepted deliveries. All other checks are judged in the dialect. */
export const PREFLIGHT_SCENARIO = 'valid/plain';

/** The checks that report a wrong status for rejections. */
export const STATUS_SCENARIOS: Readonly<Record<Credential, string>> = {
  signature: 'signature/status',
  'api-key': 'api-key/status',
};

/**
 * Forgeries from which the status of a rejection is learnt. Their credentials have the usual length, or are missing.
 */
export const PLAIN_FORGERIES: Readonly<Record<Credential, readonly string[]>> = {
  signature: ['signature/other-secret', 'signature/missing', 'signature/secret-empty'],
  'api-key': ['api-key/wrong', 'api-key/missing', 'api-key/first-character-changed'],
};

/** The dialect that the specification requires. */
export const STANDARD: Dialect = {
  accepts: 200,
  rejects: { signature: 401, 'api-key': 401 },
  missing: { signature: 401, 'api-key': 401 },
  malformed: null,
};

export function is2xx(status: number): boolean {
  return status >= 200 && status < 300;
}

const isRejection = (status: number) => status >= 300 && status < 500;

/** Classifies an attempt. A 5xx counts as `crashed`, unless the endpoint uses it to reject. */
export function classOfAttempt({ answer, error }: Attempt, rejects: readonly number[]): AnswerClass {
  if (answer !== null) {
    if (is2xx(answer.status)) return 'accepted';
    return isRejection(answer.status) || rejects.includes(answer.status) ? 'rejected' : 'crashed';
  }
  switch (error?.kind) {
    case 'refused':
    case 'reset':
    case 'tls':
      return error.alert === undefined ? 'closed' : 'rejected';
    case 'timeout':
    case 'unreachable':
      return 'silent';
    case 'invalid-http':
    case 'headers-too-large':
      return 'unreadable';
    default:
      return 'not-delivered';
  }
}

/**
 * Determines the status with which the endpoint rejects one credential, from its plain forgeries in the order sent.
 * This is 401 if any of them got it. Otherwise it is the first 3xx or 4xx, or a 5xx if at least three forgeries got it
 * and no other answer; a single 5xx may be an unrelated failure. If the forgeries show no such status, for example
 * because all were accepted, 401 is assumed.
 */
export function usualRejection(forgeries: readonly Attempt[]): number {
  // 0 means no answer.
  const statuses = forgeries.map(({ answer }) => answer?.status ?? 0);
  if (statuses.includes(401)) return 401;
  const rejection = statuses.find(isRejection);
  if (rejection !== undefined && rejection !== 429) return rejection;
  const [first = 0] = statuses;
  const isServerError = first >= 500 && first !== 503;
  const isUniform = statuses.length >= MIN_EQUAL_5XX && statuses.every((status) => status === first);
  return isServerError && isUniform ? first : 401;
}

const MIN_EQUAL_5XX = 3;

/**
 * Returns the status with which the endpoint rejects a missing credential: that of the delivery without it if it was
 * rejected, otherwise `usual`.
 */
export function missingRejection(usual: number, delivery: Attempt | undefined): number {
  const status = delivery?.answer?.status ?? usual;
  return isRejection(status) && status !== 429 ? status : usual;
}

/** The meaning of a status in a dialect. */
export type Translation =
  // The equivalent status of the specification, or the status itself if there is none.
  | { readonly kind: 'status'; readonly status: number }
  // The endpoint uses this status for both rejected credentials and malformed payloads.
  | { readonly kind: 'ambiguous' };

/**
 * Translates the status of a probe into the status that the specification uses. `credentials` are the credentials that
 * the scenario tests, `lacking` those that the request does not contain. A 2xx never becomes a rejection.
 */
export function translateStatus(
  status: number,
  expect: Expectation,
  dialect: Dialect,
  credentials: readonly Credential[],
  lacking: readonly Credential[] = [],
): Translation {
  const literal = { kind: 'status', status } as const;
  const isFree = dialect.isFree === true;
  if (is2xx(status)) return dialect.accepts === 200 && !isFree ? literal : { kind: 'status', status: 200 };
  const rejects = rejectionsOf(dialect, credentials, lacking);
  if (rejects.every((usual) => usual === 401) && !isFree) return literal;
  const rejected = { kind: 'status', status: 401 } as const;
  const isUsual = rejects.includes(status);
  if (expect.authentic) {
    // A status that the expectation names is not translated. Any other means rejected credentials only if it is
    // unambiguous.
    const isNamed = [expect.pass, expect.note, expect.warn].some((answers) => answers?.includes(status));
    return isUsual && status < 500 && status !== dialect.malformed && !isNamed ? rejected : literal;
  }
  if (expect.malformed === true) {
    if (!isUsual) return literal;
    // In a scheme, one status for both is as good as another. The specification demands 401 for credentials alone.
    return status === dialect.malformed && !isFree ? { kind: 'ambiguous' } : rejected;
  }
  return isUsual || (isRejection(status) && status !== 429 && expect.pass.includes(401)) ? rejected : literal;
}

/**
 * Returns the usual statuses with which these credentials are rejected. `lacking` are those that the request does not
 * contain.
 */
export function rejectionsOf(
  { rejects, missing }: Dialect,
  credentials: readonly Credential[],
  lacking: readonly Credential[] = [],
): readonly number[] {
  return credentials.map((credential) => (lacking.includes(credential) ? missing : rejects)[credential]);
}

/** Returns whether an expectation is that of a well-formed forgery, for which only 401 is correct. */
export function isPlainForgery({ authentic, malformed, pass }: Expectation): boolean {
  return !authentic && malformed !== true && pass.includes(401) && !pass.includes('4xx');
}
