/** Creates the results of runs against the mutants of the fault dictionary, without a receiver. */
import { type DictionaryFault, diagnose, type FaultDictionary } from '../../../harness/diagnose/index.ts';
import { mustBeRejected } from '../../../harness/judge/index.ts';
import type { ScenarioResult, Verdict } from '../../../harness/report/result-document.ts';
import { CATALOGUE, defectOf, type Feature, hasDefect, type Scenario } from '../../../scenarios/index.ts';
import { resultWith } from '../report/documents.ts';

/** Suites whose passed checks have the answer 401. */
const REFUSED = ['signature', 'api-key', 'combination'];
const statusOfPassed = (suite: string) => (suite === 'malformed' ? '400' : REFUSED.includes(suite) ? '401' : '200');

const DECIDED_BY_EFFECT: Readonly<Record<string, ScenarioResult['decidedBy']>> = {
  handled: 'effect-of-rejected',
  'handled-twice': 'effect-repeated',
  'not-handled': 'effect-missing',
  amount: 'effect-value',
  'no-amount': 'effect-value',
  currency: 'effect-value',
};

function decidedBy(outcome: string, scenario: Scenario): ScenarioResult['decidedBy'] {
  const { id } = scenario;
  if (id.startsWith('leaks/')) return /^\d/.test(outcome) ? 'answers-differ' : 'leak';
  const isForged = 'change' in scenario ? mustBeRejected(scenario.expect) : /^(?:signature|api-key)\//.test(id);
  if (outcome === '200' && isForged) return 'forgery-accepted';
  return DECIDED_BY_EFFECT[outcome] ?? 'wrong-status';
}

const CLASSES = { 2: 'accepted', 3: 'rejected', 4: 'rejected', 5: 'crashed', c: 'closed', s: 'silent' } as const;

function answeredWith(outcome: string): Pick<ScenarioResult, 'answered'> {
  if (!/^(?:[2-5]\d\d|closed|silence)$/.test(outcome)) return {};
  return { answered: { class: CLASSES[outcome.charAt(0) as 'c'], status: Number(outcome) || null } };
}

/**
 * Returns the results of a run with these outcomes. The other checks pass, or are not applicable without their
 * features.
 */
export function resultsWith(
  outcomes: Readonly<Record<string, string>>,
  features: readonly Feature[],
): ScenarioResult[] {
  return CATALOGUE.flatMap(({ name, scenarios }) =>
    scenarios.map((scenario) => {
      const { id, level, title, needs = [] } = scenario;
      const [verdict = 'pass', ...observed] = (outcomes[id] ?? '').split(' ').filter((word) => word !== '');
      const isAccepted =
        name !== 'malformed' && 'change' in scenario && scenario.expect.pass.some((one) => one === 200);
      const outcome = observed.join(' ') || (isAccepted ? '200' : statusOfPassed(name));
      const applies = needs.every((need) => features.includes(need));
      return resultWith({
        id,
        suite: name,
        title,
        level,
        verdict: (applies ? verdict : 'not-applicable') as Verdict,
        ...('expect' in scenario && { expectedOutcomes: scenario.expect.pass.map(String) }),
        outcome,
        ...(verdict !== 'pass' && hasDefect(scenario) && { defect: defectOf(scenario, outcome) }),
        ...answeredWith(outcome),
        decidedBy: verdict === 'pass' ? 'expected-answer' : decidedBy(outcome, scenario),
      });
    }),
  );
}

/** Returns the failures and warnings of a mutant. */
export function redOutcomes(fault: DictionaryFault): Record<string, string> {
  return Object.fromEntries(Object.entries(fault.outcomes).filter(([, outcome]) => /^(?:fail|warn) /.test(outcome)));
}

export function faultCalled(dictionary: FaultDictionary, name: string): DictionaryFault {
  const found = dictionary.faults.find((fault) => fault.name === name);
  if (found === undefined) throw new Error(`the dictionary has no ${name}`);
  return found;
}

export const BOTH: readonly Feature[] = ['hmac', 'api-key'];

/** Returns the diagnosis of a run with these outcomes. */
export function diagnosed(
  outcomes: Readonly<Record<string, string>>,
  more: Partial<Parameters<typeof diagnose>[0]> = {},
  features = BOTH,
) {
  const results = resultsWith(outcomes, features);
  return diagnose({ results, outages: [], preflight: null, stack: null, features, partial: false, ...more });
}
