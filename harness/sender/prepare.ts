/**
 * Makes a notification ready to go: serialises it once, signs exactly those bytes, and lists the headers in order. Pure and quick: it
 * does not validate, because `notificationsFor` and `emittedNotification` do that where notifications are made.
 */

import { createHmac } from 'node:crypto';
import {
  CONTENT_TYPE,
  DEFAULT_API_KEY_HEADER,
  DEFAULT_SIGNATURE_HEADER,
  type HeaderLine,
  type JsonValue,
  type Notification,
} from '../../contract/index.ts';
import type { Partner } from '../partner.ts';
import { endpointOf, type Prepared } from '../transport/index.ts';

export function prepare(notification: Notification, partner: Partner): Prepared {
  const body = serialise(notification as unknown as JsonValue);
  const signature = partner.signing === undefined ? undefined : sign(body, partner.signing.secret);
  const addressed = address({ partner, body, ...(signature === undefined ? {} : { signature }) });
  return { url: partner.url, ...addressed, body };
}

/** The serialise stage: a notification to the exact bytes that are signed and sent. Called once for each delivery. */
export function serialise(value: JsonValue): Uint8Array {
  return Buffer.from(JSON.stringify(value), 'utf8');
}

/**
 * The sign stage: HMAC-SHA256 over the bytes, keyed with the secret as UTF-8, in standard Base64.
 * Specification: HMAC signature.
 */
export function sign(body: Uint8Array, secret: string): string {
  return createHmac('sha256', secret).update(body).digest('base64');
}

/** The request line and the headers of a delivery. */
export interface Addressed {
  readonly method: 'POST';
  /** Path and query. */
  readonly target: string;
  readonly headers: readonly HeaderLine[];
}

/**
 * The address stage: where the bytes go and what stands before them. The lines come in a fixed order: Host, Content-Type,
 * Content-Length, signature, API key, custom headers. There is no User-Agent: a partner who wants one configures it. Specification: Delivery endpoint; Authentication.
 */
export function address({
  partner,
  body,
  signature,
}: {
  partner: Partner;
  body: Uint8Array;
  signature?: string;
}): Addressed {
  const { host, target } = endpointOf(partner.url);
  const headers: HeaderLine[] = [
    ['Host', host],
    ['Content-Type', CONTENT_TYPE],
    ['Content-Length', String(body.length)],
  ];
  if (signature !== undefined) headers.push([partner.signing?.header ?? DEFAULT_SIGNATURE_HEADER, signature]);
  if (partner.apiKey !== undefined)
    headers.push([partner.apiKey.header ?? DEFAULT_API_KEY_HEADER, partner.apiKey.value]);
  if (partner.headers !== undefined) headers.push(...partner.headers);
  return { method: 'POST', target, headers };
}
