/** The first stages of the sender: serialise, sign, address. */
import { randomUUID } from 'node:crypto';
import {
  CONTENT_TYPE,
  DEFAULT_API_KEY_HEADER,
  DEFAULT_SIGNATURE_HEADER,
  type HeaderLine,
  headerValues,
  type JsonValue,
  type Notification,
  sameHeaderName,
} from '../../contract/index.ts';
import {
  DELIVERY_ID,
  messageIdOf,
  olderSchemesOf,
  type SchemeInput,
  signatureHeaderOf,
  signatureOf,
  signaturesOfScheme,
  signWithScheme,
} from '../../contract/signing/index.ts';
import { type Partner, samplesOf } from '../partner.ts';
import { endpointOf, type Prepared } from '../transport/index.ts';

/**
 * Prepares a notification for delivery: serialises it once, signs exactly those bytes, and lists the headers in order.
 * Does not validate it: {@link notificationsFor} does.
 */
export function prepare(notification: Notification, partner: Partner): Prepared {
  return prepareBody(serialise(notification as unknown as JsonValue), partner);
}

/** Prepares a body for delivery: signs exactly these bytes, and lists the headers in order. */
export function prepareBody(body: Uint8Array, partner: Partner): Prepared {
  return { url: partner.url, ...address({ partner, body, signed: signatureLines(body, partner) }), body };
}

/**
 * Returns the headers that sign a body. In a scheme, the time is now and the id is made from body and time, unless they
 * are given.
 */
export function signatureLines(
  body: Uint8Array,
  { signing, url }: Pick<Partner, 'signing' | 'url'>,
  given: Partial<Pick<SchemeInput, 'id'>> & { readonly timestamp?: number } = {},
): HeaderLine[] {
  if (signing === undefined) return [];
  const { header = DEFAULT_SIGNATURE_HEADER, scheme, secret } = signing;
  if (scheme === undefined) return [[header, sign(body, secret)]];
  const timestamp = given.timestamp || Math.floor(Date.now() / 1000);
  return signWithScheme(scheme, { body, url, id: given.id || messageIdOf(body, timestamp), timestamp }, [secret]);
}

/**
 * Returns the signatures of a prepared delivery, for redaction: the whole value of the header, and in a scheme also
 * each signature in it, without what surrounds it.
 */
export function signaturesIn({ headers }: Pick<Prepared, 'headers'>, { signing }: Pick<Partner, 'signing'>): string[] {
  if (signing === undefined) return [];
  const { header = DEFAULT_SIGNATURE_HEADER, scheme } = signing;
  if (scheme === undefined) return headerValues(headers, header);
  return [scheme, ...olderSchemesOf(scheme)].flatMap((one) => [
    ...headerValues(headers, signatureHeaderOf(one)),
    ...signaturesOfScheme(one, headers),
  ]);
}

/**
 * The serialise stage: encodes a notification as the exact bytes that are signed and sent. Called once per delivery.
 */
export function serialise(value: JsonValue): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}

/**
 * The sign stage: HMAC-SHA256 over the bytes, keyed with the secret as UTF-8, in standard Base64.
 * Specification: HMAC signature.
 */
export function sign(body: Uint8Array, secret: string): string {
  return signatureOf(body, secret);
}

/** Method, target and headers of a delivery. */
export interface Addressed {
  readonly method: 'POST';
  /** Path and query. */
  readonly target: string;
  readonly headers: readonly HeaderLine[];
}

/**
 * The address stage: builds the request target and the header lines, in a fixed order: Host, Content-Type,
 * Content-Length, headers of the kind of delivery (only in a scheme), signature, API key, custom headers. User-Agent is
 * sent only if it is configured as a custom header.
 * Specification: Delivery endpoint; Authentication.
 */
export function address({
  partner,
  body,
  signed,
}: {
  partner: Partner;
  body: Uint8Array;
  signed: readonly HeaderLine[];
}): Addressed {
  const { host, target } = endpointOf(partner.url);
  const headers: HeaderLine[] = [
    ['Host', host],
    ['Content-Type', CONTENT_TYPE],
    ['Content-Length', String(body.length)],
  ];
  for (const [name, value] of samplesOf(partner)[0]?.headers ?? []) {
    if (sameHeaderName(name, 'Content-Type')) headers[1] = [name, value];
    // An id in a header is another one in each delivery.
    else headers.push([name, DELIVERY_ID.test(value) ? randomUUID() : value]);
  }
  headers.push(...signed);
  if (partner.apiKey !== undefined)
    headers.push([partner.apiKey.header ?? DEFAULT_API_KEY_HEADER, partner.apiKey.value]);
  if (partner.headers !== undefined) headers.push(...partner.headers);
  return { method: 'POST', target, headers };
}
