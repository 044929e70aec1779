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
 * Returns the verdict of the run, by precedence: harness error, failure, no verdict, conformant. Warnings fail a strict
 * run.
 */
export function runVerdict(counts: Counts, strict: boolean): RunVerdict {
  if (counts.harnessError > 0) return 'harness-error';
  if (counts.fail > 0 || (strict && counts.warn > 0)) return 'nonconformant';
  if (counts.inconclusive > 0) return 'inconclusive';
  // Without a pass or a warning, nothing supports "conformant".
  return counts.pass + counts.warn === 0 ? 'inconclusive' : 'conformant';
}

export function withVerdict(results: readonly ScenarioResult[], verdict: ScenarioResult['verdict']): ScenarioResult[] {
  return results.filter((result) => result.verdict === verdict);
}

/** Whether a result counts for the verdict and the exit code. Checks newer than the catalogue revision do not. */
export function isScored({ scoring }: Pick<ResultDocument, 'scoring'>, { id }: Pick<ScenarioResult, 'id'>): boolean {
  return scoring?.notScored.includes(id) !== true;
}

/** Returns the results that count for the verdict and are not known failures. */
export function scoredAndUnknown(document: Pick<ResultDocument, 'results' | 'scoring'>): ScenarioResult[] {
  return document.results.filter((result) => result.known === null && isScored(document, result));
}

/** Whether a check with this verdict fails the run, unless the baseline contains it. */
export function failsTheRun(verdict: ScenarioResult['verdict'], strict: boolean): boolean {
  return verdict === 'fail' || (strict && verdict === 'warn');
}

const CODES = { conformant: 0, nonconformant: 1, inconclusive: 3, 'harness-error': 4 } as const;

/** What decided the exit code. */
export interface Decision {
  readonly code: 0 | 1 | 3 | 4;
  readonly because:
    | 'harness-errors'
    | 'stale-baseline'
    | 'failures'
    | 'warnings'
    | 'inconclusive'
    | 'nothing-judged'
    | 'passed';
  /** The number of results that decided; failures and warnings only if scored and not known. */
  readonly count: number;
  /** The number of failures and warnings that the baseline forgives. */
  readonly known: number;
}

/**
 * Returns the exit code of a run, and what decided it. Known failures do not fail a run; stale baseline entries do.
 * Checks that are not scored have no effect. The signal handler sets the codes of an interruption (130, 143).
 */
export function decisionOf(
  document: Pick<ResultDocument, 'baseline' | 'counts' | 'results' | 'scoring' | 'strict'>,
): Decision {
  const { baseline, strict } = document;
  const results = document.results.filter((result) => isScored(document, result));
  const scored = results.length === document.results.length ? document.counts : tally(results);
  const forgiven = results.filter(({ known, verdict }) => known !== null && failsTheRun(verdict, strict));
  const without = (verdict: 'fail' | 'warn') =>
    scored[verdict] - forgiven.filter((result) => result.verdict === verdict).length;
  const fail = without('fail');
  const warn = without('warn');
  const code = CODES[runVerdict({ ...scored, fail, warn, pass: scored.pass + forgiven.length }, strict)];
  const stale = baseline?.stale.length ?? 0;
  const decided = (because: Decision['because'], count: number): Decision => ({
    code: because === 'stale-baseline' ? 1 : code,
    because,
    count,
    known: forgiven.length,
  });
  if (code === 4) return decided('harness-errors', scored.harnessError);
  if (fail > 0) return decided('failures', fail);
  if (code === 1) return decided('warnings', warn);
  if (stale > 0) return decided('stale-baseline', stale);
  if (code === 0) return decided('passed', scored.pass + forgiven.length + warn);
  return scored.inconclusive > 0 ? decided('inconclusive', scored.inconclusive) : decided('nothing-judged', 0);
}

export function exitCodeOf(document: Parameters<typeof decisionOf>[0]): Decision['code'] {
  return decisionOf(document).code;
}

/**
 * Returns the ids of the checks to repeat after a run in which `failed` failed: these, what they observe, and those of
 * `before` that got no verdict in it.
 */
export function idsStillToRepeat(
  before: readonly string[],
  results: readonly ScenarioResult[],
  failed: readonly ScenarioResult[],
): string[] {
  const judged = new Set(results.filter(({ verdict }) => verdict !== 'inconclusive').map(({ id }) => id));
  return [...new Set([...idsToRepeat(failed), ...before.filter((id) => !judged.has(id))])];
}

/** Returns the ids of these checks, each after those without which it has nothing to observe. */
export function idsToRepeat(results: readonly Pick<ScenarioResult, 'id' | 'repeats'>[]): string[] {
  return [...new Set(results.flatMap(({ id, repeats = [] }) => [...repeats, id]))];
}

/**
 * Whether later runs are compared with this one: it is a full run in which at least half of the checks have a verdict,
 * which is not the case if the receiver is down.
 */
export function isComparable({ counts, partial }: Pick<ResultDocument, 'counts' | 'partial'>): boolean {
  return !partial && counts.pass + counts.fail + counts.warn >= counts.inconclusive + counts.harnessError;
}
