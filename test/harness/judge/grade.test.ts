/**
 * One probe between two accepted controls: verdict, code and reason. Each reason is compared completely, because users
 * act on it.
 */
import { describe, expect, it } from 'vitest';
import {
  type DecidedBy,
  describeAttempt,
  isNamed,
  judge,
  mustBeRejected,
  outcomeOfAttempt,
  wasClosed,
} from '../../../harness/judge/index.ts';
import type { Attempt } from '../../../harness/transport/index.ts';
import { accepted, type Expectation, handled, refused, refusedMalformed } from '../../../scenarios/index.ts';
import { answer, evidence, failure, neither, probe } from './attempts.ts';

const expecting = (more: Partial<Expectation>): Expectation => ({ text: 'T', authentic: true, pass: [200], ...more });
const tls = (code: string, alert?: string) => failure('tls', { code, ...(alert !== undefined && { alert }) });

const FAULTY_TLS: Expectation = { text: 'refusal', authentic: true, pass: ['alert', 'closed'] };
const RECORDED_TLS = expecting({ note: ['alert', 'closed'] });

type Row = [name: string, Expectation, Attempt, verdict: string, DecidedBy, reason: string];

function check(_name: string, expectation: Expectation, attempt: Attempt, verdict: string, by: string, reason: string) {
  const { verdict: given, decidedBy, reason: why, delivery } = judge('must', evidence([probe(expectation, attempt)]));
  expect([given, decidedBy, why, delivery]).toEqual([verdict, by, reason, null]);
}

