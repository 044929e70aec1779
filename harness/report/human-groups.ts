/** What is said once for many checks: inconclusive and not applicable, notes, advice, and what no black-box test can see. */
import type { ResultDocument, ScenarioResult } from '../result/result-document.ts';
import { groupBy } from './group.ts';
import { counted, type Layout } from './layout.ts';

/** Up to this many checks of a group are named one by one, of more only the suites are. */
const NAMED = 4;

function withVerdict(results: readonly ScenarioResult[], verdict: ScenarioResult['verdict']): ScenarioResult[] {
  return results.filter((result) => result.verdict === verdict);
}

function reasonOf(result: ScenarioResult): string {
  return result.reason || result.observed || 'no reason was recorded';
}

function members(results: readonly ScenarioResult[]): string {
  if (results.length <= NAMED) return results.map((result) => result.id).join(', ');
  return groupBy(results, (result) => result.suite)
    .map(([suite, inSuite]) => `${suite} ${inSuite.length}`)
    .join(', ');
}

/** One entry a reason: how many checks, why, and which. */
function byReason(results: readonly ScenarioResult[], layout: Layout, words: string, named: boolean): string[] {
  return groupBy(results, reasonOf).flatMap(([reason, group]) => {
    const [first] = group;
    if (first === undefined) return [];
    const count = `${counted(group.length, 'check')}${words === '' ? '' : ` ${words}`}`;
    return [
      ...layout.paragraph(`  ${layout.sign(first.verdict)} `, `${count}: ${reason}`),
      ...(named ? layout.paragraph('    ', members(group), 'dim') : []),
    ];
  });
}

function section(title: string, lines: readonly string[], layout: Layout): string[] {
  return lines.length === 0 ? [] : [layout.paint(title, 'bold'), ...lines];
}

export function renderHarnessErrors(results: readonly ScenarioResult[], layout: Layout): string[] {
  const errors = withVerdict(results, 'harness-error');
  const lines = byReason(errors, layout, '', true);
  return section(`Harness errors (${errors.length}): faults of hookproof, please report them`, lines, layout);
}

export function renderInconclusive(results: readonly ScenarioResult[], layout: Layout): string[] {
  const inconclusive = withVerdict(results, 'inconclusive');
  return section(`Inconclusive (${inconclusive.length})`, byReason(inconclusive, layout, 'inconclusive', true), layout);
}

export function renderNotApplicable(results: readonly ScenarioResult[], layout: Layout): string[] {
  const off = withVerdict(results, 'not-applicable');
  return section(`Not applicable (${off.length})`, byReason(off, layout, '', false), layout);
}

/** Passes that come with a word: an answer that is allowed and not the usual one. */
export function renderNotes(results: readonly ScenarioResult[], layout: Layout): string[] {
  const noted = withVerdict(results, 'pass').filter((result) => result.reason !== '');
  return section(`Passed with a note (${noted.length})`, byReason(noted, layout, '', true), layout);
}

export function renderAdvice(advice: readonly string[], layout: Layout): string[] {
  const lines = advice.flatMap((line) => layout.paragraph(`  ${layout.sign('warn')} `, line));
  return section('Advice', lines, layout);
}

/** Grouped by reason, because several requirements share one. */
export function renderNotVerified(notVerified: ResultDocument['notVerified'], layout: Layout): string[] {
  const lines = groupBy(notVerified, (entry) => entry.reason).flatMap(([reason, group]) => [
    ...group.flatMap((entry) =>
      layout.paragraph(`  ${layout.sign('not-applicable')} `, `${entry.requirement}: ${entry.text}`),
    ),
    ...layout.paragraph('    ', reason, 'dim'),
  ]);
  return section(`Not verified by black-box test (${notVerified.length})`, lines, layout);
}
