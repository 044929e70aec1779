/**
 * The terminal report. It reads from the top: the verdict, the cause, what failed and how to mend it, then all the
 * rest.
 */

import { groupBy } from './causes.ts';
import {
  renderAdvice,
  renderCases,
  renderHarnessErrors,
  renderInconclusive,
  renderNotApplicable,
  renderNotes,
  renderNotVerified,
} from './human-cases.ts';
import {
  counted,
  createLayout,
  displayWidth,
  formatDuration,
  type Layout,
  type TerminalOptions,
  truncate,
} from './layout.ts';
import type { BaselineOutcome, Diagnosis, ResultDocument, ScenarioResult, Verdict } from './result-document.ts';
import { isPartial, isScored } from './verdict.ts';
import {
  caveats,
  closeness,
  connectionOf,
  featuresOf,
  fixturesOf,
  headline,
  isComplete,
  judgedLine,
  NOTHING_FITS,
  namesOf,
  numbers,
  unexplained,
  VERDICT_SIGN,
} from './wording.ts';

/** A longer report has scrolled its first line away: the verdict is then said again at the end. */
const SCREEN_LINES = 100;

/**
 * The document as text for a terminal, ending with a newline. The first line is the verdict; the last one says how many
 * of the planned checks were judged.
 *
 * Lines keep to `columns` (40 at the least, 120 at the most), except what is there to be copied (commands and scripts)
 * and the last line. Whatever came from the endpoint is escaped: no control character reaches the terminal.
 */
