import type { MistakeId } from '../contract/mistakes/index.ts';
import type { Fault } from './fault.ts';

/** What a row replaces: the stage; otherwise what a mutant of the connection, the effects or the log has instead. */
type Replaces<F extends Fault> = F extends { readonly replace: infer Replace } ? Replace | Partial<F> : Partial<F>;

/** A mutant as a row: its stable name, the defect as the receiver's behaviour, its mistake, the replaced stage. */
export type Row<F extends Fault> = readonly [
  name: string,
  title: string,
  mistake: MistakeId,
  replaces: Replaces<F>,
  own?: Partial<F>,
];

/** The mutants of a family, which have `shared` in common unless a row has its own. */
export function family<F extends Fault>(shared: Partial<F>, rows: readonly Row<F>[]): F[] {
  return rows.map(([name, title, mistake, replaces, own]) => {
    const replacement = typeof replaces === 'function' ? { replace: replaces } : replaces;
    return { ...shared, name, title, mistake, ...replacement, ...own } as F;
  });
}