describe('an answer', () => {
  it.each<Row>([
    ['as expected', accepted, answer(200), 'pass', 'expected-answer', ''],
    [
      'that is allowed',
      handled,
      answer(202),
      'pass',
      'allowed-answer',
      `answered 202, which is allowed; preferred: ${handled.text}`,
    ],
    [
      'that is discouraged',
      refusedMalformed,
      answer(400),
      'warn',
      'discouraged-answer',
      `answered 400, expected ${refusedMalformed.text}`,
    ],
    ['another status', expecting({ pass: [401] }), answer(404), 'fail', 'wrong-status', 'answered 404, expected T'],
    ['a rate limit', accepted, answer(429), 'inconclusive', 'rate-limited', 'rate-limited: the endpoint answered 429'],
    [
      'a 503 that remained',
      accepted,
      answer(503),
      'fail',
      'crash',
      'answered 503 each time: the receiver fails on this delivery',
    ],
    [
      'that is unclear',
      expecting({ unclear: [502] }),
      answer(502),
      'inconclusive',
      'unavailable',
      'unavailable: the endpoint answered 502',
    ],
    [
      '502 where the connection may be closed',
      expecting({ warn: ['closed'] }),
      answer(502),
      'warn',
      'discouraged-answer',
      'answered 502, expected T',
    ],
    [
      '504 where no answer is allowed',
      expecting({ note: ['none'] }),
      answer(504),
      'pass',
      'allowed-answer',
      'answered 504, which is allowed; preferred: T',
    ],
    [
      '504 where the connection may be closed',
      expecting({ pass: ['closed'] }),
      answer(504),
      'fail',
      'wrong-status',
      'answered 504, expected T',
    ],
    [
      '502 to a malformed payload',
      handled,
      answer(502),
      'fail',
      'crash',
      'answered 502: what a gateway answers when the receiver closes the connection',
    ],
    ['that passes and is unclear', expecting({ unclear: [200] }), answer(200), 'pass', 'expected-answer', ''],
    [
      'an accepted forgery',
      refused,
      answer(204),
      'fail',
      'forgery-accepted',
      'accepted (204) a delivery that must be rejected',
    ],
    [
      'a valid delivery accepted over a faulty connection',
      expecting({ pass: ['alert'] }),
      answer(200),
      'fail',
      'forgery-accepted',
      'accepted (200) a delivery that must be rejected',
    ],
    ['a rejection with another status', refused, answer(400), 'fail', 'wrong-status', 'answered 400, expected 401'],
    ['another 2xx', accepted, answer(204), 'fail', 'other-2xx', 'answered 204: only 200 means accepted'],
    ['a 5xx for a malformed payload', handled, answer(500), 'fail', 'crash', 'answered 500, expected any 4xx'],
    [
      '503 for a malformed payload',
      handled,
      answer(503),
      'fail',
      'crash',
      'answered 503 each time: the receiver fails on this delivery',
    ],
    ['a 5xx for a valid payload', accepted, answer(500), 'fail', 'wrong-status', 'answered 500, expected 200'],
    [
      'a 4xx for a malformed payload',
      expecting({ malformed: true }),
      answer(404),
      'fail',
      'wrong-status',
      'answered 404, expected T',
    ],
    ['a redirect', accepted, answer(302), 'fail', 'redirect', 'answered 302: a sender does not follow redirects'],
    [
      '401 for a valid delivery',
      accepted,
      answer(401),
      'fail',
      'valid-rejected',
      'rejected a delivery with valid credentials (401)',
    ],
    [
      '403 for a valid delivery',
      accepted,
      answer(403),
      'fail',
      'valid-rejected',
      'rejected a delivery with valid credentials (403)',
    ],
    ['a status without a class', accepted, answer(700), 'fail', 'wrong-status', 'answered 700, expected 200'],
    ['an expected redirect', expecting({ pass: ['3xx'] }), answer(307), 'pass', 'expected-answer', ''],
    ['an expected 5xx', expecting({ pass: ['5xx'] }), answer(500), 'pass', 'expected-answer', ''],
    [
      'an exact status before its class',
      expecting({ pass: ['4xx'], warn: [404] }),
      answer(404),
      'warn',
      'discouraged-answer',
      'answered 404, expected T',
    ],
    [
      'the class of an exact status',
      expecting({ pass: ['4xx'], warn: [404] }),
      answer(400),
      'pass',
      'expected-answer',
      '',
    ],
  ])('%s', check);

  it.each([
    ['accepted', accepted, { pass: [200], fail: [201, 302, 400, 404, 503], inconclusive: [429] }],
    ['refused', refused, { pass: [401], fail: [200, 202, 301, 403, 500, 503], inconclusive: [429] }],
    ['handled', handled, { pass: [200, 400, 401, 413, 422, 429], fail: [302, 500, 503] }],
    [
      'refusedMalformed',
      refusedMalformed,
      { pass: [401], warn: [400, 403], fail: [200, 302, 500, 503], inconclusive: [429] },
    ],
  ] as const)('of the ruling "%s"', (_name, expectation, rows) => {
    const verdictOf = (status: number) => judge('must', evidence([probe(expectation, answer(status))])).verdict;
    for (const [verdict, statuses] of Object.entries(rows)) {
      for (const status of statuses) expect([status, verdictOf(status)]).toEqual([status, verdict]);
    }
  });
});

describe('an acceptance', () => {
  it.each<[string, Partial<Expectation>, boolean]>([
    ['of invalid credentials', { authentic: false }, true],
    ['over a faulty connection', { pass: ['alert'] }, true],
    ['at another URL', { pass: ['3xx', 404] }, true],
    ['of a status below 200', { pass: [199] }, true],
    ['of a status above 299', { pass: [300] }, true],
    ['that is expected', { pass: [200] }, false],
    ['with the last 2xx', { pass: [299] }, false],
    ['that is allowed', { pass: ['4xx'], note: ['2xx'] }, false],
    ['that is discouraged', { pass: ['4xx'], warn: [204] }, false],
    ['where any answer is good', { pass: [] }, false],
  ])('%s', (_name, more, isForbidden) => expect(mustBeRejected(expecting(more))).toBe(isForbidden));

  const page = answer(200, 'visitor 1', [['Server', 'x']]);
  const ALIKE = [
    'pass',
    'allowed-answer',
    'answered 200, as it did to the comparison requests: it treats all of them alike',
  ];
  const FORGERY = ['fail', 'forgery-accepted', 'accepted (200) a delivery that must be rejected'];
  it.each<[string, Expectation, readonly Attempt[], readonly string[]]>([
    ['the same page', refused, [page, page], ALIKE],
    ['the same page with other numbers and headers', refused, [answer(200, 'visitor 2')], ALIKE],
    ['another page', refused, [page, answer(200, 'no visitor')], FORGERY],
    ['another status', refused, [answer(404, 'visitor 1')], FORGERY],
    ['no answer', refused, [failure('reset')], FORGERY],
    ['nothing, because none was sent', refused, [], FORGERY],
    ['the answer to a valid delivery', accepted, [page], ['pass', 'expected-answer', '']],
  ])('is compared with requests that get %s', (_name, expectation, comparisons, wanted) => {
    const { verdict, decidedBy, reason } = judge('must', evidence([probe(expectation, page, { comparisons })]));
    expect([verdict, decidedBy, reason]).toEqual(wanted);
  });
});

