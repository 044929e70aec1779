/** That what the tests play of the tables stands for the rest, which only `npm run tls-matrix` plays. */
import { describe, expect, it } from 'vitest';
import { type Cell, isCannotServe } from './cell.ts';
import { openTable, type TableName } from './matrix.ts';

/** What is due of a server, which server it is, and what it speaks. */
function kindsIn({ expected, server, spoken, program }: Cell): string[] {
  const due = isCannotServe(expected)
    ? ['cannot serve']
    : Object.entries(expected).map(([id, word]) => `${word} ${id}`);
  return [...due, `server ${server}`, `spoken ${spoken}`, `program ${program ?? 'none'}`];
}

describe.each<TableName>(['servers', 'clients', 'protocols', 'right'])('what is tested of the table %s', (name) => {
  const { cells } = openTable(name);
  const tested = cells.filter(({ documentOnly }) => documentOnly !== true);

  it('has every verdict of every scenario that any cell has to hear, every server and every choice of versions', () => {
    const here = new Set(tested.flatMap(kindsIn));
    expect([...new Set(cells.flatMap(kindsIn))].filter((kind) => !here.has(kind))).toEqual([]);
  });

  it('would be seen to lack something', () => {
    const [left, ...rest] = name === 'right' ? tested.toReversed() : tested;
    const here = new Set(rest.filter(({ server }) => server !== left?.server).flatMap(kindsIn));
    expect(kindsIn(left as Cell).filter((kind) => !here.has(kind))).toContain(`server ${left?.server}`);
  });
});