export function renderHuman(document: ResultDocument, options: TerminalOptions): string {
  const layout = createLayout(options);
  const { results } = document;
  const scored = results.filter((result) => isScored(document, result));
  const fresh = scored.filter(({ known }) => known === null);
  const sections = [
    renderHeadline(document, layout),
    renderDiagnosis(document, layout),
    renderStale(document.baseline, layout),
    renderHarnessErrors(scored, layout),
    renderCases(
      'Failures',
      fresh.filter((result) => result.verdict === 'fail'),
      layout,
    ),
    renderCases(
      'Warnings',
      fresh.filter((result) => result.verdict === 'warn'),
      layout,
    ),
    renderKnown(scored, document.baseline, layout),
    renderInconclusive(scored, layout),
    renderNotScored(document, layout),
    renderNotes(results, layout),
    renderNotApplicable(results, layout),
    renderAdvice(document.advice, layout),
    renderNotVerified(document.notVerified, layout),
    renderTable(results, layout),
    [renderLastLine(document, layout)],
  ];
  const long = sections.flat().length > SCREEN_LINES;
  if (long && (document.verdict !== 'conformant' || isPartial(document)))
    sections.splice(-1, 0, renderClosing(document, layout));
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

/** The first lines of the terminal report: the verdict, the numbers, and what was tested. */

function circumstances(document: ResultDocument): string {
  const { target, profile, scoring, shard } = document;
  const fixtures = fixturesOf(target);
  const parts = [featuresOf(target)];
  if (fixtures !== '') parts.push(`client certificates to refuse: ${fixtures}`);
  if (profile !== null)
    parts.push(`profile ${profile}${scoring === undefined ? '' : `, revision ${scoring.revision}`}`);
  if (target.tls !== null) parts.push(connectionOf(target.tls));
  if (shard !== null) parts.push(`shard ${shard.index} of ${shard.of}`);
  return parts.join('; ');
}

/** The verdict in short, for the end of a long report. */
export function renderClosing(document: ResultDocument, layout: Layout): string[] {
  const verdict = VERDICT_SIGN[document.verdict];
  const words = layout.paint(headline(document), 'bold', layout.style(verdict));
  const [main] = document.diagnosis;
  return [
    `${layout.sign(verdict)} ${words}: ${numbers(document)}`,
    ...(main === undefined ? [] : layout.paragraph('  main cause  ', main.title)),
  ];
}

export function renderHeadline(document: ResultDocument, layout: Layout): string[] {
  const verdict = VERDICT_SIGN[document.verdict];
  const words = layout.paint(headline(document), 'bold', layout.style(verdict));
  const first = `${layout.sign(verdict)} ${words}`;
  const url = layout.safe(document.target.url);
  const besides = headline(document).length + 4;
  return [
    // A URL is only broken when a line of its own is too short for it.
    ...(displayWidth(url) <= layout.width - besides ? [`${first}  ${url}`] : [first, ...layout.paragraph('  ', url)]),
    ...layout.paragraph('  ', numbers(document)),
    ...layout.paragraph('  ', circumstances(document), 'dim'),
    ...caveats(document).flatMap((line) => layout.paragraph('  ', line, 'yellow')),
  ];
}

/**
 * What the endpoint behaves like, before anything else: the evidence, where it comes from, why it matters and how to
 * mend it.
 */

function inFull(diagnosis: Diagnosis, layout: Layout): string[] {
  const { title, evidence, alike, seen, why, fix, stack } = diagnosis;
  const field = (lead: string, text: string, ...styles: Parameters<Layout['paint']>[1][]) =>
    text === '' ? [] : layout.paragraph(`  ${lead.padEnd(8)}  `, text, ...styles);
  return [
    ...layout.paragraph('  ', title, 'bold'),
    ...layout.paragraph('  ', closeness(diagnosis), 'dim'),
    ...field('evidence', namesOf(evidence), 'dim'),
    ...field('seen', seen),
    ...field('why', why),
    ...field('fix', fix, 'cyan'),
    ...field('for', stack === null ? '' : `${stack.name} (${stack.told})`, 'dim'),
    // What the dictionary has, it has more of.
    ...field('more', seen === '' ? '' : `hookproof explain ${diagnosis.fault}`),
    ...field('same as', alike.length === 0 ? '' : `${namesOf(alike)}: this run cannot tell them apart`, 'dim'),
  ];
}

/** The nearest fault and what comes with it in full, those that also come in question in a line each. */
export function renderDiagnosis(document: Pick<ResultDocument, 'diagnosis' | 'results'>, layout: Layout): string[] {
  const { diagnosis, results } = document;
  const failed = results.filter(({ verdict }) => verdict === 'fail').length;
  if (diagnosis.length === 0) return failed < 2 ? [] : layout.paragraph('', NOTHING_FITS, 'bold');
  const together = diagnosis.filter(({ relation }) => relation !== 'or');
  const rest = unexplained(document);
  return [
    layout.paint('Your endpoint behaves like this', 'bold'),
    ...together.flatMap((one, at) => [...(at === 0 ? [] : ['', '  and at the same time']), ...inFull(one, layout)]),
    ...diagnosis
      .filter(({ relation }) => relation === 'or')
      .flatMap((other) => layout.paragraph('  or        ', `${other.title} (${closeness(other)})`, 'dim')),
    ...(rest.length > 0 && rest.length < failed
      ? layout.paragraph(
          '  besides   ',
          `${counted(rest.length, 'failure')} that this does not explain: ${namesOf(rest)}`,
        )
      : []),
  ];
}

/** The list of known failures in the terminal report: what is known, and which entries are no longer true. */

/** Entries that fail the run. Empty when there are none. */
export function renderStale(baseline: BaselineOutcome | null, layout: Layout): string[] {
  if (baseline === null || baseline.stale.length === 0) return [];
  return [
    layout.paint(`Not true any longer in ${layout.safe(baseline.file)} (${baseline.stale.length})`, 'bold'),
    ...baseline.stale.flatMap(({ message }) => layout.paragraph(`  ${layout.sign('fail')} `, message)),
    ...layout.paragraph('  fix  ', `hookproof baseline update ${baseline.file}`, 'cyan'),
  ];
}

/** What failed or warned and is known. Empty when nothing is. */
export function renderKnown(
  results: readonly ScenarioResult[],
  baseline: BaselineOutcome | null,
  layout: Layout,
): string[] {
  if (baseline === null) return [];
  const known = results.flatMap((result) => (result.known === null ? [] : [{ ...result, known: result.known }]));
  const notes = [
    ...(baseline.unfilled.length > 0
      ? [
          `${counted(baseline.unfilled.length, 'entry', 'entries')} without a reason or an owner: ${namesOf(baseline.unfilled)}`,
        ]
      : []),
    ...(baseline.notJudged.length > 0
      ? [
          `${counted(baseline.notJudged.length, 'entry', 'entries')} not judged in this run: ${namesOf(baseline.notJudged)}`,
        ]
      : []),
  ];
  if (known.length + notes.length === 0) return [];
  return [
    layout.paint(`Known failures (${known.length}), from ${layout.safe(baseline.file)}`, 'bold'),
    ...known.flatMap(({ id, verdict, observed, known: { reason, owner, expires } }) => [
      ...layout.paragraph(`  ${layout.sign(verdict)} `, `${id}: ${observed}`),
      ...layout.paragraph('    ', `${reason} (owner: ${owner}, until ${expires})`, 'dim'),
    ]),
    ...notes.flatMap((note) => layout.paragraph('  ! ', note, 'yellow')),
  ];
}

/** Checks that are newer than the revision of the catalogue: told, so that nobody is surprised when it is raised. */

function isRed({ verdict }: ScenarioResult): boolean {
  return verdict !== 'pass' && verdict !== 'not-applicable';
}

/** Empty where everything is scored. */
export function renderNotScored(document: ResultDocument, layout: Layout): string[] {
  const { results, scoring } = document;
  if (scoring === undefined || scoring.notScored.length === 0) return [];
  const aside = results.filter((result) => !isScored(document, result));
  const red = aside.filter(isRed);
  const count = `${counted(aside.length, 'check')} newer than revision ${scoring.revision}: without weight until the revision is raised`;
  return [
    layout.paint(`Not scored (${aside.length})`, 'bold'),
    ...layout.paragraph('  ', red.length === 0 ? count : `${count}; ${red.length} would not pass`, 'dim'),
    ...red.flatMap((result) => [
      ...layout.paragraph(`  ${layout.sign(result.verdict)} `, `${result.id}: ${result.title}`),
      ...layout.paragraph('    observed  ', result.observed || result.reason),
      ...layout.paragraph('    fix       ', result.fix, 'cyan'),
    ]),
  ];
}

/** The table of suites, and the last line of the report. */

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