it('is inconclusive when a valid delivery was accepted at the second attempt', () => {
  const intermittent = probe(accepted, answer(200), { intermittent: answer(500) });
  const { verdict, decidedBy, reason } = judge('must', evidence([intermittent]));
  expect([verdict, decidedBy, reason]).toEqual([
    'inconclusive',
    'intermittent',
    'answered 500, and 200 when it was sent again: the failure is intermittent (see valid/steady)',
  ]);
});

it('says nothing when a 5xx is the answer to the comparison requests as well', () => {
  const expectation = expecting({ pass: ['4xx'], note: ['2xx'] });
  const verdictWith = (status: number) =>
    judge('must', evidence([probe(expectation, answer(500), { comparisons: [answer(status)] })])).verdict;
  expect([verdictWith(500), verdictWith(400)]).toEqual(['pass', 'fail']);
});

describe('no answer', () => {
  const ALERT = tls('ERR_SSL_X', 'unknown_ca');
  const NOT_DELIVERED = 'not delivered: it was tls';
  const CLOSED = 'closed the connection without an answer';
  const LATE = 'gave no complete answer in time, expected';

  it.each<Row>([
    [
      'an error of the harness',
      accepted,
      failure('local'),
      'harness-error',
      'not-sent',
      'the probe could not be sent: it was local',
    ],
    ['no address', accepted, failure('dns'), 'inconclusive', 'not-delivered', 'not delivered: it was dns'],
    ['no listener', accepted, failure('refused'), 'inconclusive', 'not-delivered', 'not delivered: it was refused'],
    [
      'a sentence of the transport',
      accepted,
      failure('refused', { message: 'The port of a.example is closed.' }),
      'inconclusive',
      'not-delivered',
      'not delivered: the port of a.example is closed',
    ],
    [
      'a sentence that begins with a name',
      accepted,
      failure('refused', { message: 'Port 1 is closed; ask The Host' }),
      'inconclusive',
      'not-delivered',
      'not delivered: Port 1 is closed; ask The Host',
    ],
    [
      'no route',
      expecting({ note: ['untrusted'] }),
      failure('unreachable'),
      'inconclusive',
      'not-delivered',
      'not delivered: it was unreachable',
    ],
    ...(
      [
        ['an untrusted certificate', accepted, 'inconclusive'],
        ['an untrusted certificate, recorded', expecting({ note: ['untrusted'] }), 'pass'],
        ['an untrusted certificate, discouraged', expecting({ warn: ['untrusted'] }), 'warn'],
        ['an untrusted certificate, not a close', RECORDED_TLS, 'inconclusive'],
      ] as const
    ).map(([name, expectation, verdict]): Row => {
      return [
        name,
        expectation,
        failure('tls-untrusted'),
        verdict,
        'not-delivered',
        'not delivered: it was tls-untrusted',
      ];
    }),
    ['an expected alert', FAULTY_TLS, ALERT, 'pass', 'expected-answer', ''],
    ['a recorded alert', RECORDED_TLS, ALERT, 'pass', 'handshake-refused', 'refused: it was tls'],
    [
      'an alert instead of a close',
      expecting({ pass: ['closed'] }),
      tls('ECONNRESET', 'unknown_ca'),
      'inconclusive',
      'not-delivered',
      NOT_DELIVERED,
    ],
    ['an unexpected alert', accepted, ALERT, 'inconclusive', 'not-delivered', NOT_DELIVERED],
    ['a handshake that is reset', FAULTY_TLS, tls('ECONNRESET'), 'pass', 'expected-answer', ''],
    ['a handshake that is aborted', FAULTY_TLS, tls('ECONNABORTED'), 'pass', 'expected-answer', ''],
    ['a handshake that ends while sending', FAULTY_TLS, tls('EPIPE'), 'pass', 'expected-answer', ''],
    [
      'a recorded close in the handshake',
      RECORDED_TLS,
      tls('EPIPE'),
      'pass',
      'handshake-refused',
      'refused: it was tls',
    ],
    [
      'a close instead of an alert',
      expecting({ pass: ['alert'] }),
      tls('EPIPE'),
      'inconclusive',
      'not-delivered',
      NOT_DELIVERED,
    ],
    [
      'a handshake that fails for another reason',
      FAULTY_TLS,
      tls('ERR_SSL_WRONG_VERSION_NUMBER'),
      'inconclusive',
      'not-delivered',
      NOT_DELIVERED,
    ],
    ['a reset', accepted, failure('reset'), 'fail', 'connection-closed', `${CLOSED}, expected 200`],
    [
      'a reset after a cut-off delivery',
      expecting({ pass: ['none'] }),
      failure('reset'),
      'pass',
      'expected-answer',
      '',
    ],
    ['an expected reset', expecting({ pass: ['4xx', 'closed'] }), failure('reset'), 'pass', 'expected-answer', ''],
    ['a recorded reset', expecting({ note: ['closed'] }), failure('reset'), 'pass', 'connection-closed', CLOSED],
    ['a discouraged reset', expecting({ warn: ['closed'] }), failure('reset'), 'warn', 'connection-closed', CLOSED],
    ['silence', accepted, failure('timeout'), 'fail', 'no-answer', `${LATE} 200`],
    [
      'silence after a cut-off delivery',
      expecting({ pass: ['none'] }),
      failure('timeout'),
      'pass',
      'expected-answer',
      '',
    ],
    [
      'unclear silence',
      expecting({ unclear: ['none'] }),
      failure('timeout'),
      'inconclusive',
      'silence',
      'no answer in time, which allows no conclusion',
    ],
    ['discouraged silence', expecting({ warn: ['none'] }), failure('timeout'), 'warn', 'no-answer', `${LATE} T`],
    [
      'silence where only statuses are unclear',
      expecting({ unclear: [502], warn: [404] }),
      failure('timeout'),
      'fail',
      'no-answer',
      `${LATE} T`,
    ],
    ...(['invalid-http', 'headers-too-large'] as const).flatMap((kind): Row[] => [
      [
        kind,
        accepted,
        failure(kind),
        'fail',
        'unreadable-answer',
        `sent an answer that cannot be read: it was ${kind}`,
      ],
      [
        `allowed ${kind}`,
        expecting({ note: ['unreadable'] }),
        failure(kind),
        'pass',
        'unreadable-answer',
        `sent an answer that cannot be read: it was ${kind}; preferred: T`,
      ],
      [
        `unclear ${kind}`,
        expecting({ unclear: ['unreadable'] }),
        failure(kind),
        'inconclusive',
        'unreadable-answer',
        `sent an answer that cannot be read: it was ${kind}`,
      ],
    ]),
    [
      'neither answer nor error',
      accepted,
      neither,
      'harness-error',
      'not-sent',
      'the attempt has neither an answer nor an error',
    ],
  ])('%s', check);

  it.each([refused, handled])('has the same verdict for rejected deliveries', (expectation) => {
    const verdictOf = (kind: Parameters<typeof failure>[0]) =>
      judge('must', evidence([probe(expectation, failure(kind))])).verdict;
    expect((['dns', 'refused', 'unreachable', 'tls', 'tls-untrusted'] as const).map(verdictOf)).toEqual(
      Array.from({ length: 5 }, () => 'inconclusive'),
    );
    expect((['reset', 'timeout', 'invalid-http'] as const).map(verdictOf)).toEqual(['fail', 'fail', 'fail']);
    expect(verdictOf('local')).toBe('harness-error');
  });
});

