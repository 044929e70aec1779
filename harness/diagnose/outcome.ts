/** What became of a scenario, in a word that can be compared: the raw material of the fault dictionary and of the diagnosis. */
import type { ScenarioResult } from '../result/result-document.ts';

/** What was observed, without what differs from run to run: a status, an alert, "closed", "silence", or the codes of chain faults. */
function observedClass(observed: string): string {
  const status = /^\d{3}/.exec(observed)?.[0];
  if (status !== undefined) return status;
  const alert = /alert ([a-z_]+)/.exec(observed)?.[1];
  if (alert !== undefined) return alert;
  if (/time limit|in time/.test(observed)) return 'silence';
  if (/closed|reset|hung up/.test(observed)) return 'closed';
  if (/^[a-z-]+(?:, [a-z-]+)*$/.test(observed)) return observed;
  return 'other';
}

/**
 * The outcome of a judged scenario: null for a pass, `fail 200`, `warn 403`, `inconclusive closed`. Undefined when it says nothing:
 * not applicable, or without a verdict for want of a control.
 */
export function outcomeOf(result: Pick<ScenarioResult, 'verdict' | 'observed'>): string | null | undefined {
  switch (result.verdict) {
    case 'pass':
      return null;
    case 'fail':
    case 'warn':
      return `${result.verdict} ${observedClass(result.observed)}`;
    default:
      return undefined;
  }
}
