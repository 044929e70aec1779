/** The terminal report: the verdict, the causes of the failures, what to do, and what decided the exit code. */
import { quotedUrl } from '../../contract/masked-url.ts';
import { type Cause, causesOf, groupBy, isCause, withFindings } from './causes.ts';
import { renderDetails, renderGroups } from './human-details.ts';
import { counted, createLayout, displayWidth, formatDuration, type Layout, type ReportOptions } from './layout.ts';
import type { ResultDocument, ScenarioResult } from './result-document.ts';
import { decisionOf, failsTheRun, isScored, withVerdict } from './verdict.ts';
import {
  caveats,
  closeness,
  connectionOf,
  decisionInWords,
  evidenceOf,
  failuresIn,
  featuresOf,
  fixturesOf,
  headline,
  isComplete,
  judgedLine,
  namesOf,
  numbers,
  VERDICT_SIGN,
  verifiableIn,
} from './wording.ts';

/**
 * The document as text for a terminal, ending with a newline. The first line is the verdict; then follow the causes of
 * the failures, what else there is to know, the causes again as a list of what to do, and on the last line what decided
 * the exit code. With `verbose`, every finding is shown in full before the causes.
 *
 * Lines keep to `columns` (at least 40, at most 120), except what is to be copied (commands, scripts and paths).
 * Whatever comes from the endpoint is escaped: no control character reaches the terminal.
 */
export function renderHuman(document: ResultDocument, options: ReportOptions): string {
  const layout = createLayout(options);
  const scored = document.results.filter((result) => isScored(document, result));
  const found = scored.filter(({ known, verdict }) => known === null && (verdict === 'fail' || verdict === 'warn'));
  const groups = withFindings(causesOf(found, document.diagnosis), document.diagnosis);
  const causes = groups.filter(isCause);
  const warnings = groups.filter((one) => !isCause(one));
  const lists = renderGroups(layout);
  const sections = [
    renderHeadline(document, layout),
    ...(options.verbose === true ? renderDetails(document, scored, layout) : []),
    renderCauses(causes, options.verbose === true, layout),
    renderWarnings(warnings, layout),
    renderStale(document, layout),
    lists.harnessErrors(scored),
    lists.inconclusive(scored),
    lists.advice(document.advice),
    options.verbose === true ? [] : renderOmitted(document, scored, layout),
    renderToDo(document, causes, layout),
    renderClosing(document, options, layout),
  ];
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

function renderHeadline(document: ResultDocument, layout: Layout): string[] {
  const sign = VERDICT_SIGN[document.verdict];
  const first = `${layout.sign(sign)} ${layout.paint(headline(document), 'bold', layout.style(sign))}`;
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
    target.tls !== null && connectionOf(target.tls),
    shard !== null && `shard ${shard.index} of ${shard.of}`,
  ];
  return parts.filter((part) => part !== false).join('; ');
}

/** Of more causes, the rest is counted without `--verbose`: what is fixed first often explains them. */
const MAX_CAUSES = 5;
/** Checks that are named under one cause; fewer when there are many causes, so that a report fits on a screen. */
const MAX_MEMBERS = 5;
const MEMBERS_OF_MANY = 2;
const MANY_CAUSES = 4;

/** Each cause with its checks, a line each. */
function renderCauses(causes: readonly Cause[], verbose: boolean, layout: Layout): string[] {
  if (causes.length === 0) return [];
  const most = causes.length >= MANY_CAUSES ? MEMBERS_OF_MANY : MAX_MEMBERS;
  const shown = verbose ? causes : causes.slice(0, MAX_CAUSES);
  const left = causes.slice(shown.length);
  const size = failuresIn(left.flatMap(({ members }) => members));
  return [
    layout.paint(`Causes (${causes.length})`, 'bold'),
    ...shown.flatMap((cause, at) => renderCause(cause, at + 1, most, layout)),
    ...(left.length === 0 ? [] : layout.paragraph('  ', `and ${counted(left.length, 'more cause')} of ${size}`)),
  ];
}

