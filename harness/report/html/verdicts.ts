/** How verdicts look: a word each, and a shape for where there is no room for the word. Colour only repeats what they say. */
import type { Verdict } from '../../result/result-document.ts';

export interface Face {
  readonly verdict: Verdict;
  /** The word in a list of checks. */
  readonly word: string;
  /** The words of a number of them. */
  readonly counted: (count: number) => string;
  /** A path in a box of 8 by 8, from the point where the pen stands. */
  readonly path: string;
}

/** From what needs a person to what does not. */
export const FACES: readonly Face[] = [
  {
    verdict: 'fail',
    word: 'fail',
    counted: () => 'failed',
    // A cross.
    path: 'm1 0 3 3 3-3 1 1-3 3 3 3-1 1-3-3-3 3-1-1 3-3-3-3z',
  },
  {
    verdict: 'harness-error',
    word: 'error',
    counted: (count) => (count === 1 ? 'harness error' : 'harness errors'),
    // A frame with a dot.
    path: 'm0 0h8v8h-8zm1.5 1.5v5h5v-5zm1.5 1.5h2v2h-2z',
  },
  {
    verdict: 'warn',
    word: 'warn',
    counted: (count) => (count === 1 ? 'warning' : 'warnings'),
    // A triangle.
    path: 'm4 0 4 8h-8z',
  },
  {
    verdict: 'inconclusive',
    word: 'no verdict',
    counted: () => 'inconclusive',
    // A hollow diamond.
    path: 'm4 0 4 4-4 4-4-4zm0 2-2 2 2 2 2-2z',
  },
  {
    verdict: 'pass',
    word: 'pass',
    counted: () => 'passed',
    // A full square.
    path: 'm.5 .5h7v7h-7z',
  },
  {
    verdict: 'not-applicable',
    word: 'n/a',
    counted: () => 'not applicable',
    // A dash.
    path: 'm1 3h6v2h-6z',
  },
];

export function faceOf(verdict: Verdict): Face {
  const face = FACES.find((one) => one.verdict === verdict);
  if (face === undefined) throw new Error(`no face for ${verdict}`);
  return face;
}
