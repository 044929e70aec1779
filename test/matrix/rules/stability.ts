/** What is said of a mutant has to be said again the next time, and something has to be said. */
import type { Played } from '../played.ts';
import { type Complaint, type Matrix, several } from './matrix.ts';

/** Where a run could go on to its end, every scenario gets a verdict. */
export function undecidedCells({ runs }: Matrix): readonly Complaint[] {
  const messages = runs.flat().flatMap(({ name, kind, stopped, undecided }) => {
    const ids = Object.keys(undecided);
    if (kind !== 'fault' || stopped === 'gate' || stopped === 'down' || ids.length === 0) return [];
    return [`${name} gets no verdict for ${several(ids)}: ${Object.values(undecided)[0]}.`];
  });
  return [...new Set(messages)].map((message) => ({ rule: 'undecided', message }));
}

/** A cell as one text. */
function cellOf({ outcomes, undecided }: Played, id: string): string {
  return outcomes[id] ?? (undecided[id] === undefined ? 'pass' : 'no verdict');
}

export function flakyCells({ runs }: Matrix): readonly Complaint[] {
  const [first = [], ...others] = runs;
  return first.flatMap((one): Complaint[] => {
    const again = others.flatMap((run) => run.find(({ name }) => name === one.name) ?? []);
    const all = [one, ...again];
    const ids = new Set(
      all.flatMap(({ outcomes, undecided }) => [...Object.keys(outcomes), ...Object.keys(undecided)]),
    );
    const cells = [...ids].flatMap((id) => {
      const said = new Set(all.map((played) => cellOf(played, id)));
      return said.size > 1 ? [`${id} (${[...said].join(' or ')})`] : [];
    });
    const refusals = new Set(all.map(({ refusal }) => refusal ?? 'nothing'));
    if (refusals.size > 1) cells.push(`the refused control (${[...refusals].join(' or ')})`);
    if (cells.length === 0) return [];
    return [{ rule: 'flaky', message: `${one.name} differs over ${all.length} runs in ${several(cells)}.` }];
  });
}
