/** The responses of the app. */
import { randomBytes, randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import request from 'supertest';
import { beforeEach, describe, expect, it } from 'vitest';
import { createReceiver, type Receiver } from '../../receiver/index.ts';
import { API_KEY, buy, post, SECRET, sign } from './deliveries.ts';

let handled: string[];
let receiver: Receiver;
let body: string;

beforeEach(() => {
  handled = [];
  receiver = createReceiver({
    signing: { secrets: [SECRET] },
    apiKey: { keys: [API_KEY] },
    handlers: {
      CAAS_BUY: ({ id }) => void handled.push(id),
      UNKNOWN: ({ id, type }) => void handled.push(`${type} ${id}`),
    },
  });
  body = JSON.stringify(buy());
});

/** Returns the response, and the number of notifications that were handled. */
async function outcome(test: ReturnType<typeof post>) {
  const { status, body: answer } = await test;
  await receiver.settled();
  return { status, answer, handled: handled.length };
}

const accepted = { status: 200, answer: { status: 'accepted' }, handled: 1 };

describe('a valid delivery', () => {
  it('gets 200 with necessary headers only', async () => {
    const answer = await post(receiver, body);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ status: 'accepted' });
    expect(Object.keys(answer.headers).sort()).toEqual(['connection', 'content-length', 'content-type', 'date']);
  });

  it.each([
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'APPLICATION/JSON',
    ' application/json ; charset="utf-8"',
    'application/json; charset=iso-8859-1',
    'application/json; charset=bogus',
    'application/cloudevents+json',
  ])('may have the content type %s', async (type) => {
    const text = JSON.stringify(buy('id-1', { providerId: 'é 😀' }));
    expect(await outcome(post(receiver, text, { 'Content-Type': type }))).toEqual(accepted);
  });

  it.each([
    ['white space, a float, an escape and a newline', '{ "n" : 1e3, "f": 1.0, "u": "https:\\/\\/x \\u00e9" }\n'],
    ['a key twice', '{"a":1,"a":2}'],
    ['big numbers', '{"n":12345678901234567890,"m":1e400}'],
    ['emoji, NUL, U+2028 and a lone surrogate', '{"s":"😀\u2028\\u0000\\ud83d"}'],
    ['__proto__', '{"__proto__":{"polluted":"yes"},"constructor":{"prototype":{"polluted":"yes"}}}'],
  ])('may contain %s', async (_label, extra) => {
    const text = `{"id":"${randomUUID()}","type":"SOMETHING_NEW","at":1700000000,"data":${extra.trimEnd()}}\n`;
    expect(await outcome(post(receiver, text))).toEqual(accepted);
    expect(({} as { polluted?: string }).polluted).toBeUndefined();
  });

  it('may be nested 64 levels deep, and no deeper unless configured', async () => {
    const levels = (depth: number) => {
      const deep = '['.repeat(depth - 2) + ']'.repeat(depth - 2);
      return `{"id":"deep","type":"SOMETHING_NEW","at":1700000000,"data":{"deep":${deep}}}`;
    };
    expect((await post(receiver, levels(64))).status).toBe(200);
    for (const depth of [65, 100_000]) {
      const answer = await post(receiver, levels(depth));
      expect([answer.status, answer.body]).toEqual([400, { error: 'body-too-deep' }]);
    }
    const deeper = createReceiver({ open: true, maxDepth: 65 });
    expect((await post(deeper, levels(65))).status).toBe(200);
  });

  it('may be sent to any path, with any query', async () => {
    expect((await post(receiver, body, {}, '/a//b/%zz/..?skip=1&a[b]=c')).status).toBe(200);
  });

  it('may be as large as the limit', async () => {
    const small = createReceiver({ open: true, bodyLimit: Buffer.byteLength(body) });
    expect((await post(small, body)).status).toBe(200);
    const answer = await post(small, `${body} `);
    expect([answer.status, answer.body]).toEqual([413, { error: 'body-too-large' }]);

    const large = createReceiver({ open: true, bodyLimit: 20 * 1024 * 1024 });
    expect((await post(large, body + ' '.repeat(18 * 1024 * 1024))).status).toBe(200);
  });
});

