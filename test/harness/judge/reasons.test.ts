/** What the judge says: a report is read by people who act on its words, so each reason is held to the letter. */
import { describe, expect, it } from 'vitest';
import { describeAttempt, judge, wasClosed } from '../../../harness/judge/index.ts';
import type { Attempt } from '../../../harness/transport/index.ts';
import { accepted, type Expectation, handled, refused, refusedMalformed } from '../../../scenarios/index.ts';
import { answer, evidence, failure, neither, probe } from './attempts.ts';

const due = (more: Partial<Expectation>): Expectation => ({ text: 'T', authentic: true, pass: [200], ...more });
const said = (expectation: Expectation, attempt: Attempt) => {
  const { verdict, reason } = judge('must', evidence([probe(expectation, attempt)]));
  return [verdict, reason];
};
const tls = (code: string, alert?: string) => failure('tls', { code, ...(alert !== undefined && { alert }) });

const WRONG_TLS: Expectation = { text: 'refusal', authentic: true, pass: ['alert', 'closed'] };
const RECORDED_TLS = due({ note: ['alert', 'closed'] });

describe('the reason of an answer', () => {
  it.each<[string, Expectation, Attempt, string, string]>([
    ['a pass', accepted, answer(200), 'pass', ''],
    ['a note', handled, answer(202), 'pass', 'answered 202, which is allowed; any 4xx, without a crash was due'],
    ['a warning', refusedMalformed, answer(400), 'warn', 'answered 400 where 401, without a crash was due'],
    ['another status', due({ pass: [401] }), answer(404), 'fail', 'answered 404 where T was due'],
    ['a rate limit', accepted, answer(429), 'inconclusive', 'rate-limited: the endpoint answered 429'],
    ['a busy receiver', accepted, answer(503), 'inconclusive', 'unavailable: the endpoint answered 503'],
    ['what is unclear', due({ unclear: [502] }), answer(502), 'inconclusive', 'unavailable: the endpoint answered 502'],
    ['what passes and is unclear', due({ unclear: [200] }), answer(200), 'pass', ''],
    ['a forgery', refused, answer(204), 'fail', 'accepted with 204 a delivery that had to be refused'],
    ['a wrong refusal', refused, answer(400), 'fail', 'answered 400 where 401 was due'],
    [
      'a right delivery over a wrong connection',
      due({ pass: ['alert'] }),
      answer(200),
      'fail',
      'accepted with 200 a delivery that had to be refused',
    ],
    ['another 2xx', accepted, answer(204), 'fail', 'answered 204; only 200 means accepted'],
    ['a crash', handled, answer(500), 'fail', 'answered 500: the handler crashed on the payload'],
    ['a crash of a gateway', handled, answer(503), 'fail', 'answered 503: the handler crashed on the payload'],
    ['a 5xx without a malformed payload', accepted, answer(500), 'fail', 'answered 500 where 200 was due'],
    ['no crash on a malformed payload', due({ malformed: true }), answer(404), 'fail', 'answered 404 where T was due'],
    ['a redirect', accepted, answer(302), 'fail', 'answered 302: a sender does not follow a redirect'],
    ['a refused key', accepted, answer(401), 'fail', 'refused with 401 a delivery whose credentials were right'],
    ['a refused sender', accepted, answer(403), 'fail', 'refused with 403 a delivery whose credentials were right'],
    ['a status of no class', accepted, answer(700), 'fail', 'answered 700 where 200 was due'],
    ['redirects that are allowed', due({ pass: ['3xx'] }), answer(307), 'pass', ''],
    ['a 5xx that is allowed', due({ pass: ['5xx'] }), answer(500), 'pass', ''],
  ])('%s', (_name, expectation, attempt, verdict, reason) => {
    expect(said(expectation, attempt)).toEqual([verdict, reason]);
  });
});

