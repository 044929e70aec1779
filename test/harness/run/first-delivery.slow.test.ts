import { describe, expect, it } from 'vitest';
import type { ResultDocument } from '../../../harness/report/result-document.ts';
import { isByTimer } from '../../../harness/run/examine-refusal.ts';
import { joinShards } from '../../../harness/run/index.ts';
import { hmacOf } from '../../endpoints/verifying.ts';

import { found, played, type Received, type Receiver, SECRET, SIGNING, verdicts } from './played.ts';

const isBuy = ({ event }: Received, status?: string) =>
  event?.type === 'CAAS' &&
  event.data.type === 'BUY' &&
  (status ?? event.data.metadata?.orderStatus) === event.data.metadata?.orderStatus;

describe('a receiver that rejects a completed BUY', () => {
  const enumWithoutCompleted: Receiver = (received) =>
    received.isValid && isBuy(received, 'COMPLETED') ? [500, 'no such constant'] : received.correct;

  it('is named with the status, and the run goes on with a confirmed one', async () => {
    const { document } = await played(enumWithoutCompleted, [], SIGNING, ['valid', 'signature', 'raw-body']);
    expect(document.verdict).toBe('nonconformant');
    expect(verdicts(document, 'fail')).toEqual(['valid/plain']);
    expect(document.diagnosis[0]).toMatchObject({
      fault: 'rejects-plain-notification',
      title: 'The endpoint rejects a BUY with orderStatus COMPLETED (500), but accepts BUY CONFIRMED',
      evidence: ['valid/plain'],
    });
    const leftOut = document.results.filter(({ decidedBy }) => decidedBy === 'kind-rejected');
    expect(leftOut.map(({ id, verdict }) => [id, verdict])).toContainEqual(['valid/buy-completed', 'inconclusive']);
    expect(leftOut.length).toBeLessThan(8);
    expect(verdicts(document, 'pass').length).toBeGreaterThan(350);
  });

  it('is one cause of shards that are joined', async () => {
    const shards: ResultDocument[] = [];
    for (const index of [1, 2]) {
      const shard = { index, of: 2 };
      const { document } = await played(enumWithoutCompleted, [], SIGNING, ['valid'], shard);
      shards.push({ ...document, target: { ...document.target, url: 'http://receiver.test/hooks' } });
    }
    const joined = await joinShards(shards.map((document, at) => ({ name: `${at}.json`, document })));
    expect(joined.verdict).toBe('nonconformant');
    expect(joined.diagnosis).toMatchObject([{ fault: 'rejects-plain-notification', evidence: ['valid/plain'] }]);
  });

  it('fails a run in which the check of a plain delivery was not selected', async () => {
    const { document } = await played(enumWithoutCompleted, ['signature/missing']);
    expect(document.verdict).toBe('nonconformant');
    expect(verdicts(document, 'fail')).toEqual(['valid/plain']);
    expect(verdicts(document, 'pass')).toEqual(['signature/missing']);
  });

  it('still has its accepted forgeries found', async () => {
    const lenient: Receiver = (received) =>
      isBuy(received, 'COMPLETED') ? [422] : received.given === undefined ? [200] : received.correct;
    const { document } = await played(lenient, ['valid/plain', 'signature/missing', 'signature/other-secret']);
    expect(verdicts(document, 'fail')).toEqual(['valid/plain', 'signature/missing']);
    expect(document.diagnosis.map(({ fault }) => fault)).toContain('rejects-plain-notification');
    expect(document.diagnosis[0]?.fault).not.toBe('rejects-plain-notification');
  });
});

