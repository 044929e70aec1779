/** Whether a scenario was judged when a mutant was played. What was not judged there, or not here, says nothing. Pure. */
import { CATALOGUE } from '../../scenarios/index.ts';
import { type DictionaryFault, isUncertain } from './fault-dictionary.ts';

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
