import { expect, it } from 'vitest';
import { outcomeOf } from '../../../harness/diagnose/outcome.ts';

it('is the verdict with what was observed', () => {
  expect(outcomeOf({ verdict: 'fail', outcome: '200' })).toBe('fail 200');
  expect(outcomeOf({ verdict: 'warn', outcome: 'closed' })).toBe('warn closed');
  expect(outcomeOf({ verdict: 'warn' })).toBe('warn seen');
});

it('is null for a pass, whatever the answer, and undefined without a conclusion', () => {
  expect(outcomeOf({ verdict: 'pass', outcome: '401' })).toBeNull();
  for (const verdict of ['inconclusive', 'not-applicable', 'harness-error'] as const) {
    expect(outcomeOf({ verdict, outcome: '503' })).toBeUndefined();
  }
});
