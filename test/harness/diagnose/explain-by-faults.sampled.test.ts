import { describe, expect, inject, it } from 'vitest';
import { MISTAKES } from '../../../contract/mistakes/index.ts';
import { isPossible, outcomesIn } from '../../../harness/diagnose/diagnose.ts';
import { explainByFaults } from '../../../harness/diagnose/explain-by-faults.ts';
import { type DictionaryFault, loadDictionary } from '../../../harness/diagnose/index.ts';
import { answerOf, outcomeOf } from '../../../harness/diagnose/outcome.ts';
import { CATALOGUE, type Feature } from '../../../scenarios/index.ts';
import { faultCalled, redOutcomes, resultsWith } from './played.ts';

const dictionary = await loadDictionary();
const EVERYTHING: Feature[] = ['hmac', 'api-key'];

/** Checks that are a separate finding when every rejection or acceptance has the same wrong status. */
const STATUS = /^(?:valid\/plain|signature\/status|api-key\/status)$/;

/** Mutants that fail a check, but neither the first delivery nor only the checks of the status. */
const PLAYED = dictionary.faults.filter(
  (fault) =>
    fault.features.every((feature) => EVERYTHING.includes(feature)) &&
    Object.keys(redOutcomes(fault)).length > 0 &&
    !Object.keys(redOutcomes(fault)).some((id) => STATUS.test(id)),
);

/** One in this many mutants, or each of them. */
const ONE_IN = inject('whole') ? 1 : 10;

const explained = (outcomes: Record<string, string>, faults: readonly DictionaryFault[] = dictionary.faults) =>
  explainByFaults(outcomesIn(resultsWith(outcomes, EVERYTHING)), { ...dictionary, faults }, (fault) =>
    isPossible(fault, EVERYTHING),
  );

/** The names in the report, each with its equivalents. */
const named = (outcomes: Record<string, string>, faults?: readonly DictionaryFault[]) =>
  explained(outcomes, faults)
    .filter(({ isNamed }) => isNamed)
    .flatMap(({ candidates: [first] }) => (first === undefined ? [] : [[first.fault.name, ...first.alike]]));

const outcomesOf = (name: string) => redOutcomes(faultCalled(dictionary, name));

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

  it.each([
    ['fail 200', 'accepted'],
    ['fail 302', 'rejected'],
    ['warn 403', 'rejected'],
    ['fail 502', 'crashed'],
    ['fail closed', 'crashed'],
    ['fail silence', 'silence'],
    ['fail stack-trace', 'stack-trace'],
  ])('%s is of the kind %s', (outcome, kind) => {
    expect(answerOf(outcome).kind).toBe(kind);
  });
});

describe('the dictionary', () => {
  it('has mutants of existing mistakes, and outcomes of existing scenarios', () => {
    expect(dictionary.faults.length).toBeGreaterThanOrEqual(130);
    const ids = new Set(CATALOGUE.flatMap(({ scenarios }) => scenarios.map(({ id }) => id)));
    for (const { name, mistake, outcomes } of dictionary.faults) {
      expect([name, Object.hasOwn(MISTAKES, mistake)]).toEqual([name, true]);
      expect([name, Object.keys(outcomes).filter((id) => !ids.has(id))]).toEqual([name, []]);
    }
  });
});

describe('an endpoint that behaves exactly like one mutant', () => {
  const sample = PLAYED.filter((_, at) => at % ONE_IN === 0);
  const isOf = (fault: DictionaryFault, names: readonly string[]) =>
    names.includes(fault.name) || (fault.equivalentTo !== undefined && names.includes(fault.equivalentTo.name));

  it('is never named first as another one', () => {
    const wrong = sample.filter((fault) => {
      const [first] = explained(redOutcomes(fault));
      return (
        first?.isNamed === true &&
        !isOf(
          fault,
          first.candidates.map((one) => one.fault.name),
        )
      );
    });
    expect(wrong.map(({ name }) => name)).toEqual([]);
  });

  it('is nearly always named, or on the list of candidates', () => {
    const found = sample.filter((fault) =>
      explained(redOutcomes(fault)).some(({ candidates }) =>
        isOf(
          fault,
          candidates.map((one) => one.fault.name),
        ),
      ),
    );
    expect(found.length / sample.length).toBeGreaterThan(0.93);
  });

  it('is compared only in the checks that were judged', () => {
    const fault = faultCalled(dictionary, 'verifies-reserialised-json');
    const features: Feature[] = ['hmac', 'api-key', 'https', 'mtls'];
    const outcomes = outcomesIn(resultsWith(redOutcomes(fault), features));
    expect(explainByFaults(outcomes, dictionary)[0]?.candidates[0]?.fault.name).toBe(fault.name);
  });
});

