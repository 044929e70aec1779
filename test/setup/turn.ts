/**
 * Long tests for a table of subjects and cases take turns: each commit runs a share of them, which includes every
 * subject and every case. `MATRIX=whole` runs all of them, at night and before a release.
 */
import { execFileSync } from 'node:child_process';

/** Returns the number of commits. In a shallow clone, it is always the same. */
export const countCommits = (): number =>
  Number(execFileSync('git', ['rev-list', '--count', 'HEAD'], { encoding: 'utf8' }).trim());

const WHOLE = process.env.MATRIX === 'whole';
const COMMITS = WHOLE ? 0 : countCommits();

/**
 * Returns whether this commit runs the case with the number `at` of the subject with the number `subject`. One in `of`
 * commits does.
 */
export const isItsTurn = (subject: number, at: number, of: number): boolean =>
  WHOLE || (subject + at + COMMITS) % of === 0;

/** Returns the cases of a list that this commit runs: one in `of`. */
export const inTurn = <Case>(cases: readonly Case[], of: number): readonly Case[] =>
  cases.filter((_, at) => isItsTurn(0, at, of));
