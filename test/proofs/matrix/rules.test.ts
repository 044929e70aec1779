import { describe, expect, it } from 'vitest';
import { withoutUncertain } from './exceptions.ts';
import type { Played } from './play.ts';
import { complaintsAbout, type Matrix, type MatrixFault, type MatrixProbe } from './rules.ts';

type Made = Partial<Played> & Pick<Played, 'name'>;

function played(made: Made): Played {
  return {
    kind: 'fault',
    durationMs: 1,
    features: ['hmac', 'api-key'],
    outcomes: {},
    undecided: {},
    stopped: null,
    refusal: null,
    judged: 3,
    ...made,
  };
}

const fault = (name: string, more: Partial<MatrixFault> = {}): MatrixFault => ({
  name,
  area: 'signature',
  ...more,
});
const probe = (id: string, level: MatrixProbe['level'] = 'must'): MatrixProbe => ({ id, suite: 'made', level });

const NONE = played({ name: 'none', kind: 'right' });
const FIRST = played({ name: 'first', outcomes: { 'made/a': 'fail 200', 'made/b': 'fail 200' } });
const SECOND = played({ name: 'second', outcomes: { 'made/b': 'fail 200', 'made/c': 'warn 400' } });

/** A matrix of two mutants, three probes and the reference receiver, without a complaint. */
const SOUND: Matrix = {
  faults: [fault('first'), fault('second')],
  probes: [probe('made/a'), probe('made/b'), probe('made/c', 'should')],
  exempt: {},
  uncertain: [],
  runs: [[NONE, FIRST, SECOND]],
  leftOut: [],
};

/** Returns the sound matrix with another mutant and its outcomes. */
function withMutant(more: Partial<MatrixFault>, made: Omit<Made, 'name'>): Matrix {
  const name = 'third';
  return {
    ...SOUND,
    faults: [...SOUND.faults, fault(name, more)],
    runs: [[...(SOUND.runs[0] ?? []), played({ ...made, name })]],
  };
}

const said = (matrix: Matrix) => complaintsAbout(matrix).map(({ rule, message }) => `${rule}: ${message}`);

it('accept a sound matrix', () => {
  expect(said(SOUND)).toEqual([]);
});

describe('a mutant that survives', () => {
  it.each([
    [true, {}, ['survivor: third is forbidden and passes everything.']],
    [true, { 'made/c': 'warn 401' }, ['survivor: third is forbidden and only warned about (made/c).']],
    [true, { 'made/a': 'fail 401' }, []],
    [true, { 'made/a': 'fail 401', 'made/c': 'warn 401' }, []],
    [false, {}, ['survivor: third passes everything.']],
    [false, { 'made/c': 'warn 401' }, []],
  ])('forbidden %s with %j', (forbidden, outcomes, complaints) => {
    expect(said(withMutant(forbidden ? {} : { forbidden }, { outcomes }))).toEqual(complaints);
  });

  it('may also be one that was not played', () => {
    expect(said({ ...SOUND, faults: [...SOUND.faults, fault('lost')] })).toEqual(['survivor: lost was not played.']);
  });

  it('survives even if an outcome has no verdict', () => {
    const complaints = said(withMutant({}, { undecided: { 'made/a': 'the endpoint answered 503' } }));
    expect(complaints).toContain('survivor: third is forbidden and passes everything.');
  });
});

describe('a mutant that the specification allows', () => {
  it.each([
    [{ 'made/a': 'fail 401' }, ['fails-what-is-allowed: third is not forbidden and fails made/a.']],
    [
      { 'made/a': 'fail 401', 'made/c': 'warn 401' },
      ['fails-what-is-allowed: third is not forbidden and fails made/a.'],
    ],
    [{ 'made/c': 'warn 401' }, []],
  ])('may not fail: %j', (outcomes, complaints) => {
    expect(said(withMutant({ forbidden: false }, { outcomes }))).toEqual(complaints);
  });
});