describe('an endpoint that is slightly different', () => {
  it('is named when it closes connections where the mutant answers 500', () => {
    const closed = Object.fromEntries(
      Object.entries(outcomesOf('broken-json-answers-500')).map(([id, outcome]) => [
        id,
        outcome.replace('500', 'closed'),
      ]),
    );
    const names = explained(closed).flatMap(({ candidates }) => candidates.map(({ fault }) => fault.name));
    expect(names.some((name) => name.startsWith('broken-json-'))).toBe(true);
  });

  it('is not named as one that closes connections where it answers', () => {
    const answered = Object.entries(outcomesOf('broken-json-ends-the-process')).map(([id, outcome]) => [
      id,
      outcome.replace('closed', '500'),
    ]);
    expect(named(Object.fromEntries(answered)).flat()).not.toContain('broken-json-ends-the-process');
  });

  it('is not named as one that rejects every delivery, if only some are rejected', () => {
    expect(named({ 'valid/plain': 'fail 401' })).toEqual([]);
  });

  it('is named with one of two outcomes, and not with one of three', () => {
    expect(named({ 'signature/secret-null': 'fail 200' })).toContainEqual(['secret-null-accepted']);
    expect(Object.keys(outcomesOf('api-key-last-character-ignored'))).toHaveLength(3);
    expect(named({ 'api-key/last-character-changed': 'fail 200' })).toEqual([]);
  });

  it('is named when it leaks more than the mutant', () => {
    const outcomes = outcomesOf('expected-signature-in-header');
    const more = { ...outcomes, 'leaks/nowhere': outcomes['leaks/nowhere']?.replace(' ', ' credential-part, ') ?? '' };
    expect(named(more).flat()).toContain('expected-signature-in-header');
  });

  it('is not named as one that checks nothing, if it rejects the first forgeries of the run', () => {
    const { 'signature/other-secret': first, ...later } = outcomesOf('signature-not-checked');
    expect(first).toBe('fail 200');
    expect(named(later).flat()).not.toContain('signature-not-checked');
  });

  it('is not named when it rejects some plain valid deliveries by chance', () => {
    const unsteady = { 'valid/steady': 'warn seen' };
    const [found] = explained({ ...outcomesOf('refuses-deposits'), ...unsteady });
    expect([found?.isNamed, found?.candidates[0]?.fault.name]).toEqual([false, 'refuses-deposits']);
    expect(named(outcomesOf('body-joined-to-previous')).flat()).toContain('body-joined-to-previous');
  });

  it('is named however many checks fail', () => {
    const more = { 'malformed/unsigned-1-mb': 'fail 200', 'api-key/wrong-with-large-body': 'fail 200' };
    expect(named({ ...outcomesOf('either-credential'), ...more })[0]).toContain('either-credential');
  });

  it('is named despite another failure that no mutant has', () => {
    expect(named({ ...outcomesOf('hashes-at-most-1-kib'), 'valid/sell': 'fail 451' })).toContainEqual([
      'hashes-at-most-1-kib',
    ]);
  });

  it('is named despite warnings that depend on the HTTP stack', () => {
    const warnings = {
      'http/method-options': 'warn 500',
      'http/header-16-kb': 'warn 431',
      'leaks/uniform-across-checks': 'warn 401',
    };
    expect(named({ ...outcomesOf('default-secret-accepted'), ...warnings })[0]).toContain('default-secret-accepted');
  });
});

describe('an endpoint that matches no mutant', () => {
  it('is not named', () => {
    const strange = Object.fromEntries(
      CATALOGUE.flatMap(({ scenarios }) => scenarios)
        .filter((_, at) => at % 7 === 3)
        .map(({ id }) => [id, 'fail 451']),
    );
    expect(named(strange)).toEqual([]);
    expect(explained({})).toEqual([]);
  });

  it('is not named after a fault whose defining checks pass', () => {
    const outcomes = outcomesOf('refuses-deposits');
    const half = Object.fromEntries(Object.entries(outcomes).filter((_, at) => at % 2 === 0));
    expect(named(half).flat()).not.toContain('refuses-deposits');
  });
});

