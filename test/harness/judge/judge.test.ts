/** The verdict on a scenario: controls, levels, several probes, a stopped receiver. */
import { describe, expect, it } from 'vitest';
import { type Evidence, judge as judgeWhole, type ProbeEvidence } from '../../../harness/judge/index.ts';
import type { Attempt } from '../../../harness/transport/index.ts';
import { acceptedInAnotherShape } from '../../../scenarios/expectations.ts';
import { accepted, type Expectation, handled, refused, refusedMalformed } from '../../../scenarios/index.ts';
import { answer, evidence, failure, probe } from './attempts.ts';

/** Returns a judgement without the class of the answer, which the tests of the dialect check. */
const judge = (...given: Parameters<typeof judgeWhole>) => {
  const { answered: _, ...judgement } = judgeWhole(...given);
  return judgement;
};

const verdictOf = (expectation: Expectation, attempt: Attempt, more: Partial<Evidence> = {}) =>
  judge('must', evidence([probe(expectation, attempt)], more)).verdict;

describe('the controls', () => {
  it.each<[string, Attempt, string, string]>([
    ['401', answer(401), 'control-rejected', 'control rejected: the plain valid delivery before the probe got 401'],
    ['429', answer(429), 'rate-limited', 'rate-limited: the plain valid delivery before the probe got 429'],
    [
      'no answer',
      failure('reset'),
      'control-rejected',
      'control rejected: the plain valid delivery before the probe got no answer: it was reset',
    ],
  ])('allow no conclusion when the first gets %s', (_name, before, decidedBy, reason) => {
    const common = { verdict: 'inconclusive', reason, decidedBy, delivery: null };
    expect(judge('must', evidence([], { before, after: null }))).toEqual({
      ...common,
      observed: 'nothing',
      outcome: 'seen',
    });
    for (const status of [200, 401, 500]) {
      expect(judge('must', evidence([probe(refused, answer(status))], { before }))).toEqual({
        ...common,
        observed: `${status}`,
        outcome: `${status}`,
      });
    }
  });

  it.each<[string, Attempt | null, string, string]>([
    [
      'is not sent',
      null,
      'control-rejected',
      'control rejected: the plain valid delivery after the probe was not sent',
    ],
    ['gets 500', answer(500), 'control-rejected', 'control rejected: the plain valid delivery after the probe got 500'],
    ['gets 429', answer(429), 'rate-limited', 'rate-limited: the plain valid delivery after the probe got 429'],
    [
      'cannot be sent',
      failure('local'),
      'control-rejected',
      'control rejected: the plain valid delivery after the probe got no answer: it was local',
    ],
  ])('allow no conclusion when the second %s', (_name, after, decidedBy, reason) => {
    expect(judge('must', evidence([probe(refused, answer(401))], { after }))).toEqual({
      verdict: 'inconclusive',
      observed: '401',
      outcome: '401',
      reason,
      decidedBy,
      delivery: null,
    });
  });

  it.each<[string, Expectation, Attempt]>([
    ['a pass', accepted, answer(200)],
    ['a crash', handled, answer(500)],
    ['a redirect', accepted, answer(302)],
    ['another 2xx', accepted, answer(204)],
    ['a rejection of a valid delivery', accepted, answer(401)],
    ['another status', refused, answer(404)],
    ['a reset', accepted, failure('reset')],
    ['silence', accepted, failure('timeout')],
    ['an answer that is not HTTP', accepted, failure('invalid-http')],
  ])('are both needed for %s', (_name, expectation, attempt) => {
    expect(verdictOf(expectation, attempt, { after: null })).toBe('inconclusive');
  });

  it('are both required for a leak', () => {
    const leaking = probe({ ...refused, absent: ['secret'] }, answer(401), { leaks: ['secret'] });
    expect(judge('must', evidence([leaking], { after: null })).verdict).toBe('inconclusive');
  });

  it('are not required for an accepted forgery', () => {
    expect(verdictOf(refused, answer(200), { after: null })).toBe('fail');
    expect(verdictOf(refusedMalformed, answer(204), { after: failure('refused') })).toBe('fail');
  });
});

describe('an endpoint that leaves valid deliveries unanswered', () => {
  const unreliable = { unreliable: true };

  it('allows no conclusion from silence', () => {
    expect(judge('must', evidence([probe(refused, failure('timeout'))], unreliable))).toEqual({
      verdict: 'inconclusive',
      observed: 'no answer: it was timeout',
      outcome: 'silence',
      decidedBy: 'silence',
      delivery: null,
      reason: 'no answer in time, but the endpoint leaves plain valid deliveries unanswered as well',
    });
    expect(verdictOf(refused, failure('timeout'), { unreliable: false })).toBe('fail');
  });

  it('fails with every other answer', () => {
    expect(verdictOf(refused, failure('reset'), unreliable)).toBe('fail');
    expect(verdictOf(refused, answer(200), unreliable)).toBe('fail');
  });
});

describe('an error of the harness', () => {
  const none = { verdict: 'harness-error', observed: 'nothing', outcome: 'seen', delivery: null };

  it('is reported for a control that could not be sent, and for a scenario without a probe', () => {
    expect(judge('must', evidence([], { before: failure('local') }))).toMatchObject({
      ...none,
      decidedBy: 'control-rejected',
    });
    expect(judge('must', evidence([]))).toEqual({
      ...none,
      decidedBy: 'no-probe',
      reason: 'the scenario sent no probe',
    });
  });

  it('is reported for a faulty probe, regardless of the answers', () => {
    const faulty = probe(refused, answer(200), { probeFault: 'its signature is valid' });
    expect(judge('must', evidence([faulty], { before: answer(401) }))).toEqual({
      verdict: 'harness-error',
      observed: '200',
      outcome: '200',
      decidedBy: 'faulty-probe',
      delivery: null,
      reason: 'the probe is faulty: its signature is valid',
    });
  });
});

