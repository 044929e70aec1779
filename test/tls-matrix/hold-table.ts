/** A table as tests: each cell that belongs into every test run, as it says. */
import { afterAll, describe, expect, it } from 'vitest';
import { measure, nameOf } from './cell.ts';
import { openTable, type TableName } from './matrix.ts';
import { NGINX } from './servers/nginx.ts';
import { HAS_OPENSSL } from './servers/s-server.ts';
import { shareOf } from './share.ts';

const HERE = { nginx: NGINX !== undefined, openssl: HAS_OPENSSL } as const;

export function holdTable(name: TableName): void {
  const { cells, close } = openTable(name);
  afterAll(close);
  const tested = shareOf(cells);
  for (const program of Object.keys(HERE) as (keyof typeof HERE)[]) {
    const count = tested.filter((cell) => cell.program === program).length;
    if (count > 0 && !HERE[program]) {
      process.stderr.write(`skipped: ${count} cells of the table ${name}, because there is no ${program} here\n`);
    }
  }
  describe.concurrent(name, () => {
    for (const cell of tested) {
      const skipped = cell.program !== undefined && !HERE[cell.program];
      it.skipIf(skipped)(nameOf(cell), { timeout: 120_000 }, async () => {
        expect((await measure(cell)).differences).toEqual([]);
      });
    }
  });
}
