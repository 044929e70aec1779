import { describe, expect, inject, it } from 'vitest';
import { isPossible, outcomesIn } from '../../../harness/diagnose/diagnose.ts';
import { type DictionaryFault, loadDictionary } from '../../../harness/diagnose/index.ts';
import { explainByOverlap } from '../../../harness/diagnose/overlap.ts';
import { CATALOGUE } from '../../../scenarios/index.ts';
import { BOTH, faultCalled, redOutcomes, resultsWith } from './played.ts';

const dictionary = await loadDictionary();

/** Checks that are a separate finding when every rejection or acceptance has the same wrong status. */
const STATUS = /^(?:valid\/plain|signature\/status|api-key\/status)$/;

/** Mutants that fail a check, but neither the first delivery nor only the checks of the status. */
const PLAYED = dictionary.faults.filter(
  (fault) =>
    fault.features.every((feature) => BOTH.includes(feature)) &&
    Object.keys(redOutcomes(fault)).length > 0 &&
    !Object.keys(redOutcomes(fault)).some((id) => STATUS.test(id)),
);

/**
 * About one in this many mutants is tested; 1 means all. A new mutant does not change which others are in the sample.
 */
const ONE_IN = inject('whole') ? 1 : 10;

const explained = (outcomes: Record<string, string>, faults: readonly DictionaryFault[] = dictionary.faults) =>
  explainByOverlap(outcomesIn(resultsWith(outcomes, BOTH)), { ...dictionary, faults }, (fault) =>
    isPossible(fault, BOTH),
  );

/** Returns the names of the faults, each with its equivalents. */
const named = (outcomes: Record<string, string>, faults?: readonly DictionaryFault[]) =>
  explained(outcomes, faults).map(({ fault, alike }) => [fault.name, ...alike]);

const outcomesOf = (name: string) => redOutcomes(faultCalled(dictionary, name));

describe('an endpoint that behaves exactly like one mutant', () => {
  const sample = PLAYED.filter(({ name }) => name.length % ONE_IN === 0);
  const found = sample.map((fault) => ({ fault, explanations: explained(redOutcomes(fault)) }));

  // Eight mutants of two mistakes have nearly the same outcomes.
  it('is hardly ever explained first by a mutant with another mistake', () => {
    const wrong = found.filter(({ fault, explanations: [first] }) => first && first.fault.mistake !== fault.mistake);
    const names = wrong.map(({ fault, explanations: [first] }) => `${fault.name}: ${first?.fault.name}`);
    expect(names.length / sample.length, names.join()).toBeLessThan(0.02);
  });

  it('is nearly always found by its mistake, and mostly by its name', () => {
    const byMistake = found.filter(({ fault, explanations: [first] }) => first?.fault.mistake === fault.mistake);
    expect(byMistake.length / sample.length).toBeGreaterThan(0.9);
    const byName = found.filter(({ fault: { name, equivalentTo }, explanations: [first] }) =>
      [name, equivalentTo?.name].includes(first?.fault.name),
    );
    expect(byName.length / sample.length).toBeGreaterThan(0.8);
  });
});

describe('an endpoint that is slightly different', () => {
  it('is found when it closes connections where the mutant answers 500, and not the other way round', () => {
    const closed = Object.entries(outcomesOf('broken-json-answers-500')).map(([id, outcome]) => [
      id,
      outcome.replace('500', 'closed'),
    ]);
    expect(named(Object.fromEntries(closed)).flat().join()).toContain('broken-json-');
    const answered = Object.entries(outcomesOf('broken-json-ends-the-process')).map(([id, outcome]) => [
      id,
      outcome.replace('closed', '500'),
    ]);
    expect(named(Object.fromEntries(answered)).flat()).not.toContain('broken-json-ends-the-process');
  });

  it.each([
    ['other checks', 'either-credential', { 'malformed/unsigned-1-mb': 'fail 200' }],
    ['a check that no mutant fails so', 'hashes-at-most-1-kib', { 'valid/sell': 'fail 451' }],
    ['warnings of the HTTP stack', 'default-secret-accepted', { 'http/header-20-kb': 'warn 431' }],
  ])('is found in spite of %s: %s', (_, name, more) => {
    expect(named({ ...outcomesOf(name), ...more })[0]).toContain(name);
  });

  it('is not found when it rejects the first forgeries of the run, or every delivery', () => {
    const { 'signature/other-secret': first, ...later } = outcomesOf('signature-not-checked');
    expect(first).toBe('fail 200');
    expect(named(later).flat()).not.toContain('signature-not-checked');
    expect(named({ 'valid/plain': 'fail 401' })).toEqual([]);
  });

  it('is not found when half of the outcomes of the mutant contradict', () => {
    const outcomes = Object.entries(outcomesOf('refuses-deposits'));
    const part = (share: number) => Object.fromEntries(outcomes.slice(0, Math.ceil(outcomes.length * share)));
    expect(named(part(0.4)).flat()).not.toContain('refuses-deposits');
    expect(named(part(0.9)).flat()).toContain('refuses-deposits');
    // The mutant's four warnings do not occur in the run.
    expect(named({ 'typo-key/misspelt': 'fail 451' }).flat()).not.toContain('refuses-the-misspelt-key');
  });

  it('is not found when it rejects some plain valid deliveries by chance', () => {
    const unsteady = { 'valid/steady': 'warn seen' };
    expect(named({ ...outcomesOf('refuses-deposits'), ...unsteady }).flat()).not.toContain('refuses-deposits');
    expect(named(outcomesOf('body-joined-to-previous')).flat()).toContain('body-joined-to-previous');
  });

  it('is not found when it is like no mutant, and one or two of its outcomes at most are', () => {
    const some = CATALOGUE.flatMap(({ scenarios }) => scenarios).filter(({ id }) => id.length % 7 === 3);
    const strange = Object.fromEntries(some.map(({ id }) => [id, 'fail 451']));
    expect(explained(strange).flatMap(({ evidence }) => evidence).length).toBeLessThan(3);
    expect(explained({})).toEqual([]);
  });
});

