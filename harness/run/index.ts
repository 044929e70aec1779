/** A run: what it sends (`outlineRun`), the run itself, and the shards of a run joined. */
export { DEFAULT_LIMITS, type RunLimits } from './context.ts';
export { outlineRun, type RunOutline, sampleOnTheWire } from './outline.ts';
export { featuresOf } from './plan.ts';
export { type RunOptions, run, type ScoringRevision } from './run.ts';
export { joinShards } from './shards.ts';
