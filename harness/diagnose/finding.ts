import { explainMistake, findMistake, type MistakeId } from '../../contract/mistakes/index.ts';
import type { Diagnosis } from '../report/result-document.ts';

/** What is wrong with the endpoint: a stable name, the defect, the mistake (null when it is none), why, and the fix. */
export type Finding = Pick<Diagnosis, 'fault' | 'title' | 'mistake' | 'why' | 'fix'>;

/** A finding about a mistake. `note` is one sentence about this case of it, before the consequence. */
export function findingOf(fault: string, title: string, mistake: MistakeId, note?: string): Finding {
  return { fault, title, mistake, ...explainMistake({ mistake, ...(note !== undefined && { note }) }) };
}

/** A finding with the checks that show it. `outcomes`: how many could. */
export function shownBy(finding: Finding, evidence: readonly string[], outcomes = evidence.length): Diagnosis {
  const { fault, title, mistake, why, fix } = finding;
  const seen = findMistake(mistake)?.seen ?? '';
  const shown = { agreement: evidence.length, outcomes, evidence: [...evidence], alike: [], seen };
  return { relation: 'also', fault, title, mistake, ...shown, why, fix, stack: null };
}
