/** The inspector: a page for those who debug why a sender and this receiver do not agree. Nothing of it is loaded before it is started. */
import type { InspectorOptions, RunningInspector } from './inspector-options.ts';

export type { InspectorOptions, RunningInspector } from './inspector-options.ts';

/**
 * Starts the inspector on a port of its own. Give `observe` to the receiver as one of its `observers`. Throws `HookproofError`
 * (`INSPECTOR_LISTEN`, `INSPECTOR_PAGE`).
 */
export async function startInspector(options: InspectorOptions = {}): Promise<RunningInspector> {
  const { openInspector } = await import('./open-inspector.ts');
  return openInspector(options);
}