describe('a probe', () => {
  const withProbe = (made: MatrixProbe, exempt: Matrix['exempt'] = {}): Matrix => ({
    ...SOUND,
    probes: [...SOUND.probes, made],
    exempt,
  });

  it('must kill a mutant', () => {
    expect(said(withProbe(probe('made/d')))).toEqual(['idle-probe: made/d kills nothing.']);
  });

  it('also kills by a warning', () => {
    expect(said(SOUND)).toEqual([]);
    const without = { ...SOUND, runs: [[NONE, FIRST, played({ ...SECOND, outcomes: { 'made/b': 'fail 200' } })]] };
    expect(said(without)).toContain('idle-probe: made/c kills nothing.');
  });

  it('does not kill by an alarm for a correct receiver', () => {
    const matrix = withProbe(probe('made/d'));
    const runs = [[played({ ...NONE, outcomes: { 'made/d': 'fail 401' } }), FIRST, SECOND]];
    expect(said({ ...matrix, runs })).toContain('idle-probe: made/d kills nothing.');
  });

  it('does not have to if it is exempt or only recorded', () => {
    expect(said(withProbe(probe('made/d'), { 'made/d': 'a control' }))).toEqual([]);
    expect(said(withProbe(probe('made/d', 'info')))).toEqual([]);
  });

  it('must not be exempt if it kills a mutant', () => {
    expect(said({ ...SOUND, exempt: { 'made/b': 'a control' } })).toEqual([
      'wrong-exemption: made/b is exempt but kills 2, for example first.',
    ]);
  });

  it('must exist to be exempt', () => {
    expect(said({ ...SOUND, exempt: { 'made/z': 'gone' } })).toEqual(['wrong-exemption: There is no scenario made/z.']);
  });
});

describe('a correct receiver', () => {
  const withCorrect = (made: Made): Matrix => ({ ...SOUND, runs: [[...(SOUND.runs[0] ?? []), played(made)]] });

  it.each(['right', 'correct'] as const)('of kind %s must pass everything', (kind) => {
    const name = 'correct:slow';
    expect(said(withCorrect({ name, kind }))).toEqual([]);
    expect(said(withCorrect({ name, kind, outcomes: { 'made/a': 'fail 500' } }))).toEqual([
      'alarm: correct:slow gets "fail 500" for made/a.',
    ]);
    expect(said(withCorrect({ name, kind, outcomes: { 'made/c': 'warn 413' } }))).toEqual([
      'alarm: correct:slow gets "warn 413" for made/c.',
    ]);
    expect(said(withCorrect({ name, kind, undecided: { 'made/a': 'rate-limited' } }))).toEqual([
      'alarm: correct:slow gets no verdict for made/a: rate-limited.',
    ]);
  });

  it('also raises an alarm in a later run', () => {
    const again = [played({ ...NONE, outcomes: { 'made/a': 'fail 500' } }), FIRST, SECOND];
    expect(said({ ...SOUND, runs: [...SOUND.runs, again] })).toContain('alarm: none gets "fail 500" for made/a.');
  });

  it('is reported if it is left out', () => {
    expect(said({ ...SOUND, leftOut: [{ name: 'correct:php', missing: ['php'] }] })).toEqual([
      'left-out: correct:php needs php. Install it, or pass --without-missing.',
    ]);
  });
});

