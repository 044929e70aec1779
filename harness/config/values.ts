/** Parses values other than plain text: durations, numbers, words from a list, shards, seeds. */
import type { JsonValue } from '../../contract/index.ts';
import { nearestName } from '../nearest-name.ts';
import { type Given, givenByFlag, problemWith } from './given.ts';
import { type Problem, quoted, throwIfAny } from './problems.ts';
import type { Bounds } from './settings.ts';

const UNITS = { ms: 1, s: 1000, m: 60_000 } as const;

/** Matches `10s`, `1.5s`, `500ms`, `2m`. Also the pattern in the JSON Schema of the configuration file. */
export const DURATION = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m)$/;
export const DURATION_HINT = 'Write a number and a unit, for example 500ms, 10s or 2m.';

/**
 * Parses a duration into milliseconds. A number without a unit is a problem, because it could mean seconds or
 * milliseconds.
 */
export function duration(given: Given<string>, [min, max]: Bounds, problems: Problem[]): number | undefined {
  const value = shown(given);
  const [, amount, unit] = DURATION.exec(given.value) ?? [];
  if (amount === undefined || (unit !== 'ms' && unit !== 's' && unit !== 'm')) {
    problems.push(problemWith(given, `${value} is not a duration`, DURATION_HINT));
    return undefined;
  }
  const milliseconds = Math.round(Number(amount) * UNITS[unit]);
  if (milliseconds >= min && milliseconds <= max) return milliseconds;
  const hint = `Choose a duration from ${durationText(min)} to ${durationText(max)}.`;
  problems.push(problemWith(given, `${value} is out of range`, hint));
  return undefined;
}

/** Formats a duration in its largest whole unit. */
export function durationText(milliseconds: number): string {
  if (milliseconds > 0 && milliseconds % UNITS.m === 0) return `${milliseconds / UNITS.m}m`;
  return milliseconds % UNITS.s === 0 ? `${milliseconds / UNITS.s}s` : `${milliseconds}ms`;
}

/** Matches `5/s`, `100/m`. Also the pattern in the JSON Schema of the configuration file. */
export const RATE = /^(\d{1,6}(?:\.\d{1,3})?)\/(s|m)$/;
export const RATE_HINT = 'Write a number, a slash and a unit, for example 5/s or 100/m.';

/** Parses a rate into the interval between deliveries in milliseconds. */
export function rate(given: Given<string>, [min, max]: Bounds, problems: Problem[]): number | undefined {
  const [, count, unit] = RATE.exec(given.value) ?? [];
  const milliseconds = unit === 's' || unit === 'm' ? UNITS[unit] / Number(count) : Number.NaN;
  if (milliseconds >= min && milliseconds <= max) return milliseconds;
  const what = Number.isNaN(milliseconds) ? 'not a rate' : 'out of range';
  const hint = Number.isNaN(milliseconds) ? RATE_HINT : `Choose a rate from ${rateText(max)} to ${rateText(min)}.`;
  problems.push(problemWith(given, `${shown(given)} is ${what}`, hint));
  return undefined;
}

/** Formats an interval in milliseconds as a rate. */
export function rateText(milliseconds: number): string {
  const unit = Number.isInteger(UNITS.s / milliseconds) ? 's' : 'm';
  return `${Number((UNITS[unit] / milliseconds).toFixed(3))}/${unit}`;
}

/** Parses the value of a flag. Throws a {@link HookproofError} that names the flag. */
function ofFlag<T>(flag: string, text: string, read: (given: Given<string>, problems: Problem[]) => T | undefined): T {
  const problems: Problem[] = [];
  const value = read(givenByFlag(flag, text, ''), problems);
  throwIfAny(problems);
  return value as T;
}

/** Parses a duration flag into milliseconds. Throws a {@link HookproofError} that names the flag. */
export function durationOfFlag(flag: string, text: string, bounds: Bounds): number {
  return ofFlag(flag, text, (given, problems) => duration(given, bounds, problems));
}

const DAY_MS = 86_400_000;

/** Maximum number of days: the longest validity of a server certificate from a public CA, also used as our limit. */
const MAX_DAYS = 398;