describe('a receiver that stops at a delivery', () => {
  it.each(['must', 'should', 'info'] as const)('fails at the level %s', (level) => {
    const stopped = evidence([probe(handled, failure('reset'))], { killed: 'the connection was refused', after: null });
    expect(judge(level, stopped)).toEqual({
      verdict: 'fail',
      observed: 'no answer: it was reset',
      outcome: 'closed',
      decidedBy: 'receiver-stopped',
      delivery: null,
      reason: 'the receiver stopped answering after this delivery: the connection was refused',
    });
  });
});

describe('a level', () => {
  it('makes a failure fail, warn or be recorded', () => {
    const bad = evidence([probe(refused, answer(200))]);
    const reason = 'accepted (200) a delivery that must be rejected';
    const advised = 'accepted (200) a delivery that should be rejected';
    expect(judge('must', bad)).toMatchObject({ verdict: 'fail', reason });
    expect(judge('should', bad)).toMatchObject({ verdict: 'warn', reason: advised });
    expect(judge('info', bad)).toMatchObject({ verdict: 'pass', reason: `recorded: ${advised}` });
    const failing = evidence([probe(accepted, answer(500))]);
    expect(judge('should', failing)).toMatchObject({ verdict: 'warn', decidedBy: 'wrong-status' });
  });

  it('does not turn a lost valid delivery into a warning, unless it has a form that the sender does not use', () => {
    const unusual = evidence([probe(acceptedInAnotherShape, answer(302))]);
    expect(judge('should', unusual)).toMatchObject({ verdict: 'warn', decidedBy: 'redirect' });
    const closed = (fail: readonly 'closed'[]) =>
      judge('should', evidence([probe({ ...accepted, fail }, failure('reset'))])).verdict;
    expect([closed([]), closed(['closed'])]).toEqual(['warn', 'fail']);
    const redirected = evidence([probe(accepted, answer(302))]);
    expect(judge('should', redirected)).toMatchObject({ verdict: 'fail', decidedBy: 'redirect' });
    expect(judge('info', redirected)).toMatchObject({ verdict: 'pass' });
    const silent = evidence([probe(accepted, failure('timeout'))]);
    expect(judge('should', silent)).toMatchObject({ verdict: 'fail', decidedBy: 'no-answer' });
    const tolerated = evidence([probe({ ...accepted, warn: ['none'] }, failure('timeout'))]);
    expect(judge('should', tolerated)).toMatchObject({ verdict: 'warn', decidedBy: 'no-answer' });
    const forged = evidence([probe(refused, answer(302))]);
    expect(judge('should', forged)).toMatchObject({ verdict: 'warn', decidedBy: 'redirect' });
  });
});

describe('several probes', () => {
  const probes = (...statuses: number[]) =>
    statuses.map((status, at) => probe(accepted, answer(status), { label: `${at + 1}.` }));

  it('get the verdict of the worst one, which is named', () => {
    expect(judge('must', evidence(probes(200, 409, 200)))).toEqual({
      verdict: 'fail',
      observed: '409',
      outcome: '409',
      decidedBy: 'wrong-status',
      delivery: '2.',
      reason: '2.: answered 409, expected 200',
      cause: 'answered 409, expected 200',
    });
  });

  it('pass without a reason', () => {
    const pass = { verdict: 'pass', observed: '200', outcome: '200', decidedBy: 'expected-answer', reason: '' };
    expect(judge('must', evidence(probes(200, 200)))).toEqual({ ...pass, delivery: null });
  });

  const tls = failure('tls', { code: 'ERR_SSL_X', alert: 'unknown_ca' });
  const T = { text: 'T', authentic: true };
  const page = answer(200, 'welcome');
  it.each<[string, Expectation, Attempt, Partial<ProbeEvidence>?]>([
    ['an allowed answer', handled, answer(202)],
    ['a page that every request gets', refused, page, { comparisons: [page] }],
    ['an allowed unreadable answer', { ...T, pass: [200], note: ['unreadable'] }, failure('invalid-http')],
    ['an expected alert', { ...T, pass: ['alert'] }, tls],
    ['a recorded alert', { ...T, pass: [200], note: ['alert'] }, tls],
    ['an expected reset', { ...T, pass: ['closed'] }, failure('reset')],
    ['a recorded reset', { ...T, pass: [200], note: ['closed'] }, failure('reset')],
    ['expected silence', { ...T, pass: ['none'] }, failure('timeout')],
    ['a recorded certificate', { ...T, pass: [200], note: ['untrusted'] }, failure('tls-untrusted')],
    ['the expected answer', accepted, answer(200)],
  ])('%s is better than a warning', (_name, expectation, attempt, more) => {
    const passing = probe(expectation, attempt, { label: 'one', ...more });
    const warning = probe(refusedMalformed, answer(400), { label: 'other' });
    for (const both of [
      [passing, warning],
      [warning, passing],
    ]) {
      expect(judge('must', evidence(both))).toMatchObject({ verdict: 'warn', delivery: 'other' });
    }
  });
});
