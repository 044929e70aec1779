import { givenByFlag } from './given.ts';
import { type Problem, throwIfAny } from './problems.ts';
import { duration } from './values.ts';

/** The value of a flag as milliseconds. Throws a {@link HookproofError} that names the flag when it is no duration or out of `bounds`. */
export function durationOfFlag(flag: string, text: string, bounds: readonly [least: number, most: number]): number {
  const problems: Problem[] = [];
  const milliseconds = duration(givenByFlag(flag, text, ''), bounds, problems);
  throwIfAny(problems);
  return milliseconds ?? Number.NaN;
}
