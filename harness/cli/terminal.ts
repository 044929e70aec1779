/** Detects the capabilities of the terminal, and contains input and output functions that commands share. */
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
 * Returns the capabilities of one stream, because standard output may be a file while standard error is a terminal.
 * Obeys NO_COLOR and FORCE_COLOR (if not empty; NO_COLOR takes precedence), TERM=dumb, and the locale.
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

/** Prints advice on standard error, one line per entry. */
export function printAdvice(advice: readonly string[]): void {
  for (const sentence of advice) process.stderr.write(`advice: ${sentence}\n`);
}

/** Whether both standard input and standard error are terminals. */
export function isOnTerminal(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/**
 * Prints a prompt and reads a line; null at the end of the input or if aborted. With `signal`, Ctrl-C interrupts the
 * program; without it, Ctrl-C ends the input. Requires a terminal.
 */
export async function lineOnTerminal(prompt: string, signal?: AbortSignal): Promise<string | null> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // While a line is read, Ctrl-C arrives as a character, not as a signal.
  if (signal !== undefined) terminal.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  const close = () => terminal.close();
  signal?.addEventListener('abort', close, { once: true });
  const ended = new Promise<null>((resolve) => terminal.once('close', () => resolve(null)));
  const line = signal?.aborted === true ? null : await Promise.race([terminal.question(prompt), ended]);
  signal?.removeEventListener('abort', close);
  terminal.close();
  return line;
}

/** Asks a yes/no question. Returns null without a terminal; the end of the input means no. */
export async function askOnTerminal(question: string): Promise<boolean | null> {
  if (!isOnTerminal()) return null;
  const answer = await lineOnTerminal(`${question}? [y/N] `);
  return /^y(?:es)?$/i.test(answer?.trim() ?? '');
}

/** Whether this program runs in a CI system, which sets CI to "true" or "1". */
export function isCi({ CI = '' }: NodeJS.ProcessEnv = process.env): boolean {
  return CI !== '' && CI !== 'false' && CI !== '0';
}

/** Returns a path inside the current folder as a relative path; any other path unchanged. */
export function shownPath(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith('..') ? path : short;
}

/** Returns the code of a system error: `ENOENT`, `EACCES`. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
}

/** Returns a flag as the user writes it: `--per-host` for `perHost`. */
export function flagName(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
