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
    whole: true,
    ...more,
  };
}

const alert: HelloOutcome = { ...measured, kind: 'alert', alert: 'protocol_version', level: 'fatal' };
const ended = (kind: 'closed' | 'reset' | 'timeout'): HelloOutcome => ({ ...measured, kind });
const notTls: HelloOutcome = { ...measured, kind: 'not-tls', received: Buffer.from('HTTP/1.1 400') };
const notSent: HelloOutcome = {
  ...measured,
  kind: 'connect-error',
  error: { kind: 'refused', phase: 'connect', code: 'ECONNREFUSED', message: 'Nothing listens.' },
};

const OLD: HelloOffer = { version: 'TLSv1', suites: ['legacy'] };
const REFUSED: HelloExpectation = { text: 'a refusal', pass: ['alert', 'closed'] };
const RECORDED: HelloExpectation = { text: 'recorded', pass: ['granted'], note: ['declined', 'alert', 'closed'] };

const verdictOf = (probe: HelloOutcome, more: { before?: HelloOutcome; after?: HelloOutcome } = {}) =>
  judgeHandshake('must', OLD, REFUSED, { before: hello(), after: hello(), ...more, probe }).verdict;

describe('an offer that must not be taken', () => {
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

  it('is no pass without both controls', () => {
    for (const control of [alert, ended('closed'), ended('timeout'), notTls, notSent]) {
      expect(verdictOf(alert, { before: control })).toBe('inconclusive');
      expect(verdictOf(alert, { after: control })).toBe('inconclusive');
    }
  });

  it('fails without the second control when it was taken', () => {
    expect(verdictOf(hello({ version: 'TLSv1' }), { after: notSent })).toBe('fail');
  });

  it('fails at its level, and says what was taken', () => {
    const evidence = { before: hello(), probe: hello({ version: 'TLSv1' }), after: hello() };
    expect(judgeHandshake('should', OLD, REFUSED, evidence)).toEqual({
      verdict: 'warn',
      observed: 'a handshake with TLS 1.0, TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256',
      reason: 'took the offer: a handshake with TLS 1.0, TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256; a refusal was due',
    });
    expect(judgeHandshake('info', OLD, REFUSED, evidence)).toMatchObject({
      verdict: 'pass',
      reason: expect.stringContaining('recorded: took the offer'),
    });
  });
});

describe('an offer that is only recorded', () => {
  const offer: HelloOffer = { version: 'TLSv1.3', suites: ['tls13'] };
  const verdict = (probe: HelloOutcome) =>
    judgeHandshake('info', offer, RECORDED, { before: hello(), probe, after: hello() });

  it('passes either way and says so', () => {
    expect(verdict(hello({ version: 'TLSv1.3' }))).toMatchObject({ verdict: 'pass', reason: '' });
    expect(verdict(alert)).toMatchObject({ verdict: 'pass', reason: 'recorded: the alert protocol_version' });
  });
});

describe('compression', () => {
  const offer: HelloOffer = { version: 'TLSv1.2', suites: ['modern'], compression: true };
  const due: HelloExpectation = { text: 'none', pass: ['declined', 'alert', 'closed'] };
  const verdict = (probe: HelloOutcome) =>
    judgeHandshake('must', offer, due, { before: hello(), probe, after: hello() }).verdict;

  it('fails where it was taken, and passes where the rest of the offer was', () => {
    expect(verdict(hello({ compressed: true }))).toBe('fail');
    expect(verdict(hello())).toBe('pass');
  });
});

describe('what the judge says of a hello', () => {
  const SUITE = 'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256';

  it.each<[HelloOutcome, string]>([
    [hello(), `a handshake with TLS 1.2, ${SUITE}`],
    [hello({ compressed: true }), `a handshake with TLS 1.2, ${SUITE}, compressed`],
    [alert, 'the alert protocol_version'],
    [ended('closed'), 'the connection was closed'],
    [ended('reset'), 'the connection was reset'],
    [ended('timeout'), 'nothing came within the time limit'],
    [notTls, 'an answer that is no TLS'],
    [notSent, 'Nothing listens.'],
  ])('$kind', (outcome, words) => expect(describeHello(outcome)).toBe(words));

  it.each<[string, HelloOutcome, HelloOutcome, HelloOutcome, HelloExpectation, string]>([
    ['a refusal', hello(), alert, hello(), REFUSED, ''],
    [
      'a probe that proves nothing',
      hello(),
      notTls,
      hello(),
      REFUSED,
      'the probe proves nothing: an answer that is no TLS',
    ],
    ['silence', hello(), ended('timeout'), hello(), REFUSED, 'silence proves nothing; a refusal was due'],
    [
      'no control before',
      alert,
      alert,
      hello(),
      REFUSED,
      'control refused: the hello of a right sender before it got: the alert protocol_version',
    ],
    [
      'no control after',
      hello(),
      alert,
      ended('closed'),
      REFUSED,
      'control refused: the hello of a right sender after it got: the connection was closed',
    ],
    [
      'a refusal where none was due',
      hello(),
      alert,
      hello(),
      { text: 'a handshake', pass: ['granted'] },
      'the alert protocol_version; a handshake was due',
    ],
  ])('%s', (_name, before, probe, after, due, reason) => {
    expect(judgeHandshake('must', OLD, due, { before, probe, after })).toMatchObject({
      observed: describeHello(probe),
      reason,
    });
  });
});
