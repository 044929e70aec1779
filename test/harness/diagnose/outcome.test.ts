import { describe, expect, it } from 'vitest';
import { outcomeOf } from '../../../harness/diagnose/outcome.ts';

describe('the outcome of a scenario', () => {
  it.each([
    ['200', 'fail 200'],
    ['302 to https://login.example/?next=1', 'fail 302'],
    ['no answer: The endpoint closed the connection before it had given a whole answer.', 'fail closed'],
    ['no answer: Nothing listens at 127.0.0.1:40123: the connection was refused.', 'fail closed'],
    ['the connection was reset', 'fail closed'],
    ['no answer: The endpoint took the request and gave no whole answer within the time limit.', 'fail silence'],
    ['nothing came within the time limit', 'fail silence'],
    ['the alert handshake_failure', 'fail handshake_failure'],
    ['no answer: The endpoint refused the client certificate (alert unknown_ca).', 'fail unknown_ca'],
    ['a handshake with TLS 1.0, TLS_RSA_WITH_AES_128_CBC_SHA', 'fail granted'],
    ['an answer that is no TLS', 'fail other-protocol'],
    ['no answer: What came back is not an HTTP answer.', 'fail other-protocol'],
    ['missing-intermediate', 'fail missing-intermediate'],
    ['weak-key, expired', 'fail expired, weak-key'],
    ['secret, api-key in the answers to signature/missing, leaks/nowhere and 3 more', 'fail api-key, secret'],
    ['median 5.2 s, slowest 9.1 s, of 640', 'fail seen'],
    ['2 outages, the first: no answer', 'fail seen'],
  ])('of %s is %s', (observed, outcome) => {
    expect(outcomeOf({ verdict: 'fail', observed })).toBe(outcome);
    expect(outcomeOf({ verdict: 'warn', observed })).toBe(outcome.replace('fail', 'warn'));
  });

  it('is null for a pass, whatever was answered, and undefined without a verdict', () => {
    expect(outcomeOf({ verdict: 'pass', observed: '401' })).toBeNull();
    for (const verdict of ['inconclusive', 'not-applicable', 'harness-error'] as const)
      expect(outcomeOf({ verdict, observed: '503' })).toBeUndefined();
  });
});
