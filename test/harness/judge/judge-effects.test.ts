import { describe, expect, it } from 'vitest';
import type { EffectValues } from '../../../contract/effects.ts';
import { type EffectEvidence, judgeEffects } from '../../../harness/judge/index.ts';
import type { ExpectedEffect } from '../../../scenarios/index.ts';

const times = (count: number, values: EffectValues = {}) =>
  Array.from({ length: count }, () => ({ notification: 'n', ...values }));

function evidence(expected: Partial<ExpectedEffect>, more: Partial<EffectEvidence>): EffectEvidence {
  return {
    label: 'the order',
    expect: { times: 1, ...expected },
    handled: times(1),
    tookMs: 5,
    deadlineMs: 10_000,
    ...more,
  };
}

const judged = (expected: Partial<ExpectedEffect>, more: Partial<EffectEvidence> = {}) =>
  judgeEffects('must', [evidence(expected, more)]);

/** Returns the verdict on a notification for which the window states this value. */
const withValue = (name: keyof EffectValues, wanted: string | null, stated: string | null) =>
  judged({ values: { [name]: wanted } }, { handled: times(1, { [name]: stated }) });

const repeated = (often: string) => ({
  verdict: 'fail',
  decidedBy: 'effect-repeated',
  outcome: 'handled-twice',
  expected: 'one handling',
  observed: `handled ${often}`,
  reason: `handled ${often}, expected once`,
});

const ofRejected = (often: string) => ({
  verdict: 'fail',
  decidedBy: 'effect-of-rejected',
  outcome: 'handled',
  expected: 'no handling',
  observed: `handled ${often}`,
  reason: 'handled, although it was rejected',
});

describe('how often', () => {
  it.each<[0 | 1, number, object]>([
    [
      1,
      1,
      {
        verdict: 'pass',
        decidedBy: 'expected-effect',
        observed: 'the expected effect',
        reason: '',
        delivery: null,
        outcome: 'seen',
      },
    ],
    [0, 0, { verdict: 'pass', decidedBy: 'expected-effect' }],
    [
      1,
      0,
      {
        verdict: 'fail',
        decidedBy: 'effect-missing',
        outcome: 'not-handled',
        expected: 'one handling',
        observed: 'not handled',
        reason: 'accepted, but not handled within 10 s',
        delivery: 'the order',
      },
    ],
    [1, 2, repeated('twice')],
    [1, 16, repeated('16 times')],
    [0, 1, ofRejected('once')],
    [0, 2, ofRejected('twice')],
  ])('expected %i times, handled %i times', (expected, handled, judgement) => {
    const found = judged({ times: expected }, { handled: times(handled) });
    expect(found).toMatchObject(judgement);
    // The reason does not name the only notification of a check, so no separate cause is needed.
    expect(found).not.toHaveProperty('cause');
  });

  it('is a warning where the level is should', () => {
    const missing = evidence({}, { handled: [] });
    expect(judgeEffects('should', [missing]).verdict).toBe('warn');
  });

  it('of several, the first problem decides, and names its delivery; the cause does not', () => {
    const judgement = judgeEffects('must', [
      evidence({}, { label: 'copy 1' }),
      evidence({}, { label: 'copy 2', handled: times(3) }),
      evidence({}, { label: 'copy 3', handled: [] }),
    ]);
    expect(judgement).toMatchObject({
      verdict: 'fail',
      delivery: 'copy 2',
      reason: 'copy 2: handled 3 times, expected once',
      cause: 'handled 3 times, expected once',
    });
  });
});

describe('amounts', () => {
  const LONG = `1.${'0'.repeat(290)}1`;

  it.each([
    ['1.5', '1.50'],
    ['1.5', '01.5'],
    ['1.5', '+1.5'],
    ['1', '1.'],
    ['1', '1.000'],
    ['1', '1'],
    ['-1.5', '-01.50'],
    ['100', '00100'],
    ['10.01', '10.010'],
    [`1.${'0'.repeat(298)}`, '1'],
    ['0.5', '.5'],
    ['0', '0.00'],
    ['0.0000000000000001', '0.0000000000000001'],
    ['9007199254740993', '9007199254740993'],
    [LONG, LONG],
  ])('%s may be stated as %s', (wanted, stated) => {
    expect(withValue('amount', wanted, stated)).toMatchObject({ verdict: 'pass', reason: '' });
  });

  it.each([
    ['1.5', '1.05'],
    ['1.5', '-1.5'],
    ['1.5', '1,5'],
    ['1.5', '15'],
    ['100', '1000'],
    ['101', '11'],
    ['1', '-1'],
    ['-1', '1'],
    ['1', ' 1'],
    ['1', '1.2.3'],
    [`1.${'0'.repeat(299)}`, '1'],
    ['1.5', '1.5 ETH'],
    ['0.0000001', '1e-7'],
    ['9007199254740993', '9007199254740992'],
    ['1', '0x1'],
    ['0', '.'],
    ['0', '+'],
    [LONG, `${LONG}1`],
    [LONG, `${LONG}${'0'.repeat(20)}`],
  ])('%s may not be stated as %s', (wanted, stated) => {
    const judgement = withValue('amount', wanted, stated);
    expect(judgement).toMatchObject({ verdict: 'fail', decidedBy: 'effect-value', outcome: 'amount' });
    expect(judgement.reason).toMatch(/^amount .+, expected .+$/);
  });

  it.each(['', null])('0 may not be stated as %j, which is not a conversion', (stated) => {
    const reason = 'amount none, expected 0';
    expect(withValue('amount', '0', stated)).toMatchObject({ verdict: 'fail', outcome: 'no-amount', reason });
  });

  it('are compared in linear time, and cut in messages', () => {
    const judgement = withValue('amount', '1', '0'.repeat(1_000_000));
    expect(judgement.verdict).toBe('fail');
    expect(judgement.reason).toBe(`amount ${'0'.repeat(90)}…, expected 1`);
  });
});