describe('a receiver that rejects every BUY', () => {
  const noBuys: Receiver = (received) => (received.isValid && isBuy(received) ? [400, 'unknown'] : received.correct);

  it('gets WALLET notifications, and no check fails that cannot be made from one', async () => {
    const { document } = await played(noBuys, [], SIGNING, ['valid', 'malformed', 'delivery', 'raw-body', 'signature']);
    expect(document.diagnosis[0]?.title).toBe(
      'The endpoint rejects BUY COMPLETED, BUY CONFIRMED, BUY CREATED notifications (400), but accepts WALLET',
    );
    expect(verdicts(document, 'fail')).toEqual(['valid/plain']);
    expect(verdicts(document, 'harness-error')).toEqual([]);
    expect(verdicts(document, 'pass').length).toBeGreaterThan(300);
  });

  it('is not followed to a kind whose signature it does not check', async () => {
    const unchecked: Receiver = ({ body }) => (body.includes('CAAS') ? [401, 'invalid signature'] : [200]);
    expect((await found(unchecked))?.fault).toBe('refuses-right-credentials');
  });

  it('is not followed where it accepts a kind only by chance', async () => {
    let walletsLeft = 1;
    const once: Receiver = ({ event }) => (event?.type === 'WALLET' && walletsLeft-- > 0 ? [200] : [400, 'no']);
    expect((await found(once))?.fault).toBe('rejected-before-verification');
  });
});

describe('where a first delivery is refused', () => {
  it.each<[string, Receiver, string, RegExp]>([
    [
      'before the check: everything gets the same answer',
      () => [403, 'Forbidden'],
      'rejected-before-verification',
      /before it checks the credentials \(403\)$/,
    ],
    [
      'at the check: a wrong signature gets the same answer, a missing one another',
      ({ given }) => (given === undefined ? [400, 'no signature'] : [401, 'no']),
      'refuses-right-credentials',
      /valid credentials \(401\)$/,
    ],
    [
      'at the check, which fails',
      ({ given }) => (given === undefined ? [401] : [500, 'Internal Server Error']),
      'fails-on-valid-delivery',
      /fails while it checks the credentials \(500\)$/,
    ],
    [
      'after the check: a wrong signature gets another answer',
      ({ isValid }) => (isValid ? [400, 'empty body'] : [401]),
      'rejected-after-verification',
      /accepts the credentials, but then rejects the notification \(400\)$/,
    ],
    [
      'after the check, which the text alone shows',
      ({ isValid }) => (isValid ? [400, 'unknown transaction'] : [400, 'invalid signature']),
      'rejected-after-verification',
      /\(400\)$/,
    ],
    [
      'after the check, as an unknown id',
      ({ isValid }) => (isValid ? [404] : [401]),
      'rejected-after-verification',
      /404/,
    ],
    [
      'after the check, with a redirect of a validator',
      ({ isValid }) => (isValid ? [302, '', { Location: '/' }] : [401]),
      'rejected-after-verification',
      /302/,
    ],
    ['by the path', () => [404, 'Not Found'], 'answers-404-to-everything', /404/],
    ['by a redirect', () => [302, '', { Location: '/login' }], 'redirects-every-delivery', /302/],
    [
      'by a host list, in the text',
      () => [400, '<h1>Bad Request (400)</h1>'],
      'host-not-allowed',
      /host name.*\(400\)/,
    ],
    ['by a CSRF check', () => [422, 'The change you wanted was rejected.'], 'asks-for-csrf-token', /CSRF/],
    ['by a CSRF check of Laravel', () => [419, 'Page Expired'], 'asks-for-csrf-token', /CSRF/],
    ['by a login', () => [401, 'no', { 'WWW-Authenticate': 'Basic realm="x"' }], 'asks-for-login', /login/],
    ['by the content type', () => [415, 'Unsupported Media Type'], 'rejects-json', /application\/json/],
    [
      'by a firewall',
      () => [403, 'Request blocked by the web application firewall'],
      'blocked-by-firewall',
      /firewall/,
    ],
  ])('%s', async (_where, receiver, fault, title) => {
    expect(await found(receiver)).toMatchObject({ fault, title: expect.stringMatching(title) });
  });

  it('is proved to be the host list by a delivery with another host', async () => {
    const one = await found(({ request, correct }) =>
      request.headers.host?.startsWith('localhost') === true ? correct : [403, 'no'],
    );
    expect(one).toMatchObject({
      fault: 'host-not-allowed',
      why: expect.stringContaining('`Host: localhost` is accepted'),
    });
  });

  it('needs no signing mistake when a wrong signature gets another answer', async () => {
    const { requests } = await played(({ isValid }) => (isValid ? [400] : [401]));
    expect(requests).toBeLessThan(15);
  });

  it('is said for the stack that answers', async () => {
    const rails = { 'X-Runtime': '0.001' };
    const one = await found(() => [422, 'The change you wanted was rejected.', rails]);
    expect(one?.fix).toContain('skip_forgery_protection');
    const python = await found(() => [500, 'Internal Server Error', { Server: 'uvicorn' }]);
    expect(python?.fix).not.toContain('express');
  });
});