describe('an unauthenticated delivery', () => {
  const invalid: readonly (readonly [string, Record<string, string | undefined>])[] = [
    ['no signature', { 'X-Service-Signature': undefined }],
    ['an empty signature', { 'X-Service-Signature': '' }],
    ['a wrong signature', { 'X-Service-Signature': randomBytes(32).toString('base64') }],
    ['a malformed signature', { 'X-Service-Signature': 'x'.repeat(4000) }],
    ['a signature under the empty secret', { 'X-Service-Signature': sign('', '') }],
    ['no key', { 'X-API-Key': undefined }],
    ['an empty key', { 'X-API-Key': '' }],
    ['a wrong key', { 'X-API-Key': `${API_KEY}x` }],
    ['key as Bearer', { 'X-API-Key': undefined, Authorization: `Bearer ${API_KEY}` }],
    ['neither of them', { 'X-API-Key': undefined, 'X-Service-Signature': undefined }],
    ['both of them wrong', { 'X-API-Key': 'x', 'X-Service-Signature': 'x' }],
    [
      'headers that a debugging shortcut would trust',
      {
        'X-Service-Signature': undefined,
        'X-Forwarded-For': '127.0.0.1',
        'X-Debug': '1',
        'X-SSL-Client-Verify': 'SUCCESS',
      },
    ],
    ['no content type', { 'X-Service-Signature': undefined, 'Content-Type': undefined }],
    ['another content type', { 'X-Service-Signature': undefined, 'Content-Type': 'text/plain' }],
    ['a content encoding', { 'X-Service-Signature': undefined, 'Content-Encoding': 'gzip' }],
    ['a bogus charset', { 'X-API-Key': undefined, 'Content-Type': 'application/json; charset=bogus' }],
  ];
  const bodies: readonly (readonly [string, (valid: string) => string | Buffer])[] = [
    ['a valid body', (valid) => valid],
    ['no body', () => ''],
    ['half a body', (valid) => valid.slice(0, 20)],
    ['a body that is not a notification', () => 'null'],
    ['a body that is not UTF-8', () => Buffer.from([0xff, 0xfe, 0x00])],
    ['a body of 1 MiB', () => 'x'.repeat(1024 * 1024)],
  ];
  const cases = invalid.flatMap(([label, headers]) =>
    bodies.map(([bodyLabel, make]) => [`${label}, ${bodyLabel}`, headers, make] as const),
  );

  it.each(cases)('gets the same 401: %s', async (_label, headers, make) => {
    const answer = await post(receiver, make(body), headers);
    const { date: _date, ...rest } = answer.headers;
    expect({ status: answer.status, text: answer.text, headers: rest }).toEqual({
      status: 401,
      text: '{"error":"unauthorized"}',
      headers: { connection: 'close', 'content-length': '24', 'content-type': 'application/json' },
    });
    await receiver.settled();
    expect(handled).toEqual([]);
  });

  it('has no effect on a later valid delivery with the same id', async () => {
    const text = JSON.stringify(buy('poison'));
    expect(await outcome(post(receiver, text, { 'X-Service-Signature': 'x' }))).toMatchObject({
      status: 401,
      handled: 0,
    });
    const malformed = JSON.stringify({ id: 'poison', type: 'CAAS' });
    expect(await outcome(post(receiver, malformed))).toMatchObject({ status: 400, handled: 0 });
    expect(await outcome(post(receiver, text))).toEqual(accepted);
  });
});

it('requires only the credentials that are configured', async () => {
  const signed = createReceiver({ signing: { secrets: [SECRET], header: 'X-Other' } });
  expect((await post(signed, body)).status).toBe(401);
  const bare = { 'X-Service-Signature': undefined, 'X-API-Key': undefined };
  expect((await post(signed, body, { ...bare, 'x-OTHER': sign(body) })).status).toBe(200);

  const keyed = createReceiver({ apiKey: { keys: ['old', API_KEY], header: 'Authorization' } });
  expect((await post(keyed, body, bare)).status).toBe(401);
  expect((await post(keyed, body, { ...bare, Authorization: API_KEY })).status).toBe(200);

  const open = createReceiver({ open: true });
  expect((await post(open, body, bare)).status).toBe(200);
});

it.each(['get', 'put', 'patch', 'delete', 'options', 'head'] as const)('answers %s with 405', async (method) => {
  const answer = await request(receiver.app)[method]('/').set('X-API-Key', API_KEY);
  expect([answer.status, answer.headers.allow]).toEqual([405, 'POST']);
  if (method !== 'head') expect(answer.body).toEqual({ error: 'method-not-allowed' });
});