describe('other values', () => {
  it.each<[keyof EffectValues, string | null, string | null, boolean]>([
    ['hash', '0xa', '0xa', true],
    ['hash', null, '', true],
    ['hash', '', null, true],
    ['hash', '0xa', null, false],
    ['hash', null, '0xa', false],
    ['hash', '0xa', '0xA', false],
    ['status', 'FAILED', 'COMPLETED', false],
    ['currency', '1.0', '1', false],
  ])('%s %s stated as %s: %s', (name, wanted, stated, isSame) => {
    expect(withValue(name, wanted, stated).verdict).toBe(isSame ? 'pass' : 'fail');
  });

  it('are named in words', () => {
    const judgement = withValue('paymentMethod', 'P-1', '');
    expect(judgement).toMatchObject({
      outcome: 'payment-method',
      expected: 'payment method P-1',
      observed: 'payment method none',
      reason: 'payment method none, expected P-1',
    });
  });

  it.each<[keyof EffectValues, string]>([
    ['kind', 'kind'],
    ['status', 'status'],
    ['transaction', 'transaction'],
    ['customer', 'customer'],
    ['address', 'address'],
    ['hash', 'hash'],
    ['currency', 'currency'],
    ['errorCode', 'error code'],
  ])('are named: %s as %s', (name, called) => {
    expect(withValue(name, 'a', 'b').reason).toBe(`${called} b, expected a`);
  });

  it('are cut in messages above 90 characters', () => {
    const [whole, long] = ['x'.repeat(90), 'y'.repeat(91)];
    expect(withValue('hash', whole, long).reason).toBe(`hash ${'y'.repeat(90)}…, expected ${whole}`);
  });

  it('that the window does not state are not judged, and listed once', () => {
    const expected = { values: { hash: '0xa', errorCode: 'x' }, current: { status: 'COMPLETED' } };
    const handled = times(1, { hash: '0xa' });
    const two = [evidence(expected, { handled }), evidence(expected, { handled, current: null })];
    expect(judgeEffects('must', two)).toMatchObject({
      verdict: 'pass',
      reason: 'the window does not state: error code, the current status',
    });
  });

  it('of which the window states none are nothing to judge', () => {
    const reason = 'the window does not state: hash';
    const one = evidence({ values: { hash: '0xa' } }, { handled: times(1) });
    expect(judgeEffects('must', [one])).toEqual({ verdict: 'not-applicable', reason });
    expect(judgeEffects('must', [{ ...one, handled: [] }])).toMatchObject({ verdict: 'fail', outcome: 'not-handled' });
  });
});

describe('what the transaction has now', () => {
  const expected = { current: { status: 'COMPLETED', hash: '0xa' } };

  it.each([
    [{ status: 'COMPLETED', hash: '0xa' }, 'pass', 'expected-effect', ''],
    [
      { status: 'PENDING', hash: '0xa' },
      'fail',
      'effect-overwritten',
      'the transaction now has the status PENDING, expected COMPLETED',
    ],
    [
      { status: 'COMPLETED', hash: null },
      'fail',
      'effect-overwritten',
      'the transaction now has the hash none, expected 0xa',
    ],
  ] as const)('%j: %s', (current, verdict, decidedBy, reason) => {
    expect(judged(expected, { current })).toMatchObject({ verdict, decidedBy, reason });
  });

  it('is named in what was observed', () => {
    expect(judged(expected, { current: { status: 'COMPLETED', hash: '0xb' } })).toMatchObject({
      expected: '0xa',
      outcome: 'current-hash',
      observed: 'the transaction now has the hash 0xb',
    });
  });

  it('is not judged where nothing is expected of it', () => {
    expect(
      judged({ current: { status: 'COMPLETED' } }, { current: { status: 'COMPLETED', hash: '0xb' } }).verdict,
    ).toBe('pass');
  });

  it('is judged after how often it was handled', () => {
    expect(judged(expected, { handled: [], current: { status: 'PENDING' } })).toMatchObject({
      decidedBy: 'effect-missing',
    });
  });
});
