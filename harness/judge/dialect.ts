/**
 * The statuses with which an endpoint accepts and rejects. A wrong status is one finding; everything else is judged by
 * whether a delivery was accepted or rejected. Pure.
 */
import type { Expectation } from '../../scenarios/index.ts';
import type { AnswerClass } from '../report/result-document.ts';
import type { Attempt } from '../transport/index.ts';

export type Credential = 'signature' | 'api-key';

/** The dialect of an endpoint as the run has learnt it from its first deliveries. */
export interface Dialect {
  /** The status of accepted deliveries: 200, unless the plain valid delivery got another 2xx. */
  readonly accepts: number;
  /** The usual status of rejected credentials: 401, unless the plain forgeries got another one. */
  readonly rejects: Readonly<Record<Credential, number>>;
  /** The usual status where the credential is missing: a framework may reject the request before the check. */
  readonly missing: Readonly<Record<Credential, number>>;
  /** The status of a malformed payload with valid credentials; null when unknown, or when it was accepted. */
  readonly malformed: number | null;
}

/** The check that reports accepted deliveries with a wrong status; the others are judged in the endpoint's dialect. */
export const PREFLIGHT_SCENARIO = 'valid/plain';

/** The checks that report rejections with a wrong status. */
export const STATUS_SCENARIOS: Readonly<Record<Credential, string>> = {
  signature: 'signature/status',
  'api-key': 'api-key/status',
};

/** Forgeries that show the status of a rejection. Their credentials have the usual length, or are missing. */
export const PLAIN_FORGERIES: Readonly<Record<Credential, readonly string[]>> = {
  signature: ['signature/other-secret', 'signature/missing', 'signature/secret-empty'],
  'api-key': ['api-key/wrong', 'api-key/missing', 'api-key/first-character-changed'],
};

/** The dialect of the specification. */
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

/** The class of an attempt. A 5xx is `crashed`, unless it is the status with which the endpoint rejects. */
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
 * The status with which the endpoint rejects one credential, from its plain forgeries in the order sent: 401 if any got
 * it, otherwise the first 3xx or 4xx, or the 5xx that all of them got. 401 when they do not show it, for example when
 * all of them were accepted. A 5xx needs three deliveries, because a single one may be a failure of its own.
 */
export function usualRejection(forgeries: readonly Attempt[]): number {
  // 0 stands for no answer.
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

/** The status with which the endpoint rejects a missing credential: `usual`, unless the delivery got another one. */
export function missingRejection(usual: number, delivery: Attempt | undefined): number {
  const status = delivery?.answer?.status ?? usual;
  return isRejection(status) && status !== 429 ? status : usual;
}

/** What a status means in a dialect. */
export type Translation =
  // The status of the specification, or the status itself if it has no other meaning.
  | { readonly kind: 'status'; readonly status: number }
  // The endpoint gives this status to rejected credentials and to malformed payloads alike.
  | { readonly kind: 'ambiguous' };

/**
 * Translates the status of a probe into the status that the specification uses for it. `credentials`: those that the
 * scenario is about; `lacking`: those that the request does not have. An acceptance is never translated into a
 * rejection.
 */
export function translateStatus(
  status: number,
  expect: Expectation,
  dialect: Dialect,
  credentials: readonly Credential[],
  lacking: readonly Credential[] = [],
): Translation {
  const literal = { kind: 'status', status } as const;
  if (is2xx(status)) return dialect.accepts === 200 ? literal : { kind: 'status', status: 200 };
  const rejects = rejectionsOf(dialect, credentials, lacking);
  if (rejects.every((usual) => usual === 401)) return literal;
  const rejected = { kind: 'status', status: 401 } as const;
  const isUsual = rejects.includes(status);
  if (expect.authentic) {
    // A status that the expectation names is judged as it is. Only an unambiguous one means rejected credentials.
    const isNamed = [expect.pass, expect.note, expect.warn].some((answers) => answers?.includes(status));
    return isUsual && status < 500 && status !== dialect.malformed && !isNamed ? rejected : literal;
  }
  if (expect.malformed === true) {
    if (!isUsual) return literal;
    return status === dialect.malformed ? { kind: 'ambiguous' } : rejected;
  }
  return isUsual || (isRejection(status) && status !== 429 && expect.pass.includes(401)) ? rejected : literal;
}

/** The usual statuses of rejection of these credentials, some of which the request lacks. */
export function rejectionsOf(
  { rejects, missing }: Dialect,
  credentials: readonly Credential[],
  lacking: readonly Credential[] = [],
): readonly number[] {
  return credentials.map((credential) => (lacking.includes(credential) ? missing : rejects)[credential]);
}

/** Whether an expectation is that of a forgery in the sender's own shape, which exactly 401 rejects. */
export function isPlainForgery({ authentic, malformed, pass }: Expectation): boolean {
  return !authentic && malformed !== true && pass.includes(401) && !pass.includes('4xx');
}