describe('forgeries that are accepted while valid deliveries are refused', () => {
  const noSecret: Receiver = ({ given, event }) =>
    given ? [401, 'Missing webhook secret'] : event === undefined ? [400] : [200];

  it('are a cause of their own, and fail', async () => {
    const { document } = await played(noSecret);
    expect(document.diagnosis[0]).toMatchObject({
      fault: 'accepts-forged-and-rejects-valid',
      mistake: 'unset-secret',
      evidence: ['valid/plain', 'signature/missing', 'signature/empty'],
      title: expect.stringContaining(
        'accepts deliveries with no signature or an empty signature, but rejects valid ones (401)',
      ),
    });
    expect(verdicts(document, 'fail')).toEqual(['valid/plain', 'signature/missing', 'signature/empty']);
    expect(document.verdict).toBe('nonconformant');
  });

  it('do not hide a signing mistake', async () => {
    const hex: Receiver = ({ given, body }) =>
      given === undefined || given === hmacOf(SECRET, body).toString('hex') ? [200] : [401];
    const { document } = await played(hex);
    expect(document.diagnosis[0]?.title).toMatch(/hex/i);
    expect(verdicts(document, 'fail')).toEqual(['valid/plain', 'signature/missing']);
  });

  it('are named when only the valid signature is refused', async () => {
    const one = await found(({ isValid }) => (isValid ? [401] : [200]));
    expect(one?.title).toContain('a wrong signature');
  });
});

describe('a header name with an underscore', () => {
  const partner = { apiKey: { value: 'a-key-of-this-test-0123456789', header: 'api_key' } };

  it('is named when the delivery is refused as if it had no such header', async () => {
    expect(await found(() => [401, 'no key'], ['valid/plain'], partner)).toMatchObject({
      fault: 'header-name-with-underscore',
      fix: expect.stringContaining('underscores_in_headers on'),
    });
  });

  it('is not when the header makes a difference', async () => {
    const receiver: Receiver = ({ request }) =>
      request.headers.api_key === undefined ? [401, 'no key'] : [401, 'wrong'];
    expect((await found(receiver, ['valid/plain'], partner))?.fault).toBe('refuses-right-credentials');
  });
});

describe('answers that come from a timer', () => {
  it.each<[boolean, string, readonly (readonly [status: number, ms: number])[]]>([
    [
      true,
      'slow, of one status, after the same time',
      [
        [202, 2210],
        [202, 2390],
        [202, 2205],
      ],
    ],
    [
      true,
      'so slow that a twentieth is more',
      [
        [504, 9000],
        [504, 9440],
      ],
    ],
    [
      false,
      'after different times',
      [
        [202, 2210],
        [202, 2410],
      ],
    ],
    [
      false,
      'of two statuses',
      [
        [202, 2210],
        [401, 2210],
      ],
    ],
    [
      false,
      'fast',
      [
        [202, 1900],
        [202, 1900],
      ],
    ],
  ])('are %s when they are %s', (expected, _, answers) => {
    const attempts = answers.map(([status, totalMs]) => ({ answer: { status }, timings: { totalMs } }));
    expect(isByTimer(attempts as unknown as Parameters<typeof isByTimer>[0])).toBe(expected);
  });
});

describe('what is sent before the first accepted delivery', () => {
  it.each<[string, Receiver, number]>([
    ['a refusal after the check', ({ isValid }) => (isValid ? [400] : [401]), 11],
    ['a refusal of everything', () => [401, 'no'], 290],
    ['a redirect of everything', () => [302, '', { Location: '/' }], 20],
  ])('is as little as the guide says: %s', async (_name, receiver, most) => {
    const { document, requests } = await played(receiver);
    expect(document.requests).toBe(requests);
    expect(requests).toBeLessThanOrEqual(most);
  });
});

