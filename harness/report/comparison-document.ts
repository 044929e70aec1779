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
  title: wording,
  /** The verdict in the old run; null if the old run does not have the check. */
  before: z.enum(VERDICTS).nullable(),
  /** The verdict in the new run; null if the new run does not have the check. */
  now: z.enum(VERDICTS).nullable(),
  /** What the endpoint answers now, or why the check has no verdict now; empty for a pass. */
  detail: text,
});

const causeIn = z.strictObject({
  /** The diagnosed fault; null if the checks failed in the same way but no known fault explains them. */
  fault: wording.nullable(),
  title: text,
  checks: z.array(wording),
});

export const comparisonDocument = z.strictObject({
  schemaVersion: z.literal(1),
  before: run,
  now: run,
  /** Reasons why the comparison may mislead, such as different endpoints; empty if none are known. */
  notes: z.array(z.strictObject({ code: z.enum(NOTE_CODES), text })),
  /** The number of checks that both runs have. */
  shared: z.int().nonnegative(),
  /** How many checks in `new` fail the new run. The exit code is 0 if there are none, otherwise 1. */
  newFailures: z.int().nonnegative(),
  /**
   * The causes of failures. `changed`: most of its checks still fail, from another cause. `not-decided`: none of its
   * checks has a verdict in the new run. `gone`: neither the same nor another cause was found for its checks.
   */
  causes: z.array(z.strictObject({ state: z.enum(CAUSE_STATES), before: causeIn.nullable(), now: causeIn.nullable() })),
  /** Checks that failed or warned before, and pass now. */
  fixed: z.array(check),
  /** Checks that fail or warn now and did not before, and those that warned before and fail now. */
  new: z.array(check),
  stillFailing: z.array(check),
  /** Checks that passed, failed or warned before, and have no verdict now. */
  notDecided: z.array(check),
  /** Checks that only the new run has, whatever their verdict. */
  added: z.array(check),
  /** Checks that only the old run has. */
  removed: z.array(check),
});

export type Comparison = z.infer<typeof comparisonDocument>;
export type ComparedCheck = z.infer<typeof check>;
export type ComparedCause = Comparison['causes'][number];

/** Returns the JSON Schema of a comparison (draft 2020-12). */
export function comparisonSchema(): JsonObject {
  return published(comparisonDocument, 'hookproof comparison of two runs, schemaVersion 1');
}