/** Warnings that no cause explains, by what went wrong. They depend on the framework more than on the receiver. */
function renderWarnings(groups: readonly Cause[], layout: Layout): string[] {
  const members = groups.flatMap((one) => one.members);
  if (members.length === 0) return [];
  const shown = groups.slice(0, MAX_MEMBERS);
  const left = members.length - shown.reduce((sum, one) => sum + one.members.length, 0);
  return [
    layout.paint(`Other warnings (${members.length})`, 'bold'),
    ...shown.flatMap(({ members: [first, ...others] }) => {
      const more = others.length === 0 ? '' : `; and ${others.length} alike`;
      return first === undefined
        ? []
        : layout.paragraph(`  ${layout.sign('warn')} `, `${first.id}: ${defectIn(first)}${more}`);
    }),
    ...(left === 0 ? [] : [`  and ${left} more, listed by --verbose`]),
  ];
}

function renderCause(cause: Cause, number: number, most: number, layout: Layout): string[] {
  const { diagnosis, members } = cause;
  // One more is shown rather than counted.
  const shown = examplesOf(members, members.length === most + 1 ? most + 1 : most);
  const left = members.length - shown.length;
  const size = members.length > 0 ? ` (${failuresIn(members)})` : '';
  return [
    ...layout.paragraph(`  ${number}. `, `${titleOf(cause)}${size}`, 'bold'),
    ...(diagnosis === null ? [] : layout.paragraph('     ', closeness(diagnosis), 'dim')),
    ...shown.flatMap((member, at) => {
      const text = diagnosis === null && members.length > 1 ? defectIn(member) : answerInWords(member);
      const more = left > 0 && at === shown.length - 1 ? `; and ${left} more` : '';
      return layout.paragraph(`     ${layout.sign(member.verdict)} `, `${member.id}: ${text}${more}`);
    }),
  ];
}

const rank = ({ verdict }: ScenarioResult): number => (verdict === 'fail' ? 0 : 1);

/** Up to `most` checks, failures first: one of each kind of answer, then the others in their order. */
function examplesOf(members: readonly ScenarioResult[], most: number): readonly ScenarioResult[] {
  const firsts = groupBy(members, (member) => `${member.verdict} ${answerInWords(member)}`).flatMap(
    ([, [first]]) => first ?? [],
  );
  const chosen = new Set([...new Set([...firsts, ...members])].slice(0, most));
  return members.filter((member) => chosen.has(member)).toSorted((one, other) => rank(one) - rank(other));
}

