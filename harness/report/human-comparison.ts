/** Renders a comparison of two runs for a terminal, in the layout of a run's report. */
import { groupBy } from './causes.ts';
import type { ComparedCause, Comparison } from './comparison-document.ts';
import {
  CAUSE_SIGNS,
  type ComparedList,
  causeChange,
  changesSince,
  comparedLists,
  comparisonDecision,
  comparisonHeadline,
  onlyInOne,
  runInWords,
} from './comparison-wording.ts';
import { createLayout, displayWidth, type Layout, type ReportOptions } from './layout.ts';
import type { Verdict } from './result-document.ts';
import { namesOf } from './wording.ts';

/** Maximum number of causes and of checks per list without `--verbose`. A single further one is shown, not counted. */
const MAX_SHOWN = 5;

/** Renders the comparison, ending with a newline. `names` are the files of the old and the new run. */
export function renderComparison(
  comparison: Comparison,
  names: readonly [before: string, now: string],
  options: ReportOptions,
): string {
  const layout = createLayout(options);
  const { verbose = false } = options;
  const { headline, sign } = comparisonHeadline(comparison);
  const first = `${layout.sign(sign)} ${layout.paint(headline, 'bold', layout.style(sign))}`;
  const url = layout.safe(comparison.now.url);
  const fits = displayWidth(url) <= layout.width - headline.length - 4;
  const sections = [
    [
      ...(fits ? [`${first}  ${url}`] : [first, ...layout.paragraph('  ', url)]),
      ...layout.paragraph('  ', changesSince(comparison)),
      ...layout.paragraph('  old  ', `${names[0]}: ${runInWords(comparison.before)}`, 'dim'),
      ...layout.paragraph('  new  ', `${names[1]}: ${runInWords(comparison.now)}`, 'dim'),
      ...comparison.notes.flatMap(({ text }) => layout.paragraph('  ', text, 'yellow')),
    ],
    causes(comparison.causes, verbose, layout),
    ...comparedLists(comparison).map((list) => checks(list, verbose, layout)),
    onlyInOne(comparison).flatMap((line) => layout.paragraph('', line, 'dim')),
    [
      ...(options.files ?? []).map(({ name, path }) => `${name} report: ${layout.safe(path)}`),
      ...layout.paragraph(`${layout.sign(sign)} `, comparisonDecision(comparison), 'bold', layout.style(sign)),
    ],
  ];
  const shown = sections.filter((lines) => lines.length > 0).map((lines) => lines.join('\n'));
  return `${shown.join('\n\n')}\n`;
}

function cut<T>(items: readonly T[], verbose: boolean): { shown: readonly T[]; more: string[] } {
  if (verbose || items.length <= MAX_SHOWN + 1) return { shown: items, more: [] };
  return {
    shown: items.slice(0, MAX_SHOWN),
    more: [`  and ${items.length - MAX_SHOWN} more (see \`--verbose\`)`],
  };
}

function causes(all: readonly ComparedCause[], verbose: boolean, layout: Layout): string[] {
  if (all.length === 0) return [];
  const { shown, more } = cut(all, verbose);
  const width = Math.max(...shown.map(({ state }) => state.length));
  const lines = shown.flatMap((cause) => {
    const { size, title } = causeChange(cause);
    const lead = `  ${layout.sign(CAUSE_SIGNS[cause.state])} ${cause.state.replace('-', ' ').padEnd(width)}  `;
    return layout.paragraph(lead, size === '' ? title : `${title} (${size})`);
  });
  return [layout.paint(`Causes (${all.length})`, 'bold'), ...lines, ...more];
}

function checks(
  { checks: all, isByReason = false, name, say }: ComparedList,
  verbose: boolean,
  layout: Layout,
): string[] {
  const line = (verdict: Verdict | null | undefined, text: string) =>
    layout.paragraph(`  ${layout.sign(verdict ?? 'inconclusive')} `, text);
  const head = layout.paint(`${name} (${all.length})`, 'bold');
  if (isByReason && !verbose) {
    const { shown, more } = cut(
      groupBy(all, ({ detail }) => detail),
      verbose,
    );
    const lines = shown.flatMap(([reason, members]) => {
      return line(members[0]?.now, `${reason}: ${namesOf(members.map(({ id }) => id))}`);
    });
    return [head, ...lines, ...more];
  }
  const { shown, more } = cut(all, verbose);
  return [head, ...shown.flatMap((check) => line(check.now, `${check.id}: ${say(check)}`)), ...more];
}
