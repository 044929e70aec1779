/** A table as tests: each cell that belongs into every test run, as it says. */
import { afterAll, describe, expect, it } from 'vitest';
import { lacks } from '../../setup/programs.ts';
import { measure, nameOf, shareOf } from './cell.ts';
import { openTable, type TableName } from './matrix.ts';

export function holdTable(name: TableName): void {
  const { cells, close } = openTable(name);
  afterAll(close);
  const tested = shareOf(cells);
  describe.concurrent(name, () => {
    for (const cell of tested) {
      const skipped = cell.program !== undefined && lacks(cell.program);
      it.skipIf(skipped)(nameOf(cell), { timeout: 120_000 }, async () => {
        expect((await measure(cell)).differences).toEqual([]);
      });
    }
  });
}