it('answers another path than the configured one with 404', async () => {
  const at = createReceiver({ open: true, path: '/hooks' });
  expect((await post(at, body, {}, '/hooks?x=1')).status).toBe(200);
  for (const path of ['/', '/hooks/', '/HOOKS', '/hooks/x', '/%68ooks']) {
    const answer = await post(at, body, {}, path);
    expect([path, answer.status, answer.body]).toEqual([path, 404, { error: 'not-found' }]);
  }
  expect((await request(at.app).get('/hooks')).status).toBe(405);
});

describe('a delivery with valid credentials', () => {
  it.each([
    ['no content type', undefined],
    ['an empty content type', ''],
    ['text', 'text/plain'],
    ['a form', 'application/x-www-form-urlencoded'],
    ['JSONP', 'application/jsonp'],
    ['text/json', 'text/json'],
    ['JSON as a parameter', 'text/plain; x=application/json'],
    ['two types', 'application/json, text/plain'],
  ])('gets 415 with %s', async (_label, type) => {
    expect(await outcome(post(receiver, body, { 'Content-Type': type }))).toEqual({
      status: 415,
      answer: { error: 'content-type-not-json' },
      handled: 0,
    });
  });

  it.each(['gzip', 'br', 'nonsense', 'identity, gzip'])('gets 415 with Content-Encoding: %s', async (encoding) => {
    const expected = { status: 415, answer: { error: 'content-encoding-not-supported' }, handled: 0 };
    for (const bytes of [body, gzipSync(body)]) {
      expect(await outcome(post(receiver, bytes, { 'Content-Encoding': encoding }))).toEqual(expected);
    }
  });

  it('may have Content-Encoding: identity', async () => {
    expect((await post(receiver, body, { 'Content-Encoding': 'Identity' })).status).toBe(200);
  });

  it.each([
    ['no body', '', 'body-not-json'],
    ['half a document', '{"id":', 'body-not-json'],
    ['a bare word', 'nul', 'body-not-json'],
    ['no quotes', '{id:1}', 'body-not-json'],
    ['a trailing comma', '{"id":"x",}', 'body-not-json'],
    ['two documents', '{}{}', 'body-not-json'],
    ['a byte order mark', Buffer.from('\uFEFF{"id":"x"}'), 'body-not-json'],
    ['UTF-16', Buffer.from('{"id":"x"}', 'utf16le'), 'body-not-json'],
    ['a NUL byte', '{"id":"\0"}', 'body-not-json'],
    ['bytes that are not UTF-8', Buffer.from('{"id":"\xff\xfe"}', 'latin1'), 'body-not-utf8'],
    ['an encoded surrogate', Buffer.from([0x22, 0xed, 0xa0, 0xbd, 0x22]), 'body-not-utf8'],
    ['an unfinished character', Buffer.from([0x22, 0xf0, 0x9f, 0x98]), 'body-not-utf8'],
    ['a few open brackets', '[[[', 'body-not-json'],
    ['100,000 open brackets', '['.repeat(100_000), 'body-too-deep'],
  ])('gets 400 without details of the parser for %s', async (_label, text, error) => {
    expect(await outcome(post(receiver, text))).toEqual({ status: 400, answer: { error }, handled: 0 });
  });

  it.each(['null', '"text"', '42', 'true', '[]', '[{}]', '{}', `${'['.repeat(64)}${']'.repeat(64)}`])(
    'gets 400 with issues for the JSON value %.20s',
    async (text) => {
      const { status, answer, handled: count } = await outcome(post(receiver, text));
      expect({ status, error: answer.error, handled: count }).toEqual({
        status: 400,
        error: 'not-a-notification',
        handled: 0,
      });
      expect(answer.issues.length).toBeGreaterThan(0);
    },
  );

  it('gets few, short issues that quote nothing of the body', async () => {
    const canary = `canary-${randomUUID()}`;
    const wrong = { [canary]: canary };
    const names = ['targetWalletAddress', 'blockchainTransactionId', 'blockchainMemo', 'currency', 'chain'];
    const more = ['refundWalletAddress', 'sourceWalletAddress'];
    const bad = buy('bad', {
      providerId: wrong,
      transactionId: wrong,
      metadata: {
        orderStatus: wrong,
        blockchainData: Object.fromEntries([...names, ...more].map((name) => [name, wrong])),
        [canary]: canary,
      },
      errorData: { code: wrong, message: wrong },
    });
    const { status, answer } = await outcome(post(receiver, JSON.stringify(bad)));
    expect(status).toBe(400);
    expect(answer.issues).toHaveLength(10);
    for (const issue of answer.issues) expect(issue.length).toBeLessThanOrEqual(200);
    expect(JSON.stringify(answer)).not.toContain(canary);
  });
});
