/** The terminal report: the verdict, the causes of the failures, what to do, and what decided the exit code. */
import { type Cause, defectIn, groupBy, titleOf } from './causes.ts';
import { changesSince } from './comparison-wording.ts';
import { renderDetails, renderGroups } from './human-details.ts';
import { counted, createLayout, displayWidth, formatDuration, type Layout, type ReportOptions } from './layout.ts';
import type { ResultDocument, ScenarioResult } from './result-document.ts';
import {
  adviceOn,
  causesIn,
  commandWords,
  decidingChecks,
  examplesOf,
  runCommandOf,
  updateCommandOf,
} from './shown-causes.ts';
import { decisionOf, failsTheRun, isScored, withVerdict } from './verdict.ts';
import {
  answerInWords,
  caveats,
  closeness,
  connectionOf,
  decisionInWords,
  evidenceOf,
  failuresIn,
  featuresOf,
  fixturesOf,
  GOOD_TO_KNOW,
  headline,
  isComplete,
  judgedLine,
  metOnTheWay,
  namesOf,
  numbers,
  rotationOf,
  signOf,
  staleInWords,
  verifiableIn,
} from './wording.ts';

/**
 * Renders the document as text for a terminal, ending with a newline. The first line is the verdict. The causes of the
 * failures follow, then other information, then the causes again as a to-do list, and on the last line what decided the
 * exit code. With `verbose`, every finding is shown in full before the causes.
 *
 * Lines have at most `columns` columns (40 to 120), except text to be copied (commands, scripts and paths). Everything
 * from the endpoint is escaped: no control character reaches the terminal.
 */
