/**
 * The requests of the load, signed before anything is measured: making them then would cost the load more than sending
 * them.
 */
import { createHmac } from 'node:crypto';
import { buyNotification, idOf } from '../notification.ts';

export interface Credentials {
  readonly secret: string;
  readonly apiKey: string;
}

/** Whole requests, head and body, one behind the other in one piece of memory. */
export interface Requests {
  readonly count: number;
  /** The bytes of one request. All are of the same length. */
  at(index: number): Uint8Array;
}

/** `count` deliveries, each with an id and a signature of its own. */
export function signedRequests(count: number, { secret, apiKey }: Credentials): Requests {
  const length = request(0, secret, apiKey).length;
  const slab = Buffer.allocUnsafe(count * length);
  for (let index = 0; index < count; index++) {
    slab.write(request(index, secret, apiKey), index * length, 'latin1');
  }
  return { count, at: (index) => slab.subarray(index * length, (index + 1) * length) };
}

/** The lines are those that the sender core writes. */
function request(number: number, secret: string, apiKey: string): string {
  const body = JSON.stringify(buyNotification(idOf(number)));
  return [
    'POST /hooks HTTP/1.1',
    'Host: 127.0.0.1:8080',
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    `X-Service-Signature: ${createHmac('sha256', secret).update(body).digest('base64')}`,
    `X-API-Key: ${apiKey}`,
    'Connection: keep-alive',
    '',
    body,
  ].join('\r\n');
}
