/** A sample of each table; `npm run proofs -- tls-matrix` measures all cells. */
import { afterAll, describe, expect, it } from 'vitest';
import { lacks } from '../../setup/programs.ts';
import { type Cell, measure, nameOf, testedSample, traitsOf } from './cell.ts';
import { openTable, TABLE_NAMES } from './matrix.ts';

describe.each(TABLE_NAMES)('the table %s', (name) => {
  const { cells, close } = openTable(name);
  const tested = testedSample(cells);
  const traitsIn = (some: readonly Cell[]) => new Set(some.flatMap(traitsOf));
  afterAll(close);

  describe.concurrent('has the expected outcomes', () => {
    for (const cell of tested) {
      const skipped = cell.program !== undefined && lacks(cell.program);
      it.skipIf(skipped)(nameOf(cell), { timeout: 120_000 }, async () => {
        expect((await measure(cell)).differences).toEqual([]);
      });
    }
  });

  it('has every expected outcome, every server and every choice of versions in its sample', () => {
    const covered = traitsIn(tested);
    expect([...traitsIn(cells)].filter((trait) => !covered.has(trait))).toEqual([]);
  });

  it('needs every cell of its sample', () => {
    for (const one of tested) {
      const others = traitsIn(tested.filter((cell) => cell !== one));
      expect(traitsOf(one).every((trait) => others.has(trait))).toBe(false);
    }
  });
});
