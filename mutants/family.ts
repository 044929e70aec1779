import type { MistakeId } from '../contract/mistakes/index.ts';
import type { Fault } from './fault.ts';

/** The replacement of a stage, or the changed fields of a mutant of the connection, the effects or the log. */
type Replaces<F extends Fault> = F extends { readonly replace: infer Replace } ? Replace | Partial<F> : Partial<F>;

/**
 * A mutant as a row under its stable name: the defect as behaviour of the receiver and the replaced stage. The mistake
 * and other fields are given only if they differ from those of the family.
 */
export type Row<F extends Fault> = readonly [
  title: string,
  replaces: Replaces<F>,
  mistake?: MistakeId | Partial<F>,
  own?: Partial<F>,
];

/** Returns the mutants of a family. They have the fields in `shared` unless a row overrides them. */
export function family<F extends Fault>(shared: Partial<F>, rows: Readonly<Record<string, Row<F>>>): F[] {
  return Object.entries(rows).map(([name, [title, replaces, mistake, own]]) => {
    const replacement = typeof replaces === 'function' ? { replace: replaces } : replaces;
    const more = typeof mistake === 'string' ? { mistake, ...own } : mistake;
    return { ...shared, name, title, ...replacement, ...more } as F;
  });
}
