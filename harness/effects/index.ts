/** The effects window: asking it, and following what the run delivered. */
export { type EffectsTracker, type TrackedDelivery, trackEffects } from './tracker.ts';
export { type EffectsSource, type EffectsWindow, openWindow, type SourceOptions, WindowProblem } from './window.ts';
