import { describe, expect, it } from 'vitest';
import { type Evidence, judge } from '../../../harness/judge/index.ts';
import type { Attempt, TransportErrorKind } from '../../../harness/transport/index.ts';
import { accepted, type Expectation, handled, type Leak, refused, refusedMalformed } from '../../../scenarios/index.ts';
import { answer, evidence, failure, probe } from './attempts.ts';

const verdictOf = (expectation: Expectation, attempt: Attempt, more: Partial<Evidence> = {}) =>
  judge('must', evidence([probe(expectation, attempt)], more)).verdict;

describe('one answer against what was due', () => {
  const table: readonly [name: string, due: Expectation, rows: Readonly<Record<number, string>>][] = [
    [
      'accepted',
      accepted,
      {
        200: 'pass',
        201: 'fail',
        202: 'fail',
        204: 'fail',
        302: 'fail',
        400: 'fail',
        401: 'fail',
        403: 'fail',
        404: 'fail',
        429: 'inconclusive',
        500: 'fail',
        503: 'inconclusive',
      },
    ],
    [
      'refused',
      refused,
      {
        200: 'fail',
        202: 'fail',
        301: 'fail',
        400: 'fail',
        401: 'pass',
        403: 'fail',
        429: 'inconclusive',
        500: 'fail',
        503: 'inconclusive',
      },
    ],
    [
      'handled',
      handled,
      {
        200: 'pass',
        202: 'pass',
        302: 'fail',
        400: 'pass',
        401: 'pass',
        413: 'pass',
        422: 'pass',
        429: 'pass',
        500: 'fail',
        503: 'fail',
      },
    ],
    [
      'refusedMalformed',
      refusedMalformed,
      {
        200: 'fail',
        302: 'fail',
        400: 'warn',
        401: 'pass',
        403: 'warn',
        429: 'inconclusive',
        500: 'fail',
        503: 'fail',
      },
    ],
  ];
  for (const [name, due, rows] of table) {
    it.each(Object.entries(rows))(`${name}: %s is %s`, (status, verdict) => {
      expect(verdictOf(due, answer(Number(status)))).toBe(verdict);
    });
  }

  const errors: readonly [TransportErrorKind, string][] = [
    ['dns', 'inconclusive'],
    ['refused', 'inconclusive'],
    ['unreachable', 'inconclusive'],
    ['tls', 'inconclusive'],
    ['tls-untrusted', 'inconclusive'],
    ['reset', 'fail'],
    ['timeout', 'fail'],
    ['invalid-http', 'fail'],
    ['headers-too-large', 'fail'],
    ['local', 'harness-error'],
  ];
  it.each(errors)('no answer because of %s is %s', (kind, verdict) => {
    expect(verdictOf(accepted, failure(kind))).toBe(verdict);
    expect(verdictOf(refused, failure(kind))).toBe(verdict);
    expect(verdictOf(handled, failure(kind))).toBe(verdict);
  });

  it('lets a cut-off delivery go unanswered, and a refusal by closing where it is allowed', () => {
    expect(verdictOf({ text: 'no answer', authentic: true, pass: ['none'] }, failure('reset'))).toBe('pass');
    expect(verdictOf({ text: 'no answer', authentic: true, pass: ['none'] }, failure('timeout'))).toBe('pass');
    expect(verdictOf({ text: '4xx or closed', authentic: true, pass: ['4xx', 'closed'] }, failure('reset'))).toBe(
      'pass',
    );
    expect(verdictOf({ text: '4xx', authentic: true, pass: ['4xx'], warn: ['closed'] }, failure('reset'))).toBe('warn');
  });

  it('takes a certificate that is not trusted as an answer where it is one', () => {
    const due = (more: Partial<Expectation>) => ({ text: 'recorded', authentic: true, pass: [200], ...more });
    expect(verdictOf(due({ note: ['untrusted'] }), failure('tls-untrusted'))).toBe('pass');
    expect(verdictOf(due({ warn: ['untrusted'] }), failure('tls-untrusted'))).toBe('warn');
    expect(verdictOf(due({ note: ['alert', 'closed'] }), failure('tls-untrusted'))).toBe('inconclusive');
  });

  it('lets an exact status beat its class', () => {
    const due: Expectation = { text: '4xx but 404', authentic: true, pass: ['4xx'], warn: [404] };
    expect(verdictOf(due, answer(404))).toBe('warn');
    expect(verdictOf(due, answer(400))).toBe('pass');
  });
});

