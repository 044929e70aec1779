/**
 * The inspector: a page that shows why a sender and this receiver disagree. Its modules are loaded only when it starts.
 */
import type { InspectorOptions, RunningInspector } from './open-inspector.ts';

export type { InspectorOptions, RunningInspector } from './open-inspector.ts';
export type { DeliverySummary } from './summary.ts';

/**
 * Starts the inspector on a separate port. Add its `observe` to the `observers` of the receiver. Throws
 * `HookproofError` (`INSPECTOR_LISTEN`, `INSPECTOR_PAGE`).
 */
export async function startInspector(options: InspectorOptions = {}): Promise<RunningInspector> {
  const { openInspector } = await import('./open-inspector.ts');
  return openInspector(options);
}
