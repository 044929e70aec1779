/** Results of runs against the mutants of the fault dictionary, without a receiver. */
import type { DictionaryFault, FaultDictionary } from '../../../harness/diagnose/index.ts';
import type { ScenarioResult, Verdict } from '../../../harness/report/result-document.ts';
import { CATALOGUE, type Feature } from '../../../scenarios/index.ts';
import { resultWith } from '../report/documents.ts';

/** The status of a passed check. The diagnosis uses only its class. */
const PASSED: Readonly<Record<string, string>> = {
  signature: '401',
  'api-key': '401',
  combination: '401',
  malformed: '400',
};

/** The results of a run with these outcomes; the other checks pass, or do not apply without their features. */
export function resultsWith(
  outcomes: Readonly<Record<string, string>>,
  features: readonly Feature[],
): ScenarioResult[] {
  return CATALOGUE.flatMap(({ name, scenarios }) =>
    scenarios.map((scenario) => {
      const { id, level, title, needs = [] } = scenario;
      const [verdict = 'pass', ...observed] = (outcomes[id] ?? '').split(' ').filter((word) => word !== '');
      const applies = needs.every((need) => features.includes(need));
      return resultWith({
        id,
        suite: name,
        title,
        level,
        verdict: (applies ? verdict : 'not-applicable') as Verdict,
        ...('expect' in scenario && { expectedOutcomes: scenario.expect.pass.map(String) }),
        outcome: observed.join(' ') || (PASSED[name] ?? '200'),
      });
    }),
  );
}

/** The failures and warnings of a mutant. */
export function redOutcomes(fault: DictionaryFault): Record<string, string> {
  return Object.fromEntries(Object.entries(fault.outcomes).filter(([, outcome]) => /^(?:fail|warn) /.test(outcome)));
}

export function faultCalled(dictionary: FaultDictionary, name: string): DictionaryFault {
  const found = dictionary.faults.find((fault) => fault.name === name);
  if (found === undefined) throw new Error(`the dictionary has no ${name}`);
  return found;
}
