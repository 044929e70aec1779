/** Parses the values that are more than text: durations, numbers, one of several words, shards, seeds. */
import type { JsonValue } from '../../contract/index.ts';
import { type Given, givenByFlag, problemWith } from './given.ts';
import { nearestName } from './nearest-name.ts';
import { type Problem, quoted, throwIfAny } from './problems.ts';
import type { Bounds } from './settings.ts';

const UNITS = { ms: 1, s: 1000, m: 60_000 } as const;

/** `10s`, `1.5s`, `500ms`, `2m`. Also the pattern in the JSON Schema of the configuration file. */
export const DURATION = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m)$/;
export const DURATION_HINT = 'Write a number and a unit, for example 500ms, 10s or 2m.';

/** Milliseconds. A number without a unit is a problem: it could be seconds or milliseconds. */
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

/** A duration in its largest whole unit. */
export function durationText(milliseconds: number): string {
  if (milliseconds > 0 && milliseconds % UNITS.m === 0) return `${milliseconds / UNITS.m}m`;
  return milliseconds % UNITS.s === 0 ? `${milliseconds / UNITS.s}s` : `${milliseconds}ms`;
}

/** The value of a flag. Throws a {@link HookproofError} that names the flag. */
function ofFlag<T>(flag: string, text: string, read: (given: Given<string>, problems: Problem[]) => T | undefined): T {
  const problems: Problem[] = [];
  const value = read(givenByFlag(flag, text, ''), problems);
  throwIfAny(problems);
  return value as T;
}

/** The value of a flag in milliseconds. Throws a {@link HookproofError} that names the flag. */
export function durationOfFlag(flag: string, text: string, bounds: Bounds): number {
  return ofFlag(flag, text, (given, problems) => duration(given, bounds, problems));
}

/** How a number that a flag must have is refused. */
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

/** The value of a flag as a whole number. Throws a {@link HookproofError} that names the flag. */
export function numberOfFlag(flag: string, text: string, bounds: Bounds, refusal?: NumberRefusal): number {
  return ofFlag(flag, text, (given, problems) => wholeNumber(given, bounds, problems, refusal));
}

/** The word when it is one of `words`. `noun` is what messages call it: "a profile". */
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

/** `i/n`, with 1 <= i <= n <= 1000. */
export function shard(given: Given<string>, problems: Problem[]): { index: number; of: number } | undefined {
  const [, index, of] = /^(\d{1,4})\/(\d{1,4})$/.exec(given.value) ?? [];
  const value = { index: Number(index), of: Number(of) };
  if (value.index >= 1 && value.index <= value.of && value.of <= 1000) return value;
  const hint = 'Write i/n with i from 1 to n, and n at most 1000: 2/4 is the second of four.';
  problems.push(problemWith(given, `${shown(given)} is not a shard`, hint));
  return undefined;
}

/** The value of `--shard i/n`. Throws a {@link HookproofError} that names the flag. */
export function shardOfFlag(text: string): { readonly index: number; readonly of: number } {
  return ofFlag('--shard', text, shard);
}

export const SEED_HINT = 'A seed is 1 to 64 letters, digits, or any of . : _ -';

/** Letters, digits and a few marks: a seed is printed in commands that people copy. */
export function seed(given: Given<string>, problems: Problem[]): string | undefined {
  if (/^[\w.:-]{1,64}$/.test(given.value)) return given.value;
  problems.push(problemWith(given, `${shown(given)} is not a seed`, SEED_HINT));
  return undefined;
}

/** A value that is JSON, or else text. */
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
