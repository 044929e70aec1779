/** The schema of an event as the ndjson reporter writes it, schema version 1. A type below holds it against {@link RunEvent}. */
import * as z from 'zod';
import { resultDocument } from './result-document.ts';
import type { RunEvent } from './run-event.ts';

const text = z.string();
const count = z.int().nonnegative();
const schemaVersion = z.literal(1);

export const runEvent = z.discriminatedUnion('type', [
  z.strictObject({
    schemaVersion,
    type: z.literal('run-started'),
    url: text,
    seed: text,
    planned: count,
    startedAt: text,
  }),
  z.strictObject({
    schemaVersion,
    type: z.literal('scenario-finished'),
    /** So many of `planned` are judged with this one. */
    judged: count,
    planned: count,
    result: resultDocument.shape.results.element,
  }),
  z.strictObject({ schemaVersion, type: z.literal('notice'), message: text }),
  /** Always the last line, of a run that was interrupted too. */
  z.strictObject({ schemaVersion, type: z.literal('run-finished'), document: resultDocument }),
]);

type Written = z.infer<typeof runEvent>;
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : never) : never;
type Told = RunEvent extends infer Event ? (Event extends RunEvent ? Event & { schemaVersion: 1 } : never) : never;

/** Does not compile when an event has no schema, or another one. */
export const EVENTS_HAVE_A_SCHEMA: Same<Written, Told> = true;
