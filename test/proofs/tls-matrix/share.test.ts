/** That what the tests play of the tables stands for the rest, which only `npm run proofs -- tls-matrix` plays. */
import { describe, expect, it } from 'vitest';
import { type Cell, kindsIn, shareOf } from './cell.ts';
import { openTable, type TableName } from './matrix.ts';

describe.each<TableName>(['servers', 'clients', 'protocols', 'right'])('what is tested of the table %s', (name) => {
  const { cells } = openTable(name);
  const tested = shareOf(cells);

  it('has every verdict of every scenario that any cell has to hear, every server and every choice of versions', () => {
    const here = new Set(tested.flatMap(kindsIn));
    expect([...new Set(cells.flatMap(kindsIn))].filter((kind) => !here.has(kind))).toEqual([]);
  });

  it('would lack something without any one of them', () => {
    for (const one of tested) {
      const others = new Set(tested.filter((cell) => cell !== one).flatMap(kindsIn));
      expect(kindsIn(one as Cell).every((kind) => others.has(kind))).toBe(false);
    }
  });
});
