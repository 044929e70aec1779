/** The comparison of two runs, schema version 1: what `hookproof report --compare OLD NEW --json` prints. */
import * as z from 'zod';
import type { JsonObject } from '../../contract/index.ts';
import { counts, published, RUN_VERDICTS, text, VERDICTS, wording } from './result-document.ts';

const CAUSE_STATES = ['new', 'changed', 'same', 'not-decided', 'gone'] as const;
const NOTE_CODES = ['order', 'endpoint', 'features', 'catalogue', 'revision', 'partial'] as const;

const run = z.strictObject({
  url: text,
  startedAt: wording,
  /** The version of hookproof. */
  version: wording,
  verdict: z.enum(RUN_VERDICTS),
  partial: z.boolean(),
  counts,
});

const check = z.strictObject({
  id: wording,
  suite: wording,
  /** What is checked. */
  title: wording,
  /** The verdict in the old run; null when the old run does not have the check. */
  before: z.enum(VERDICTS).nullable(),
  /** The verdict in the new run; null when the new run does not have the check. */
  now: z.enum(VERDICTS).nullable(),
  /** What the endpoint answers now, or why the check has no verdict now; empty for a pass. */
  detail: text,
});

const causeIn = z.strictObject({
  /** The fault in the diagnosis; null for checks that went wrong in the same way and that no fault explains. */
  fault: wording.nullable(),
  title: text,
  checks: z.array(wording),
});

export const comparisonDocument = z.strictObject({
  schemaVersion: z.literal(1),
  before: run,
  now: run,
  /** Why the runs are hardly comparable, one sentence each; empty when nothing is known against it. */
  notes: z.array(z.strictObject({ code: z.enum(NOTE_CODES), text })),
  /** Checks that both runs have. */
  shared: z.int().nonnegative(),
  /** How many checks of `new` fail the new run: 0 gives exit code 0. */
  newFailures: z.int().nonnegative(),
  /**
   * The causes of failures. `changed`: most of its checks still fail, from another cause. `not-decided`: the new run
   * has no verdict of any of its checks. `gone`: most of its checks pass.
   */
  causes: z.array(z.strictObject({ state: z.enum(CAUSE_STATES), before: causeIn.nullable(), now: causeIn.nullable() })),
  /** Failed or warned before, and pass now. */
  fixed: z.array(check),
  /** Fail or warn now and did not before, or warned before and fail now. */
  new: z.array(check),
  stillFailing: z.array(check),
  /** Passed, failed or warned before, and have no verdict now. */
  notDecided: z.array(check),
  /** Only in the new run, whatever their verdict. */
  added: z.array(check),
  /** Only in the old run. */
  removed: z.array(check),
});

export type Comparison = z.infer<typeof comparisonDocument>;
export type ComparedCheck = z.infer<typeof check>;
export type ComparedCause = Comparison['causes'][number];

/** The JSON Schema of a comparison (draft 2020-12). */
export function comparisonSchema(): JsonObject {
  return published(comparisonDocument, 'hookproof comparison of two runs, schemaVersion 1');
}
