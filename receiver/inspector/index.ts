/** The inspector: a page that shows why a sender and this receiver disagree. None of it is loaded before its start. */
import type { InspectorOptions, RunningInspector } from './open-inspector.ts';

export type { InspectorOptions, RunningInspector } from './open-inspector.ts';
export type { DeliverySummary } from './summary.ts';

/**
 * Starts the inspector on a separate port. Give `observe` to the receiver as one of its `observers`. Throws
 * `HookproofError` (`INSPECTOR_LISTEN`, `INSPECTOR_PAGE`).
 */
export async function startInspector(options: InspectorOptions = {}): Promise<RunningInspector> {
  const { openInspector } = await import('./open-inspector.ts');
  return openInspector(options);
}