describe('several faults at once', () => {
  it.each([
    ['verifies-reserialised-json', 'api-key-case-ignored'],
    ['missing-signature-accepted', 'closes-the-list-of-types'],
    ['hashes-at-most-1-kib', 'api-key-missing-is-500'],
    ['default-secret-accepted', 'refuses-refunds'],
    ['verifies-reserialised-json', 'api-key-case-ignored', 'refuses-wallets'],
  ])('are all named: %s, %s', (...faults) => {
    const outcomes = Object.assign({}, ...faults.map(outcomesOf));
    expect(named(outcomes).flat()).toEqual(expect.arrayContaining(faults));
  });

  it('are both found when they accept together what each alone rejects', () => {
    const sum = {
      ...outcomesOf('signature-not-checked'),
      ...outcomesOf('api-key-not-checked'),
      'combination/wrong-signature-wrong-key': 'fail 200',
      'combination/wrong-signature-missing-key': 'fail 200',
      'combination/missing-signature-wrong-key': 'fail 200',
      'combination/missing-signature-missing-key': 'fail 200',
    };
    const found = explained(sum).map(({ candidates: [first] }) => first?.fault.name);
    expect(found).toEqual(['signature-not-checked', 'api-key-not-checked']);
  });
});

describe('the posterior', () => {
  const [first, second, third] = ['raw-body/spaces', 'raw-body/tabs', 'raw-body/indent-2'] as const;
  const original = faultCalled(dictionary, 'verifies-reserialised-json');
  const fault = (name: string, outcomes: Record<string, string>, more: Partial<DictionaryFault> = {}) => ({
    ...original,
    name,
    outcomes,
    ...more,
  });
  /** Enough other faults to make each single one rare. */
  const others = Array.from({ length: 200 }, (_, at) => fault(`other-${at}`, { 'valid/sell': 'fail 400' }));
  const candidatesOf = (faults: DictionaryFault[], outcomes: Record<string, string>) =>
    explained(outcomes, [...faults, ...others]).map(({ isNamed, candidates }) => ({
      isNamed,
      names: candidates.map((one) => one.fault.name),
    }));

  it('prefers the fault whose outcomes all agree', () => {
    const faults = [
      fault('exact', { [first]: 'fail 401', [second]: 'fail 401' }),
      fault('wider', { [first]: 'fail 401', [second]: 'fail 401', [third]: 'fail 401' }),
    ];
    expect(candidatesOf(faults, { [first]: 'fail 401', [second]: 'fail 401' })[0]).toEqual({
      isNamed: true,
      names: ['exact'],
    });
  });

  it('lists faults that the run cannot separate, in any order of names', () => {
    const faults = [fault('b', { [first]: 'fail 401' }), fault('a', { [first]: 'fail 401' })];
    const [found] = candidatesOf(faults, { [first]: 'fail 401' });
    expect([found?.isNamed, found?.names.toSorted()]).toEqual([false, ['a', 'b']]);
  });

  it('names the one to which the others are declared equivalent', () => {
    const equivalentTo = { name: 'b-original', reason: 'They do the same.' };
    const faults = [
      fault('a-copy', { [first]: 'fail 401' }, { equivalentTo }),
      fault('b-original', { [first]: 'fail 401' }),
    ];
    expect(named({ [first]: 'fail 401' }, [...faults, ...others])).toEqual([['b-original', 'a-copy']]);
  });

  it('never takes an accepted forgery for a rejected one', () => {
    const faults = [fault('accepts', { 'signature/missing': 'fail 200' }, { area: 'signature' })];
    expect(candidatesOf(faults, { 'signature/missing': 'fail 400' })).toEqual([]);
  });

  it('ignores checks that no mutant fails, which are newer than the dictionary', () => {
    const faults = [fault('mine', { [first]: 'fail 401' })];
    expect(candidatesOf(faults, { [first]: 'fail 401', [third]: 'fail 401', [second]: 'fail 401' })[0]).toEqual({
      isNamed: true,
      names: ['mine'],
    });
  });
});
