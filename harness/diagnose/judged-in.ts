/** Whether a scenario was judged when a mutant was played. What was not judged there, or not here, says nothing. Pure. */
import { CATALOGUE } from '../../scenarios/index.ts';
import type { DictionaryFault } from './fault-dictionary.ts';

/** Without an accepted first delivery nothing else that is delivered has a verdict; handshakes are judged all the same. */
const FIRST_DELIVERY = 'valid/plain';
const WITHOUT_DELIVERY = 'tls/';

export const isRed = (outcome: string | undefined): outcome is string => /^(?:fail|warn) /.test(outcome ?? '');

const applicable = new Map<string, ReadonlySet<string>>();

/** The scenarios that apply with these features on. */
function applicableWith(features: DictionaryFault['features']): ReadonlySet<string> {
  const key = features.join(' ');
  const found = applicable.get(key);
  if (found !== undefined) return found;
  const scenarios = CATALOGUE.flatMap((suite) => suite.scenarios);
  const ids = new Set(
    scenarios.filter(({ needs = [] }) => needs.every((need) => features.includes(need))).map(({ id }) => id),
  );
  applicable.set(key, ids);
  return ids;
}

export function judgedIn({ outcomes, features }: DictionaryFault, id: string): boolean {
  const outcome = outcomes[id];
  if (outcome !== undefined) return isRed(outcome);
  if (isRed(outcomes[FIRST_DELIVERY]) && !id.startsWith(WITHOUT_DELIVERY)) return false;
  return applicableWith(features).has(id);
}
