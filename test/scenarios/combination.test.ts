import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { combinationSuite } from '../../scenarios/suites/combination.ts';
import {
  anyCredentials,
  assemble,
  deliveriesOf,
  fakeKit,
  lies,
  someCredentials,
  statesOf,
} from './credential-check.ts';

const { scenarios } = combinationSuite;

describe('the combination suite', () => {
  it('covers every combination of signature and key, and accepts only valid with valid', () => {
    const kit = fakeKit(someCredentials());
    const table = scenarios.flatMap((one) =>
      deliveriesOf(one, kit).map(({ change, expect: { pass } }) => {
        const { signature, key } = statesOf(assemble(change, kit), kit);
        return [one.id, `${signature} signature, ${key} key`, pass];
      }),
    );
    expect(table).toEqual([
      ['combination/both-right', 'right signature, right key', [200]],
      ['combination/wrong-signature-right-key', 'wrong signature, right key', [401]],
      ['combination/missing-signature-right-key', 'missing signature, right key', [401]],
      ['combination/right-signature-wrong-key', 'right signature, wrong key', [401]],
      ['combination/right-signature-missing-key', 'right signature, missing key', [401]],
      ['combination/wrong-signature-wrong-key', 'wrong signature, wrong key', [401]],
      ['combination/wrong-signature-missing-key', 'wrong signature, missing key', [401]],
      ['combination/missing-signature-wrong-key', 'missing signature, wrong key', [401]],
      ['combination/missing-signature-missing-key', 'missing signature, missing key', [401]],
    ]);
  });

  it('needs both features', () => {
    expect(scenarios.map(({ needs }) => needs)).toEqual(scenarios.map(() => ['hmac', 'api-key']));
  });

  it('sends what its expectations say, with any credentials', () => {
    fc.assert(
      fc.property(anyCredentials, (credentials) => {
        expect(lies(scenarios, credentials)).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });
});
