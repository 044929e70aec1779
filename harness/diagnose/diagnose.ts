/** The diagnosis of a run. The fault dictionary is loaded only when something is wrong. */
import type { RunObservations } from '../../scenarios/index.ts';
import type { Diagnosis, ScenarioResult } from '../result/result-document.ts';
import { explainShutGate } from './explain-shut-gate.ts';
import { loadDictionary } from './fault-dictionary.ts';
import type { Finding } from './finding.ts';
import { explainRun } from './run-findings.ts';
import { guessStack, type Stack } from './stack.ts';

export interface ToDiagnose {
  readonly results: readonly ScenarioResult[];
  readonly outages: RunObservations['outages'];
  /** Why the first delivery was not accepted; null when it was. */
  readonly gate: Finding | null;
  /** As the user gives it; null to guess it from the answers. */
  readonly stack: Stack | null;
}

/** What the endpoint behaves like, the most telling first. Empty when nothing is wrong, and when no known mistake fits. */
export async function diagnose({ results, outages, gate, stack }: ToDiagnose): Promise<Diagnosis[]> {
  const isWrong = results.some(({ verdict }) => verdict === 'fail' || verdict === 'warn');
  if (!isWrong && gate === null && outages.length === 0) return [];
  const dictionary = await loadDictionary();
  const known = stack === null ? guessStack(results) : { name: stack, told: '--stack' };
  const seen = { results, dictionary, stack: known };
  return gate === null ? explainRun({ ...seen, outages }) : explainShutGate(gate, seen);
}
