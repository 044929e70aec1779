/**
 * Records deliveries that a proxy forwards to another receiver, with the answer of that receiver and the outcome that
 * the reference receiver would have had.
 */
import {
  type ForwardedExchange,
  headerValues,
  type ReceivedNotification,
  readNotification,
} from '../../contract/index.ts';
import { hasStatus } from '../../contract/signing/index.ts';
import { checkApiKey } from '../check-api-key.ts';
import { DEFAULT_MAX_DEPTH } from '../options.ts';
import { contentTypeFault, parseBody } from '../stages/payload.ts';
import { verifySignature } from '../verify-signature.ts';
import type { SigningConfig } from './credential-findings.ts';
import { type AnswerVerdict, type RecordedDelivery, textIn, weightOf } from './recorder.ts';
import { checkInScheme } from './scheme-findings.ts';

/** The credentials that the proxy can check. Credentials that are not configured are not checked. */
export interface CheckedBy {
  readonly signing: SigningConfig | undefined;
  readonly apiKey: { readonly keys: readonly string[]; readonly header: string };
  readonly names: { readonly signature: string; readonly apiKey: string };
}

/** Descriptions of invalid credentials by reason code. They follow "accepted a delivery". */
const NOT_VALID: Readonly<Record<string, string>> = {
  'api-key-missing': 'without an API key',
  'api-key-malformed': 'whose API key was sent more than once',
  'api-key-mismatch': 'whose API key is not the configured one',
  'signature-missing': 'without a signature',
  'signature-malformed': 'whose signature is malformed',
  'signature-mismatch': 'whose signature does not match',
  'signature-out-of-tolerance': 'whose signed time is outside the tolerance',
};

/**
 * Describes the acceptance of an invalid delivery: "accepted a delivery whose signature does not match". The text
 * follows the name of the receiver.
 */
export function acceptedInWords(reasonCode: string | undefined, isForeign = false): string {
  if (isForeign && reasonCode === 'signature-missing') return 'accepted a delivery without a header of the scheme';
  return `accepted a delivery ${NOT_VALID[reasonCode ?? ''] ?? 'that must be rejected'}`;
}

/**
 * Judges the answer of the other receiver. Returns undefined when there is none, or when the configured checks do not
 * determine which answer is expected.
 */
function judgeAnswer(
  { request, answer }: ForwardedExchange,
  { reasonCode, mayBeAccepted }: Pick<ReferenceOutcome, 'reasonCode' | 'mayBeAccepted'>,
  { signing, apiKey, names }: CheckedBy,
): AnswerVerdict | undefined {
  if (answer === undefined || mayBeAccepted) return undefined;
  const { status } = answer;
  const { accepts = [200], rejects = ['4xx'] } = signing?.scheme ?? {};
  if (reasonCode !== undefined) {
    // Other reasons do not require a rejection: a receiver may accept a signed payload that is malformed.
    if (!Object.hasOwn(NOT_VALID, reasonCode)) return undefined;
    if (hasStatus(['2xx', ...accepts], status)) return 'unsafe';
    return hasStatus(rejects, status) ? 'correct' : 'incorrect';
  }
  const isUnchecked = (header: string) => headerValues(request.headers, header).length > 0;
  const checksNothing = signing === undefined && apiKey.keys.length === 0;
  // A credential that is sent but not configured here may be invalid.
  if (checksNothing || (signing === undefined && isUnchecked(names.signature))) return undefined;
  if (apiKey.keys.length === 0 && isUnchecked(names.apiKey)) return undefined;
  return hasStatus(accepts, status) ? 'correct' : 'incorrect';
}

interface ReferenceOutcome {
  readonly reasonCode: string | undefined;
  readonly notification?: ReceivedNotification;
  readonly secretIndex?: number | undefined;
  readonly keyIndex?: number | undefined;
  /** Set if a correct receiver may accept the request all the same. */
  readonly mayBeAccepted?: boolean | undefined;
}

/**
 * Returns the reason for which the reference receiver would reject the request. Applies the checks in the order of its
 * stages.
 */
