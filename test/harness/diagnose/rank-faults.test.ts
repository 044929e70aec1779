import { describe, expect, inject, it } from 'vitest';
import { explainByFaults } from '../../../harness/diagnose/explain-by-faults.ts';
import { type DictionaryFault, type FaultDictionary, loadDictionary } from '../../../harness/diagnose/index.ts';
import { outcomeOf } from '../../../harness/diagnose/outcome.ts';
import { rankFaults, vectorOf } from '../../../harness/diagnose/rank-faults.ts';
import { CATALOGUE, type Feature } from '../../../scenarios/index.ts';
import { faultCalled, redOutcomes, resultsWith } from './played.ts';

const dictionary = await loadDictionary();
const EVERYTHING: Feature[] = ['hmac', 'api-key'];

/** Mutants with a failure, but not of the first delivery. */
const PLAYED = dictionary.faults.filter(
  (fault) =>
    fault.features.every((feature) => EVERYTHING.includes(feature)) &&
    Object.keys(redOutcomes(fault)).length > 0 &&
    redOutcomes(fault)['valid/plain'] === undefined,
);

/** One mutant of so many, or each. */
const ONE_IN = inject('whole') ? 1 : 5;

const vector = (outcomes: Record<string, string>, features = EVERYTHING) => vectorOf(resultsWith(outcomes, features));
const named = (outcomes: Record<string, string>, features = EVERYTHING) =>
  explainByFaults(vector(outcomes, features), dictionary).faults.map(({ fault, alike }) => [fault.name, ...alike]);

describe('the outcome of a check', () => {
  it.each([
    ['fail', '200', 'fail 200'],
    ['warn', 'closed', 'warn closed'],
    ['warn', undefined, 'warn seen'],
    ['pass', '401', null],
    ['inconclusive', '503', undefined],
    ['not-applicable', '503', undefined],
    ['harness-error', '503', undefined],
  ] as const)('of %s, observed %s, is %j', (verdict, outcome, expected) => {
    expect(outcomeOf({ verdict, ...(outcome && { outcome }) })).toBe(expected);
  });
});

describe('the dictionary', () => {
  it('has mutants with complete texts, and outcomes of existing scenarios', () => {
    expect(dictionary.faults.length).toBeGreaterThanOrEqual(130);
    const ids = new Set(CATALOGUE.flatMap(({ scenarios }) => scenarios.map(({ id }) => id)));
    for (const { name, title, seen, why, fix, outcomes } of dictionary.faults) {
      expect([name, [title, seen, why, fix.rule, fix.express].every((text) => text.length > 10)]).toEqual([name, true]);
      expect([name, Object.keys(outcomes).filter((id) => !ids.has(id))]).toEqual([name, []]);
    }
  });
});

describe('an endpoint that behaves exactly like one mutant', () => {
  it('gets the name of this mutant only, with agreement in every outcome', () => {
    const wrong = PLAYED.filter((_, at) => at % ONE_IN === 0).filter((fault) => {
      const { faults } = explainByFaults(vector(redOutcomes(fault)), dictionary);
      const [first] = faults;
      const isNamed = first?.fault.name === fault.name || first?.alike.includes(fault.name) === true;
      return faults.length !== 1 || !isNamed || first?.agreement !== first?.outcomes;
    });
    expect(wrong.map(({ name }) => name)).toEqual([]);
    expect(PLAYED.length).toBeGreaterThan(200);
  });

  it('gets the same name without an API key, if the mutant fails a check there', () => {
    const wrong = PLAYED.filter((_, at) => at % (3 * ONE_IN) === 1).filter((fault) => {
      const vectorHere = vector(redOutcomes(fault), ['hmac']);
      if ([...vectorHere.values()].every((outcome) => outcome === null)) return false;
      const [first] = explainByFaults(vectorHere, dictionary).faults;
      return first?.fault.name !== fault.name && first?.alike.includes(fault.name) !== true;
    });
    expect(wrong.map(({ name }) => name)).toEqual([]);
  });

  it('gets the same name over mutual TLS, where the mutant was not measured', () => {
    const fault = faultCalled(dictionary, 'verifies-reserialised-json');
    const features: Feature[] = ['hmac', 'api-key', 'https', 'mtls'];
    const [first] = explainByFaults(vector(redOutcomes(fault), features), dictionary).faults;
    expect([first?.fault.name, first?.agreement]).toEqual([fault.name, first?.outcomes]);
    const more = { ...redOutcomes(fault), 'mtls/unsigned': 'fail 200' };
    expect(explainByFaults(vector(more, features), dictionary).faults.map((one) => one.fault.name)).toEqual([
      fault.name,
    ]);
  });
});

describe('an endpoint that is slightly different', () => {
  it('gets the name when every status differs: the same failures count half', () => {
    const fault = faultCalled(dictionary, 'verifies-reserialised-json');
    const other = Object.fromEntries(
      Object.entries(redOutcomes(fault)).map(([id, outcome]) => [id, outcome.replace('401', '403')]),
    );
    const [exact] = rankFaults(vector(redOutcomes(fault)), dictionary);
    const [near] = rankFaults(vector(other), dictionary);
    expect([near?.fault.name, exact?.score, near?.agreement === exact?.agreement]).toEqual([fault.name, 1, false]);
    expect(near?.score).toBeGreaterThanOrEqual(0.5);
    expect(named(other)[0]).toContain(fault.name);
  });

  it('gets the name in spite of another failure that no mutant has', () => {
    const fault = faultCalled(dictionary, 'hashes-at-most-1-kib');
    expect(named({ ...redOutcomes(fault), 'valid/sell': 'fail 451' })).toEqual([[fault.name]]);
  });
});

