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

/** The verdict on a notification whose value is stated as this. */
const withValue = (name: keyof EffectValues, wanted: string | null, stated: string | null) =>
  judged({ values: { [name]: wanted } }, { handled: times(1, { [name]: stated }) });

describe('how often', () => {
  it.each<[0 | 1, number, object]>([
    [1, 1, { verdict: 'pass', decidedBy: 'expected-effect', reason: '', delivery: null, outcome: 'seen' }],
    [0, 0, { verdict: 'pass', decidedBy: 'expected-effect' }],
    [
      1,
      0,
      {
        verdict: 'fail',
        decidedBy: 'effect-missing',
        outcome: 'not-handled',
        reason: 'accepted, and not handled within 10 s',
        delivery: 'the order',
      },
    ],
    [1, 2, { verdict: 'fail', decidedBy: 'effect-repeated', reason: 'handled twice, expected once' }],
    [1, 16, { verdict: 'fail', decidedBy: 'effect-repeated', reason: 'handled 16 times, expected once' }],
    [0, 1, { verdict: 'fail', decidedBy: 'effect-of-rejected', reason: 'handled, although it was rejected' }],
  ])('expected %i times, handled %i times', (expected, handled, judgement) => {
    expect(judged({ times: expected }, { handled: times(handled) })).toMatchObject(judgement);
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
    ['1.5', '1.5 ETH'],
    ['0.0000001', '1e-7'],
    ['9007199254740993', '9007199254740992'],
    ['1', '0x1'],
    ['0', ''],
    ['0', '.'],
    ['0', '+'],
    ['0', null],
    [LONG, `${LONG}1`],
    [LONG, `${LONG}${'0'.repeat(20)}`],
  ])('%s may not be stated as %s', (wanted, stated) => {
    const judgement = withValue('amount', wanted, stated);
    expect(judgement).toMatchObject({ verdict: 'fail', decidedBy: 'effect-value', outcome: 'amount' });
    expect(judgement.reason).toMatch(/^amount .+, expected .+$/);
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
    expect(judgement).toMatchObject({ outcome: 'payment-method', reason: 'payment method none, expected P-1' });
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

  it('is judged after how often it was handled', () => {
    expect(judged(expected, { handled: [], current: { status: 'PENDING' } }).decidedBy).toBe('effect-missing');
  });
});