function findingOf({ request, receivedAt }: ForwardedExchange, { signing, apiKey }: CheckedBy): ReferenceOutcome {
  const { method, headers, target, body } = request;
  const header = (name: string) => {
    const values = headerValues(headers, name);
    return values.length > 1 ? values : values[0];
  };
  if (!request.complete) return { reasonCode: 'connection-closed' };
  if (method === '') return { reasonCode: 'not-http' };
  if (method !== 'POST') return { reasonCode: 'method-not-allowed' };
  const key = apiKey.keys.length === 0 ? undefined : checkApiKey({ header: header(apiKey.header), keys: apiKey.keys });
  if (key?.ok === false) return { reasonCode: `api-key-${key.reason}` };
  if (body === undefined) return { reasonCode: 'body-not-kept' };
  if (signing?.scheme !== undefined) {
    // Its deliveries are any JSON, or any bytes of another Content-Type.
    const check = checkInScheme({ ...signing, scheme: signing.scheme }, { headers, target, body, receivedAt });
    if (check.ok) return { reasonCode: undefined, secretIndex: check.secretIndex, keyIndex: key?.keyIndex };
    return { reasonCode: `signature-${check.reason}`, mayBeAccepted: check.mayBeAccepted };
  }
  const signature =
    signing && verifySignature({ rawBody: body, header: header(signing.header), secrets: signing.secrets });
  if (signature?.ok === false) return { reasonCode: `signature-${signature.reason}` };
  const [type] = headerValues(headers, 'content-type');
  const fault = contentTypeFault(type, headerValues(headers, 'content-encoding')[0]);
  if (fault !== undefined) return { reasonCode: fault };
  const parsed = parseBody(body, DEFAULT_MAX_DEPTH);
  if ('fault' in parsed) return { reasonCode: parsed.fault };
  const reading = readNotification(parsed.payload);
  if (!reading.ok) return { reasonCode: 'not-a-notification' };
  const { notification } = reading;
  return { reasonCode: undefined, notification, secretIndex: signature?.secretIndex, keyIndex: key?.keyIndex };
}

export function recordForwarded(
  exchange: ForwardedExchange,
  checkedBy: CheckedBy,
  number: number,
  maxBytes: number,
): RecordedDelivery {
  const { request, answer, receivedAt, durationMs, remoteAddress, replayOf } = exchange;
  const { method, target, httpVersion, headers, body, bodyLength } = request;
  const finding = findingOf(exchange, checkedBy);
  const { reasonCode, notification, secretIndex, keyIndex } = finding;
  const answered = judgeAnswer(exchange, finding, checkedBy);
  const { accepts = [200] } = checkedBy.signing?.scheme ?? {};
  const checked = checkedBy.signing !== undefined || checkedBy.apiKey.keys.length > 0;
  const outcome = answer === undefined ? 'aborted' : hasStatus(accepts, answer.status) ? 'accepted' : 'refused';
  // If no credentials were checked, the sender of the ids is not verified.
  const known = checked ? notification : undefined;
  const size = (request.raw?.length ?? 0) + (body?.length ?? 0) + (answer?.body.length ?? 0);
  const fits = size <= maxBytes;
  return {
    number,
    outcome,
    status: answer?.status,
    reason: reasonFor(outcome, reasonCode, answered),
    reasonCode,
    reasonDetail: undefined,
    duplicate: false,
    secretIndex,
    keyIndex,
    receivedAt,
    durationMs,
    method,
    target,
    httpVersion,
    remoteAddress,
    headers,
    rawBody: fits ? body : undefined,
    bodyLength,
    kind: notification?.kind,
    notificationId: known?.id,
    transactionId: textIn(known?.data, 'transactionId'),
    weight: weightOf(target, [...headers, ...(answer?.headers ?? [])]) + (fits ? size : 0),
    forwarded: { answer, raw: fits ? request.raw : undefined, replayOf, checked, answered },
  };
}

/** Returns the reason that the list shows. An unexpected answer takes precedence. */
function reasonFor(
  outcome: RecordedDelivery['outcome'],
  code: string | undefined,
  answered: AnswerVerdict | undefined,
): string | undefined {
  if (outcome === 'aborted') return code === undefined ? 'no-answer' : `no-answer (${code})`;
  if (answered === 'unsafe') return `accepted-although-invalid (${code})`;
  return outcome === 'refused' && answered === 'incorrect' ? (code ?? 'refused-although-valid') : code;
}