describe('what an answer leaks', () => {
  it('fails only where it must be absent', () => {
    const leaks = ['signature', 'stack-trace', 'secret'] as const;
    const leaking = probe({ ...refused, absent: ['signature', 'secret'] }, answer(401), { leaks });
    const { verdict, decidedBy, reason } = judge('must', evidence([leaking]));
    expect([verdict, decidedBy, reason]).toEqual(['fail', 'leak', 'the answer leaks: signature, secret']);
    expect(judge('must', evidence([probe(refused, answer(401), { leaks })])).verdict).toBe('pass');
  });
});

describe('the description of an attempt', () => {
  const redirect = (location: string) =>
    describeAttempt(
      answer(302, '', [
        ['Server', 'x'],
        ['LOCATION', location],
      ]),
    );

  it('names the status, and the target of a redirect', () => {
    expect(describeAttempt(answer(401, 'no', [['Server', 'x']]))).toBe('401');
    expect(redirect('/there')).toBe('302 to /there');
  });

  it('cuts a long address, with a mark for the redaction', () => {
    expect(redirect('a'.repeat(200))).toBe(`302 to ${'a'.repeat(200)}`);
    expect(redirect('a'.repeat(201))).toBe(`302 to ${'a'.repeat(200)}…`);
  });

  it('repeats the message of an error as a clause', () => {
    expect(describeAttempt(failure('dns'))).toBe('no answer: it was dns');
    const failed = failure('reset');
    const closed = (message: string) => ({ ...failed, error: failed.error && { ...failed.error, message } });
    expect(describeAttempt(closed('The endpoint closed it.'))).toBe('no answer: the endpoint closed it');
    expect(describeAttempt(closed('TLS failed.'))).toBe('no answer: TLS failed');
    expect(describeAttempt(neither)).toBe('nothing');
  });
});

