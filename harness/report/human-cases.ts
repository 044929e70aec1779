/** Failures and warnings: each with what was expected, what came, why it matters, how to mend it, and how to see it again. */
import type { Exchange, ScenarioResult } from '../result/result-document.ts';
import { causeOf } from './causes.ts';
import { groupBy } from './group.ts';
import type { Layout } from './layout.ts';
import { describeBytes } from './visible.ts';
import { truncate } from './wrap.ts';

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
  const firsts = groupBy(results, causeOf).flatMap(([, members]) => members.slice(0, 1));
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
