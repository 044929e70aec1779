/** What became of a scenario, in a word that can be compared: the raw material of the fault dictionary and of the diagnosis. */
import type { ScenarioResult } from '../result/result-document.ts';

const CLASSES: readonly (readonly [RegExp, string])[] = [
  [/time limit|in time|no connection came about/i, 'silence'],
  [/^the alert ([a-z_]+)|alert ([a-z_]+)/, '$'],
  [/^a handshake with (\S+ \S+)/, 'granted'],
  [/not an HTTP answer|no TLS/, 'other-protocol'],
  // A connection that is refused, and one that is cut a moment earlier, are the same to who sends: chance decides between them.
  [/closed|reset|hung up|nothing listens|connection was refused/i, 'closed'],
  [/^([a-z][a-z0-9-]*(?:, [a-z][a-z0-9-]*)*)(?:$| in the answers to )/, '$'],
];

/**
 * What was observed, without what differs from run to run (numbers, times, ports, names): a status, an alert, `granted` for a handshake that was
 * taken, `closed`, `silence`, `other-protocol`, the codes of chain faults, or what leaked. What an observation over the whole run saw else is `seen`.
 */
function observedClass(observed: string): string {
  const status = /^(\d{3})\b/.exec(observed)?.[1];
  if (status !== undefined) return status;
  for (const [pattern, name] of CLASSES) {
    const found = pattern.exec(observed);
    if (found === null) continue;
    if (name !== '$') return name;
    // In a fixed order: deliveries in flight at the same time are answered in any.
    return (found[1] ?? found[2] ?? name).split(', ').toSorted().join(', ');
  }
  return 'seen';
}

/**
 * The outcome of a judged scenario: null for a pass, `fail 200`, `warn 403`, `fail closed`. Undefined when it says nothing:
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
