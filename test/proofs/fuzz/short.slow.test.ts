/** The short form of `npm run proofs -- fuzz`: the same properties with a fixed seed and few inputs. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { FUZZ_TARGETS } from './index.ts';

const SEED = 16;

it.each(FUZZ_TARGETS.map(({ name, shows, ...target }) => [name, shows, target] as const))(
  '%s: %s',
  async (_name, _shows, { shortRuns, start }) => {
    const { property, stop } = await start();
    try {
      await fc.assert(property, { seed: SEED, numRuns: shortRuns });
    } finally {
      await stop();
    }
  },
);

it('names every target once', () => {
  const names = FUZZ_TARGETS.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});