describe('the reason of no answer', () => {
  it.each<[string, Expectation, Attempt, string, string]>([
    ['our own fault', accepted, failure('local'), 'harness-error', 'the probe could not be sent: it was local'],
    ['no name', accepted, failure('dns'), 'inconclusive', 'not delivered: it was dns'],
    ['no listener', accepted, failure('refused'), 'inconclusive', 'not delivered: it was refused'],
    [
      'no route',
      due({ note: ['untrusted'] }),
      failure('unreachable'),
      'inconclusive',
      'not delivered: it was unreachable',
    ],
    ['no trust', accepted, failure('tls-untrusted'), 'inconclusive', 'not delivered: it was tls-untrusted'],
    [
      'no trust that is recorded',
      due({ note: ['untrusted'] }),
      failure('tls-untrusted'),
      'pass',
      'not delivered: it was tls-untrusted',
    ],
    ['an alert that is right', WRONG_TLS, tls('ERR_SSL_X', 'unknown_ca'), 'pass', ''],
    ['an alert that is noted', RECORDED_TLS, tls('ERR_SSL_X', 'unknown_ca'), 'pass', 'refused: it was tls'],
    [
      'an alert where a close was due',
      due({ pass: ['closed'] }),
      tls('ECONNRESET', 'unknown_ca'),
      'inconclusive',
      'not delivered: it was tls',
    ],
    [
      'an alert nobody asked for',
      accepted,
      tls('ERR_SSL_X', 'unknown_ca'),
      'inconclusive',
      'not delivered: it was tls',
    ],
    ['a handshake closed with a reset', WRONG_TLS, tls('ECONNRESET'), 'pass', ''],
    ['a handshake aborted', WRONG_TLS, tls('ECONNABORTED'), 'pass', ''],
    ['a handshake closed under our hands', WRONG_TLS, tls('EPIPE'), 'pass', ''],
    ['a closed handshake that is noted', RECORDED_TLS, tls('EPIPE'), 'pass', 'refused: it was tls'],
    [
      'a closed handshake where an alert was due',
      due({ pass: ['alert'] }),
      tls('EPIPE'),
      'inconclusive',
      'not delivered: it was tls',
    ],
    [
      'a handshake that failed for another reason',
      WRONG_TLS,
      tls('ERR_SSL_WRONG_VERSION_NUMBER'),
      'inconclusive',
      'not delivered: it was tls',
    ],
    ['a reset', accepted, failure('reset'), 'fail', 'closed the connection without an answer where 200 was due'],
    ['a reset of what was cut off', due({ pass: ['none'] }), failure('reset'), 'pass', ''],
    ['a reset that is right', due({ pass: ['closed'] }), failure('reset'), 'pass', ''],
    [
      'a reset that is noted',
      due({ note: ['closed'] }),
      failure('reset'),
      'pass',
      'closed the connection without an answer',
    ],
    [
      'a reset that warns',
      due({ warn: ['closed'] }),
      failure('reset'),
      'warn',
      'closed the connection without an answer',
    ],
    ['silence', accepted, failure('timeout'), 'fail', 'gave no whole answer in time where 200 was due'],
    ['silence after what was cut off', due({ pass: ['none'] }), failure('timeout'), 'pass', ''],
    [
      'silence that is unclear',
      due({ unclear: ['none'] }),
      failure('timeout'),
      'inconclusive',
      'silence proves nothing',
    ],
    [
      'silence that warns',
      due({ warn: ['none'] }),
      failure('timeout'),
      'warn',
      'gave no whole answer in time where T was due',
    ],
    [
      'silence beside other doubts',
      due({ unclear: [502], warn: [404] }),
      failure('timeout'),
      'fail',
      'gave no whole answer in time where T was due',
    ],
    ['no HTTP', accepted, failure('invalid-http'), 'fail', 'gave an answer that cannot be read: it was invalid-http'],
    [
      'too many headers',
      accepted,
      failure('headers-too-large'),
      'fail',
      'gave an answer that cannot be read: it was headers-too-large',
    ],
    ['an attempt that is none', accepted, neither, 'harness-error', 'the attempt has neither an answer nor an error'],
  ])('%s', (_name, expectation, attempt, verdict, reason) => {
    expect(said(expectation, attempt)).toEqual([verdict, reason]);
  });
});

describe('a probe that passes', () => {
  it.each<[string, Expectation, Attempt]>([
    ['with a note', handled, answer(202)],
    ['with an alert', WRONG_TLS, tls('ERR_SSL_X', 'unknown_ca')],
    ['with an alert that is noted', RECORDED_TLS, tls('ERR_SSL_X', 'unknown_ca')],
    ['with a reset', due({ pass: ['closed'] }), failure('reset')],
    ['with a reset that is noted', due({ note: ['closed'] }), failure('reset')],
    ['with silence', due({ pass: ['none'] }), failure('timeout')],
    ['with no trust that is recorded', due({ note: ['untrusted'] }), failure('tls-untrusted')],
    ['as it is', accepted, answer(200)],
  ])('%s leaves the word to one that does not', (_name, expectation, attempt) => {
    const passing = probe(expectation, attempt, { label: 'one' });
    const warning = probe(refusedMalformed, answer(400), { label: 'other' });
    for (const probes of [
      [passing, warning],
      [warning, passing],
    ]) {
      const { verdict, reason } = judge('must', evidence(probes));
      expect([verdict, reason.split(':')[0]]).toEqual(['warn', 'other']);
    }
  });
});

