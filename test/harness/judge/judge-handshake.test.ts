import { describe, expect, it } from 'vitest';
import { describeHello, judgeHandshake } from '../../../harness/judge/index.ts';
import type { HelloOutcome, ServerHelloOutcome } from '../../../harness/probe/index.ts';
import type { HelloExpectation, HelloOffer } from '../../../scenarios/index.ts';

const measured = { bytesReceived: 0, ms: 1 };

function hello(more: Partial<ServerHelloOutcome> = {}): ServerHelloOutcome {
  return {
    ...measured,
    kind: 'server-hello',
    version: 'TLSv1.2',
    suite: { id: 0xc02f, name: 'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256' },
    suiteOffered: true,
    compressed: false,
    certificates: [],
    stapled: false,
    secureRenegotiation: true,
    certificateRequest: null,
    complete: true,
    ...more,
  };
}

const alert: HelloOutcome = { ...measured, kind: 'alert', alert: 'protocol_version', level: 'fatal' };
const ended = (kind: 'closed' | 'reset' | 'timeout'): HelloOutcome => ({ ...measured, kind });
const notTls: HelloOutcome = { ...measured, kind: 'not-tls', received: Buffer.from('HTTP/1.1 400') };
const notSent: HelloOutcome = {
  ...measured,
  kind: 'connect-error',
  error: { kind: 'refused', phase: 'connect', code: 'ECONNREFUSED', message: 'Nothing is listening.' },
};

const OLD: HelloOffer = { version: 'TLSv1', suites: ['legacy'] };
const REFUSED: HelloExpectation = { text: 'a refusal', pass: ['alert', 'closed'] };
const RECORDED: HelloExpectation = { text: 'recorded', pass: ['granted'], note: ['declined', 'alert', 'closed'] };

const verdictOf = (probe: HelloOutcome, more: { before?: HelloOutcome; after?: HelloOutcome } = {}) =>
  judgeHandshake('must', OLD, REFUSED, { before: hello(), after: hello(), ...more, probe }).verdict;

describe('an offer that must be refused', () => {
  it.each([
    ['a fatal alert', alert, 'pass'],
    ['a closed connection', ended('closed'), 'pass'],
    ['a reset', ended('reset'), 'pass'],
    ['the offered version', hello({ version: 'TLSv1' }), 'fail'],
    ['another version than the offered one', hello({ version: 'SSLv3' }), 'fail'],
    ['silence', ended('timeout'), 'inconclusive'],
    ['no TLS', notTls, 'inconclusive'],
    ['a probe that could not be sent', notSent, 'inconclusive'],
    ['an answer that was given up', hello({ version: 'TLSv1', alertAfter: 'internal_error' }), 'inconclusive'],
  ])('%s', (_name, probe, verdict) => expect(verdictOf(probe)).toBe(verdict));

  it('does not pass without both controls', () => {
    for (const control of [alert, ended('closed'), ended('timeout'), notTls, notSent]) {
      expect(verdictOf(alert, { before: control })).toBe('inconclusive');
      expect(verdictOf(alert, { after: control })).toBe('inconclusive');
    }
  });

  it('fails without the second control if it was accepted', () => {
    expect(verdictOf(hello({ version: 'TLSv1' }), { after: notSent })).toBe('fail');
  });

  it('fails at its level, and names what was accepted', () => {
    const evidence = { before: hello(), probe: hello({ version: 'TLSv1' }), after: hello() };
    expect(judgeHandshake('should', OLD, REFUSED, evidence)).toEqual({
      verdict: 'warn',
      observed: 'a handshake with TLS 1.0, TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256',
      outcome: 'granted',
      decidedBy: 'handshake-accepted',
      delivery: null,
      reason: 'accepted the offer: a handshake with TLS 1.0, TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256; expected a refusal',
    });
    expect(judgeHandshake('info', OLD, REFUSED, evidence)).toMatchObject({
      verdict: 'pass',
      reason: expect.stringContaining('recorded: accepted the offer'),
    });
  });
});