describe('the code of an attempt', () => {
  it.each<[string, Attempt, string]>([
    ['a status', answer(401), '401'],
    ['a status, whatever error follows', { ...failure('reset'), answer: answer(200).answer }, '200'],
    ['a refused connection', failure('refused'), 'closed'],
    ['a reset', failure('reset'), 'closed'],
    ['an alert', tls('ECONNRESET', 'unknown_ca'), 'unknown_ca'],
    ['a handshake that is closed', tls('ECONNRESET'), 'closed'],
    ['a handshake that fails otherwise', tls('ERR_SSL_NO_SHARED_CIPHER'), 'seen'],
    ['a time limit', failure('timeout'), 'silence'],
    ['no connection', failure('unreachable'), 'silence'],
    ['another protocol', failure('invalid-http'), 'other-protocol'],
    ['no address', failure('dns'), 'seen'],
    ['too many headers', failure('headers-too-large'), 'seen'],
    ['nothing', neither, 'seen'],
  ])('%s', (_name, attempt, outcome) => {
    expect(outcomeOfAttempt(attempt)).toBe(outcome);
    expect(judge('must', evidence([probe(accepted, attempt)])).outcome).toBe(outcome);
  });
});

describe('a status that an expectation names', () => {
  it.each<[number, Partial<Expectation>, boolean]>([
    [200, {}, true],
    [201, {}, false],
    [404, { pass: ['4xx'] }, true],
    [404, { note: [404] }, true],
    [404, { warn: ['4xx'] }, true],
    [500, { pass: ['4xx'], warn: ['3xx'] }, false],
  ])('%i, %j: %s', (status, more, named) => {
    expect(isNamed(status, expecting(more))).toBe(named);
  });
});

describe('a closed connection', () => {
  it.each<[string, Attempt, boolean]>([
    ['a reset', failure('reset'), true],
    ['a handshake that is reset', tls('ECONNRESET'), true],
    ['a handshake that is aborted', tls('ECONNABORTED'), true],
    ['a handshake that ends while sending', tls('EPIPE'), true],
    ['an alert', tls('ECONNRESET', 'handshake_failure'), false],
    ['another failure of the handshake', tls('ERR_SSL_NO_SHARED_CIPHER'), false],
    ['a refused connection', failure('refused', { code: 'ECONNRESET' }), false],
    ['silence', failure('timeout'), false],
    ['an answer', answer(200), false],
    ['an answer with an error after it', { ...failure('reset'), answer: answer(200).answer }, false],
    ['nothing', neither, false],
  ])('%s', (_name, attempt, closed) => expect(wasClosed(attempt)).toBe(closed));
});