describe('two credentials', () => {
  const apiKey = { value: 'a-key-of-this-test-0123456789' };
  const withKey =
    (key: string): Receiver =>
    ({ request, isValid }) =>
      !isValid ? [401, 'invalid signature'] : request.headers['x-api-key'] === key ? [200] : [401, 'invalid key'];

  it('of which one is rejected differ', async () => {
    const one = await found(withKey('another'), ['valid/plain'], { ...SIGNING, apiKey });
    expect(one?.fault).toBe('refuses-right-credentials');
  });

  it('of which one is not configured are named', async () => {
    expect(await found(withKey('another'))).toMatchObject({
      fault: 'requires-another-credential',
      title: 'The endpoint accepts the signature, but seems to require an API key as well (401)',
      fix: expect.stringContaining('HOOKPROOF_API_KEY'),
    });
  });

  it('are not taken for valid where some characters are rejected', async () => {
    const one = await found(({ given, correct }) => (given?.includes('+') ? [400, 'bad characters'] : correct));
    expect(one?.fault).toBe('refuses-signatures-with-some-characters');
  });
});

describe('a receiver that accepts the plain notification only in another form', () => {
  type Event = { at: unknown; data: { errorData?: unknown; transactionId?: unknown } };
  const asEvent = (received: Received) => received.event as unknown as Event;
  const only =
    (suits: (received: Received) => boolean): Receiver =>
    (received) =>
      received.isValid && received.event !== undefined && !suits(received) ? [400, 'no'] : received.correct;

  it.each<[string, string, Receiver]>([
    [
      'with a User-Agent header',
      'rejected-before-verification',
      only(({ request }) => request.headers['user-agent'] !== undefined),
    ],
    [
      'with a charset in Content-Type',
      'content-type-as-string',
      only(({ request }) => /charset/.test(request.headers['content-type'] ?? '')),
    ],
    [
      'without the fields that are null',
      'optional-data-required',
      only((received) => asEvent(received).data.errorData !== null),
    ],
    ['with `at` as ISO 8601 text', 'fixed-time-format', only((received) => typeof asEvent(received).at === 'string')],
    [
      'with UUIDs as ids',
      'id-form-assumed',
      only((received) => /^[0-9a-f-]{36}$/.test(`${asEvent(received).data.transactionId ?? '-'.repeat(36)}`)),
    ],
  ])('is named with what it requires: %s', async (form, mistake, receiver) => {
    expect(await found(receiver)).toMatchObject({
      fault: 'rejects-plain-form',
      title: `The endpoint rejects a valid delivery (400), but accepts it ${form}`,
      mistake,
    });
  });
});

describe('what a refused first delivery shows', () => {
  it('is a header that was not found, where the answer says so', async () => {
    const missing = 'The webhook does not contain a signature';
    expect(await found(() => [401, missing])).toMatchObject({ fault: 'finds-no-signature' });
  });

  it.each([
    'Missing or invalid signature',
    'Request without a valid signature',
    'The request does not have a valid signature',
    'Missing or malformed signature',
  ])('is no missing header, where the answer may mean an invalid signature: %s', async (text) => {
    expect(await found(() => [401, text])).toMatchObject({ fault: 'refuses-right-credentials' });
  });
});

describe('a receiver that takes one valid delivery as proof for others', () => {
  it('is named by its memory of the connection', async () => {
    const proved = new WeakSet<object>();
    const remembering: Receiver = (received) => {
      if (received.isValid) proved.add(received.request.socket);
      return proved.has(received.request.socket) ? [200] : received.correct;
    };
    const { document } = await played(remembering, ['signature/missing', 'signature/other-secret']);
    expect(document.diagnosis[0]).toMatchObject({
      fault: 'accepts-after-valid',
      title: 'Accepts forged deliveries on a connection that has sent a valid one',
      evidence: ['signature/missing', 'signature/other-secret'],
    });
  });
});
