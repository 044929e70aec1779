import type { MistakeId } from '../contract/mistakes/index.ts';
import type { Fault } from './fault.ts';

/** What a row replaces: the stage; otherwise what a mutant of the connection, the effects or the log has instead. */
type Replaces<F extends Fault> = F extends { readonly replace: infer Replace } ? Replace | Partial<F> : Partial<F>;

/**
 * A mutant as a row, under its stable name: the defect as the receiver's behaviour, the replaced stage, and where they
 * are not those of the family, its mistake and what else it has.
 */
export type Row<F extends Fault> = readonly [
  title: string,
  replaces: Replaces<F>,
  mistake?: MistakeId | Partial<F>,
  own?: Partial<F>,
];

/** The mutants of a family, which have `shared` in common unless a row has its own. */
export function family<F extends Fault>(shared: Partial<F>, rows: Readonly<Record<string, Row<F>>>): F[] {
  return Object.entries(rows).map(([name, [title, replaces, mistake, own]]) => {
    const replacement = typeof replaces === 'function' ? { replace: replaces } : replaces;
    const more = typeof mistake === 'string' ? { mistake, ...own } : mistake;
    return { ...shared, name, title, ...replacement, ...more } as F;
  });
}
