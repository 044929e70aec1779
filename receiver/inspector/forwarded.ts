/**
 * Deliveries to another receiver, seen by a proxy in front of it: what the reference receiver would say about the
 * request, in addition to what the other receiver answered.
 */
import {
  type ForwardedExchange,
  headerValues,
  type ReceivedNotification,
  readNotification,
} from '../../contract/index.ts';
import { checkApiKey } from '../check-api-key.ts';
import { DEFAULT_MAX_DEPTH } from '../options.ts';
import { contentTypeFault, parseBody } from '../stages/payload.ts';
import { verifySignature } from '../verify-signature.ts';
import type { SigningConfig } from './credential-findings.ts';
import { type RecordedDelivery, textIn, weightOf } from './recorder.ts';

/** What the proxy may check. Credentials that are not configured are not checked. */
export interface CheckedBy {
  readonly signing: SigningConfig | undefined;
  readonly apiKey: { readonly keys: readonly string[]; readonly header: string };
}

interface Finding {
  readonly reasonCode: string | undefined;
  readonly notification?: ReceivedNotification;
  readonly secretIndex?: number | undefined;
  readonly keyIndex?: number | undefined;
}

/** The reason with which the reference receiver would refuse the request, in the order of its stages. */
function findingOf({ request }: ForwardedExchange, { signing, apiKey }: CheckedBy): Finding {
  const { method, headers, body } = request;
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
  const { reasonCode, notification, secretIndex, keyIndex } = findingOf(exchange, checkedBy);
  const checked = checkedBy.signing !== undefined || checkedBy.apiKey.keys.length > 0;
  const outcome = answer === undefined ? 'aborted' : answer.status === 200 ? 'accepted' : 'refused';
  // Only credentials that were checked make the ids more than claims.
  const known = checked ? notification : undefined;
  const size = (request.raw?.length ?? 0) + (body?.length ?? 0) + (answer?.body.length ?? 0);
  const fits = size <= maxBytes;
  return {
    number,
    outcome,
    status: answer?.status,
    reason: reasonFor(outcome, reasonCode),
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
    forwarded: { answer, raw: fits ? request.raw : undefined, replayOf, checked },
  };
}

/** For the list: what was unexpected of the answer comes first. */
function reasonFor(outcome: RecordedDelivery['outcome'], code: string | undefined): string | undefined {
  if (outcome === 'aborted') return code === undefined ? 'no-answer' : `no-answer (${code})`;
  if (outcome === 'refused') return code ?? 'refused-although-valid';
  return code === undefined ? undefined : `accepted-although-invalid (${code})`;
}
