/** The outcome of a scenario, in a word that can be compared, and whether a scenario was judged in the run against a mutant. Pure. */
import { CATALOGUE } from '../../scenarios/index.ts';
import type { ScenarioResult } from '../report/result-document.ts';
import { type DictionaryFault, isUncertain } from './fault-dictionary.ts';

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

/** Without an accepted first delivery nothing else that is delivered has a verdict; handshakes are judged all the same. */
const FIRST_DELIVERY = 'valid/plain';
const WITHOUT_DELIVERY = 'tls/';

export const isRed = (outcome: string | undefined): outcome is string => /^(?:fail|warn) /.test(outcome ?? '');

const applicable = new Map<string, ReadonlySet<string>>();
/** The same by the list itself: it is asked for thousands of times. */
const byList = new WeakMap<DictionaryFault['features'], ReadonlySet<string>>();

/** The scenarios that apply with these features on. */
function applicableWith(features: DictionaryFault['features']): ReadonlySet<string> {
  const known = byList.get(features);
  if (known !== undefined) return known;
  const key = features.join(' ');
  const ids = applicable.get(key) ?? selectApplicable(features);
  applicable.set(key, ids);
  byList.set(features, ids);
  return ids;
}

function selectApplicable(features: DictionaryFault['features']): ReadonlySet<string> {
  const scenarios = CATALOGUE.flatMap((suite) => suite.scenarios);
  return new Set(
    scenarios.filter(({ needs = [] }) => needs.every((need) => features.includes(need))).map(({ id }) => id),
  );
}

export function judgedIn(fault: DictionaryFault, id: string): boolean {
  const { outcomes, features } = fault;
  const outcome = outcomes[id];
  if (outcome !== undefined) return isRed(outcome);
  if (isUncertain(fault, id)) return false;
  if (isRed(outcomes[FIRST_DELIVERY]) && !id.startsWith(WITHOUT_DELIVERY)) return false;
  return applicableWith(features).has(id);
}
