import { describe, expect, it } from 'vitest';
import type { DictionaryFault } from '../../harness/diagnose/index.ts';
import type { Played } from './played.ts';
import { isAsKnown, subsetFor, subsetsOf } from './subset.ts';

const IDS = ['valid/plain', ...Array.from({ length: 400 }, (_, at) => `made/${at}`)];
const fault = { name: 'one', outcomes: { 'made/1': 'fail 200', 'made/2': 'warn 400' } } as unknown as DictionaryFault;

function played(more: Partial<Played> = {}): Played {
  const { outcomes } = fault;
  return {
    name: 'one',
    kind: 'fault',
    durationMs: 1,
    features: [],
    outcomes,
    undecided: {},
    stopped: null,
    refusal: null,
    judged: 3,
    ...more,
  };
}

describe('the subset of a mutant', () => {
  it('has what turns it red, the plain valid delivery, and an eighth of the rest', () => {
    const subset = subsetFor(fault, IDS) ?? [];
    expect(subset).toEqual(expect.arrayContaining(['valid/plain', 'made/1', 'made/2']));
    expect(subset.length).toBeGreaterThan(25);
    expect(subset.length).toBeLessThan(85);
    expect(subsetFor(fault, IDS)).toEqual(subset);
  });

  it('is another one for each mutant', () => {
    expect(subsetFor({ ...fault, name: 'other' }, IDS)).not.toEqual(subsetFor(fault, IDS));
  });

  it('is everything for one that is new, accepts nothing, or has cells that chance decides', () => {
    expect(subsetFor(undefined, IDS)).toBeUndefined();
    expect(subsetFor({ ...fault, refusal: 'hex' }, IDS)).toBeUndefined();
    expect(subsetFor({ ...fault, uncertain: ['made/*'] }, IDS)).toBeUndefined();
  });

  it('is everything as long as the dictionary is of another catalogue', () => {
    const dictionary = { catalogue: 'this', faults: [fault] } as const;
    expect([...subsetsOf(dictionary, 'this', IDS).keys()]).toEqual(['one']);
    expect(subsetsOf(dictionary, 'that', IDS).size).toBe(0);
  });
});

describe('what was played of a subset', () => {
  it('is as known, or has to be played in full', () => {
    expect(isAsKnown(played(), fault)).toBe(true);
    for (const more of [
      { outcomes: { 'made/1': 'fail 200' } },
      { outcomes: { ...fault.outcomes, 'made/2': 'warn 422' } },
      { outcomes: { ...fault.outcomes, 'made/3': 'fail 500' } },
      { undecided: { 'made/4': 'no answer' } },
      { refusal: 'hex' },
    ])
      expect(isAsKnown(played(more), fault)).toBe(false);
  });
});
