import { explainMistake, findMistake, type MistakeId } from '../../contract/mistakes/index.ts';
import type { Diagnosis, ScenarioResult } from '../report/result-document.ts';

/**
 * A defect of the endpoint: a stable name, the title, the mistake (null if there is none), why it matters, and the fix.
 */
export type Finding = Pick<Diagnosis, 'fault' | 'title' | 'mistake' | 'why' | 'fix'>;

/** Creates a finding about a mistake. `note` is one sentence about this case, which comes before the consequence. */
export function findingOf(fault: string, title: string, mistake: MistakeId, note?: string): Finding {
  return { fault, title, mistake, ...explainMistake({ mistake, ...(note !== undefined && { note }) }) };
}

/** Attaches to a finding the checks that show it. `outcomes` is the number of checks that could show it. */
export function shownBy(finding: Finding, evidence: readonly string[], outcomes = evidence.length): Diagnosis {
  const { fault, title, mistake, why, fix } = finding;
  const seen = findMistake(mistake)?.seen ?? '';
  const shown = { agreement: evidence.length, outcomes, evidence: [...evidence], alike: [], seen };
  return { relation: 'also', fault, title, mistake, ...shown, why, fix, stack: null };
}

/** Adapts the title of a mistake, which names the usual answer, to servers that close the connection instead. */
export function asAnswered(title: string, results: readonly ScenarioResult[]): string {
  const isClosed = results.every(({ outcome }) => outcome === 'closed');
  return isClosed ? title.replace(/^Answers 500 to/, 'Closes the connection on') : title;
}