describe('mutants that look the same', () => {
  const { outcomes } = FIRST;
  const same = 'indistinguishable: first = third, all red in made/a, made/b.';

  it('must be declared equivalent, in either direction', () => {
    expect(said(withMutant({}, { outcomes }))).toEqual([same]);
    expect(said(withMutant({ equivalentTo: { name: 'first', reason: 'same' } }, { outcomes }))).toEqual([]);
    const { runs, faults } = withMutant({}, { outcomes });
    const turned = faults.map((one) =>
      one.name === 'first' ? { ...one, equivalentTo: { name: 'third', reason: 'same' } } : one,
    );
    expect(said({ ...SOUND, runs, faults: turned })).toEqual([]);
  });

  it('differ by another status or by the finding about the rejection', () => {
    expect(said(withMutant({}, { outcomes: { ...outcomes, 'made/a': 'fail 202' } }))).toEqual([]);
    expect(said(withMutant({}, { outcomes, refusal: 'hex' }))).toEqual([]);
  });

  it('may be equivalent through a third one or in a cycle', () => {
    const matrix = withMutant({ equivalentTo: { name: 'first', reason: 'same' } }, { outcomes });
    const fourth = fault('fourth', { equivalentTo: { name: 'third', reason: 'same' } });
    const runs = [[...(matrix.runs[0] ?? []), played({ name: 'fourth', outcomes })]];
    expect(said({ ...matrix, faults: [...matrix.faults, fourth], runs })).toEqual([]);
    const circle = matrix.faults.map((one) =>
      one.name === 'first' ? { ...one, equivalentTo: { name: 'third', reason: 'same' } } : one,
    );
    expect(said({ ...matrix, faults: circle })).toEqual([]);
  });

  it('are two groups if no declaration joins them', () => {
    const matrix = withMutant({}, { outcomes });
    const fourth = fault('fourth', { equivalentTo: { name: 'third', reason: 'same' } });
    const runs = [[...(matrix.runs[0] ?? []), played({ name: 'fourth', outcomes })]];
    expect(said({ ...matrix, faults: [...matrix.faults, fourth], runs })).toEqual([
      'indistinguishable: first = third = fourth, all red in made/a, made/b.',
    ]);
  });

  it('must not be declared equivalent if they differ', () => {
    const equivalentTo = { name: 'first', reason: 'same' };
    expect(said(withMutant({ equivalentTo }, { outcomes: { ...outcomes, 'made/a': 'fail 202' } }))).toEqual([
      'differing-equivalents: third is declared equivalent to first, but differs in made/a.',
    ]);
    expect(said(withMutant({ equivalentTo }, { outcomes, refusal: 'hex' }))).toEqual([
      'differing-equivalents: third is declared equivalent to first, but differs in what a refused control was ' +
        'accepted as.',
    ]);
  });

  it.each([
    ['gone', 'gone, which does not exist'],
    ['third', 'itself'],
  ])('may not be declared equivalent to %s', (name, words) => {
    const matrix = withMutant({ equivalentTo: { name, reason: 'same' } }, { outcomes: { 'made/a': 'fail 202' } });
    expect(said(matrix)).toEqual([`unknown-equivalent: third is declared equivalent to ${words}.`]);
  });
});

describe('mutants that were played with different features', () => {
  const { outcomes } = FIRST;
  const features = ['hmac', 'api-key', 'https'];
  const overTls = (more: Partial<MatrixFault>, made: Omit<Made, 'name'>): Matrix => {
    const matrix = withMutant(more, { features, ...made });
    return { ...matrix, probes: [...matrix.probes, { ...probe('made/tls'), needs: ['https'] }], exempt: {} };
  };
  const withTls = { ...outcomes, 'made/tls': 'fail granted' };

  it('are compared in the scenarios that apply to both', () => {
    expect(said(overTls({}, { outcomes: withTls }))).toEqual([
      'indistinguishable: first = third, all red in made/a, made/b, as far as the same scenarios apply.',
    ]);
    expect(said(overTls({ equivalentTo: { name: 'first', reason: 'same' } }, { outcomes: withTls }))).toEqual([]);
  });

  it('differ if one of these differs or if they share none', () => {
    expect(said(overTls({}, { outcomes: { ...withTls, 'made/a': 'fail 202' } }))).toEqual([]);
    expect(said(overTls({}, { outcomes: { 'made/tls': 'fail granted' } }))).toEqual([]);
  });

  it('must not be declared equivalent if such a scenario differs', () => {
    const equivalentTo = { name: 'first', reason: 'same' };
    expect(said(overTls({ equivalentTo }, { outcomes: { ...withTls, 'made/a': 'fail 202' } }))).toEqual([
      'differing-equivalents: third is declared equivalent to first, but differs in made/a.',
    ]);
  });
});

