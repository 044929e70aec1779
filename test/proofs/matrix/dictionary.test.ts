import { describe, expect, it } from 'vitest';
import { type DictionaryFault, loadDictionary } from '../../../harness/diagnose/index.ts';
import { describeFault, FAULTS, type Fault } from '../../../mutants/index.ts';
import { catalogueDigest, findScenario } from '../../../scenarios/index.ts';
import { isAsKnown, makeOutcomes, outcomesText, playedBefore, subsetFor, subsetsOf } from './dictionary.ts';
import type { Played } from './play.ts';

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
      mutants: [describeFault(one)],
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
    // Each mutant has one line in both lists. Three more lines open and close the lists.
    expect(text.trimEnd().split('\n')).toHaveLength(2 * 2 + 3);
  });

  it('stay the same where a mutant is not played again', () => {
    const made = makeOutcomes([played(one.name, { 'a/one': 'fail 200' }, { refusal: 'hex' })], 'digest');
    expect(makeOutcomes(playedBefore(made.faults), 'digest')).toEqual(made);
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
    const byName = new Map(FAULTS.map((fault) => [fault.name, describeFault(fault)]));
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

const IDS = ['valid/plain', ...Array.from({ length: 400 }, (_, at) => `made/${at}`)];
const fault = { name: 'one', outcomes: { 'made/1': 'fail 200', 'made/2': 'warn 400' } } as unknown as DictionaryFault;

function playedPart(more: Partial<Played> = {}): Played {
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
  it('has the scenarios that turn it red, the plain valid delivery, and an eighth of the rest', () => {
    const subset = subsetFor(fault, IDS) ?? [];
    expect(subset).toEqual(expect.arrayContaining(['valid/plain', 'made/1', 'made/2']));
    expect(subset.length).toBeGreaterThan(25);
    expect(subset.length).toBeLessThan(85);
    expect(subsetFor(fault, IDS)).toEqual(subset);
  });

  it('differs between mutants', () => {
    expect(subsetFor({ ...fault, name: 'other' }, IDS)).not.toEqual(subsetFor(fault, IDS));
  });

  it('is everything for a mutant that is new, accepts nothing, or has uncertain outcomes', () => {
    expect(subsetFor(undefined, IDS)).toBeUndefined();
    expect(subsetFor({ ...fault, refusal: 'hex' }, IDS)).toBeUndefined();
    expect(subsetFor({ ...fault, uncertain: ['made/*'] }, IDS)).toBeUndefined();
  });

  it('is everything while the dictionary is of another catalogue', () => {
    const dictionary = { catalogue: 'this', faults: [fault] } as const;
    expect([...subsetsOf(dictionary, 'this', IDS).keys()]).toEqual(['one']);
    expect(subsetsOf(dictionary, 'that', IDS).size).toBe(0);
  });
});

describe('the outcomes of a subset', () => {
  it('equal the recorded ones, or the mutant is played in full', () => {
    expect(isAsKnown(playedPart(), fault)).toBe(true);
    for (const more of [
      { outcomes: { 'made/1': 'fail 200' } },
      { outcomes: { ...fault.outcomes, 'made/2': 'warn 422' } },
      { outcomes: { ...fault.outcomes, 'made/3': 'fail 500' } },
      { undecided: { 'made/4': 'no answer' } },
      { refusal: 'hex' },
    ])
      expect(isAsKnown(playedPart(more), fault)).toBe(false);
  });
});
