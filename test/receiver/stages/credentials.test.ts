/** The stages that check credentials, on the wire: which header lines count, and what the log says. */
import express, { type Request } from 'express';
import request from 'supertest';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { type RunningReceiver, startReceiver } from '../../../receiver/index.ts';
import { checkHead, requireApiKey } from '../../../receiver/stages/credentials.ts';
import type { Stage } from '../../../receiver/stages/stage.ts';
import { API_KEY, buy, SECRET, sign } from '../deliveries.ts';
import { collectLogs } from '../logs.ts';
import { exchange, rawPost, receiverForTest } from '../raw-http.ts';

const BODY = JSON.stringify(buy());
const SIGNATURE = sign(BODY);

type Line = readonly [name: string, value: string];
const { logger, next } = collectLogs();
let running: Promise<RunningReceiver> | undefined;
afterAll(async () => (await running)?.close());

/** Starts one receiver for all tests, within the first test, so that a failure to start fails that test. */
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

/** Creates the parts of a request and a response that the checks of the head use. */
function headOf(headers: Record<string, string>) {
  const req = { headers, rawHeaders: Object.entries(headers).flat() } as unknown as Request;
  const res = { locals: {} } as unknown as Parameters<Stage>[1];
  return { req, res };
}

describe('the check of the head alone', () => {
  const check = checkHead({
    apiKey: { keys: ['old', API_KEY], header: 'x-api-key' },
    signing: { secrets: [SECRET], header: 'x-service-signature' },
  });

  it.each<[string | undefined, number | undefined, Record<string, string>]>([
    ['api-key-missing', undefined, { 'x-service-signature': SIGNATURE }],
    ['api-key-mismatch', undefined, { 'x-api-key': 'wrong', 'x-service-signature': SIGNATURE }],
    ['signature-missing', 1, { 'x-api-key': API_KEY }],
    ['signature-malformed', 1, { 'x-api-key': API_KEY, 'x-service-signature': 'wrong' }],
    // It is unknown before the body whether the signature matches.
    [undefined, 1, { 'x-api-key': API_KEY, 'x-service-signature': sign('another body') }],
    [undefined, 0, { 'x-api-key': 'old', 'x-service-signature': SIGNATURE }],
  ])('finds %s, and the key %s', (reason, keyIndex, headers) => {
    const { req, res } = headOf(headers);
    expect(check(req, res)).toBe(reason);
    expect(res.locals.keyIndex).toBe(keyIndex);
  });

  it('checks only what is configured', () => {
    const { req, res } = headOf({});
    expect(checkHead({ apiKey: undefined, signing: undefined })(req, res)).toBeUndefined();
  });
});

describe('the API key without a check of the head', () => {
  const stage = requireApiKey({ keys: ['old', API_KEY], header: 'x-api-key' });

  it('is checked by its own stage', async () => {
    const app = express();
    const reasons: unknown[] = [];
    app.use((req, res, following) => {
      void stage(req, res as never, following);
      reasons.push(res.locals.reason);
    });
    app.use((_req, res) => void res.json(res.locals.keyIndex));
    const answer = async (...value: string[]) => {
      const [one] = value;
      const asked = request(app).get('/');
      const { status, body } = await (one === undefined ? asked : asked.set('X-API-Key', one));
      return [status, body];
    };
    expect(await answer(API_KEY)).toEqual([200, 1]);
    expect(await answer('old')).toEqual([200, 0]);
    expect(await answer('wrong')).toEqual([401, { error: 'unauthorized' }]);
    expect(await answer()).toEqual([401, { error: 'unauthorized' }]);
    expect(reasons).toEqual([undefined, undefined, 'api-key-mismatch', 'api-key-missing']);
  });

  it('is not checked a second time', () => {
    const { req, res } = headOf({});
    res.locals.keyIndex = 0;
    const passed = vi.fn();
    void stage(req, res, passed);
    expect(passed).toHaveBeenCalledOnce();
  });
});
