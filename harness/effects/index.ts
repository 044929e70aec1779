/** The effects window: sends queries to it, and tracks the effects of what a run delivered. */
export type { TrackedDelivery } from './ledger.ts';
export { type EffectsTracker, trackEffects } from './tracker.ts';
export {
  type EffectsSource,
  type EffectsWindow,
  openWindow,
  type RotationSource,
  type SourceOptions,
  WindowProblem,
} from './window.ts';
