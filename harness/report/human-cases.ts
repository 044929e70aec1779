/**
 * Failures and warnings: each with what was expected, what came, why it matters, how to mend it, and how to see it
 * again.
 */

import { causeKey, groupBy } from './causes.ts';
import { counted, type Layout, truncate } from './layout.ts';
import type { Exchange, ResultDocument, ScenarioResult } from './result-document.ts';
import { describeBytes } from './visible.ts';

/** Up to this many cases are shown in full; of more, the first of each cause is, and the others get one line each. */
const SHOWN_IN_FULL = 12;

/** A script that is longer than this would bury the rest of the report; the JSON report has it. */
const SCRIPT_LINES = 16;
const SCRIPT_CHARACTERS = 2_000;

const ANSWERS_SHOWN = 4;

/** One line of a case: the label in a column of its own. */
function field(layout: Layout, label: string, text: string, ...styles: Parameters<Layout['paint']>[1][]): string[] {
  if (text === '') return [];
  return layout.paragraph(`    ${layout.paint(label.padEnd(10), 'dim')}`, text, ...styles);
}

function describeAnswer(exchange: Exchange, several: boolean): string {
  const name = several ? `${exchange.label}: ` : '';
  if (exchange.response !== null)
    return `${name}${exchange.response.status}, ${describeBytes(exchange.response.body, 160)}`;
  return `${name}${exchange.error === null ? 'no answer' : `${exchange.error.message} (${exchange.error.code})`}`;
}

/** What was sent and what came back: only what `expected` and `observed` do not say already. */
function evidence(result: ScenarioResult, layout: Layout): string[] {
  const probes = result.exchanges.filter((exchange) => exchange.role === 'probe');
  const changes = new Set(probes.flatMap((probe) => probe.changes.map((change) => `${change.stage}: ${change.label}`)));
  const answers = probes.slice(0, ANSWERS_SHOWN).map((probe) => describeAnswer(probe, probes.length > 1));
  if (probes.length > ANSWERS_SHOWN) answers.push(`and ${probes.length - ANSWERS_SHOWN} more`);
  return [
    ...field(layout, 'changed', [...changes].join('; ')),
    ...answers.flatMap((answer, index) => field(layout, index === 0 ? 'answer' : '', answer)),
  ];
}

/** The script as it is, indented. */
function script(curl: string, layout: Layout): string[] {
  const lines = curl.trimEnd().split('\n');
  if (lines.length > SCRIPT_LINES || curl.length > SCRIPT_CHARACTERS) {
    return field(layout, 'curl', `a script of ${lines.length} lines: see --reporter json`);
  }
  return [`    ${layout.paint('curl', 'dim')}`, ...lines.map((line) => `      ${layout.safe(line)}`)];
}

/** Neither the command nor the script is ever wrapped: they are there to be copied. */
function reproduction(result: ScenarioResult, layout: Layout, withScript: boolean): string[] {
  const { curl, command } = result.reproduce ?? { curl: null, command: `hookproof run --scenario ${result.id}` };
  const again = `    ${layout.paint('again'.padEnd(10), 'dim')}${layout.safe(command)}`;
  return [again, ...(withScript && curl !== null ? script(curl, layout) : [])];
}

function renderFull(result: ScenarioResult, layout: Layout): string[] {
  const failed = result.verdict === 'fail';
  return [
    ...layout.paragraph(
      `  ${layout.sign(result.verdict)} ${layout.paint(result.verdict, layout.style(result.verdict))}  `,
      result.title,
      'bold',
    ),
    ...field(layout, 'check', `${result.id} (${result.level})`),
    ...field(layout, 'expected', result.expected),
    ...field(layout, 'observed', result.observed, layout.style(result.verdict)),
    ...field(layout, 'reason', result.reason === result.observed ? '' : result.reason),
    ...evidence(result, layout),
    ...field(layout, 'why', result.why),
    ...field(layout, 'fix', result.fix, 'cyan'),
    ...reproduction(result, layout, failed),
  ];
}

function renderShort(result: ScenarioResult, layout: Layout): string {
  const text = layout.safe(`${result.id}: expected ${result.expected}, observed ${result.observed}`);
  return `  ${layout.sign(result.verdict)} ${truncate(text, layout.width - 4, layout.safe('…'))}`;
}

function inFull(results: readonly ScenarioResult[]): ReadonlySet<ScenarioResult> {
  if (results.length <= SHOWN_IN_FULL) return new Set(results);
  const firsts = groupBy(results, causeKey).flatMap(([, members]) => members.slice(0, 1));
  return new Set(firsts.slice(0, SHOWN_IN_FULL));
}

/** A section of cases, grouped by suite. Empty when there is none. */
export function renderCases(title: string, results: readonly ScenarioResult[], layout: Layout): string[] {
  if (results.length === 0) return [];
  const full = inFull(results);
  const lines = [layout.paint(`${title} (${results.length})`, 'bold')];
  for (const [suite, members] of groupBy(results, (result) => result.suite)) {
    lines.push('', ...layout.paragraph('', suite, 'bold'));
    for (const result of members.filter((member) => full.has(member))) lines.push(...renderFull(result, layout), '');
    for (const result of members.filter((member) => !full.has(member))) lines.push(renderShort(result, layout));
    if (lines.at(-1) === '') lines.pop();
  }
  const short = results.length - full.size;
  if (short > 0) {
    lines.push(
      '',
      ...layout.paragraph(
        '  ',
        `${short} of ${results.length} are in one line each: the first of each cause is in full. For any of them: hookproof explain ID, hookproof run --scenario ID, or --reporter json.`,
      ),
    );
  }
  return lines;
}

/**
 * What is said once for many checks: inconclusive and not applicable, notes, advice, and what no black-box test can
 * see.
 */

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
