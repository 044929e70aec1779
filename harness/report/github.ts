/** Renders output for GitHub Actions: the log of a step, its annotations, and text without workflow commands. */

import { visible } from '../../contract/visible.ts';
import { type Cause, defectIn, titleOf } from './causes.ts';
import { renderHuman } from './human.ts';
import { counted, type ReportOptions } from './layout.ts';
import type { ResultDocument } from './result-document.ts';
import { adviceOn, causesIn, updateCommandOf } from './shown-causes.ts';
import { exitCodeOf, failsTheRun, scoredAndUnknown } from './verdict.ts';
import { caveats, decisionInWords, headline, judgedLine, namesOf, numbers, staleInWords } from './wording.ts';

/** Renders the log of a step: a folded group per cause, the annotations, and the terminal report without commands. */
export function renderGithub(document: ResultDocument, terminal: ReportOptions): string {
  const { causes, warnings } = causesIn(document);
  const groups = [...causes, ...warnings].map(group).join('');
  return `${groups}${renderAnnotations(document)}\n${defuse(renderHuman(document, terminal))}`;
}

function group(cause: Cause): string {
  const { members } = cause;
  if (members.length === 0) return '';
  const lines = members.map((member) => {
    const { expected, id, observed, verdict } = member;
    return `${verdict} ${id}: ${defectIn(member)}: expected ${expected}, observed ${observed || 'nothing'}`;
  });
  return [
    `::group::${escapeData(shortened(titleOf(cause), MAX_TITLE))} (${counted(members.length, 'check')})`,
    ...[...lines, `Fix: ${adviceOn(cause).fix}`].map((line) => shortened(line, MAX_LINE)),
    '::endgroup::\n',
  ].join('\n');
}

/**
 * GitHub shows at most ten errors and ten warnings per step. The rest is left for annotations that are always written.
 */
const MAX_ERRORS = 8;
const MAX_WARNINGS = 5;

/** Renders workflow commands, one per line. A run that fails the step begins with an error, any other with a notice. */
export function renderAnnotations(document: ResultDocument): string {
  const { baseline, interrupted, strict } = document;
  const results = scoredAndUnknown(document);
  const { causes, warnings } = causesIn(document);
  // A finding without a failed check, such as that nothing is listening, is the reason for no verdict.
  const fails = ({ members }: Cause) =>
    members.length === 0 || members.some(({ verdict }) => failsTheRun(verdict, strict));
  const passes = exitCodeOf(document) === 0 && !interrupted;
  const open = results.filter(({ verdict }) => verdict === 'inconclusive' || verdict === 'harness-error');
  const reasons = [...new Set(open.map(({ reason }) => reason))];
  return [
    command(passes ? 'notice' : 'error', `hookproof: ${headline(document)}`, [
      `${numbers(document)}; ${judgedLine(document)}`,
      decisionInWords(document),
      ...caveats(document),
      ...reasons.slice(0, 2),
      ...(baseline === null || baseline.stale.length === 0
        ? []
        : [...staleInWords(baseline), `Fix: ${updateCommandOf(baseline, document)} (never in CI)`]),
    ]),
    ...annotate(causes.filter(fails), MAX_ERRORS, 'error'),
    ...annotate([...causes.filter((one) => !fails(one)), ...warnings], MAX_WARNINGS, 'warning'),
  ].join('');
}

type AnnotationLevel = 'error' | 'warning' | 'notice';

function annotate(causes: readonly Cause[], max: number, level: AnnotationLevel): string[] {
  const shown = causes.slice(0, max).map((cause) => annotation(cause, level));
  const left = causes.slice(max).reduce((sum, { members }) => sum + members.length, 0);
  if (left === 0) return shown;
  return [...shown, command(level, `${counted(left, 'more check')}`, ['See the job summary and the report.'])];
}

function annotation({ diagnosis, members, title }: Cause, level: AnnotationLevel): string {
  const [first] = members;
  const checks = first === undefined ? '' : `Checks: ${namesOf(members.map(({ id }) => id))}`;
  if (diagnosis !== null) return command(level, diagnosis.title, [diagnosis.why, `Fix: ${diagnosis.fix}`, checks]);
  if (first === undefined) return '';
  const observed = `expected ${first.expected}, observed ${first.observed || 'nothing'}`;
  const fix = `Fix: ${first.fix}`;
  return members.length === 1
    ? command(level, `${first.id}: ${defectIn(first)}`, [observed, fix])
    : command(level, `${members.length} checks: ${title}`, [observed, fix, checks]);
}

/** Maximum number of characters of a title, and of a line of a message. */
const MAX_TITLE = 120;
const MAX_LINE = 400;

/** Renders one workflow command as one line, whatever the texts contain. */
function command(level: AnnotationLevel, title: string, lines: readonly string[]): string {
  const text = lines.filter((line) => line !== '').map((line) => shortened(line, MAX_LINE));
  return `::${level} title=${escapeProperty(shortened(title, MAX_TITLE))}::${escapeData(text.join('\n'))}\n`;
}

/** Makes untrusted text safe and shortens it, in one line. */
function shortened(text: string, characters: number): string {
  const shown = Array.from(defuse(visible(text.slice(0, characters * 2))));
  return shown.length > characters ? `${shown.slice(0, characters - 1).join('')}…` : shown.join('');
}

function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

/** Matches the colons of a command at the start of a line. Characters that a comparison may ignore are skipped. */
const LEADING =
  /^((?:[^\S\r\n\u2028\u2029]|\p{Default_Ignorable_Code_Point})*):(?=\p{Default_Ignorable_Code_Point}*:)/gmu;

/** Matches the older form of a command. */
const BRACKET = /#(?=\p{Default_Ignorable_Code_Point}*#\p{Default_Ignorable_Code_Point}*\[)/gu;

/**
 * Removes workflow commands from text by inserting a space. GitHub Actions reads every line of a log: `::name::` at the
 * start of a line, after any whitespace, and `##[name]` anywhere.
 */
export function defuse(text: string): string {
  return text.replace(LEADING, '$1: ').replace(BRACKET, '# ');
}

/** Whether a runner of GitHub Actions reads the log. */
export function inActions(env: Readonly<Record<string, string | undefined>>): boolean {
  return env.GITHUB_ACTIONS === 'true';
}
