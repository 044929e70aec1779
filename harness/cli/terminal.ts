/** What the terminal can show, and what every command writes to it in the same way. */
import { relative } from 'node:path';
import { createInterface } from 'node:readline/promises';
import type { WriteStream } from 'node:tty';

export interface Display {
  readonly isTTY: boolean;
  readonly columns: number;
  readonly color: boolean;
  readonly unicode: boolean;
}

const DEFAULT_COLUMNS = 80;

/**
 * What one stream can show: standard output may be a file while standard error is a terminal. Obeys NO_COLOR and
 * FORCE_COLOR (non-empty, NO_COLOR first), TERM=dumb, and the locale.
 */
export function displayOf(stream: Partial<WriteStream>, env: NodeJS.ProcessEnv = process.env): Display {
  const isTTY = stream.isTTY === true;
  const set = (name: string) => env[name] !== undefined && env[name] !== '';
  const forced = set('FORCE_COLOR') && env.FORCE_COLOR !== '0';
  const color = !set('NO_COLOR') && (forced || (isTTY && env.TERM !== 'dumb' && env.FORCE_COLOR !== '0'));
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || '';
  const unicode = env.TERM !== 'dumb' && (process.platform === 'win32' || locale === '' || /utf-?8/i.test(locale));
  return { isTTY, columns: stream.columns ?? DEFAULT_COLUMNS, color, unicode };
}

/** Prints what works and is unwise, or worth knowing: one line each on standard error. */
export function printAdvice(advice: readonly string[]): void {
  for (const sentence of advice) process.stderr.write(`advice: ${sentence}\n`);
}

/** Asks a question that is answered with y or n. Null without a terminal; the end of the input counts as no. */
export async function askOnTerminal(question: string): Promise<boolean | null> {
  if (process.stdin.isTTY !== true || process.stderr.isTTY !== true) return null;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const ended = new Promise<string>((resolve) => terminal.once('close', () => resolve('')));
  const answer = await Promise.race([terminal.question(`${question}? [y/N] `), ended]);
  terminal.close();
  return /^y(?:es)?$/i.test(answer.trim());
}

/** Whether a CI system runs this program: they set CI to "true" or "1". */
export function isCi({ CI = '' }: NodeJS.ProcessEnv = process.env): boolean {
  return CI !== '' && CI !== 'false' && CI !== '0';
}

/** A path relative to the current folder, if it is inside it. */
export function shownPath(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith('..') ? path : short;
}

/** The code of an error of the operating system: `ENOENT`, `EACCES`. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
}

/** A flag as the user writes it, from its name in the program: `perHost` is `--per-host`. */
export function flagName(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
