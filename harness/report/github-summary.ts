/** Renders the job summary, the first text on the page of a GitHub Actions run, as Markdown without links. */

import { visible } from '../../contract/visible.ts';
import { type Cause, defectIn, groupBy, titleOf } from './causes.ts';
import { counted } from './layout.ts';
import type { Diagnosis, ResultDocument, ScenarioResult } from './result-document.ts';
import { adviceOn, causesIn, updateCommandOf } from './shown-causes.ts';
import { failsTheRun, isScored, scoredAndUnknown } from './verdict.ts';
import {
  caveats,
  closeness,
  decisionInWords,
  evidenceOf,
  featuresOf,
  GOOD_TO_KNOW,
  headline,
  judgedLine,
  NOTHING_FITS,
  namesOf,
  notExplained,
  numbers,
  rotationOf,
  signOf,
} from './wording.ts';

/** GitHub drops larger summaries. */
export const MAX_SUMMARY_BYTES = 1024 * 1024;

/** Maximum number of checks named under one cause. */
const MAX_MEMBERS = 8;
const MAX_LISTED = 250;

const SIGN = { pass: '✅', fail: '❌', inconclusive: '❔', 'harness-error': '⚠️' } as const;

function opening(document: ResultDocument): string[] {
  const { profile, scoring, seed, shard, target, tool } = document;
  const evidence = evidenceOf(document);
  const scope = [
    `${featuresOf(target)}`,
    ...[evidence, rotationOf(document)].filter((part) => part !== ''),
    ...(profile === null ? [] : [`profile ${profile}`]),
    ...(scoring === undefined ? [] : [`revision ${scoring.revision}`]),
    ...(shard === null ? [] : [`shard ${shard.index} of ${shard.of}`]),
  ];
  return [
    `## ${SIGN[signOf(document)]} hookproof: ${prose(headline(document))}`,
    '',
    `**${numbers(document)}**; ${judgedLine(document)}. ${prose(decisionInWords(document))}.`,
    '',
    `Endpoint ${code(target.url)}, ${prose(scope.join(', '))}. Seed ${code(seed)}, hookproof ${prose(tool.version)}.`,
    '',
    ...caveats(document).flatMap((line) => [`> ${prose(line)}`, '']),
  ];
}

function aboutDiagnosis(one: Diagnosis): string[] {
  const fix = one.stack === null ? 'Fix' : `Fix for ${prose(one.stack.name)}`;
  return [
    `- **${prose(one.title)}** (${prose(closeness(one))})`,
    `  - ${prose(one.why)}`,
    `  - **${fix}:** ${prose(one.fix)}`,
    ...(one.evidence.length === 0 ? [] : [`  - Seen in ${code(namesOf(one.evidence))}`]),
  ];
}

function diagnosisOf(document: ResultDocument): string[] {
  const { counts, diagnosis } = document;
  if (diagnosis.length === 0 && counts.fail < 2) return [];
  const lines = diagnosis.length === 0 ? [NOTHING_FITS] : diagnosis.flatMap(aboutDiagnosis);
  const rest = notExplained(document);
  return ['### Diagnosis', '', ...lines, ...(rest === '' ? [] : [`- ${prose(rest)}`]), ''];
}

function oneCheck(result: ScenarioResult): string {
  const { expected, id, observed } = result;
  const answer = `expected ${prose(expected)}, observed ${prose(observed || 'nothing')}`;
  return `${code(id)} ${prose(defectIn(result))}: ${answer}`;
}

function aboutCause(cause: Cause): string[] {
  const { diagnosis, members } = cause;
  const [first] = members;
  if (first === undefined) return [];
  const fix = `  - **Fix:** ${prose(adviceOn(cause).fix)}`;
  if (members.length === 1 && diagnosis === null) return [`- ${oneCheck(first)}`, fix];
  const left = members.length - MAX_MEMBERS;
  return [
    `- **${prose(titleOf(cause))}** (${counted(members.length, 'check')})`,
    // The fix of a diagnosis is already shown.
    ...(diagnosis === null ? [fix] : []),
    ...members.slice(0, MAX_MEMBERS).map((member) => `  - ${oneCheck(member)}`),
    ...(left > 0 ? [`  - and ${left} more`] : []),
  ];
}

function bulletList<T>(items: readonly T[], line: (item: T) => string): string[] {
  const left = items.length - MAX_LISTED;
  return [...items.slice(0, MAX_LISTED).map((item) => `- ${line(item)}`), ...(left > 0 ? [`- and ${left} more`] : [])];
}

/** Renders a folded list; nothing if there are no items. */
function foldedList<T>(title: string, items: readonly T[], line: (item: T) => string): string[] {
  return items.length === 0 ? [] : folded(`${title} (${items.length})`, bulletList(items, line));
}

