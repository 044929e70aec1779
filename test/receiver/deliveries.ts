/** Valid deliveries for the tests of the receiver. Credentials are new in every run. */
import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import request from 'supertest';
import type { Receiver } from '../../receiver/index.ts';

export const SECRET = randomBytes(32).toString('hex');
export const API_KEY = randomBytes(24).toString('hex');

export function buy(id: string = randomUUID(), more: object = {}): object {
  return {
    id,
    type: 'CAAS',
    at: 1_700_000_000,
    data: {
      type: 'BUY',
      providerId: 'provider-1',
      transactionId: 'transaction-1',
      metadata: { orderStatus: 'COMPLETED', blockchainData: { currency: 'BTC', chain: 'bitcoin' } },
      errorData: null,
      ...more,
    },
  };
}

export function sign(body: string | Uint8Array, secret = SECRET): string {
  return createHmac('sha256', secret).update(body).digest('base64');
}

/** Returns the headers of a valid delivery. `undefined` in `changes` omits one. */
export function headersFor(
  body: string | Uint8Array,
  changes: Record<string, string | undefined> = {},
): Record<string, string> {
  const all: Record<string, string | undefined> = {
    'Content-Type': 'application/json',
    'X-Service-Signature': sign(body),
    'X-API-Key': API_KEY,
    ...changes,
  };
  return Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

/** Posts exactly these bytes. supertest would encode a Buffer as JSON and add a content type. */
export function post(
  receiver: Receiver,
  body: string | Uint8Array,
  changes: Record<string, string | undefined> = {},
  path = '/',
) {
  const test = request(receiver.app)
    .post(path)
    .ok(() => true);
  for (const [name, value] of Object.entries(headersFor(body, changes))) test.set(name, value);
  return test.serialize((value) => value).send(Buffer.from(body) as unknown as object);
}
