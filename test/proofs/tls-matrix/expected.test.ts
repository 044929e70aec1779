/** The comparison must detect each difference. Otherwise, the matrix proves nothing. */
import { describe, expect, it } from 'vitest';
import type { ScenarioResult } from '../../../harness/index.ts';
import { differences, type Expected, type Outcome } from './expected.ts';

const ID = 'tls/not-expired';

function document(word: Outcome) {
  const result = {
    id: ID,
    observed: '',
    verdict: word === 'recorded' ? 'pass' : word,
    reason: word === 'pass' ? '' : 'so',
  };
  return { results: [result as ScenarioResult] };
}

const kindOf = (expectedOutcome: Outcome, reported: Outcome | 'nothing') => {
  const expected: Expected = expectedOutcome === 'pass' ? {} : { [ID]: expectedOutcome };
  const found = differences(expected, reported === 'nothing' ? { results: [] } : document(reported), [ID]);
  return found.map(({ kind }) => kind)[0] ?? 'as expected';
};

describe('the comparison with the expected outcomes', () => {
  it.each(['pass', 'recorded', 'warn', 'fail', 'inconclusive', 'not-applicable', 'harness-error'] as const)(
    'accepts the expected %s, and reports a false pass when there is no outcome',
    (word) => {
      expect(kindOf(word, word)).toBe('as expected');
      expect(kindOf(word, 'nothing')).toBe('false pass');
    },
  );

  it.each([
    ['fail', 'pass'],
    ['fail', 'warn'],
    ['fail', 'inconclusive'],
    ['fail', 'not-applicable'],
    ['warn', 'pass'],
    ['warn', 'recorded'],
    ['recorded', 'pass'],
    ['inconclusive', 'pass'],
    ['inconclusive', 'recorded'],
    ['inconclusive', 'not-applicable'],
    ['not-applicable', 'pass'],
  ] as const)('reports a false pass: expected %s, reported %s', (expected, reported) => {
    expect(kindOf(expected, reported)).toBe('false pass');
  });

  it.each([
    ['pass', 'fail'],
    ['pass', 'warn'],
    ['pass', 'recorded'],
    ['pass', 'inconclusive'],
    ['pass', 'not-applicable'],
    ['warn', 'fail'],
    ['inconclusive', 'fail'],
    ['not-applicable', 'inconclusive'],
    ['fail', 'harness-error'],
  ] as const)('reports a false alarm: expected %s, reported %s', (expected, reported) => {
    expect(kindOf(expected, reported)).toBe('false alarm');
  });

  it('compares outcomes of scenarios that were not planned too', () => {
    expect(differences({}, document('fail'), [])).toMatchObject([{ kind: 'false alarm', scenario: ID }]);
    expect(differences({}, document('pass'), [])).toEqual([]);
  });
});