describe('an outcome without a verdict', () => {
  const outcomes = { 'made/a': 'fail 503' };
  const undecided = { 'made/b': 'unavailable: the endpoint answered 503' };

  it('is reported', () => {
    expect(said(withMutant({}, { outcomes, undecided }))).toEqual([
      'undecided: third gets no verdict for made/b: unavailable: the endpoint answered 503.',
    ]);
    expect(said(withMutant({}, { outcomes, undecided, stopped: 'rate-limited' }))).toHaveLength(1);
  });

  it.each(['gate', 'down'] as const)('is expected if the run stopped early (%s)', (stopped) => {
    expect(said(withMutant({}, { outcomes, undecided, stopped }))).toEqual([]);
  });
});

describe('several runs', () => {
  const again = (...differing: Played[]): Matrix => {
    const run = [NONE, FIRST, SECOND].map((one) => differing.find(({ name }) => name === one.name) ?? one);
    return { ...SOUND, runs: [...SOUND.runs, SOUND.runs[0] ?? [], run] };
  };

  it('may agree', () => {
    expect(said(again())).toEqual([]);
  });

  it.each([
    ['another status', { outcomes: { ...SECOND.outcomes, 'made/c': 'warn 401' } }, 'made/c (warn 400 or warn 401)'],
    ['a pass', { outcomes: { 'made/b': 'fail 200' } }, 'made/c (warn 400 or pass)'],
    ['a new red', { outcomes: { ...SECOND.outcomes, 'made/a': 'fail 200' } }, 'made/a (pass or fail 200)'],
    ['a refused control', { refusal: 'hex' }, 'the refused control (nothing or hex)'],
  ])('must not differ by %s', (_what, differing, words) => {
    expect(said(again(played({ ...SECOND, ...differing })))).toEqual([
      `flaky: second differs over 3 runs in ${words}.`,
    ]);
  });

  it('must not differ by an outcome without a verdict', () => {
    const shaky = played({ ...SECOND, outcomes: { 'made/b': 'fail 200' }, undecided: { 'made/c': 'no answer' } });
    expect(said(again(shaky))).toContain('flaky: second differs over 3 runs in made/c (warn 400 or no verdict).');
  });
});

describe('an uncertain outcome', () => {
  const chance = { fault: 'second', scenarios: ['made/c'], reason: 'It depends on the order.' };

  it('is left out of what was played', () => {
    expect(withoutUncertain(SECOND, [chance]).outcomes).toEqual({ 'made/b': 'fail 200' });
    expect(withoutUncertain(FIRST, [chance])).toEqual(FIRST);
    const undecided = played({ ...SECOND, undecided: { 'made/c': 'no answer' } });
    expect(withoutUncertain(undecided, [chance]).undecided).toEqual({});
    expect(withoutUncertain(SECOND, [{ ...chance, scenarios: ['made/*'], sure: ['made/c'] }]).outcomes).toEqual({
      'made/c': 'warn 400',
    });
    expect(withoutUncertain(SECOND, [{ ...chance, scenarios: ['*'] }]).outcomes).toEqual({});
  });

  it('names a mutant and scenarios that exist', () => {
    expect(said({ ...SOUND, uncertain: [chance, { ...chance, scenarios: ['made/*'] }] })).toEqual([]);
    expect(said({ ...SOUND, uncertain: [{ ...chance, fault: 'gone' }] })).toEqual([
      'wrong-exemption: There is no mutant gone.',
    ]);
    expect(said({ ...SOUND, uncertain: [{ ...chance, scenarios: ['other/*'], sure: ['made/z'] }] })).toEqual([
      'wrong-exemption: There is no scenario other/*.',
      'wrong-exemption: There is no scenario made/z.',
    ]);
  });

  it('is declared for every intermittent mutant', () => {
    const matrix = withMutant({ comesAndGoes: true }, { outcomes: { 'made/a': 'fail 500' } });
    expect(said(matrix)).toEqual([
      'wrong-exemption: third comes and goes: say in uncertain-cells.ts which scenarios find it every time.',
    ]);
    expect(said({ ...matrix, uncertain: [{ ...chance, fault: 'third' }] })).toEqual([]);
  });
});