function aboutStale(document: ResultDocument): string[] {
  const { baseline } = document;
  if (baseline === null || baseline.stale.length === 0) return [];
  const fix = `**Fix:** ${code(updateCommandOf(baseline, document))} on your own machine, never in CI.`;
  return [fix, '', ...foldedList('Stale baseline entries', baseline.stale, ({ message }) => prose(message))];
}

function blocksOf(document: ResultDocument): string[][] {
  const { advice, noted = [], notVerified, results, strict } = document;
  const own = scoredAndUnknown(document);
  const failing = own.filter(({ verdict }) => failsTheRun(verdict, strict));
  // A finding without a failed check is only in the diagnosis.
  const causes = causesIn(document).causes.filter(({ members }) => members.length > 0);
  const warnings = strict ? [] : own.filter(({ verdict }) => verdict === 'warn');
  const open = groupBy(
    own.filter(({ verdict }) => verdict === 'inconclusive' || verdict === 'harness-error'),
    ({ reason, verdict }) => `${verdict}: ${reason}`,
  );
  const notScored = results.filter((result) => !isScored(document, result) && result.verdict !== 'pass');
  return [
    opening(document),
    diagnosisOf(document),
    ...(causes.length === 0 ? [] : [['### What to fix', ''], ...causes.map(aboutCause), ['']]),
    aboutStale(document),
    foldedList('Every failure', failing, oneCheck),
    foldedList('Warnings', warnings, oneCheck),
    foldedList('Without a verdict, by reason', open, ([reason, members]) => {
      return `${prose(reason)}: ${counted(members.length, 'check')}, ${code(namesOf(members.map(({ id }) => id)))}`;
    }),
    foldedList(
      'Known failures',
      results.filter((result) => result.known !== null),
      (result) => `${oneCheck(result)}; ${prose(result.known?.reason ?? '')} (${prose(result.known?.owner ?? '')})`,
    ),
    foldedList('Not scored', notScored, oneCheck),
    foldedList('Not verified', notVerified, ({ reason, text }) => `${prose(text)} ${prose(reason)}`),
    foldedList(GOOD_TO_KNOW, noted, ({ text }) => prose(text)),
    foldedList('Advice', advice, prose),
  ];
}

/** Renders Markdown of at most `limit` bytes. Parts that do not fit are omitted, and the summary says so. */
export function renderSummary(document: ResultDocument, limit = MAX_SUMMARY_BYTES): string {
  const cut = '\nThe rest is omitted, because a job summary has a size limit. See the reports.\n';
  const available = limit - Buffer.byteLength(cut);
  let text = '';
  let size = 0;
  for (const block of blocksOf(document)) {
    if (block.length === 0) continue;
    const part = `${block.join('\n')}\n`;
    size += Buffer.byteLength(part);
    if (size > available) return limit < Buffer.byteLength(text + cut) ? '' : text + cut;
    text += part;
  }
  return text;
}

/** The functions below render untrusted text as Markdown on one line. */

/** Maximum number of characters of one text in the summary. */
const MAX_CHARACTERS = 600;

function short(text: string): string {
  const shown = visible(text.slice(0, 2 * MAX_CHARACTERS));
  if (shown.length <= MAX_CHARACTERS) return shown;
  return `${Array.from(shown.slice(0, MAX_CHARACTERS)).slice(0, -1).join('')}…`;
}

/** Everything that Markdown or HTML could interpret as markup. */
const MARKUP = /[!#$&*+\-./:<>@[\\\]^_`{|}~]/g;
/** An invisible joiner prevents these from becoming a mention, an address or a reference. */
const REFERS = new Set(['@', '#']);

/** Matches a part of a text in backticks. */
const QUOTED = /`([^`]+)`/;

/** Renders text literally, with parts in backticks as code, and without any other markup, link, mention or image. */
function prose(text: string): string {
  const plain = (part: string) =>
    part.replace(MARKUP, (sign) => `&#${sign.charCodeAt(0)};${REFERS.has(sign) ? '&#8288;' : ''}`);
  return short(text)
    .split(QUOTED)
    .map((part, at) => (at % 2 === 0 ? plain(part) : code(part) || plain(`\`${part}\``)))
    .join('');
}

/** Renders a code span. Its fence is longer than any run of backticks in it. */
function code(text: string): string {
  const shown = short(text);
  if (shown.trim() === '') return '';
  const longest = Math.max(0, ...(shown.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  return longest === 0 && shown === shown.trim() ? `${fence}${shown}${fence}` : `${fence} ${shown} ${fence}`;
}

/** Renders a folded part. The blank lines make its content Markdown again. `title` is trusted. */
function folded(title: string, lines: readonly string[]): string[] {
  return [`<details><summary>${title}</summary>`, '', ...lines, '', '</details>', ''];
}