describe('the controls', () => {
  it.each([answer(401), answer(500), answer(204), failure('reset'), failure('refused')])(
    'proves nothing without an accepted control before',
    (before) => {
      for (const attempt of [answer(200), answer(401), answer(500)])
        expect(verdictOf(refused, attempt, { before })).toBe('inconclusive');
    },
  );

  it.each([null, answer(401), answer(500), failure('refused')])(
    'does not count a refusal without an accepted control after',
    (after) => {
      expect(verdictOf(refused, answer(401), { after })).toBe('inconclusive');
      expect(verdictOf(accepted, answer(200), { after })).toBe('inconclusive');
      expect(verdictOf(accepted, answer(401), { after })).toBe('inconclusive');
      expect(verdictOf(handled, answer(500), { after })).toBe('inconclusive');
    },
  );

  it('calls a scenario whose probes were not sent for want of a control inconclusive', () => {
    expect(judge('must', evidence([], { before: answer(429), after: null })).reason).toBe(
      'rate-limited: the plain valid delivery before it got 429',
    );
    expect(judge('must', evidence([], { before: answer(500), after: null })).verdict).toBe('inconclusive');
  });

  it('needs no control after a forged delivery that was accepted', () => {
    expect(verdictOf(refused, answer(200), { after: null })).toBe('fail');
    expect(verdictOf(refusedMalformed, answer(204), { after: failure('refused') })).toBe('fail');
  });

  it('says that the endpoint is rate-limited, whichever delivery showed it', () => {
    expect(judge('must', evidence([probe(refused, answer(401))], { after: answer(429) }))).toEqual({
      verdict: 'inconclusive',
      observed: '401',
      reason: 'rate-limited: the plain valid delivery after it got 429',
    });
  });

  it('fails whoever stopped the receiver, at any level', () => {
    for (const level of ['must', 'should', 'info'] as const) {
      const said = judge(
        level,
        evidence([probe(handled, failure('reset'))], { killed: 'the connection was refused', after: null }),
      );
      expect(said.verdict).toBe('fail');
      expect(said.reason).toContain('the connection was refused');
    }
  });
});

describe('levels, several probes, leaks, faults of our own', () => {
  it('fails, warns or records by level', () => {
    const bad = evidence([probe(refused, answer(200))]);
    expect(judge('must', bad).verdict).toBe('fail');
    expect(judge('should', bad).verdict).toBe('warn');
    expect(judge('info', bad)).toEqual({
      verdict: 'pass',
      observed: '200',
      reason: 'recorded: accepted with 200 a delivery that had to be refused',
    });
  });

  it('lets the worst probe decide and names it', () => {
    const said = judge(
      'must',
      evidence([
        probe(accepted, answer(200), { label: 'first' }),
        probe(accepted, answer(409), { label: 'second' }),
        probe(accepted, answer(200), { label: 'third' }),
      ]),
    );
    expect(said).toEqual({ verdict: 'fail', observed: '409', reason: 'second: answered 409 where 200 was due' });
  });

  it('calls a wrong probe a harness error, before anything else', () => {
    const said = judge(
      'must',
      evidence([probe(refused, answer(200), { probeFault: 'its credentials are right' })], { before: answer(401) }),
    );
    expect(said.verdict).toBe('harness-error');
    expect(judge('must', evidence([])).verdict).toBe('harness-error');
    expect(judge('must', evidence([], { before: failure('local') })).verdict).toBe('harness-error');
  });

  it('fails for a leak that was asked for and for no other', () => {
    const due: Expectation = { ...refused, absent: ['signature'] };
    const leaking = (leaks: Leak[]) => judge('must', evidence([probe(due, answer(401), { leaks })])).verdict;
    expect(leaking(['signature'])).toBe('fail');
    expect(leaking(['stack-trace'])).toBe('pass');
  });

  it('leaves out what differs between two answers to the same delivery, and nothing else', () => {
    const uniform = (...attempts: readonly Attempt[]) => {
      const [a, again, b] = attempts.map((attempt, at) => probe(refused, attempt, { label: at < 2 ? 'a' : 'b' }));
      return judge('must', evidence([a!, again!, b!], { uniform: true })).verdict;
    };
    const traced = (id: string, error: string) => answer(401, `{"trace":"${id}","error":"${error}"}`, [['Trace', id]]);
    expect(uniform(traced('01JQz', 'refused'), traced('01JXy', 'refused'), traced('01KAb', 'refused'))).toBe('pass');
    expect(uniform(traced('01JQz', 'refused'), traced('01JXy', 'refused'), traced('01KAb', 'no key'))).toBe('fail');
    expect(uniform(traced('same', 'refused'), traced('same', 'refused'), traced('other', 'refused'))).toBe('fail');
    // An id with figures inside of it.
    expect(uniform(traced('0A1B', 'refused'), traced('0AB22', 'refused'), traced('AAAA', 'refused'))).toBe('pass');
    const page = (nonce: string, reason: string) =>
      answer(401, `<script nonce="${nonce}"></script><p>${reason}</p>`, [
        ['Content-Security-Policy', `script-src 'nonce-${nonce}'`],
        ['X-Reason', reason],
      ]);
    expect(uniform(page('aB+/x=', 'no'), page('cDe/f=', 'no'), page('ghIj+k=', 'no'))).toBe('pass');
    expect(uniform(page('aB+/x=', 'missing'), page('cDe/f=', 'missing'), page('ghIj+k=', 'wrong'))).toBe('fail');
    // A body of other words each time has nothing to compare, its status still has.
    expect(uniform(answer(401, 'a'), answer(401, 'b c'), answer(401, 'd e f'))).toBe('pass');
    expect(uniform(answer(401, 'a'), answer(401, 'b c'), answer(403, 'd e f'))).toBe('fail');
  });

  it('takes an answer that is no HTTP as the expectation says', () => {
    const lenient: Expectation = { ...refused, note: ['unreadable'] };
    expect(judge('must', evidence([probe(lenient, failure('invalid-http'))])).verdict).toBe('pass');
    expect(judge('must', evidence([probe(refused, failure('invalid-http'))])).verdict).toBe('fail');
  });
});