describe('an endpoint that matches no mutant', () => {
  it('gets no name', () => {
    const strange = Object.fromEntries(
      CATALOGUE.flatMap(({ scenarios }) => scenarios)
        .filter((_, at) => at % 7 === 3)
        .map(({ id }) => [id, 'fail 451']),
    );
    expect(named(strange)).toEqual([]);
    expect(named({})).toEqual([]);
  });
});

describe('two faults at once', () => {
  const both = (one: string, other: string) => {
    const [a, b] = [redOutcomes(faultCalled(dictionary, one)), redOutcomes(faultCalled(dictionary, other))];
    return named({ ...a, ...b })
      .flat()
      .toSorted();
  };

  it.each([
    ['verifies-reserialised-json', 'api-key-case-ignored'],
    ['missing-signature-accepted', 'closes-the-list-of-types'],
    ['hashes-at-most-1-kib', 'api-key-missing-is-400'],
    ['default-secret-accepted', 'refuses-refunds'],
  ])('%s and %s are both named', (one, other) => {
    expect(both(one, other)).toEqual(expect.arrayContaining([one, other]));
  });

  it('are both named when they accept together what each alone rejects', () => {
    const sum = {
      ...redOutcomes(faultCalled(dictionary, 'signature-not-checked')),
      ...redOutcomes(faultCalled(dictionary, 'api-key-not-checked')),
      'combination/wrong-signature-wrong-key': 'fail 200',
      'combination/wrong-signature-missing-key': 'fail 200',
      'combination/missing-signature-wrong-key': 'fail 200',
      'combination/missing-signature-missing-key': 'fail 200',
    };
    expect(named(sum).flat()).toEqual(expect.arrayContaining(['signature-not-checked', 'api-key-not-checked']));
  });

  it('are each compared with their own outcomes', () => {
    const sum = {
      ...redOutcomes(faultCalled(dictionary, 'verifies-reserialised-json')),
      ...redOutcomes(faultCalled(dictionary, 'api-key-case-ignored')),
    };
    const { faults } = explainByFaults(vector(sum), dictionary);
    for (const { fault, agreement, outcomes } of faults)
      expect([fault.name, agreement, outcomes]).toEqual([fault.name, outcomes, Object.keys(redOutcomes(fault)).length]);
  });
});

describe('the ranking', () => {
  const [first, second, third] = ['raw-body/spaces', 'raw-body/tabs', 'raw-body/indent-2'] as const;
  const fault = (
    name: string,
    outcomes: Record<string, string>,
    more: Partial<DictionaryFault> = {},
  ): DictionaryFault => ({
    ...faultCalled(dictionary, 'verifies-reserialised-json'),
    name,
    outcomes,
    ...more,
  });
  const rank = (faults: DictionaryFault[], outcomes: Record<string, string>) =>
    rankFaults(vector(outcomes), { ...dictionary, faults } satisfies FaultDictionary);

  it('weighs rare outcomes more', () => {
    const faults = [
      fault('rare', { [first]: 'fail 401' }),
      fault('common', { [second]: 'fail 401' }),
      fault('common-too', { [second]: 'fail 401', [third]: 'fail 401' }),
    ];
    const [best] = rank(faults, { [first]: 'fail 401', [second]: 'fail 401' });
    expect(best?.fault.name).toBe('rare');
  });

  it('prefers the same status, and counts another failure half', () => {
    const faults = [fault('other', { [first]: 'fail 500' }), fault('same', { [first]: 'fail 401' })];
    expect(rank(faults, { [first]: 'fail 401' }).map(({ fault: { name }, score }) => [name, score])).toEqual([
      ['same', 1],
      ['other', 0.5],
    ]);
  });

  it('joins mutants with equal outcomes, under the name that the others declare as equivalent', () => {
    const equivalentTo = { name: 'b-original', reason: 'They do the same.' };
    const faults = [
      fault('a-copy', { [first]: 'fail 401' }, { equivalentTo }),
      fault('b-original', { [first]: 'fail 401' }),
    ];
    const ranked = rank(faults, { [first]: 'fail 401' });
    expect(ranked.map(({ fault: { name }, alike }) => [name, alike])).toEqual([['b-original', ['a-copy']]]);
  });

  it('ignores checks without a verdict on either side', () => {
    const faults = [fault('mine', { [first]: 'fail 401', [second]: 'no verdict' })];
    const ranked = rank(faults, { [first]: 'fail 401', [second]: 'fail 401', [third]: 'inconclusive' });
    expect(ranked[0]).toMatchObject({ score: 1, agreement: 1, outcomes: 1, evidence: [first] });
    const needsKey = [fault('mine', { [first]: 'fail 401' }, { features: ['hmac'] })];
    expect(rank(needsKey, { [first]: 'fail 401', 'api-key/missing': 'fail 200' })[0]).toMatchObject({
      score: 1,
      outcomes: 1,
    });
  });
});
