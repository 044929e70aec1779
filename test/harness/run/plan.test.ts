import { describe, expect, it } from 'vitest';
import { EFFECT_DECIMALS } from '../../../contract/index.ts';
import { planScenarios, type Selection } from '../../../harness/run/plan.ts';
import { CATALOGUE, FEATURES, type Feature } from '../../../scenarios/index.ts';

const ALL = { features: ['hmac', 'api-key'] as Feature[], isExposed: false };

function plan(selection: Partial<Selection> = {}, target: Parameters<typeof planScenarios>[0] = ALL) {
  return planScenarios(target, { suites: [], scenarios: [], greps: [], shard: null, ...selection });
}

const ids = (planned: ReturnType<typeof plan>) => planned.map(({ scenario }) => scenario.id);
const total = CATALOGUE.flatMap(({ scenarios }) => scenarios).length;

describe('the plan of a run', () => {
  it('contains the whole catalogue, in its order, without a selection', () => {
    expect(ids(plan())).toEqual(CATALOGUE.flatMap(({ scenarios }) => scenarios.map(({ id }) => id)));
    const decimals = Object.values(EFFECT_DECIMALS);
    const everything = plan({}, { features: [...FEATURES], decimals, isExposed: false });
    expect(everything.filter(({ obstacle }) => obstacle !== null)).toEqual([]);
  });

  it('narrows by suite, scenario and pattern together', () => {
    expect(new Set(plan({ suites: ['api-key', 'leaks'] }).map(({ suite }) => suite))).toEqual(
      new Set(['api-key', 'leaks']),
    );
    expect(ids(plan({ scenarios: ['signature/missing'] }))).toEqual(['signature/missing']);
    expect(ids(plan({ suites: ['signature'], greps: ['signature/MISSING-as-text'] }))).toEqual([
      'signature/missing-as-text',
    ]);
    expect(() => plan({ suites: ['valid'], scenarios: ['signature/missing'] })).toThrow(
      'the selection matches no check',
    );
  });

  it('finds patterns as text, in which * stands for any characters', () => {
    const found = (...greps: string[]) => ids(plan({ greps }));
    expect(found('valid/plain')).toContain('valid/plain');
    expect(found('VALID/*ain')).toContain('valid/plain');
    expect(found('signature/*text')).toEqual(expect.arrayContaining(['signature/missing-as-text']));
    expect(() => found('valid/plain*valid/plain')).toThrow('no check has');
    expect(found('missing', 'valid/plain')).toEqual(expect.arrayContaining(['signature/missing', 'valid/plain']));
    expect(found('*')).toHaveLength(total);
  });

  it('takes no time for a pattern that a regular expression would search for hours', () => {
    const hostile = [
      '^(([a-z /-])+.?)+[A-Z]$',
      '(a|a|b?)*'.repeat(50),
      `${'a*'.repeat(100_000)}`,
      'x'.repeat(1_000_000),
    ];
    for (const pattern of hostile) expect(() => plan({ greps: [pattern] })).toThrow('in its id or title');
    expect(ids(plan({ greps: ['*'.repeat(1_000_000)] }))).toHaveLength(total);
  });

  it('contains the scenarios that do not apply, with the reason', () => {
    const obstacles = (features: Feature[], isExposed = false) =>
      new Map(plan({}, { features, isExposed }).map(({ scenario, obstacle }) => [scenario.id, obstacle]));
    expect(plan({}, { features: [], isExposed: false })).toHaveLength(total);
    expect(obstacles(['api-key']).get('signature/missing')).toBe('the feature hmac is not configured');
    expect(obstacles(['hmac']).get('api-key/missing')).toBe('the feature api-key is not configured');
    expect(obstacles(['hmac']).get('valid/plain')).toBeNull();
    expect(obstacles(['hmac']).get('tls/not-expired')).toBe('the feature https is not configured');
    expect(obstacles(['https', 'mtls']).get('mtls/tls-1-3-expired')).toBe(
      'the feature fixture-expired is not configured',
    );
  });

  it('contains the checks of amounts for which an asset is configured', () => {
    const target = { features: ['effects'] as const, decimals: [2, 18], isExposed: false };
    const planned = plan({ greps: ['effects/amount-'] }, target);
    expect(new Map(planned.map(({ scenario, obstacle }) => [scenario.id, obstacle]))).toEqual(
      new Map([
        ...[0, 6, 8].map((n) => [`effects/amount-${n}-decimals`, `no asset with ${n} decimals is configured`] as const),
        ...['2-decimals', '18-decimals', '38-digits', '78-digits'].map((id) => [`effects/amount-${id}`, null] as const),
      ]),
    );
  });

  it('does not send the secret itself over plain HTTP to another machine', () => {
    const kept = plan({}, { ...ALL, isExposed: true }).filter(({ obstacle }) => obstacle?.startsWith('it sends'));
    expect(ids(kept)).toEqual(['signature/secret-itself', 'signature/secret-in-base64', 'signature/secret-as-bearer']);
  });

  it('assigns every scenario to exactly one shard, with shards of equal size', () => {
    const shards = [1, 2, 3].map((index) => ids(plan({ shard: { index, of: 3 } })));
    expect(shards.flat().toSorted()).toEqual(ids(plan()).toSorted());
    expect(
      Math.max(...shards.map((shard) => shard.length)) - Math.min(...shards.map((shard) => shard.length)),
    ).toBeLessThanOrEqual(1);
    expect(() => plan({ scenarios: ['signature/missing'], shard: { index: 2, of: 2 } })).toThrow(
      'shard 2/2 is empty: 1 check is selected',
    );
  });

  it('rejects unknown names, and suggests the nearest one', () => {
    const hint = (selection: Partial<Selection>) => {
      try {
        plan(selection);
      } catch (error) {
        return (error as { hint: string }).hint;
      }
      return 'accepted';
    };
    expect(hint({ suites: ['signatures'] })).toContain('Did you mean "signature"?');
    expect(hint({ scenarios: ['signature/mising'] })).toContain('Did you mean "signature/missing"?');
    expect(() => plan({ greps: ['^valid/', 'valid/'] })).toThrow('no check has "^valid/" in its id or title');
  });
});