describe('an offer that is only recorded', () => {
  const offer: HelloOffer = { version: 'TLSv1.3', suites: ['tls13'] };
  const verdict = (probe: HelloOutcome) =>
    judgeHandshake('info', offer, RECORDED, { before: hello(), probe, after: hello() });

  it('passes in both cases, with a reason', () => {
    expect(verdict(hello({ version: 'TLSv1.3' }))).toMatchObject({ verdict: 'pass', reason: '' });
    expect(verdict(alert)).toMatchObject({ verdict: 'pass', reason: 'recorded: the alert protocol_version' });
  });
});

describe('compression', () => {
  const offer: HelloOffer = { version: 'TLSv1.2', suites: ['modern'], compression: true };
  const due: HelloExpectation = { text: 'none', pass: ['declined', 'alert', 'closed'] };
  const verdict = (probe: HelloOutcome) =>
    judgeHandshake('must', offer, due, { before: hello(), probe, after: hello() }).verdict;

  it('fails if it was accepted, and passes if the rest of the offer was', () => {
    expect(verdict(hello({ compressed: true }))).toBe('fail');
    expect(verdict(hello())).toBe('pass');
  });
});

describe('the verdict on a hello', () => {
  const SUITE = 'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256';
  const HANDSHAKE: HelloExpectation = { text: 'a handshake', pass: ['granted'] };

  it.each<[HelloOutcome, string, string]>([
    [hello(), `a handshake with TLS 1.2, ${SUITE}`, 'granted'],
    [hello({ compressed: true }), `a handshake with TLS 1.2, ${SUITE}, compressed`, 'granted'],
    [alert, 'the alert protocol_version', 'protocol_version'],
    [ended('closed'), 'the connection was closed', 'closed'],
    [ended('reset'), 'the connection was reset', 'closed'],
    [ended('timeout'), 'no answer within the time limit', 'silence'],
    [notTls, 'an answer that is not TLS', 'other-protocol'],
    [notSent, 'Nothing is listening.', 'seen'],
  ])('$0.kind', (probe, words, outcome) => {
    expect(describeHello(probe)).toBe(words);
    const judged = judgeHandshake('must', OLD, REFUSED, { before: hello(), probe, after: hello() });
    expect([judged.observed, judged.outcome, judged.delivery]).toEqual([words, outcome, null]);
  });

  it.each<[string, HelloOutcome, HelloOutcome, HelloOutcome, HelloExpectation, string, string]>([
    ['an expected refusal', hello(), alert, hello(), REFUSED, 'expected-answer', ''],
    ['a recorded refusal', hello(), alert, hello(), RECORDED, 'allowed-answer', 'recorded: the alert protocol_version'],
    [
      'an answer that is not TLS',
      hello(),
      notTls,
      hello(),
      REFUSED,
      'not-delivered',
      'the answer allows no conclusion: an answer that is not TLS',
    ],
    [
      'silence',
      hello(),
      ended('timeout'),
      hello(),
      REFUSED,
      'silence',
      'a missing answer allows no conclusion; expected a refusal',
    ],
    [
      'no control before',
      alert,
      alert,
      hello(),
      REFUSED,
      'control-rejected',
      'control rejected: the valid ClientHello before the probe got: the alert protocol_version',
    ],
    [
      'no control after',
      hello(),
      alert,
      ended('closed'),
      REFUSED,
      'control-rejected',
      'control rejected: the valid ClientHello after the probe got: the connection was closed',
    ],
    [
      'an unexpected refusal',
      hello(),
      alert,
      hello(),
      HANDSHAKE,
      'handshake-refused',
      'the alert protocol_version; expected a handshake',
    ],
  ])('%s', (_name, before, probe, after, expectation, decidedBy, reason) => {
    const judged = judgeHandshake('must', OLD, expectation, { before, probe, after });
    expect([judged.decidedBy, judged.reason]).toEqual([decidedBy, reason]);
  });
});
