import { describe, expect, it } from 'vitest';
import { loadDictionary } from '../../harness/diagnose/index.ts';
import { FAULTS, type Fault, textOf } from '../../receiver/faults/index.ts';
import { catalogueDigest, findScenario } from '../../scenarios/index.ts';
import { makeOutcomes, outcomesText } from './dictionary.ts';
import type { Played } from './played.ts';

const [one, other] = FAULTS as [Fault, Fault];

function played(name: string, outcomes: Played['outcomes'], more: Partial<Played> = {}): Played {
  return {
    name,
    kind: 'fault',
    durationMs: Math.random(),
    features: ['api-key', 'hmac'],
    outcomes,
    undecided: {},
    stopped: null,
    refusal: null,
    judged: 1,
    ...more,
  };
}

describe('the recorded outcomes', () => {
  it('hold what each mutant did and the features that were on', () => {
    const run = played(one.name, { 'b/two': 'warn 400', 'a/one': 'fail 200' }, { refusal: 'hex' });
    expect(makeOutcomes([run], 'digest')).toEqual({
      schemaVersion: 2,
      catalogue: 'digest',
      faults: [
        {
          name: one.name,
          features: ['hmac', 'api-key'],
          outcomes: { 'a/one': 'fail 200', 'b/two': 'warn 400' },
          refusal: 'hex',
        },
      ],
    });
  });

  it('are the same text in whatever order mutants were played, one line each', () => {
    const first = [played(one.name, { 'a/one': 'fail 200', 'b/two': 'warn 400' }), played(other.name, {})];
    const second = [played(other.name, {}), played(one.name, { 'b/two': 'warn 400', 'a/one': 'fail 200' })];
    const text = outcomesText(makeOutcomes(first, 'digest'));
    expect(outcomesText(makeOutcomes(second, 'digest'))).toBe(text);
    expect(JSON.parse(text)).toEqual(makeOutcomes(first, 'digest'));
    expect(text.trimEnd().split('\n')).toHaveLength(4);
  });

  it('leave out correct receivers', () => {
    const made = makeOutcomes([played('none', {}, { kind: 'right' }), played(one.name, {})], 'digest');
    expect(made.faults.map(({ name }) => name)).toEqual([one.name]);
  });
});

describe('the fault dictionary in the package', async () => {
  const dictionary = await loadDictionary();
  const refresh = 'run `npm run matrix`';

  it('is read once', async () => {
    expect(dictionary.faults.length, refresh).toBeGreaterThan(0);
    expect(await loadDictionary()).toBe(dictionary);
  });

  it('has the outcomes of every mutant in this catalogue', () => {
    expect(dictionary.catalogue, refresh).toBe(catalogueDigest());
    expect(
      dictionary.faults.map(({ name }) => name),
      refresh,
    ).toEqual(FAULTS.map(({ name }) => name).toSorted());
  });

  it('has the text of every mutant', () => {
    const texts = dictionary.faults.map(({ features, outcomes, refusal, uncertain, ...text }) => text);
    const byName = new Map(FAULTS.map((fault) => [fault.name, textOf(fault)]));
    expect(texts, 'run `npm run docs`').toEqual(texts.map(({ name }) => byName.get(name)));
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
