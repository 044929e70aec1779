import { describe, expect, it } from 'vitest';
import {
  CATALOGUE,
  catalogueDigest,
  changedStages,
  REQUIREMENTS,
  type Scenario,
  type Suite,
} from '../../scenarios/index.ts';
import { idFaults, registerFaults, repeated, textFaults } from './catalogue-rules.ts';

const SCENARIOS = CATALOGUE.flatMap(({ scenarios }) => scenarios);

/** A made-up scenario: only what the rules look at. */
function scenario(id: string, requirements: readonly string[]): Scenario {
  return { ...SCENARIOS[0]!, id, requirements: requirements as Scenario['requirements'] };
}

function suite(name: string, ...scenarios: Scenario[]): Suite {
  return { name, title: 'Made up', scenarios };
}

describe('the catalogue', () => {
  it('has suites with names of their own, none empty', () => {
    expect(repeated(CATALOGUE.map(({ name }) => name))).toEqual([]);
    expect(CATALOGUE.filter(({ scenarios }) => scenarios.length === 0)).toEqual([]);
  });

  it('has ids that are unique and suite/slug', () => {
    expect(idFaults(CATALOGUE)).toEqual([]);
  });

  it('says something else of every scenario, in sentences', () => {
    expect(SCENARIOS.flatMap(textFaults)).toEqual([]);
    expect(repeated(SCENARIOS.map(({ title }) => title))).toEqual([]);
  });

  it('names requirements in every scenario', () => {
    expect(SCENARIOS.filter(({ requirements }) => requirements.length === 0).map(({ id }) => id)).toEqual([]);
    expect(SCENARIOS.filter(({ requirements }) => repeated(requirements).length > 0).map(({ id }) => id)).toEqual([]);
  });

  it('changes one stage of the sender in nearly every probe, and never more than three', () => {
    const changed = SCENARIOS.flatMap((one) => ('change' in one ? [changedStages(one.change).length] : []));
    expect(changed.filter((count) => count > 1).length).toBeLessThan(changed.length / 8);
    expect(Math.max(...changed)).toBeLessThanOrEqual(3);
  });
});

describe('the register', () => {
  it('has a scenario or a reason for every must, and knows every id', () => {
    expect(registerFaults(REQUIREMENTS, CATALOGUE)).toEqual([]);
  });

  it('has a scenario or a reason for everything that binds the receiver', () => {
    const judged = new Set<string>(SCENARIOS.flatMap(({ requirements }) => requirements));
    const silent = REQUIREMENTS.filter((entry) => !judged.has(entry.id) && !('untested' in entry));
    expect(silent.map(({ id }) => id)).toEqual([]);
  });
});

describe('the rules', () => {
  const entry = { section: 'x', level: 'must', subject: 'receiver', text: 'x' } as const;

  it('are red for a made-up register', () => {
    const register = [
      { ...entry, id: 'judged' },
      { ...entry, id: 'silent' },
      { ...entry, id: 'both', untested: 'It cannot be seen.' },
      { ...entry, id: 'empty-reason', untested: ' ' },
      { ...entry, id: 'excused', untested: 'It cannot be seen.' },
      { ...entry, id: 'silent-should', level: 'should' as const },
      { ...entry, id: 'judged' },
    ];
    expect(registerFaults(register, [suite('a', scenario('a/b', ['judged', 'both', 'nowhere']))])).toEqual([
      'a/b: no requirement nowhere',
      'judged: twice in the register',
      'silent: neither a scenario nor a reason',
      'both: scenarios and a reason why there are none',
      'empty-reason: neither a scenario nor a reason',
    ]);
  });

  it('are red for made-up ids', () => {
    const ids = ['a/good-slug', 'a/good-slug', 'b/other-suite', 'a/Bad', 'a/', 'a/b/c'];
    expect(idFaults([suite('a', ...ids.map((id) => scenario(id, [])))])).toEqual([
      'b/other-suite: is not a/slug',
      'a/Bad: is not a/slug',
      'a/: is not a/slug',
      'a/b/c: is not a/slug',
      'a/good-slug: twice',
    ]);
  });

  it('are red for made-up texts', () => {
    const bare = { ...scenario('a/b', []), title: 'A title with a stop.', why: 'no', fix: 'Not a whole sentence' };
    expect(textFaults(bare)).toHaveLength(4);
  });
});

describe('the digest', () => {
  const whole = CATALOGUE as Suite[];
  /** The digest with the catalogue changed for the moment. */
  function digestWith(change: (first: Scenario) => Scenario): string {
    const [first] = whole;
    whole[0] = { ...first!, scenarios: first!.scenarios.with(0, change(first!.scenarios[0]!)) };
    try {
      return catalogueDigest();
    } finally {
      whole[0] = first!;
    }
  }

  it('is stable, and blind to words', () => {
    const digest = catalogueDigest();
    expect(digest).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(catalogueDigest()).toBe(digest);
    expect(digestWith((one) => ({ ...one, title: 'Other words', fix: 'Other words.' }))).toBe(digest);
    expect(digestWith((one) => ({ ...one, requirements: one.requirements.toReversed() }))).toBe(digest);
  });

  it.each<[string, (one: Scenario) => Scenario]>([
    ['an id', (one) => ({ ...one, id: 'valid/other' })],
    ['a level', (one) => ({ ...one, level: one.level === 'must' ? 'should' : 'must' })],
    ['a requirement', (one) => ({ ...one, requirements: [...one.requirements, 'tls-key'] })],
    ['a need', (one) => ({ ...one, needs: ['mtls'] })],
  ])('changes with %s', (_, change) => {
    expect(digestWith(change)).not.toBe(catalogueDigest());
  });
});
