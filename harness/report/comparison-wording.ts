/** The wording that the terminal and the page share for a comparison of two runs. */
import type { ComparedCause, ComparedCheck, Comparison } from './comparison-document.ts';
import { counted } from './layout.ts';
import type { Verdict } from './result-document.ts';
import { fullRunInWords, suitesOf } from './wording.ts';

/** "3 fixed, 1 new, 2 still failing since the run of 2026-11-26 10:02 UTC". */
export function changesSince({
  before,
  fixed,
  new: broken,
  notDecided,
  now,
  shared,
  stillFailing,
}: Comparison): string {
  const parts = [`${fixed.length} fixed`, `${broken.length} new`, `${stillFailing.length} still failing`];
  if (notDecided.length > 0) parts.push(`${notDecided.length} without a verdict now`);
  const of = now.partial || before.partial ? ` (${counted(shared, 'check')} in both)` : '';
  return `${parts.join(', ')} since the run of ${timeOf(before)}${of}`;
}

/** "2026-11-26 10:02 UTC". */
export function timeOf({ startedAt }: Comparison['before']): string {
  return `${startedAt.slice(0, 16).replace('T', ' ')} UTC`;
}

/** "NOT CONFORMANT on 2026-11-26 at 10:02 UTC (34 failed, 606 passed)". */
export function runInWords(run: Comparison['before']): string {
  return `${fullRunInWords(run)}${run.partial ? ', a partial run' : ''}`;
}

/** "1 NEW FAILURE", and the verdict whose sign stands for it. */
export function comparisonHeadline({ newFailures, notDecided }: Comparison): { headline: string; sign: Verdict } {
  if (newFailures > 0) return { headline: counted(newFailures, 'NEW FAILURE', 'NEW FAILURES'), sign: 'fail' };
  if (notDecided.length === 0) return { headline: 'NOTHING NEW FAILS', sign: 'pass' };
  return { headline: `NOTHING NEW FAILS, ${notDecided.length} WITHOUT A VERDICT`, sign: 'inconclusive' };
}

/** What decided the exit code: "Exit code 1: 2 checks fail that did not fail before". */
export function comparisonDecision({ newFailures, new: broken }: Comparison): string {
  const failing = `${counted(newFailures, 'check')} ${newFailures === 1 ? 'fails' : 'fail'} that did not fail before`;
  if (newFailures > 0) return `Exit code 1: ${failing}`;
  const rest = broken.length > 0 ? `; ${broken.length} new are warnings, known or not scored` : '';
  return `Exit code 0: nothing new fails${rest}`;
}

export const CAUSE_SIGNS: Readonly<Record<ComparedCause['state'], Verdict>> = {
  new: 'fail',
  changed: 'warn',
  same: 'fail',
  'not-decided': 'inconclusive',
  gone: 'pass',
};

/** "was: A; is now: B (12 checks before, 4 now)": what became of a cause, and the checks that show it. */
export function causeChange({ before, now, state }: ComparedCause): { title: string; size: string } {
  const title = (now ?? before)?.title ?? '';
  const [old, current] = [before?.checks.length ?? 0, now?.checks.length ?? 0];
  const then = old === 0 || old === current ? '' : `${counted(old, 'check')} before`;
  const today = current === 0 ? '' : then === '' ? counted(current, 'check') : `, ${current} now`;
  return { title: state === 'changed' ? `was: ${before?.title}; is now: ${title}` : title, size: then + today };
}

/** "passed before"; null is the verdict of a check that the old run does not have. */
function wasBefore({ before }: ComparedCheck): string {
  if (before === null) return 'not in the old run';
  if (before === 'pass' || before === 'fail') return before === 'pass' ? 'passed before' : 'failed before';
  return before === 'warn' ? 'warned before' : 'without a verdict before';
}

/** A list of checks, in the order in which it is shown. */
export interface ComparedList {
  readonly name: string;
  readonly checks: readonly ComparedCheck[];
  /** Whether many of its checks usually share one `detail`. */
  readonly isByReason?: boolean;
  /** What is said about a check after its id. */
  readonly say: (check: ComparedCheck) => string;
}

/** The lists with a check. Checks that one of the runs does not have are listed by {@link onlyInOne}. */
export function comparedLists(comparison: Comparison): ComparedList[] {
  const lists: ComparedList[] = [
    { name: 'New', checks: comparison.new, say: (check) => `${check.detail}; ${wasBefore(check)}` },
    { name: 'Still failing', checks: comparison.stillFailing, say: ({ detail }) => detail },
    {
      name: 'Without a verdict now',
      checks: comparison.notDecided,
      isByReason: true,
      say: (check) => `${check.detail}; ${wasBefore(check)}`,
    },
    { name: 'Fixed', checks: comparison.fixed, say: ({ title }) => title },
  ];
  return lists.filter(({ checks }) => checks.length > 0);
}

/** "3 checks only in the new run: 2 in http, 1 in tls". Empty when both have the same checks. */
export function onlyInOne({ added, removed }: Comparison): string[] {
  const line = (checks: readonly ComparedCheck[], which: string) =>
    checks.length === 0 ? [] : [`${counted(checks.length, 'check')} only in the ${which} run: ${suitesOf(checks)}`];
  return [...line(added, 'new'), ...line(removed, 'old')];
}
