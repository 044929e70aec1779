/** Renders what the terminal report shows with --verbose, and the groups of checks by reason that it always shows. */
import { changesInWords } from './body-changes.ts';
import { groupBy } from './causes.ts';
import { counted, displayWidth, type Layout, truncate } from './layout.ts';
import type {
  BaselineOutcome,
  Diagnosis,
  Exchange,
  ResultDocument,
  ScenarioResult,
  Verdict,
} from './result-document.ts';
import { isScored, withVerdict } from './verdict.ts';
import { describeBytes } from './visible.ts';
import { closeness, NOTHING_FITS, namesOf, notExplained, reasonOf, suitesOf } from './wording.ts';

/** Renders everything that the short report omits. */
export function renderDetails(document: ResultDocument, scored: readonly ScenarioResult[], layout: Layout): string[][] {
  const { baseline, notVerified, results } = document;
  const unknown = (verdict: Verdict) => scored.filter((result) => result.known === null && result.verdict === verdict);
  const groups = renderGroups(layout);
  return [
    renderDiagnosis(document, layout),
    renderCases('Failures', unknown('fail'), layout),
    renderCases('Warnings', unknown('warn'), layout),
    renderKnown(scored, baseline, layout),
    renderNotScored(document, layout),
    groups.notes(results),
    groups.notApplicable(results),
    groups.notVerified(notVerified),
    renderTable(results, layout),
  ];
}

/** Renders the first finding, then the others, then the names of unexplained failures. */
function renderDiagnosis(document: ResultDocument, layout: Layout): string[] {
  const { diagnosis, results } = document;
  const failed = results.filter(({ verdict }) => verdict === 'fail').length;
  if (diagnosis.length === 0) return failed < 2 ? [] : layout.paragraph('', NOTHING_FITS, 'bold');
  const others = notExplained(document);
  return [
    layout.paint('Diagnosis', 'bold'),
    ...diagnosis.flatMap((fault, at) => [...(at === 0 ? [] : ['', '  in addition']), ...renderFault(fault, layout)]),
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
    ...field('for', stack === null ? '' : `${stack.name} (${stack.source})`, 'dim'),
    // Without `seen`, the fault is not a mistake in the library, and `explain` adds nothing.
    ...field('more', seen === '' ? '' : `hookproof explain ${fault.fault}`),
    ...field('same as', alike.length === 0 ? '' : `${namesOf(alike)}: this run cannot distinguish them`, 'dim'),
  ];
}

/**
 * Renders failures or warnings by suite, each with the fix and how to repeat it. Returns an empty list if there are
 * none.
 */
function renderCases(title: string, results: readonly ScenarioResult[], layout: Layout): string[] {
  if (results.length === 0) return [];
  const lines = [layout.paint(`${title} (${results.length})`, 'bold')];
  for (const [suite, members] of groupBy(results, (result) => result.suite)) {
    // Pushed one by one, because a document may have more lines than a call may have arguments.
    for (const line of ['', ...layout.paragraph('', suite, 'bold')]) lines.push(line);
    for (const result of members) for (const line of [...renderFull(result, layout), '']) lines.push(line);
    lines.pop();
  }
  return lines;
}

function renderFull(result: ScenarioResult, layout: Layout): string[] {
  const { defect, expected, fix, id, level, observed, reason, title, verdict, why } = result;
  const style = layout.style(verdict);
  return [
    ...layout.paragraph(`  ${layout.sign(verdict)} ${layout.paint(verdict, style)}  `, defect ?? title, 'bold'),
    ...field(layout, 'check', verdict === 'warn' ? id : `${id} (${level})`),
    // A reason contains what was observed, and often what was expected.
    ...field(layout, 'expected', reason.includes(expected) ? '' : expected),
    ...field(layout, 'observed', reason || observed, style),
    ...probes(result, layout),
    ...field(layout, 'why', why),
    ...field(layout, 'fix', fix, 'cyan'),
    ...reproduction(result, layout),
  ];
}

/** Renders one line of a case, with the label in a separate column. */
function field(layout: Layout, label: string, text: string, ...styles: Parameters<Layout['paint']>[1][]): string[] {
  if (text === '') return [];
  return layout.paragraph(`    ${layout.paint(label.padEnd(10), 'dim')}`, text, ...styles);
}

const MAX_ANSWERS = 4;

/** Renders the changes and the answer of each probe. */
function probes(result: ScenarioResult, layout: Layout): string[] {
  const sent = result.exchanges.filter((exchange) => exchange.role === 'probe');
  const changes = new Set(sent.flatMap((probe) => changesInWords(result, probe)));
  const decisive = sent.filter(({ label }) => label === result.delivery);
  const inOrder = [...decisive, ...sent.filter((probe) => !decisive.includes(probe))];
  const answers = inOrder.slice(0, MAX_ANSWERS).map((probe) => describeAnswer(probe, sent.length > 1));
  if (sent.length > MAX_ANSWERS) answers.push(`and ${sent.length - MAX_ANSWERS} more`);
  return [
    ...field(layout, 'changed', [...changes].join('; ')),
    ...answers.flatMap((answer, index) => field(layout, index === 0 ? 'answer' : '', answer)),
  ];
}