export function renderHuman(document: ResultDocument, given: Partial<ReportOptions> = {}): string {
  const options = { columns: 100, color: false, unicode: true, ...given };
  const layout = createLayout(options);
  const scored = document.results.filter((result) => isScored(document, result));
  const { causes, warnings } = causesIn(document);
  const lists = renderGroups(layout);
  const sections = [
    renderHeadline(document, options, layout),
    ...(options.verbose === true ? renderDetails(document, scored, layout) : []),
    renderCauses(document, causes, options.verbose === true, layout),
    renderWarnings(document, warnings, layout),
    renderStale(document, options.verbose === true, layout),
    lists.harnessErrors(scored),
    lists.inconclusive(scored),
    lists.lines(
      GOOD_TO_KNOW,
      (document.noted ?? []).map(({ text }) => text),
      'not-applicable',
    ),
    lists.lines('Advice', document.advice, 'warn'),
    options.verbose === true ? [] : renderOmitted(document, scored, layout),
    renderToDo(document, causes, options, layout),
    renderClosing(document, options, layout),
  ];
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

function renderHeadline(document: ResultDocument, { comparison }: ReportOptions, layout: Layout): string[] {
  const sign = signOf(document);
  const first = layout.paragraph(`${layout.sign(sign)} `, headline(document), 'bold', layout.style(sign));
  const url = layout.safe(document.target.url);
  const left = layout.width - displayWidth(headline(document)) - 4;
  return [
    // A URL is broken only if it is longer than a whole line.
    ...(displayWidth(url) <= left ? [`${first.join('')}  ${url}`] : [...first, ...layout.paragraph('  ', url)]),
    ...layout.paragraph('  ', numbers(document)),
    ...(comparison === undefined ? [] : layout.paragraph('  ', changesSince(comparison))),
    ...layout.paragraph('  ', configurationOf(document), 'dim'),
    ...caveats(document).flatMap((line) => layout.paragraph('  ', line, 'yellow')),
  ];
}

function configurationOf(document: ResultDocument): string {
  const { target, profile, scoring, shard } = document;
  const evidence = evidenceOf(document);
  const fixtures = fixturesOf(target);
  const revision = scoring === undefined ? '' : `, revision ${scoring.revision}`;
  const parts = [
    featuresOf(target),
    fixtures !== '' && `faulty client certificates: ${fixtures}`,
    profile !== null && `profile ${profile}${revision}`,
    evidence !== '' && evidence,
    rotationOf(document) !== '' && rotationOf(document),
    target.tls !== null && connectionOf(target.tls),
    shard !== null && `shard ${shard.index} of ${shard.of}`,
  ];
  return parts.filter((part) => part !== false).join('; ');
}

/** Maximum number of causes shown without `--verbose`: the first fixes often explain the others. */
const MAX_CAUSES = 5;

/** Returns the causes to show. A single further one is shown, because a line about it is as long. */
function firstOf(causes: readonly Cause[]): readonly Cause[] {
  return causes.length <= MAX_CAUSES + 1 ? causes : causes.slice(0, MAX_CAUSES);
}

/**
 * Maximum number of checks named under one cause; fewer if there are many causes, so that a report fits on a screen.
 */
const MAX_MEMBERS = 5;
const MEMBERS_OF_MANY = 2;
const MANY_CAUSES = 4;

/** Names what makes the report complete: the flag, or the option in a run that a test started. */
function verboseOf({ inProcess }: ResultDocument): string {
  return inProcess === true ? '`verbose: true`' : '--verbose';
}

/** Renders each cause with its checks, one line each. */
function renderCauses(document: ResultDocument, causes: readonly Cause[], verbose: boolean, layout: Layout): string[] {
  if (causes.length === 0) return [];
  const maxMembers = causes.length >= MANY_CAUSES ? MEMBERS_OF_MANY : MAX_MEMBERS;
  const shown = verbose ? causes : firstOf(causes);
  const left = causes.slice(shown.length);
  const size = failuresIn(left.flatMap(({ members }) => members));
  return [
    layout.paint(`Causes (${causes.length})`, 'bold'),
    ...shown.flatMap((cause, at) => renderCause(cause, at + 1, maxMembers, layout)),
    ...(left.length === 0
      ? []
      : layout.paragraph(
          '  ',
          `and ${counted(left.length, 'more cause')} with ${size} (${verboseOf(document)} lists them)`,
        )),
  ];
}

/** Renders the warnings that no cause explains, by type. They depend on the framework more than on the receiver. */
function renderWarnings(document: ResultDocument, groups: readonly Cause[], layout: Layout): string[] {
  const members = groups.flatMap((one) => one.members);
  if (members.length === 0) return [];
  const shown = groups.slice(0, MAX_MEMBERS);
  const left = members.length - shown.reduce((sum, one) => sum + one.members.length, 0);
  return [
    layout.paint(`Other warnings (${members.length})`, 'bold'),
    ...shown.flatMap((group) => {
      const [first, ...others] = group.members;
      const more = others.length === 0 ? '' : `; and ${others.length} alike`;
      return first === undefined
        ? []
        : [
            ...layout.paragraph(`  ${layout.sign('warn')} `, `${first.id}: ${defectIn(first)}${more}`),
            ...renderConsequence(group, '    ', layout),
          ];
    }),
    ...(left === 0 ? [] : [`  and ${left} more, listed by ${verboseOf(document)}`]),
  ];
}

/** Renders the consequences in production if all checks of a cause are warnings: no failure shows that they matter. */
function renderConsequence(cause: Cause, indent: string, layout: Layout): string[] {
  const { why } = adviceOn(cause);
  const { members } = cause;
  const isWarning = members.length > 0 && members.every(({ verdict }) => verdict === 'warn');
  return isWarning && why !== '' ? layout.paragraph(indent, why) : [];
}

function renderCause(cause: Cause, number: number, maxMembers: number, layout: Layout): string[] {
  const { diagnosis, members } = cause;
  // A single further check is shown instead of counted.
  const shown = examplesOf(members, members.length === maxMembers + 1 ? maxMembers + 1 : maxMembers);
  const left = members.length - shown.length;
  const size = members.length > 0 ? ` (${failuresIn(members)})` : '';
  const title = titleOf(cause);
  return [
    ...layout.paragraph(`  ${number}. `, `${title}${size}`, 'bold'),
    ...(diagnosis === null ? [] : layout.paragraph('     ', closeness(diagnosis), 'dim')),
    ...renderConsequence(cause, '     ', layout),
    ...shown.flatMap((member, at) => {
      const words = diagnosis === null && members.length > 1 ? defectIn(member) : answerInWords(member);
      // The title may be what was observed.
      const isRepeated = words.toLowerCase().startsWith(title.toLowerCase());
      const text = isRepeated ? words.slice(title.length).replace(/^[.;, ]+/, '') : words;
      const more = left > 0 && at === shown.length - 1 ? `; and ${left} more` : '';
      return layout.paragraph(`     ${layout.sign(member.verdict)} `, `${member.id}: ${text}${more}`);
    }),
  ];
}

/** Renders what the short report counts but does not list. */
function renderOmitted(document: ResultDocument, scored: readonly ScenarioResult[], layout: Layout): string[] {
  const { baseline, notVerified, results, scoring } = document;
  const known = scored.filter((result) => result.known !== null);
  const notScored = results.length - scored.length;
  const notes = results.filter(({ reason, verdict }) => verdict === 'pass' && reason !== '').length;
  const unverifiable = document.partial ? 0 : notVerified.filter(({ verifiable }) => verifiable === undefined).length;
  const verifiable = document.partial ? '' : verifiableIn(document);
  const off = groupBy(withVerdict(results, 'not-applicable'), ({ reason }) => reason);
  const count = [
    notes > 0 && `${counted(notes, 'check')} that passed with a note`,
    unverifiable > 0 && `${counted(unverifiable, 'requirement')} that no test from outside can verify`,
    notScored > 0 &&
      `${counted(notScored, 'check')} newer than revision ${scoring?.revision}, which the verdict ignores`,
  ].filter((part) => part !== false);
  const unfilled = baseline?.unfilled ?? [];
  const file = baseline?.file ?? 'the baseline';
  const line = (isThere: boolean, text: string, style: 'dim' | 'yellow' = 'dim') =>
    isThere ? layout.paragraph('', text, style) : [];
  const reasons = off.map(([reason, members]) => `${members.length} (${reason})`).join('; ');
  return [
    ...line(known.length > 0, `Known failures: ${known.length} in ${file} (${namesOf(known.map(({ id }) => id))})`),
    ...line(unfilled.length > 0, `Without a reason or an owner in the baseline: ${namesOf(unfilled)}`, 'yellow'),
    ...line(off.length > 0, `Not applicable: ${reasons}`),
    ...line(verifiable !== '', `Not verified: ${verifiable}`),
    ...line(count.length > 0, `${verboseOf(document)} also lists ${count.join('; ')}`),
  ];
}

/**
 * Renders the causes again, each with its fix and how to check it: with a command or, in a run that a test started,
 * with the options of the test.
 */
function renderToDo(
  document: ResultDocument,
  causes: readonly Cause[],
  { isStored = true }: ReportOptions,
  layout: Layout,
): string[] {
  const inTest = document.inProcess === true;
  const run = runCommandOf(document);
  if (causes.length === 0) {
    const isGreen = document.partial && document.counts.pass > 0 && document.counts.inconclusive === 0;
    return isGreen && !inTest ? [layout.paint('Next', 'bold'), ...layout.command('  all       ', [run])] : [];
  }
  const shown = firstOf(causes);
  const stack = inTest ? null : shown.find(({ diagnosis }) => diagnosis?.stack != null)?.diagnosis?.stack;
  const check = (ids: readonly string[]) =>
    inTest
      ? [`     check  ${layout.safe(selectionOf(document, ids))}`]
      : layout.command('     check  ', commandWords(document, ids));
  const list = [
    ...layout.paragraph('', `To do${stack == null ? '' : `, with fixes for ${stack.name} (${stack.source})`}`, 'bold'),
    ...shown.flatMap((cause, at) => {
      const { fix } = adviceOn(cause);
      return [
        ...layout.paragraph(`  ${at + 1}. `, titleOf(cause), 'bold'),
        ...(fix === '' ? [] : layout.paragraph('     fix    ', fix, 'cyan')),
        ...check(decidingChecks(cause)),
      ];
    }),
  ];
  if (inTest) return list;
  const failing = causes.filter(({ members }) =>
    members.some((member) => failsTheRun(member.verdict, document.strict)),
  ).length;
  const explained = causes.find(({ diagnosis }) => diagnosis !== null && diagnosis.seen !== '')?.diagnosis?.fault;
  return [
    ...list,
    ...(failing < 2 || document.command !== undefined || !isStored
      ? []
      : layout.command('  all       ', [run, '--failed'])),
    // `explain` has more text only for faults in the dictionary.
    ...(explained === undefined ? [] : [`  more      hookproof explain ${layout.safe(explained)}`]),
  ];
}

/** Returns the options of a test that select these checks or, without any, what the run selected. */
function selectionOf({ selection }: ResultDocument, ids: readonly string[]): string {
  const { suites = [], scenarios = [], greps = [] } = ids.length > 0 ? { scenarios: ids } : (selection ?? {});
  const lists = Object.entries({ suites, scenarios, greps }).filter(([, names]) => names.length > 0);
  const options = lists.map(([option, names]) => `${option}: [${names.map((name) => `'${name}'`).join(', ')}]`);
  return options.join(', ') || 'run the test again';
}

/** Renders the written reports, the numbers, and what decided the exit code. */
function renderClosing(document: ResultDocument, { files = [] }: ReportOptions, layout: Layout): string[] {
  const { durationMs, requests, seed } = document;
  const judged = layout.paint(judgedLine(document), 'bold', isComplete(document) ? 'green' : 'yellow');
  const rest = `${counted(requests, 'request')}, ${formatDuration(durationMs)}, seed ${layout.safe(seed)}`;
  const met = metOnTheWay(document);
  const sign = document.interrupted ? 'inconclusive' : SIGN_OF_CODE[decisionOf(document).code];
  return [
    ...files.map(({ name, path }) => `${name} report: ${layout.safe(path)}`),
    `${judged}, ${rest}`,
    ...(met === '' ? [] : layout.paragraph('', met)),
    ...layout.paragraph(`${layout.sign(sign)} `, decisionInWords(document), 'bold', layout.style(sign)),
  ];
}

const SIGN_OF_CODE = { 0: 'pass', 1: 'fail', 3: 'inconclusive', 4: 'harness-error' } as const;

/** Renders the baseline entries that fail the run, after the command that removes them. */
function renderStale(document: ResultDocument, verbose: boolean, layout: Layout): string[] {
  const { baseline } = document;
  if (baseline === null || baseline.stale.length === 0) return [];
  return [
    layout.paint(`Stale entries in ${layout.safe(baseline.file)} (${baseline.stale.length})`, 'bold'),
    `  fix  ${layout.safe(updateCommandOf(baseline, document))}`,
    ...(baseline.stale.some(({ problem }) => problem === 'expired')
      ? layout.paragraph('  fix  ', `agree on a new date for expired entries, and edit \`expires\``, 'cyan')
      : []),
    ...staleInWords(baseline, verbose ? Number.POSITIVE_INFINITY : undefined).flatMap((line) =>
      layout.paragraph(`  ${layout.sign('fail')} `, line),
    ),
  ];
}
