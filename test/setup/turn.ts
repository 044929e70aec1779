/**
 * Long tests of the same kind, of a table of subjects and cases, take turns: each commit runs a share of them, in which
 * every subject and every case occurs. `MATRIX=whole` runs them all, at night and before a release.
 */
import { execFileSync } from 'node:child_process';

/** The number of commits. A shallow clone always has the same one. */
export const countCommits = (): number =>
  Number(execFileSync('git', ['rev-list', '--count', 'HEAD'], { encoding: 'utf8' }).trim());

const WHOLE = process.env.MATRIX === 'whole';
const COMMITS = WHOLE ? 0 : countCommits();

/** Whether this commit runs the case with the given numbers of its subject and of itself: one in `of` does. */
export const isItsTurn = (subject: number, at: number, of: number): boolean =>
  WHOLE || (subject + at + COMMITS) % of === 0;