function describeAnswer({ error, label, response }: Exchange, several: boolean): string {
  const name = several ? `${label}: ` : '';
  if (response !== null) return `${name}${response.status}, ${describeBytes(response.body, 160)}`;
  return `${name}${error === null ? 'no answer' : `${error.message} (${error.code})`}`;
}

/** Maximum number of lines of a script; a longer one would hide the rest of the report. */
const MAX_SCRIPT_LINES = 16;
const MAX_SCRIPT_CHARACTERS = 2_000;

/** Renders the command and, for a failure, the script. They are never wrapped, so that they can be copied. */
function reproduction({ id, reproduce, verdict }: ScenarioResult, layout: Layout): string[] {
  const { curl, command } = reproduce ?? { curl: null, command: `hookproof run --scenario ${id}` };
  const rerun = `    ${layout.paint('rerun'.padEnd(10), 'dim')}${layout.safe(command)}`;
  if (curl === null || verdict !== 'fail') return [rerun];
  const lines = curl.trimEnd().split('\n');
  if (lines.length > MAX_SCRIPT_LINES || curl.length > MAX_SCRIPT_CHARACTERS) {
    return [rerun, ...field(layout, 'curl', `a script of ${lines.length} lines: see \`--reporter json\``)];
  }
  return [rerun, `    ${layout.paint('curl', 'dim')}`, ...lines.map((line) => `      ${layout.safe(line)}`)];
}

/** Renders sections that group many checks by reason. Each is empty if there is nothing to show. */
export function renderGroups(layout: Layout) {
  const section = (title: string, count: number, lines: readonly string[]): string[] =>
    count === 0 ? [] : [layout.paint(title, 'bold'), ...lines];
  const byReason = (results: readonly ScenarioResult[], { names = true } = {}): string[] =>
    groupBy(results, reasonOf).flatMap(([reason, members]) => {
      const lead = `  ${layout.sign(members[0]?.verdict ?? 'pass')} `;
      const named = members.length > MAX_NAMED ? suitesOf(members) : members.map(({ id }) => id).join(', ');
      return [
        ...layout.paragraph(lead, `${counted(members.length, 'check')}: ${reason}`),
        ...(names ? layout.paragraph('    ', named, 'dim') : []),
      ];
    });
  return {
    harnessErrors(results: readonly ScenarioResult[]): string[] {
      const errors = withVerdict(results, 'harness-error');
      const title = `Harness errors (${errors.length}): please report them`;
      return section(title, errors.length, byReason(errors));
    },
    inconclusive(results: readonly ScenarioResult[]): string[] {
      const inconclusive = withVerdict(results, 'inconclusive');
      return section(`Inconclusive (${inconclusive.length})`, inconclusive.length, byReason(inconclusive));
    },
    notApplicable(results: readonly ScenarioResult[]): string[] {
      const off = withVerdict(results, 'not-applicable');
      return section(`Not applicable (${off.length})`, off.length, byReason(off, { names: false }));
    },
    /** Renders passes with a comment, such as an answer that is allowed but unusual. */
    notes(results: readonly ScenarioResult[]): string[] {
      const noted = withVerdict(results, 'pass').filter((result) => result.reason !== '');
      return section(`Passed with a note (${noted.length})`, noted.length, byReason(noted));
    },
    lines(title: string, texts: readonly string[], sign: 'warn' | 'not-applicable'): string[] {
      const lines = texts.flatMap((line) => layout.paragraph(`  ${layout.sign(sign)} `, line));
      return section(title, texts.length, lines);
    },
    notVerified(entries: ResultDocument['notVerified']): string[] {
      const lead = `  ${layout.sign('not-applicable')} `;
      const lines = groupBy(entries, (entry) => entry.reason).flatMap(([reason, group]) => [
        ...group.flatMap(({ requirement, text }) => layout.paragraph(lead, `${requirement}: ${text}`)),
        ...layout.paragraph('    ', reason, 'dim'),
      ]);
      const isOpen = entries.some(({ verifiable }) => verifiable !== undefined);
      const title = isOpen ? 'Not verified by this run' : 'Not verifiable by black-box tests';
      return section(`${title} (${entries.length})`, entries.length, lines);
    },
  };
}

/** Maximum number of checks named for a group; beyond it, the suites are counted. */
const MAX_NAMED = 4;

/** Renders the failures and warnings that are in the baseline. */
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

/** Renders the checks that are newer than the catalogue revision, so that raising the revision causes no surprise. */
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

/** Below this width, in columns, the long column titles do not fit. */
const WIDE_TABLE = 64;

/** Renders the number of checks of each suite by verdict. */
function renderTable(results: readonly ScenarioResult[], layout: Layout): string[] {
  if (results.length === 0) return [];
  const isWide = layout.width >= WIDE_TABLE;
  const titles = COLUMNS.map(([, long, short]) => (isWide ? long : short).padStart(4));
  const numbersWidth = titles.reduce((sum, title) => sum + title.length + 1, 0);
  const suites = groupBy(results, ({ suite }) => suite);
  const names = ['suite', ...suites.map(([suite]) => layout.safe(suite))].map(displayWidth);
  const nameWidth = Math.min(Math.max(...names), Math.max(8, layout.width - numbersWidth));

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
