import { describe, expect, it } from 'vitest';
import { FOREIGN_SCHEMES, type Scheme } from '../../contract/signing/index.ts';
import {
  CATALOGUE,
  catalogueDigest,
  changedStages,
  hasDefect,
  REQUIREMENTS,
  type Requirement,
  type Scenario,
  STATEMENTS,
  type Suite,
} from '../../scenarios/index.ts';

const SCENARIOS = CATALOGUE.flatMap(({ scenarios }) => scenarios);
const REGISTER: readonly Requirement[] = REQUIREMENTS;

function repeated(values: readonly string[]): string[] {
  return [...new Set(values.filter((value, at) => values.indexOf(value) !== at))];
}

describe('the catalogue', () => {
  it('has suites with unique names, none of them empty', () => {
    expect(repeated(CATALOGUE.map(({ name }) => name))).toEqual([]);
    expect(CATALOGUE.filter(({ scenarios }) => scenarios.length === 0)).toEqual([]);
  });

  it('has unique ids of the form suite/slug', () => {
    const slug = /^[a-z0-9]+(?:-[a-z0-9]+)*\/[a-z0-9]+(?:-[a-z0-9]+)*$/;
    const ids = CATALOGUE.flatMap(({ name, scenarios }) => scenarios.map(({ id }) => ({ name, id })));
    expect(ids.filter(({ name, id }) => !id.startsWith(`${name}/`) || !slug.test(id))).toEqual([]);
    expect(repeated(ids.map(({ id }) => id))).toEqual([]);
  });

  it('has no title twice', () => {
    expect(repeated(SCENARIOS.map(({ title }) => title))).toEqual([]);
  });

  it('has a defect for every scenario that can fail', () => {
    expect(SCENARIOS.filter((scenario) => !hasDefect(scenario)).map(({ id }) => id)).toEqual([]);
  });

  it('has at least one requirement for every scenario, and no requirement twice', () => {
    const unsound = SCENARIOS.filter(({ requirements: all }) => all.length === 0 || repeated(all).length > 0);
    expect(unsound.map(({ id }) => id)).toEqual([]);
  });

  it('changes one stage of the sender in nearly every probe, and never more than three', () => {
    const changed = SCENARIOS.flatMap((one) => ('change' in one ? [changedStages(one.change).length] : []));
    expect(changed.filter((count) => count > 1).length).toBeLessThan(changed.length / 8);
    expect(Math.max(...changed)).toBeLessThanOrEqual(3);
  });
});

describe('the register of requirements', () => {
  const judged = new Set<string>(SCENARIOS.flatMap(({ requirements }) => requirements));

  it('has every requirement that a scenario names, once', () => {
    expect(repeated(REGISTER.map(({ id }) => id))).toEqual([]);
    expect([...judged].filter((name) => !REGISTER.some(({ id }) => id === name))).toEqual([]);
  });

  it('has a scenario or a reason for every requirement, and never both', () => {
    const unsound = REGISTER.filter(({ id, untested = '' }) => judged.has(id) === (untested.trim() !== ''));
    expect(unsound.map(({ id }) => id)).toEqual([]);
  });

  it('has no scenario that is stricter than every requirement that it names', () => {
    const rank = { must: 2, should: 1, info: 0 };
    const strictest = (names: readonly string[]) =>
      Math.max(...REGISTER.filter(({ id }) => names.includes(id)).map(({ level }) => rank[level]));
    const unsound = SCENARIOS.filter(({ level, requirements }) => rank[level] > strictest(requirements));
    expect(unsound.map(({ id }) => id)).toEqual([]);
  });

  it('has a basis for every requirement: a statement of its section, or a ruling', () => {
    const based = (entry: Requirement) =>
      entry.section === 'ruling' ||
      STATEMENTS.some(({ section, entries }) => section === entry.section && entries.some((id) => id === entry.id));
    expect(REGISTER.filter((entry) => !based(entry)).map(({ id }) => id)).toEqual([]);
  });

  it('lists every ruling with a statement that leaves the question open', () => {
    const named = new Set<string>(STATEMENTS.flatMap(({ entries }) => entries));
    expect(REGISTER.filter(({ id }) => !named.has(id)).map(({ id }) => id)).toEqual([]);
  });

  it('has an entry or a reason for every statement, and never both', () => {
    const unsound = STATEMENTS.filter(({ entries, none }) => entries.length > 0 === (none !== undefined));
    expect(unsound.map(({ says }) => says)).toEqual([]);
  });
});

describe('the digest of the catalogue', () => {
  const whole = CATALOGUE as Suite[];
  /** Returns the digest of the catalogue with a changed first scenario. */
  function digestWith(change: (first: Scenario) => Scenario): string {
    const [first] = whole;
    whole[0] = { ...first!, scenarios: first!.scenarios.with(0, change(first!.scenarios[0]!)) };
    try {
      return catalogueDigest();
    } finally {
      whole[0] = first!;
    }
  }

  it('does not depend on texts or on the order of requirements', () => {
    const digest = catalogueDigest();
    expect(digest).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(digestWith((one) => ({ ...one, title: 'Other words', fix: 'Other words.' }))).toBe(digest);
    expect(digestWith((one) => ({ ...one, requirements: one.requirements.toReversed() }))).toBe(digest);
  });

  it('in a scheme, changes with what defines the scheme, and not with its words or the order of its members', () => {
    const scheme = FOREIGN_SCHEMES[0] as Scheme;
    const digest = catalogueDigest(scheme);
    const reversed = Object.fromEntries(Object.entries(scheme.headers).toReversed());
    expect(catalogueDigest({ ...scheme, title: 'Other', samples: [], headers: reversed })).toBe(digest);
    const others = [undefined, { ...scheme, toleranceSeconds: 301 }, { ...scheme, headers: { a: '{signature}' } }];
    expect(new Set([digest, ...others.map((one) => catalogueDigest(one))]).size).toBe(4);
  });

  it.each<[string, (one: Scenario) => Scenario]>([
    ['an id', (one) => ({ ...one, id: 'valid/other' })],
    ['a level', (one) => ({ ...one, level: one.level === 'must' ? 'should' : 'must' })],
    ['a requirement', (one) => ({ ...one, requirements: [...one.requirements, 'tls-key'] })],
    ['a feature', (one) => ({ ...one, needs: ['mtls'] })],
  ])('changes with %s', (_, change) => {
    expect(digestWith(change)).not.toBe(catalogueDigest());
  });
});
