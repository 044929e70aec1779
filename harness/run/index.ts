/** Entry point for runs: the outline of a run, the run itself, and joining the shards of a run. */
export { DEFAULT_LIMITS, type RunLimits } from './context.ts';
export { outlineRun, type RunOutline, sampleOnTheWire } from './outline.ts';
export { featuresOf } from './plan.ts';
export { bodyLine, VALID_SIGNATURE } from './reproduce.ts';
export { RUN_DECISIONS } from './results.ts';
export { run } from './run.ts';
export type { RunOptions, ScoringRevision } from './run-options.ts';
export { failingAlways, type RequestParts, type SampleDelivery, sampleDeliveries } from './sample-deliveries.ts';
export { joinShards } from './shards.ts';