describe('several faults at once', () => {
  it.each([
    ['verifies-reserialised-json', 'api-key-case-ignored'],
    ['missing-signature-accepted', 'closes-the-list-of-types'],
    ['hashes-at-most-1-kib', 'api-key-missing-is-500'],
    ['default-secret-accepted', 'refuses-refunds'],
    ['verifies-reserialised-json', 'api-key-case-ignored', 'refuses-wallets'],
  ])('are all found: %s, %s', (...faults) => {
    const outcomes = Object.assign({}, ...faults.map(outcomesOf));
    expect(named(outcomes).flat()).toEqual(expect.arrayContaining(faults));
  });
});

describe('the overlap', () => {
  const [first, second, third] = ['raw-body/spaces', 'raw-body/tabs', 'raw-body/indent-2'] as const;
  const original = faultCalled(dictionary, 'verifies-reserialised-json');
  const fault = (name: string, outcomes: Record<string, string>, more: Partial<DictionaryFault> = {}) => ({
    ...original,
    name,
    outcomes,
    ...more,
  });

  it('prefers the fault whose outcomes all agree', () => {
    const faults = [
      fault('exact', { [first]: 'fail 401', [second]: 'fail 401' }),
      fault('wider', { [first]: 'fail 401', [second]: 'fail 401', [third]: 'fail 401' }),
    ];
    expect(explained({ [first]: 'fail 401', [second]: 'fail 401' }, faults)).toMatchObject([
      { fault: { name: 'exact' }, isExact: true, evidence: [first, second], outcomes: 2 },
    ]);
  });

  it('is certain of the mistake alone where faults are equally close, and of nothing where mistakes are', () => {
    const alike = [fault('b', { [first]: 'fail 401' }), fault('a', { [first]: 'fail 401' })];
    expect(explained({ [first]: 'fail 401' }, alike)).toMatchObject([{ isExact: false }]);
    const other = fault('c', { [first]: 'fail 401' }, { mistake: 'incomplete-body' });
    expect(explained({ [first]: 'fail 401' }, [...alike, other])).toEqual([]);
  });

  it('is certain of the mistake alone where a variant with fewer outcomes fits better', () => {
    const outcomes = { [first]: 'fail 401', [second]: 'fail 401', [third]: 'fail 401' };
    const found = (missing: string, rival: Record<string, string>) => {
      const best = fault('best', { ...outcomes, 'raw-body/indent-4': missing });
      return explained(outcomes, [best, fault('rival', rival)]);
    };
    const { [third]: _, ...two } = outcomes;
    expect(found('fail 401', two)).toMatchObject([{ fault: { name: 'best' }, isExact: false }]);
    expect(found('fail 401', { [first]: 'fail 401' })).toMatchObject([{ fault: { name: 'best' }, isExact: true }]);
    // A warning counts less than a failure, so more than 80 % are confirmed.
    expect(found('warn 401', two)).toMatchObject([{ fault: { name: 'best' }, isExact: true }]);
  });

  it('names the one to which the others are declared equivalent', () => {
    const equivalentTo = { name: 'b-original', reason: 'They do the same.' };
    const faults = [
      fault('a-copy', { [first]: 'fail 401' }, { equivalentTo }),
      fault('b-original', { [first]: 'fail 401' }),
    ];
    expect(named({ [first]: 'fail 401' }, faults)).toEqual([['b-original', 'a-copy']]);
    expect(explained({ [first]: 'fail 401' }, faults)[0]?.isExact).toBe(true);
  });
});
