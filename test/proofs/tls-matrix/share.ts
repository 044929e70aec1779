/** The share of a table that the tests play: as few cells as stand for all the others. */
import { type Cell, isCannotServe } from './cell.ts';

/** What is due of a server, which server it is, and what it speaks. */
export function kindsIn({ expected, server, spoken, program }: Cell): string[] {
  const due = isCannotServe(expected)
    ? ['cannot serve']
    : Object.entries(expected).map(([id, word]) => `${word} ${id}`);
  return [...due, `server ${server}`, `spoken ${spoken}`, `program ${program ?? 'none'}`];
}

/**
 * Every verdict of every scenario, every server and every choice of versions is due in one of these. `npm run proofs --
 * tls-matrix` plays the rest. What takes long is never among them.
 */
export function shareOf(cells: readonly Cell[]): readonly Cell[] {
  const quick = cells.filter(({ documentOnly }) => documentOnly !== true);
  const times = new Map<string, number>();
  for (const kind of quick.flatMap(kindsIn)) times.set(kind, (times.get(kind) ?? 0) + 1);
  // One that brings nothing that another one of those that are left does not bring is not needed.
  return quick.filter((cell) => {
    const kinds = kindsIn(cell);
    if (kinds.some((kind) => times.get(kind) === 1)) return true;
    for (const kind of kinds) times.set(kind, (times.get(kind) ?? 0) - 1);
    return false;
  });
}
