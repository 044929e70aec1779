/** Values that are more than text: durations, whole numbers, one of a list, regular expressions, shards. */
import { type Given, problemWith } from './given.ts';
import { nearestName } from './nearest-name.ts';
import { type Problem, quoted } from './problems.ts';

const UNITS = { ms: 1, s: 1000, m: 60_000 } as const;

/** `10s`, `1.5s`, `500ms`, `2m`. Also the pattern in the JSON Schema of the configuration file. */
export const DURATION = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m)$/;

/** Milliseconds. A bare number has no unit and is refused: nobody agrees on what it would be. */
export function duration(
  given: Given<string>,
  [least, most]: readonly [number, number],
  problems: Problem[],
): number | undefined {
  const match = DURATION.exec(given.value);
  const [, amount, unit] = match ?? [];
  if (amount === undefined || (unit !== 'ms' && unit !== 's' && unit !== 'm')) {
    problems.push(problemWith(given, 'is not a duration', 'Write a number and its unit: 500ms, 10s or 2m.'));
    return undefined;
  }
  const milliseconds = Math.round(Number(amount) * UNITS[unit]);
  if (milliseconds >= least && milliseconds <= most) return milliseconds;
  problems.push(
    problemWith(
      given,
      `${given.value} is out of bounds`,
      `It can be from ${durationText(least)} to ${durationText(most)}.`,
    ),
  );
  return undefined;
}

/** A duration in its largest whole unit. */
export function durationText(milliseconds: number): string {
  if (milliseconds > 0 && milliseconds % UNITS.m === 0) return `${milliseconds / UNITS.m}m`;
  return milliseconds % UNITS.s === 0 ? `${milliseconds / UNITS.s}s` : `${milliseconds}ms`;
}

export function wholeNumber(
  given: Given<string>,
  [least, most]: readonly [number, number],
  problems: Problem[],
): number | undefined {
  const value = /^\d{1,9}$/.test(given.value) ? Number(given.value) : Number.NaN;
  if (value >= least && value <= most) return value;
  const what = `${quoted(given.value, 'the value')} is not a whole number from ${least} to ${most}`;
  problems.push(problemWith(given, what, 'Write it in digits.'));
  return undefined;
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

/** A regular expression for ids and titles, as text that compiles. */
export function pattern(given: Given<string>, problems: Problem[]): string | undefined {
  try {
    new RegExp(given.value, 'i');
    return given.value;
  } catch (error) {
    // The engine's message repeats the pattern between slashes before it says what is wrong.
    const why = error instanceof SyntaxError ? /\/i?: ([\w ,'()]+)$/.exec(error.message)?.[1] : undefined;
    const what = `is not a regular expression${why === undefined ? '' : ` (${why.toLowerCase()})`}`;
    problems.push(problemWith(given, what, 'Write \\( for a bracket that is meant as it stands.'));
    return undefined;
  }
}

/** `i/n`, with 1 <= i <= n <= 1000. */
export function shard(given: Given<string>, problems: Problem[]): { index: number; of: number } | undefined {
  const [, index, of] = /^(\d{1,4})\/(\d{1,4})$/.exec(given.value) ?? [];
  const value = { index: Number(index), of: Number(of) };
  if (value.index >= 1 && value.index <= value.of && value.of <= 1000) return value;
  const what = `${quoted(given.value, 'the value')} is not a shard`;
  problems.push(
    problemWith(given, what, 'Write i/n with i from 1 to n, and n at most 1000: 2/4 is the second of four.'),
  );
  return undefined;
}

/** Letters, digits and a few marks: a seed is printed in commands that people copy. */
export function seed(given: Given<string>, problems: Problem[]): string | undefined {
  if (/^[\w.:-]{1,64}$/.test(given.value)) return given.value;
  problems.push(problemWith(given, 'is not a seed', 'A seed is 1 to 64 letters, digits, or any of . : _ -'));
  return undefined;
}
