/** The wording that the terminal and the page share for a comparison of two runs. */
import type { ComparedCause, ComparedCheck, Comparison } from './comparison-document.ts';
import { counted } from './layout.ts';
import type { Verdict } from './result-document.ts';
import { fullRunInWords, suitesOf } from './wording.ts';

/** Returns text such as "3 fixed, 1 new, 2 still failing since the run of 2026-11-26 10:02 UTC". */
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

/** Returns text such as "2026-11-26 10:02 UTC". */
export function timeOf({ startedAt }: Comparison['before']): string {
  return `${startedAt.slice(0, 16).replace('T', ' ')} UTC`;
}

/** Returns text such as "NOT CONFORMANT on 2026-11-26 at 10:02 UTC (34 failed, 606 passed)". */
export function runInWords(run: Comparison['before']): string {
  return `${fullRunInWords(run)}${run.partial ? ', a partial run' : ''}`;
}

/** Returns the headline, such as "1 NEW FAILURE", and the verdict whose sign is shown with it. */
export function comparisonHeadline({ newFailures, notDecided }: Comparison): { headline: string; sign: Verdict } {
  if (newFailures > 0) return { headline: counted(newFailures, 'NEW FAILURE', 'NEW FAILURES'), sign: 'fail' };
  if (notDecided.length === 0) return { headline: 'NOTHING NEW FAILS', sign: 'pass' };
  return { headline: `NOTHING NEW FAILS, ${notDecided.length} WITHOUT A VERDICT`, sign: 'inconclusive' };
}

/** Describes what decided the exit code: "Exit code 1: 2 checks fail that did not fail before". */
export function comparisonDecision({ newFailures, new: broken }: Comparison): string {
  const failing = `${counted(newFailures, 'check')} ${newFailures === 1 ? 'fails' : 'fail'} that did not fail before`;
  if (newFailures > 0) return `Exit code 1: ${failing}`;
  const rest = broken.length > 0 ? `; not counted: ${broken.length} new (warnings, known or not scored)` : '';
  return `Exit code 0: nothing new fails${rest}`;
}

export const CAUSE_SIGNS: Readonly<Record<ComparedCause['state'], Verdict>> = {
  new: 'fail',
  changed: 'warn',
  same: 'fail',
  'not-decided': 'inconclusive',
  gone: 'pass',
};

/** Describes how a cause changed: the title "was: A; is now: B", and the size "12 checks before, 4 now". */
export function causeChange({ before, now, state }: ComparedCause): { title: string; size: string } {
  const title = (now ?? before)?.title ?? '';
  const [old, current] = [before?.checks.length ?? 0, now?.checks.length ?? 0];
  const then = old === 0 || old === current ? '' : `${counted(old, 'check')} before`;
  const today = current === 0 ? '' : then === '' ? counted(current, 'check') : `, ${current} now`;
  return { title: state === 'changed' ? `was: ${before?.title}; is now: ${title}` : title, size: then + today };
}

/** Formats the verdict in the old run: "passed before", "not in the old run". */
function wasBefore({ before }: ComparedCheck): string {
  if (before === null) return 'not in the old run';
  if (before === 'pass' || before === 'fail') return before === 'pass' ? 'passed before' : 'failed before';
  return before === 'warn' ? 'warned before' : 'without a verdict before';
}

/** A list of checks, in the order in which it is shown. */
export interface ComparedList {
  readonly name: string;
  readonly checks: readonly ComparedCheck[];
  /** Whether to group the checks by `detail`, which many of them usually share. */
  readonly isByReason?: boolean;
  /** Returns the text after the id of a check. */
  readonly say: (check: ComparedCheck) => string;
}

/** Returns the non-empty lists. {@link onlyInOne} covers the checks that one of the runs does not have. */
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

/**
 * Returns text such as "3 checks only in the new run: 2 in http, 1 in tls"; empty if both runs have the same checks.
 */
export function onlyInOne({ added, removed }: Comparison): string[] {
  const line = (checks: readonly ComparedCheck[], which: string) =>
    checks.length === 0 ? [] : [`${counted(checks.length, 'check')} only in the ${which} run: ${suitesOf(checks)}`];
  return [...line(added, 'new'), ...line(removed, 'old')];
}
