/** The table of suites, and the last line of the report. */
import type { ResultDocument, ScenarioResult, Verdict } from '../result/result-document.ts';
import { groupBy } from './group.ts';
import { isComplete, judgedLine } from './headline-words.ts';
import { counted, formatDuration, type Layout } from './layout.ts';
import { displayWidth, truncate } from './wrap.ts';

const COLUMNS: readonly (readonly [verdict: Verdict, wide: string, narrow: string])[] = [
  ['pass', 'pass', 'pass'],
  ['fail', 'fail', 'fail'],
  ['warn', 'warn', 'warn'],
  ['inconclusive', 'inconclusive', 'inc'],
  ['not-applicable', 'n/a', 'n/a'],
  ['harness-error', 'error', 'err'],
];

/** Below this width the long column titles do not fit. */
const WIDE_TABLE = 64;

/** How many checks of each suite ended in each verdict. */
export function renderTable(results: readonly ScenarioResult[], layout: Layout): string[] {
  if (results.length === 0) return [];
  const wide = layout.width >= WIDE_TABLE;
  const titles = COLUMNS.map(([, long, short]) => (wide ? long : short).padStart(4));
  const numbersWidth = titles.reduce((sum, title) => sum + title.length + 1, 0);
  const suites = groupBy(results, (result) => result.suite);
  const names = ['suite', ...suites.map(([suite]) => layout.safe(suite))].map(displayWidth);
  const nameWidth = Math.min(Math.max(...names), Math.max(8, layout.width - numbersWidth));

  const row = (suite: string, cells: readonly string[]): string => {
    const name = truncate(layout.safe(suite), nameWidth, layout.safe('…'));
    return `${name}${' '.repeat(nameWidth - displayWidth(name))} ${cells.join(' ')}`;
  };
  const lines = suites.map(([suite, members]) =>
    row(
      suite,
      COLUMNS.map(([verdict], index) => {
        const count = members.filter((member) => member.verdict === verdict).length;
        return layout.paint(
          `${count}`.padStart(titles[index]?.length ?? 0),
          count === 0 ? 'dim' : layout.style(verdict),
        );
      }),
    ),
  );
  return [layout.paint(row('suite', titles), 'bold'), ...lines];
}

/** Never wrapped, so that it is always the last line. */
export function renderLastLine(document: ResultDocument, layout: Layout): string {
  const judged = judgedLine(document);
  const complete = isComplete(document);
  const rest = `${counted(document.requests, 'request')}, ${formatDuration(document.durationMs)}, seed ${layout.safe(document.seed)}`;
  return `${layout.paint(judged, 'bold', complete ? 'green' : 'yellow')}, ${rest}`;
}