describe('the reason of what is found beside the answer', () => {
  it('names what the answer gives away', () => {
    const leaks = ['signature', 'stack-trace', 'secret'] as const;
    const leaking = probe({ ...refused, absent: ['signature', 'secret'] }, answer(401), { leaks });
    expect(judge('must', evidence([leaking])).reason).toBe('the answer gives away: signature, secret');
    expect(judge('must', evidence([probe(refused, answer(401), { leaks })])).verdict).toBe('pass');
  });

  it('names what is wrong with the probe', () => {
    const wrong = probe(refused, answer(401), { probeFault: 'its signature is right' });
    expect(judge('must', evidence([wrong]))).toEqual({
      verdict: 'harness-error',
      observed: '401',
      reason: 'the probe was not what it should be: its signature is right',
    });
  });

  it('says nothing of several probes that pass', () => {
    const both = [probe(accepted, answer(200), { label: 'a' }), probe(accepted, answer(200), { label: 'b' })];
    expect(judge('must', evidence(both))).toEqual({ verdict: 'pass', observed: '200', reason: '' });
  });

  it('tells who stopped the receiver', () => {
    const stopped = evidence([probe(handled, failure('reset'))], { killed: 'it hangs' });
    expect(judge('must', stopped)).toEqual({
      verdict: 'fail',
      observed: 'no answer: it was reset',
      reason: 'the receiver stopped answering after this delivery: it hangs',
    });
  });
});

describe('the reason of a missing control', () => {
  it.each<[string, Attempt, string]>([
    ['401', answer(401), 'control refused: the plain valid delivery before it got 401'],
    ['429', answer(429), 'rate-limited: the plain valid delivery before it got 429'],
    ['no answer', failure('reset'), 'control refused: the plain valid delivery before it got no answer: it was reset'],
  ])('before: %s', (_name, before, reason) => {
    expect(judge('must', evidence([], { before }))).toEqual({ verdict: 'inconclusive', observed: 'nothing', reason });
    expect(judge('must', evidence([probe(refused, answer(401))], { before }))).toEqual({
      verdict: 'inconclusive',
      observed: '401',
      reason,
    });
  });

  it.each<[string, Attempt | null, string]>([
    ['not sent', null, 'control refused: the plain valid delivery after it was not sent'],
    ['500', answer(500), 'control refused: the plain valid delivery after it got 500'],
  ])('after: %s', (_name, after, reason) => {
    expect(judge('must', evidence([probe(refused, answer(401))], { after })).reason).toBe(reason);
  });

  it('is our own fault when the control or every probe was not sent', () => {
    expect(judge('must', evidence([], { before: failure('local') }))).toMatchObject({ verdict: 'harness-error' });
    expect(judge('must', evidence([]))).toEqual({
      verdict: 'harness-error',
      observed: 'nothing',
      reason: 'the scenario sent no probe',
    });
  });
});

describe('a failure that is no forgery', () => {
  it.each<[string, Expectation, Attempt]>([
    ['a crash', handled, answer(500)],
    ['a redirect', accepted, answer(302)],
    ['another 2xx', accepted, answer(204)],
    ['a refusal', accepted, answer(401)],
    ['another status', refused, answer(404)],
    ['a reset', accepted, failure('reset')],
    ['silence', accepted, failure('timeout')],
    ['no HTTP', accepted, failure('invalid-http')],
  ])('%s needs the second control', (_name, expectation, attempt) => {
    expect(judge('must', evidence([probe(expectation, attempt)], { after: null })).verdict).toBe('inconclusive');
  });

  it('is a leak, too', () => {
    const leaking = probe({ ...refused, absent: ['secret'] }, answer(401), { leaks: ['secret'] });
    expect(judge('must', evidence([leaking], { after: null })).verdict).toBe('inconclusive');
  });
});

describe('an attempt in words', () => {
  const redirect = (location: string) =>
    describeAttempt(
      answer(302, '', [
        ['Server', 'x'],
        ['LOCATION', location],
      ]),
    );

  it('names the status, and where a redirect leads', () => {
    expect(describeAttempt(answer(401, 'no', [['Server', 'x']]))).toBe('401');
    expect(redirect('/there')).toBe('302 to /there');
  });

  it('cuts a long address, with a mark for the redaction', () => {
    expect(redirect('a'.repeat(200))).toBe(`302 to ${'a'.repeat(200)}`);
    expect(redirect('a'.repeat(201))).toBe(`302 to ${'a'.repeat(200)}…`);
  });

  it('gives the sentence of an error', () => {
    expect(describeAttempt(failure('dns'))).toBe('no answer: it was dns');
    expect(describeAttempt(neither)).toBe('nothing');
  });
});

describe('a closed connection', () => {
  it.each<[string, Attempt, boolean]>([
    ['a reset', failure('reset'), true],
    ['a handshake that was reset', tls('ECONNRESET'), true],
    ['a handshake that was aborted', tls('ECONNABORTED'), true],
    ['a handshake that ended under our hands', tls('EPIPE'), true],
    ['an alert', tls('ECONNRESET', 'handshake_failure'), false],
    ['another failure of the handshake', tls('ERR_SSL_NO_SHARED_CIPHER'), false],
    ['a refused connection', failure('refused', { code: 'ECONNRESET' }), false],
    ['silence', failure('timeout'), false],
    ['an answer', answer(200), false],
    ['an answer that an error follows', { ...failure('reset'), answer: answer(200).answer }, false],
    ['nothing', neither, false],
  ])('%s', (_name, attempt, closed) => expect(wasClosed(attempt)).toBe(closed));
});
