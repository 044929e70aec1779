/** The stages that check credentials, on the wire: which header lines count, and what the log says. */
import { afterAll, describe, expect, it } from 'vitest';
import { type RunningReceiver, startReceiver } from '../../../receiver/index.ts';
import { API_KEY, buy, SECRET, sign } from '../deliveries.ts';
import { collectLogs } from '../logs.ts';
import { exchange, rawPost, receiverForTest } from '../raw-http.ts';

const BODY = JSON.stringify(buy());
const SIGNATURE = sign(BODY);

type Line = readonly [name: string, value: string];
const { logger, next } = collectLogs();
let running: Promise<RunningReceiver> | undefined;
afterAll(async () => (await running)?.close());

/** Starts one receiver for all tests, in the first of them, so that a receiver that cannot start fails a test. */
function receiver(): Promise<RunningReceiver> {
  running ??= startReceiver({ signing: { secrets: ['another secret', SECRET] }, apiKey: { keys: [API_KEY] }, logger });
  return running;
}

async function post(lines: readonly Line[]) {
  const bytes = rawPost(BODY, [['Content-Type', 'application/json'], ...lines]);
  const { status, body } = await exchange((await receiver()).port, bytes);
  const { reason, secretIndex } = await next('delivery');
  return { status, body, reason, secretIndex };
}

const key: Line = ['X-API-Key', API_KEY];
const signature: Line = ['X-Service-Signature', SIGNATURE];

it.each<[string, readonly Line[]]>([
  ['as it is', [key, signature]],
  ['in the other order', [signature, key]],
  [
    'with header names in another letter case',
    [
      ['x-api-KEY', API_KEY],
      ['X-SERVICE-signature', SIGNATURE],
    ],
  ],
  [
    'next to a header whose value is a header name',
    [['X-Other', 'X-API-Key'], ['X-2', 'x-service-signature'], key, signature],
  ],
])('accepts a valid delivery %s', async (_case, lines) => {
  const accepted = { status: 200, body: expect.stringContaining('"status"'), reason: undefined, secretIndex: 1 };
  expect(await post(lines)).toEqual(accepted);
});

it.each<[string, string, readonly Line[]]>([
  ['api-key-missing', 'no key', []],
  ['api-key-missing', 'an empty key', [['X-API-Key', '']]],
  ['api-key-mismatch', 'another key', [['X-API-Key', 'wrong']]],
  ['api-key-malformed', 'the key twice', [key, key]],
  ['api-key-malformed', 'the key and another', [key, ['X-API-KEY', 'wrong']]],
  ['api-key-malformed', 'another key and the key', [['x-api-key', 'wrong'], key]],
  ['api-key-malformed', 'the key and an empty one', [key, ['x-api-key', '']]],
  ['api-key-missing', 'the key in another header', [['X-API-Key-2', API_KEY]]],
  ['api-key-missing', 'name and value exchanged', [[API_KEY, 'X-API-Key']]],
])('rejects an API key as %s: %s', async (reason, _case, lines) => {
  const rejected = { status: 401, body: '{"error":"unauthorized"}', reason, secretIndex: undefined };
  expect(await post([...lines, signature])).toEqual(rejected);
  expect(await post([signature, ...lines])).toEqual(rejected);
});

it.each<[string, string, readonly Line[]]>([
  ['signature-missing', 'none', []],
  ['signature-missing', 'an empty one', [['X-Service-Signature', '']]],
  ['signature-mismatch', 'the signature of another body', [['X-Service-Signature', sign('another body')]]],
  ['signature-malformed', 'another text', [['X-Service-Signature', 'wrong']]],
  ['signature-malformed', '44 bytes that are not ASCII', [['X-Service-Signature', '\xe9'.repeat(44)]]],
  ['signature-malformed', '44 bytes with one UTF-8 character', [['X-Service-Signature', `\xc3\xa9${'A'.repeat(42)}`]]],
  ['signature-malformed', 'the signature twice', [signature, signature]],
  ['signature-malformed', 'the signature and another', [signature, ['x-service-signature', 'wrong']]],
  ['signature-malformed', 'another and the signature', [['x-service-signature', 'wrong'], signature]],
  ['signature-malformed', 'three lines', [signature, ['X-Service-Signature', ''], signature]],
  ['signature-missing', 'the signature in another header', [['X-Signature', SIGNATURE]]],
])('rejects a signature as %s: %s', async (reason, _case, lines) => {
  const rejected = { status: 401, body: '{"error":"unauthorized"}', reason, secretIndex: undefined };
  expect(await post([...lines, key])).toEqual(rejected);
  expect(await post([key, ...lines])).toEqual(rejected);
});

describe('a header that Node does not join', () => {
  it('is rejected when it is repeated', async () => {
    const { port } = await receiverForTest({ apiKey: { keys: [API_KEY], header: 'Authorization' } });
    const once: Line[] = [
      ['Content-Type', 'application/json'],
      ['Authorization', API_KEY],
    ];
    expect((await exchange(port, rawPost(BODY, once))).status).toBe(200);
    expect((await exchange(port, rawPost(BODY, [...once, ['Authorization', 'other']]))).status).toBe(401);
  });
});
