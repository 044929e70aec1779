/**
 * What is wrong with the configuration, and what is unwise about it. Everything is collected, so that one run lists
 * all of it.
 */
import { HookproofError } from '../../contract/hookproof-error.ts';
import { visible } from '../../contract/visible.ts';

/** One thing that is wrong. Neither `message` nor `hint` contains the value of a secret. */
export interface Problem {
  /** Printed with the message. Stable. */
  readonly code: string;
  /** The setting it is about, for example `tls.client-key`; null when it is about several or about none. */
  readonly path: string | null;
  /** The kind of the problem where a program has to know it: `empty`, `unreadable`, `key-other-pair`. */
  readonly reason: string | null;
  /** Begins with the place: `--timeout: …`, `hookproof.yaml:3:11: timeout: …`. */
  readonly message: string;
  readonly hint: string;
  /** Where it is in a file; absent for flags, variables and what is missing everywhere. */
  readonly position?: Position | undefined;
}

/** A place in a configuration file: the file as the user names it, line and column from 1. */
export interface Position {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export function positionText({ file, line, column }: Position): string {
  return `${file}:${line}:${column}`;
}

/** Those of flags and variables first, then those of each file from top to bottom. */
export function inOrder(problems: readonly Problem[]): Problem[] {
  const files = [...new Set(problems.map(({ position }) => position?.file))].filter((file) => file !== undefined);
  const keyOf = ({ position }: Problem) =>
    position === undefined ? [-1, 0, 0] : [files.indexOf(position.file), position.line, position.column];
  return problems.toSorted((one, other) => {
    const [first, second] = [keyOf(one), keyOf(other)];
    return first.map((part, at) => part - (second[at] ?? 0)).find((difference) => difference !== 0) ?? 0;
  });
}

/** Something that works and is unwise, or worth knowing. */
export interface Advice {
  readonly path: string | null;
  readonly reason: string;
  /** A whole sentence. */
  readonly message: string;
  /** What to do, where the message does not say it; else empty. */
  readonly hint: string;
}

export function adviceText({ message, hint }: Advice): string {
  return hint === '' ? message : `${message} ${hint}`;
}

export const ALL_LISTED = 'All problems are listed, so that you can fix them in one pass.';
/** The code of what is not YAML: nothing behind it can be read. */
export const SYNTAX_CODE = 'CONFIG_SYNTAX';
const NOT_ALL_LISTED = 'Settings after a syntax error are not read: more problems may be listed when it is fixed.';

/**
 * Throws when there is a problem: one as itself, several as `CONFIG_INVALID` with `hint`, each with its own hint too.
 */
export function throwIfAny(
  found: readonly Problem[],
  hint = `Nothing was sent. ${found.some(({ code }) => code === SYNTAX_CODE) ? NOT_ALL_LISTED : ALL_LISTED}`,
): void {
  // Paths and names in messages are the user's own text.
  const problems = found.map((problem) => ({ ...problem, message: visible(problem.message) }));
  const [first] = problems;
  if (first === undefined) return;
  if (problems.length === 1) throw new HookproofError(first.code, first.message, { hint: first.hint });
  const list = problems.map((problem) => `  ${problem.message}\n    ${problem.hint}`).join('\n');
  throw new HookproofError('CONFIG_INVALID', `the configuration has ${problems.length} problems:\n${list}`, { hint });
}

/**
 * A word from the user in quotes, or `fallback` when it is long or unusual: a secret in the wrong place must not be
 * shown, nor a control character.
 */
export function quoted(word: string, fallback: string): string {
  return /^[\w ./:=+%-]{1,24}$/.test(word) ? `"${word}"` : fallback;
}
