/** Counts, the verdict of a run, and its exit code. */
import type { ResultDocument, RunVerdict, ScenarioResult } from './result-document.ts';

type Counts = ResultDocument['counts'];

/** The `fault` of the diagnosis for failures that no known fault explains. */
export const NOT_KNOWN = 'not-known';

export function tally(results: readonly ScenarioResult[]): Counts {
  const counts: Counts = { pass: 0, fail: 0, warn: 0, inconclusive: 0, notApplicable: 0, harnessError: 0 };
  for (const { verdict } of results) {
    if (verdict === 'not-applicable') counts.notApplicable++;
    else if (verdict === 'harness-error') counts.harnessError++;
    else counts[verdict]++;
  }
  return counts;
}

/**
 * The verdict of the run, by precedence: harness error, failure, no verdict, conformant. Warnings fail a strict run.
 */
export function runVerdict(counts: Counts, strict: boolean): RunVerdict {
  if (counts.harnessError > 0) return 'harness-error';
  if (counts.fail > 0 || (strict && counts.warn > 0)) return 'nonconformant';
  if (counts.inconclusive > 0) return 'inconclusive';
  // Without any result that says something there is no verdict.
  return counts.pass + counts.warn === 0 ? 'inconclusive' : 'conformant';
}

/**
 * Whether a result counts for the verdict and the exit code. Checks newer than the revision of the catalogue do not.
 */
export function isScored({ scoring }: Pick<ResultDocument, 'scoring'>, { id }: Pick<ScenarioResult, 'id'>): boolean {
  return scoring?.notScored.includes(id) !== true;
}

/** Whether a part of the catalogue was not run, so that the run has no verdict about the endpoint. */
export function isPartial({ interrupted, partial, shard }: ResultDocument): boolean {
  return partial ?? (interrupted || shard !== null);
}

/** Whether this result fails the run, unless it is known. */
export function failsTheRun(verdict: ScenarioResult['verdict'], strict: boolean): boolean {
  return verdict === 'fail' || (strict && verdict === 'warn');
}

const CODES = { conformant: 0, nonconformant: 1, inconclusive: 3, 'harness-error': 4 } as const;

/**
 * The exit code of a run. Known failures do not fail it, and stale entries of the baseline do. Checks that are not
 * scored have no effect. The codes of an interruption (130, 143) belong to the signal handler.
 */
export function exitCodeOf(
  document: Pick<ResultDocument, 'baseline' | 'counts' | 'results' | 'scoring' | 'strict'>,
): 0 | 1 | 3 | 4 {
  const { baseline, strict } = document;
  const results = document.results.filter((result) => isScored(document, result));
  const scored = results.length === document.results.length ? document.counts : tally(results);
  const forgiven = results.filter(({ known, verdict }) => known !== null && failsTheRun(verdict, strict));
  const without = (verdict: 'fail' | 'warn') =>
    scored[verdict] - forgiven.filter((result) => result.verdict === verdict).length;
  const counts: Counts = {
    ...scored,
    fail: without('fail'),
    warn: without('warn'),
    pass: scored.pass + forgiven.length,
  };
  const code = CODES[runVerdict(counts, strict)];
  return code !== 4 && (baseline?.stale.length ?? 0) > 0 ? 1 : code;
}
