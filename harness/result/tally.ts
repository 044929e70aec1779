/** Counts and the run's verdict. Pure. */
import type { ResultDocument, RunVerdict, ScenarioResult } from './result-document.ts';

type Counts = ResultDocument['counts'];

export function tally(results: readonly ScenarioResult[]): Counts {
  const counts: Counts = { pass: 0, fail: 0, warn: 0, inconclusive: 0, notApplicable: 0, harnessError: 0 };
  for (const { verdict } of results) {
    if (verdict === 'not-applicable') counts.notApplicable++;
    else if (verdict === 'harness-error') counts.harnessError++;
    else counts[verdict]++;
  }
  return counts;
}

/** The verdict of the run, by precedence: our own error, a failure, no verdict, conformant. Warnings fail a strict run. */
export function runVerdict(counts: Counts, strict: boolean): RunVerdict {
  if (counts.harnessError > 0) return 'harness-error';
  if (counts.fail > 0 || (strict && counts.warn > 0)) return 'nonconformant';
  if (counts.inconclusive > 0) return 'inconclusive';
  // Nothing that applied was judged: that proves nothing.
  return counts.pass + counts.warn === 0 ? 'inconclusive' : 'conformant';
}

/** The exit code of a run. Interruption (130, 143) is decided where the signal is seen. */
export function exitCodeOf(verdict: RunVerdict): 0 | 1 | 3 | 4 {
  switch (verdict) {
    case 'conformant':
      return 0;
    case 'nonconformant':
      return 1;
    case 'inconclusive':
      return 3;
    case 'harness-error':
      return 4;
  }
}
