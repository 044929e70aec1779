/**
 * The log of a step in GitHub Actions: the report for people, in which nothing is a command, and then the annotations.
 */

import { type Cause, causesOf } from './causes.ts';
import { renderHuman } from './human.ts';
import type { TerminalOptions } from './layout.ts';
import type { ResultDocument, ScenarioResult } from './result-document.ts';
import { exitCodeOf, failsTheRun, isScored } from './verdict.ts';
import { visible } from './visible.ts';
import { caveats, headline, judgedLine, namesOf, numbers } from './wording.ts';

export function renderGithub(document: ResultDocument, terminal: TerminalOptions): string {
  return `${defuse(renderHuman(document, terminal))}\n${renderAnnotations(document)}`;
}

/**
 * Annotations of GitHub Actions: workflow commands, few and short, because a step shows ten errors and ten warnings and
 * no more.
 */

type Level = 'error' | 'warning' | 'notice';

/** What GitHub shows of one step, less the annotations that are written in any case. */
const MOST_ERRORS = 8;
const MOST_WARNINGS = 5;
/** Characters of a title and of a line of a message. */
const TITLE = 120;
const LINE = 400;

/** Foreign text in one line, cut. */
function short(text: string, characters: number): string {
  const shown = Array.from(defuse(visible(text.slice(0, characters * 2))));
  return shown.length > characters ? `${shown.slice(0, characters - 1).join('')}…` : shown.join('');
}

function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

/** One workflow command: one line, whatever the texts hold. */
function command(level: Level, title: string, lines: readonly string[]): string {
  const told = lines.filter((line) => line !== '').map((line) => short(line, LINE));
  return `::${level} title=${escapeProperty(short(title, TITLE))}::${escapeData(told.join('\n'))}\n`;
}

function aboutCause({ diagnosis, members, title }: Cause, level: Level): string {
  const [first] = members;
  const ids = namesOf(members.map(({ id }) => id));
  if (diagnosis !== null) {
    return command(level, diagnosis.title, [`${diagnosis.why}`, `Fix: ${diagnosis.fix}`, `Checks: ${ids}`]);
  }
  if (first === undefined) return '';
  const head = members.length === 1 ? `${first.id}: ${first.title}` : `${members.length} checks: ${title}`;
  const observed = `expected ${first.expected}, observed ${first.observed || 'nothing'}`;
  return command(level, head, [observed, `Fix: ${first.fix}`, members.length === 1 ? '' : `Checks: ${ids}`]);
}

function someOf(causes: readonly Cause[], most: number, level: Level): string[] {
  const shown = causes.slice(0, most).map((cause) => aboutCause(cause, level));
  const left = causes.slice(most).reduce((sum, { members }) => sum + members.length, 0);
  return left === 0
    ? shown
    : [...shown, command(level, `${left} more`, ['The job summary and the report have them all.'])];
}

/** What counts for the verdict and is not known. */
export function fresh(document: ResultDocument): ScenarioResult[] {
  return document.results.filter((result) => isScored(document, result) && result.known === null);
}

/** The commands, one a line. A run that fails the step begins with an error, any other with a notice. */
export function renderAnnotations(document: ResultDocument): string {
  const { baseline, diagnosis, interrupted, strict } = document;
  const results = fresh(document);
  const failing = results.filter((result) => failsTheRun(result.verdict, strict));
  const warnings = strict ? [] : results.filter((result) => result.verdict === 'warn');
  const good = exitCodeOf(document) === 0 && !interrupted;
  const reasons = new Set(
    results.filter((one) => ['inconclusive', 'harness-error'].includes(one.verdict)).map(({ reason }) => reason),
  );
  return [
    command(good ? 'notice' : 'error', `hookproof: ${headline(document)}`, [
      `${numbers(document)}; ${judgedLine(document)}`,
      ...caveats(document),
      ...[...reasons].slice(0, 2),
      ...(baseline?.stale ?? []).slice(0, 3).map(({ message }) => message),
    ]),
    ...someOf(causesOf(failing, diagnosis), MOST_ERRORS, 'error'),
    ...someOf(causesOf(warnings, diagnosis), MOST_WARNINGS, 'warning'),
  ].join('');
}

/**
 * Keeps hostile text from commanding a runner of GitHub Actions. A runner reads every line of a log: `::name::`
 * commands at the start of a line, whatever white space stands before it, and `##[name]` anywhere in it. Characters
 * that a comparison may ignore are passed over.
 */

/** The colons of a command at the start of a line. */
const LEADING = /^((?:[^\S\n]|\p{Default_Ignorable_Code_Point})*):(?=\p{Default_Ignorable_Code_Point}*:)/gmu;

/** The older form, anywhere. */
const BRACKET = /#(?=\p{Default_Ignorable_Code_Point}*#\p{Default_Ignorable_Code_Point}*\[)/gu;

/** The text in which no line is a command; a space more is all that a reader sees of it. */
export function defuse(text: string): string {
  return text.replace(LEADING, '$1: ').replace(BRACKET, '# ');
}

/** Whether the log is read by a runner. */
export function inActions(env: Readonly<Record<string, string | undefined>>): boolean {
  return env.GITHUB_ACTIONS === 'true';
}
