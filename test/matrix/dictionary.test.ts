import { describe, expect, it } from 'vitest';
import { loadDictionary } from '../../harness/diagnose/index.ts';
import { FAULTS, type Fault } from '../../receiver/faults/index.ts';
import { catalogueDigest, findScenario } from '../../scenarios/index.ts';
import { dictionaryText, makeDictionary, wordsOf } from './dictionary.ts';
import type { Played } from './played.ts';

const [one, other] = FAULTS as [Fault, Fault];

function played(name: string, outcomes: Played['outcomes'], refusal: string | null = null): Played {
  const features = ['api-key', 'hmac'];
  return {
    name,
    kind: 'fault',
    durationMs: Math.random(),
    features,
    outcomes,
    undecided: {},
    stopped: null,
    refusal,
    judged: 1,
  };
}

describe('the dictionary of what was played', () => {
  it('has the words of each mutant, its outcomes, and what it was played with', () => {
    const made = makeDictionary(
      [one],
      [played(one.name, { 'b/two': 'warn 400', 'a/one': 'fail 200' }, 'hex')],
      'digest',
    );
    expect(made).toEqual({
      schemaVersion: 1,
      catalogue: 'digest',
      faults: [
        {
          ...wordsOf(one),
          features: ['hmac', 'api-key'],
          outcomes: { 'a/one': 'fail 200', 'b/two': 'warn 400' },
          refusal: 'hex',
        },
      ],
    });
    expect(made.faults[0]?.title).toBe(one.title);
  });

  it('is the same text in whatever order things were played, and whatever time they took', () => {
    const first = [played(one.name, { 'a/one': 'fail 200', 'b/two': 'warn 400' }), played(other.name, {})];
    const second = [played(other.name, {}), played(one.name, { 'b/two': 'warn 400', 'a/one': 'fail 200' })];
    const text = dictionaryText(makeDictionary([one, other], first, 'digest'));
    expect(dictionaryText(makeDictionary([other, one], second, 'digest'))).toBe(text);
    expect(text.endsWith('}\n')).toBe(true);
  });

  it('leaves out what was not played, and the right receivers', () => {
    const made = makeDictionary([one, other], [played('none', {}), played(one.name, {})], 'digest');
    expect(made.faults.map(({ name }) => name)).toEqual([one.name]);
  });
});

describe('the dictionary in the package', async () => {
  const dictionary = await loadDictionary();
  const refresh = 'run `npm run matrix`';

  it('is read once', async () => {
    expect(dictionary.faults.length, refresh).toBeGreaterThan(0);
    expect(await loadDictionary()).toBe(dictionary);
  });

  it('is of this catalogue and of these mutants', () => {
    expect(dictionary.catalogue, refresh).toBe(catalogueDigest());
    expect(
      dictionary.faults.map(({ features, outcomes, refusal, uncertain, ...words }) => words),
      refresh,
    ).toEqual(FAULTS.toSorted((a, b) => (a.name < b.name ? -1 : 1)).map(wordsOf));
  });

  it('names scenarios that exist, and at least one for each mutant', () => {
    const unknown = dictionary.faults.flatMap(({ outcomes }) =>
      Object.keys(outcomes).filter((id) => !findScenario(id)),
    );
    expect(unknown, refresh).toEqual([]);
    expect(
      dictionary.faults.filter(({ outcomes }) => Object.keys(outcomes).length === 0).map(({ name }) => name),
    ).toEqual([]);
  });
});
