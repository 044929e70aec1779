/** Problems of the configuration, and advice about it. All are collected, so that they are reported together. */
import { HookproofError } from '../../contract/hookproof-error.ts';
import { visible } from '../../contract/visible.ts';

/** One problem. Neither `message` nor `hint` contains the value of a secret. */
export interface Problem {
  /** A stable code, printed with the message. */
  readonly code: string;
  /** The setting with the problem, for example `tls.client-key`; null if there are several or none. */
  readonly path: string | null;
  /** The kind of problem, such as `empty`, `unreadable` or `key-other-pair`; null if no caller distinguishes it. */
  readonly reason: string | null;
  /** The message, which begins with the source, for example `hookproof.yaml:3:11: timeout: …`. */
  readonly message: string;
  readonly hint: string;
  /** The position in a file; absent for flags, variables and missing settings. */
  readonly position?: Position | undefined;
}

/** A position in a configuration file: the file as the user named it, with line and column counted from 1. */
export interface Position {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export function positionText({ file, line, column }: Position): string {
  return `${file}:${line}:${column}`;
}

/** Returns the problems in order: flags and variables first, then each file from top to bottom. */
export function inOrder(problems: readonly Problem[]): Problem[] {
  const files = [...new Set(problems.map(({ position }) => position?.file))].filter((file) => file !== undefined);
  const keyOf = ({ position }: Problem) =>
    position === undefined ? [-1, 0, 0] : [files.indexOf(position.file), position.line, position.column];
  return problems.toSorted((one, other) => {
    const [first, second] = [keyOf(one), keyOf(other)];
    return first.map((part, at) => part - (second[at] ?? 0)).find((difference) => difference !== 0) ?? 0;
  });
}

/** A note about a setting that works but is unwise or may surprise the user. */
export interface Advice {
  readonly path: string | null;
  readonly reason: string;
  /** The note, as a complete sentence. */
  readonly message: string;
  /** What to do; empty if the message already says it. */
  readonly hint: string;
}

/** Returns the texts for reports. Almost every secret file ends with a newline, so only `doctor` mentions it. */
export function adviceTexts(advice: readonly Advice[]): string[] {
  const shown = advice.filter(({ reason }) => reason !== 'newline-dropped');
  return [...new Set(shown.map(({ message, hint }) => (hint === '' ? message : `${message} ${hint}`)))];
}

export const ALL_LISTED = 'All problems are listed, so that you can fix them in one pass.';
/** The code for text that is not YAML. Nothing after the error can be read. */
export const SYNTAX_CODE = 'CONFIG_SYNTAX';
const NOT_ALL_LISTED = 'Settings after a syntax error are not read: more problems may be listed once it is fixed.';

/**
 * Throws if there are problems: a single one as itself, several as `CONFIG_INVALID` with `hint`. Each problem keeps its
 * own hint.
 */
export function throwIfAny(
  found: readonly Problem[],
  hint = `Nothing was sent. ${found.some(({ code }) => code === SYNTAX_CODE) ? NOT_ALL_LISTED : ALL_LISTED}`,
): void {
  // Paths and names in messages come from the user, so they are escaped.
  const problems = found.map((problem) => ({ ...problem, message: visible(problem.message) }));
  const [first] = problems;
  if (first === undefined) return;
  if (problems.length === 1) throw new HookproofError(first.code, first.message, { hint: first.hint });
  const list = problems.map((problem) => `  ${problem.message}\n    ${problem.hint}`).join('\n');
  throw new HookproofError('CONFIG_INVALID', `the configuration has ${problems.length} problems:\n${list}`, { hint });
}

/**
 * Returns a word from the user in quotes. Returns `fallback` if the word is long or unusual, because neither a
 * misplaced secret nor a control character may be shown.
 */
export function quoted(word: string, fallback: string): string {
  return /^[\w ./:=+%-]{1,24}$/.test(word) ? `"${word}"` : fallback;
}
