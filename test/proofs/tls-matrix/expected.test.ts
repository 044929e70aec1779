/** That the tables can be wrong: a comparison that sees no difference proves nothing. */
import { describe, expect, it } from 'vitest';
import type { ScenarioResult } from '../../../harness/index.ts';
import { differences, type Expected, type Word } from './expected.ts';

const ID = 'tls/not-expired';

function document(word: Word) {
  const result = {
    id: ID,
    observed: '',
    verdict: word === 'recorded' ? 'pass' : word,
    reason: word === 'pass' ? '' : 'so',
  };
  return { results: [result as ScenarioResult] };
}

const kindOf = (due: Word, said: Word | 'nothing') => {
  const expected: Expected = due === 'pass' ? {} : { [ID]: due };
  const found = differences(expected, said === 'nothing' ? { results: [] } : document(said), [ID]);
  return found.map(({ kind }) => kind)[0] ?? 'as expected';
};

describe('a run against what it has to say', () => {
  it.each(['pass', 'recorded', 'warn', 'fail', 'inconclusive', 'not-applicable', 'harness-error'] as const)(
    'is right where %s was due and said, and wrong where nothing was',
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
  ] as const)('passes falsely where %s was due and %s said', (due, said) => {
    expect(kindOf(due, said)).toBe('false pass');
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
  ] as const)('is a false alarm where %s was due and %s said', (due, said) => {
    expect(kindOf(due, said)).toBe('false alarm');
  });

  it('looks at what nobody asked for too', () => {
    expect(differences({}, document('fail'), [])).toMatchObject([{ kind: 'false alarm', scenario: ID }]);
    expect(differences({}, document('pass'), [])).toEqual([]);
  });
});
