/** The terminal report: the verdict, the diagnosis, what failed and how to fix it, then everything else. */
import { groupBy } from './causes.ts';
import { renderCases, renderGroups } from './human-cases.ts';
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
  notExplained,
  numbers,
  VERDICT_SIGN,
} from './wording.ts';

/** The first line of a longer report has scrolled away, so the verdict is repeated at the end. */
const SCREEN_LINES = 100;

/**
 * The document as text for a terminal, ending with a newline. The first line is the verdict; the last line counts the
 * judged checks.
 *
 * Lines keep to `columns` (at least 40, at most 120), except the last line and what is to be copied (commands and
 * scripts). Whatever comes from the endpoint is escaped: no control character reaches the terminal.
 */
export function renderHuman(document: ResultDocument, options: TerminalOptions): string {
  const layout = createLayout(options);
  const { advice, baseline, notVerified, results } = document;
  const scored = results.filter((result) => isScored(document, result));
  const unknown = (verdict: Verdict) => scored.filter((result) => result.known === null && result.verdict === verdict);
  const groups = renderGroups(layout);
  const sections = [
    renderHeadline(document, layout),
    renderDiagnosis(document, layout),
    renderStale(baseline, layout),
    groups.harnessErrors(scored),
    renderCases('Failures', unknown('fail'), layout),
    renderCases('Warnings', unknown('warn'), layout),
    renderKnown(scored, baseline, layout),
    groups.inconclusive(scored),
    renderNotScored(document, layout),
    groups.notes(results),
    groups.notApplicable(results),
    groups.advice(advice),
    groups.notVerified(notVerified),
    renderTable(results, layout),
    [renderLastLine(document, layout)],
  ];
  const isLong = sections.flat().length > SCREEN_LINES;
  if (isLong && (document.verdict !== 'conformant' || isPartial(document))) {
    sections.splice(-1, 0, renderClosing(document, layout));
  }
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

function renderHeadline(document: ResultDocument, layout: Layout): string[] {
  const first = verdictLine(document, layout);
  const url = layout.safe(document.target.url);
  const left = layout.width - headline(document).length - 4;
  return [
    // A URL is only broken when a whole line is too short for it.
    ...(displayWidth(url) <= left ? [`${first}  ${url}`] : [first, ...layout.paragraph('  ', url)]),
    ...layout.paragraph('  ', numbers(document)),
    ...layout.paragraph('  ', configurationOf(document), 'dim'),
    ...caveats(document).flatMap((line) => layout.paragraph('  ', line, 'yellow')),
  ];
}

function verdictLine(document: ResultDocument, layout: Layout): string {
  const sign = VERDICT_SIGN[document.verdict];
  return `${layout.sign(sign)} ${layout.paint(headline(document), 'bold', layout.style(sign))}`;
}

function configurationOf({ target, profile, scoring, shard }: ResultDocument): string {
  const fixtures = fixturesOf(target);
  const revision = scoring === undefined ? '' : `, revision ${scoring.revision}`;
  const parts = [
    featuresOf(target),
    fixtures !== '' && `faulty client certificates: ${fixtures}`,
    profile !== null && `profile ${profile}${revision}`,
    target.tls !== null && connectionOf(target.tls),
    shard !== null && `shard ${shard.index} of ${shard.of}`,
  ];
  return parts.filter((part) => part !== false).join('; ');
}

/** The verdict in short, for the end of a long report. */
function renderClosing(document: ResultDocument, layout: Layout): string[] {
  const [main] = document.diagnosis;
  return [
    `${verdictLine(document, layout)}: ${numbers(document)}`,
    ...(main === undefined ? [] : layout.paragraph('  main cause  ', main.title)),
  ];
}

/** The best match and the faults in addition to it in full, the alternatives in a line each. */
function renderDiagnosis(document: ResultDocument, layout: Layout): string[] {
  const { diagnosis, results } = document;
  const failed = results.filter(({ verdict }) => verdict === 'fail').length;
  if (diagnosis.length === 0) return failed < 2 ? [] : layout.paragraph('', NOTHING_FITS, 'bold');
  const found = diagnosis.filter(({ relation }) => relation !== 'or');
  const alternatives = diagnosis.filter(({ relation }) => relation === 'or');
  const others = notExplained(document);
  return [
    layout.paint('Diagnosis', 'bold'),
    ...found.flatMap((fault, at) => [...(at === 0 ? [] : ['', '  in addition']), ...renderFault(fault, layout)]),
    ...alternatives.flatMap((fault) => layout.paragraph('  or        ', `${fault.title} (${closeness(fault)})`, 'dim')),
    ...(others === '' ? [] : layout.paragraph('  also      ', others)),
  ];
}

function renderFault(fault: Diagnosis, layout: Layout): string[] {
  const { title, evidence, alike, seen, why, fix, stack } = fault;
  const field = (label: string, text: string, ...styles: Parameters<Layout['paint']>[1][]) =>
    text === '' ? [] : layout.paragraph(`  ${label.padEnd(8)}  `, text, ...styles);
  return [
    ...layout.paragraph('  ', title, 'bold'),
    ...layout.paragraph('  ', closeness(fault), 'dim'),
    ...field('evidence', namesOf(evidence), 'dim'),
    ...field('seen in', seen),
    ...field('why', why),
    ...field('fix', fix, 'cyan'),
    ...field('for', stack === null ? '' : `${stack.name} (${stack.told})`, 'dim'),
    // Only faults of the dictionary have more text.
    ...field('more', seen === '' ? '' : `hookproof explain ${fault.fault}`),
    ...field('same as', alike.length === 0 ? '' : `${namesOf(alike)}: this run cannot distinguish them`, 'dim'),
  ];
}

/** Entries of the baseline that fail the run. */
function renderStale(baseline: BaselineOutcome | null, layout: Layout): string[] {
  if (baseline === null || baseline.stale.length === 0) return [];
  return [
    layout.paint(`Stale entries in ${layout.safe(baseline.file)} (${baseline.stale.length})`, 'bold'),
    ...baseline.stale.flatMap(({ message }) => layout.paragraph(`  ${layout.sign('fail')} `, message)),
    ...layout.paragraph('  fix  ', `hookproof baseline update ${baseline.file}`, 'cyan'),
  ];
}

/** Failures and warnings that are in the baseline. */
function renderKnown(results: readonly ScenarioResult[], baseline: BaselineOutcome | null, layout: Layout): string[] {
  if (baseline === null) return [];
  const known = results.flatMap((result) => (result.known === null ? [] : [{ ...result, known: result.known }]));
  const entries = (names: readonly string[], words: string) =>
    names.length === 0 ? [] : [`${counted(names.length, 'entry', 'entries')} ${words}: ${namesOf(names)}`];
  const notes = [
    ...entries(baseline.unfilled, 'without a reason or an owner'),
    ...entries(baseline.notJudged, 'not evaluated in this run'),
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

/** Checks that are newer than the revision of the catalogue, so that raising the revision causes no surprise. */
function renderNotScored(document: ResultDocument, layout: Layout): string[] {
  const { results, scoring } = document;
  if (scoring === undefined || scoring.notScored.length === 0) return [];
  const notScored = results.filter((result) => !isScored(document, result));
  const notPassed = notScored.filter(({ verdict }) => verdict !== 'pass' && verdict !== 'not-applicable');
  const summary = `newer than revision ${scoring.revision}, without effect on the verdict`;
  const red = notPassed.length === 0 ? '' : `; ${notPassed.length} did not pass`;
  return [
    layout.paint(`Not scored (${notScored.length})`, 'bold'),
    ...layout.paragraph('  ', `${summary}${red}`, 'dim'),
    ...notPassed.flatMap((result) => [
      ...layout.paragraph(`  ${layout.sign(result.verdict)} `, `${result.id}: ${result.title}`),
      ...layout.paragraph('    observed  ', result.observed || result.reason),
      ...layout.paragraph('    fix       ', result.fix, 'cyan'),
    ]),
  ];
}

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
function renderTable(results: readonly ScenarioResult[], layout: Layout): string[] {
  if (results.length === 0) return [];
  const isWide = layout.width >= WIDE_TABLE;
  const titles = COLUMNS.map(([, long, short]) => (isWide ? long : short).padStart(4));
  const numbersWidth = titles.reduce((sum, title) => sum + title.length + 1, 0);
  const suites = groupBy(results, ({ suite }) => suite);
  const names = ['suite', ...suites.map(([suite]) => layout.safe(suite))].map(displayWidth);
  const nameWidth = Math.min(
    names.reduce((most, width) => Math.max(most, width)),
    Math.max(8, layout.width - numbersWidth),
  );

  const row = (suite: string, cells: readonly string[]): string => {
    const name = truncate(layout.safe(suite), nameWidth, layout.safe('…'));
    return `${name}${' '.repeat(nameWidth - displayWidth(name))} ${cells.join(' ')}`;
  };
  const cellsOf = (members: readonly ScenarioResult[]) =>
    COLUMNS.map(([verdict], index) => {
      const count = members.filter((member) => member.verdict === verdict).length;
      return layout.paint(`${count}`.padStart(titles[index]?.length ?? 0), count === 0 ? 'dim' : layout.style(verdict));
    });
  return [
    layout.paint(row('suite', titles), 'bold'),
    ...suites.map(([suite, members]) => row(suite, cellsOf(members))),
  ];
}

/** Never wrapped, so that it is always the last line. */
function renderLastLine(document: ResultDocument, layout: Layout): string {
  const { durationMs, requests, seed } = document;
  const judged = layout.paint(judgedLine(document), 'bold', isComplete(document) ? 'green' : 'yellow');
  return `${judged}, ${counted(requests, 'request')}, ${formatDuration(durationMs)}, seed ${layout.safe(seed)}`;
}