function titleOf({ members: [first], title }: Cause): string {
  const text = title === '' && first !== undefined ? defectIn(first) : title;
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function defectIn({ defect, title }: ScenarioResult): string {
  return defect ?? title;
}

/** What decided a result that the status of one answer does not show. */
const SHOWN_BY_MORE: ReadonlySet<string> = new Set([
  'observation',
  'answers-differ',
  'leak',
  'certificate-fault',
  'receiver-stopped',
]);

/** "answered 401, expected 200 or 4xx". */
function answerInWords(result: ScenarioResult): string {
  const { answered, decidedBy, expected, expectedOutcomes = [], observed, reason } = result;
  if (decidedBy !== undefined && SHOWN_BY_MORE.has(decidedBy)) return `${reason || observed}; expected ${expected}`;
  const status = answered?.status ?? (/^\d{3}$/.test(observed) ? observed : null);
  const outcomes = expectedOutcomes.every((outcome) => /^\d(?:\d\d|xx)$/.test(outcome)) ? expectedOutcomes : [];
  const [last = expected, ...before] = outcomes.toReversed();
  const wanted = before.length === 0 ? last : `${before.toReversed().join(', ')} or ${last}`;
  return `${status === null ? observed || reason : `answered ${status}`}, expected ${wanted}`;
}

/** What the short report only counts. */
function renderOmitted(document: ResultDocument, scored: readonly ScenarioResult[], layout: Layout): string[] {
  const { baseline, notVerified, results, scoring } = document;
  const known = scored.filter((result) => result.known !== null);
  const notScored = results.length - scored.length;
  const notes = results.filter(({ reason, verdict }) => verdict === 'pass' && reason !== '').length;
  const unverifiable = document.partial ? 0 : notVerified.filter(({ verifiable }) => verifiable === undefined).length;
  const verifiable = document.partial ? '' : verifiableIn(document);
  const off = groupBy(withVerdict(results, 'not-applicable'), ({ reason }) => reason);
  const count = [
    unverifiable > 0 && `${counted(unverifiable, 'requirement')} not verifiable by black-box tests`,
    notes > 0 && `${notes} passed with a note`,
    notScored > 0 && `${notScored} newer than revision ${scoring?.revision}, without effect on the verdict`,
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
    ...line(count.length > 0, `Listed by --verbose: ${count.join('; ')}`),
  ];
}

/** How many checks the command of a cause names. */
const MAX_IN_COMMAND = 3;

/** The causes again, each with its fix and the command that checks it. */
function renderToDo(document: ResultDocument, causes: readonly Cause[], layout: Layout): string[] {
  const flags = document.flags === undefined ? '' : ` ${layout.safe(document.flags)}`;
  const run = `hookproof run ${layout.safe(quotedUrl(document.target.url))}${flags}`;
  if (causes.length === 0) {
    const isGreen = document.partial && document.counts.pass > 0 && document.counts.inconclusive === 0;
    return isGreen ? [layout.paint('Next', 'bold'), `  all       ${run}`] : [];
  }
  const shown = causes.slice(0, MAX_CAUSES);
  const stack = shown.find(({ diagnosis }) => diagnosis?.stack != null)?.diagnosis?.stack;
  const failing = causes.filter(({ members }) =>
    members.some((member) => failsTheRun(member.verdict, document.strict)),
  ).length;
  const explained = causes.find(({ diagnosis }) => diagnosis !== null && diagnosis.seen !== '')?.diagnosis?.fault;
  return [
    ...layout.paragraph('', `To do${stack == null ? '' : `, with fixes for ${stack.name} (${stack.source})`}`, 'bold'),
    ...shown.flatMap((cause, at) => {
      const { diagnosis, members } = cause;
      const fix = diagnosis?.fix ?? members[0]?.fix ?? '';
      const ids = examplesOf(members, MAX_IN_COMMAND).map(({ id }) => ` --scenario ${layout.safe(id)}`);
      return [
        ...layout.paragraph(`  ${at + 1}. `, titleOf(cause), 'bold'),
        ...(fix === '' ? [] : layout.paragraph('     fix    ', fix, 'cyan')),
        `     check  ${run}${ids.join('')}`,
      ];
    }),
    ...(failing < 2 ? [] : [`  all       ${run} --failed`]),
    // Only faults of the dictionary are seen somewhere, and have more text.
    ...(explained === undefined ? [] : [`  more      hookproof explain ${layout.safe(explained)}`]),
  ];
}

/** The reports, the numbers, and what decided the exit code. */
function renderClosing(document: ResultDocument, { files = [] }: ReportOptions, layout: Layout): string[] {
  const { durationMs, requests, seed } = document;
  const judged = layout.paint(judgedLine(document), 'bold', isComplete(document) ? 'green' : 'yellow');
  const rest = `${counted(requests, 'request')}, ${formatDuration(durationMs)}, seed ${layout.safe(seed)}`;
  const sign = document.interrupted ? 'inconclusive' : SIGN_OF_CODE[decisionOf(document).code];
  return [
    ...files.map(({ name, path }) => `${name} report: ${layout.safe(path)}`),
    `${judged}, ${rest}`,
    ...layout.paragraph(`${layout.sign(sign)} `, decisionInWords(document), 'bold', layout.style(sign)),
  ];
}

const SIGN_OF_CODE = { 0: 'pass', 1: 'fail', 3: 'inconclusive', 4: 'harness-error' } as const;

/** Entries of the baseline that fail the run. */
function renderStale({ baseline, target }: ResultDocument, layout: Layout): string[] {
  if (baseline === null || baseline.stale.length === 0) return [];
  return [
    layout.paint(`Stale entries in ${layout.safe(baseline.file)} (${baseline.stale.length})`, 'bold'),
    ...baseline.stale.flatMap(({ message }) => layout.paragraph(`  ${layout.sign('fail')} `, message)),
    `  fix  hookproof baseline update ${layout.safe(baseline.file)} ${layout.safe(quotedUrl(target.url))}`,
    ...(baseline.stale.some(({ problem }) => problem === 'expired')
      ? layout.paragraph('  fix  ', `agree on a new date for expired entries, and edit \`expires\``, 'cyan')
      : []),
  ];
}