/**
 * Parses a number of days such as `90d` into milliseconds, and with `hours` also `12h`. Throws a {@link HookproofError}
 * that names the flag.
 */
export function daysOfFlag(flag: string, text: string, { hours = false } = {}): number {
  return ofFlag(flag, text, (given, problems) => {
    const [, amount, unit] = /^(\d{1,4})([hd])$/.exec(text) ?? [];
    const ms = Number(amount) * (unit === 'h' ? DAY_MS / 24 : DAY_MS);
    if (ms > 0 && ms <= MAX_DAYS * DAY_MS && (unit === 'd' || hours)) return ms;
    const [least, what] = hours ? ['1h', 'hours or days'] : ['1d', 'days'];
    const hint = `Write it with its unit, from ${least} to ${MAX_DAYS}d: \`${flag} 14d\`.`;
    problems.push(problemWith(given, `${shown(given)} is not a number of ${what}`, hint));
    return undefined;
  });
}

/** The code and hint of the problem with an invalid number. */
interface NumberRefusal {
  readonly code: string;
  readonly hint: string;
}

export function wholeNumber(
  given: Given<string>,
  [min, max]: Bounds,
  problems: Problem[],
  { code, hint }: NumberRefusal = { code: 'CONFIG_VALUE', hint: 'Write digits only.' },
): number | undefined {
  const value = /^\d{1,10}$/.test(given.value) ? Number(given.value) : Number.NaN;
  if (value >= min && value <= max) return value;
  problems.push(problemWith(given, `${shown(given)} is not a whole number from ${min} to ${max}`, hint, code));
  return undefined;
}

/** Parses a whole-number flag. Throws a {@link HookproofError} that names the flag. */
export function numberOfFlag(flag: string, text: string, bounds: Bounds, refusal?: NumberRefusal): number {
  return ofFlag(flag, text, (given, problems) => wholeNumber(given, bounds, problems, refusal));
}

/**
 * Returns the word if it is one of `words`; otherwise notes a problem. `noun` describes a word in messages: "a
 * profile".
 */
export function oneOf<T extends string>(
  word: string,
  words: readonly T[],
  noun: string,
  given: Given<string>,
  problems: Problem[],
): T | undefined {
  const found = words.find((other) => other === word);
  if (found !== undefined) return found;
  const nearest = nearestName(word, words);
  const meant = nearest === null ? '' : `; did you mean "${nearest}"?`;
  const what = `${quoted(word, 'the value')} is not ${noun}${meant}`;
  problems.push(problemWith(given, what, `Choose from ${words.join(', ')}.`));
  return undefined;
}

/** Parses `i/n`, with 1 <= i <= n <= 1000. */
export function shard(given: Given<string>, problems: Problem[]): { index: number; of: number } | undefined {
  const [, index, of] = /^(\d{1,4})\/(\d{1,4})$/.exec(given.value) ?? [];
  const value = { index: Number(index), of: Number(of) };
  if (value.index >= 1 && value.index <= value.of && value.of <= 1000) return value;
  const hint = 'Write i/n with i from 1 to n, and n at most 1000: 2/4 is the second of four.';
  problems.push(problemWith(given, `${shown(given)} is not a shard`, hint));
  return undefined;
}

/** Parses `--shard i/n`. Throws a {@link HookproofError} that names the flag. */
export function shardOfFlag(text: string): { readonly index: number; readonly of: number } {
  return ofFlag('--shard', text, shard);
}

export const SEED_HINT = 'A seed is 1 to 64 letters, digits, or any of . : _ -';

/**
 * Parses a seed. It may contain only letters, digits and a few marks, because it is printed in commands that people
 * copy.
 */
export function seed(given: Given<string>, problems: Problem[]): string | undefined {
  if (/^[\w.:-]{1,64}$/.test(given.value)) return given.value;
  problems.push(problemWith(given, `${shown(given)} is not a seed`, SEED_HINT));
  return undefined;
}

/** Parses text as JSON; if it is not JSON, returns it as text. */
export function jsonOr(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}

function shown({ value }: Given<string>): string {
  return quoted(value, 'the value');
}
