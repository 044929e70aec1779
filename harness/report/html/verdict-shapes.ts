/** How verdicts look: a word each, and a shape for where there is no room for the word. Colour only repeats what they say. */

import { CATALOGUE } from '../../../scenarios/index.ts';
import { groupBy } from '../causes.ts';
import type { ScenarioResult, Verdict } from '../result-document.ts';
import { html, type Markup } from './markup.ts';

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

/** The suites in a table: of each check a small shape, and the numbers. */

/** Shapes in one line: so many fit on a telephone. */
const COLUMNS = 30;
const PITCH = 10;

function count(results: readonly ScenarioResult[], { verdict }: Face): number {
  return results.filter((result) => result.verdict === verdict).length;
}

/** All shapes of one verdict are one path, which keeps hundreds of them small. */
function shapes(results: readonly ScenarioResult[], face: Face): Markup | '' {
  const places = results.flatMap(({ verdict }, at) => (verdict === face.verdict ? [at] : []));
  if (places.length === 0) return '';
  const path = places.map((at) => `M${(at % COLUMNS) * PITCH} ${Math.floor(at / COLUMNS) * PITCH}${face.path}`);
  // One path of one suite is longer than any text, and wholly ours.
  return html`<path class="v-${face.verdict}" d="${path}"/>`;
}

function strip(results: readonly ScenarioResult[]): Markup {
  const width = Math.min(results.length, COLUMNS) * PITCH - 2;
  const height = Math.ceil(results.length / COLUMNS) * PITCH - 2;
  return html`<svg class="strip" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" aria-hidden="true">${FACES.map((face) => shapes(results, face))}</svg>`;
}

/** What the suite shows, in the words of the catalogue; empty when the document comes from another one. */
export function suiteTitle(name: string): string {
  return CATALOGUE.find((suite) => suite.name === name)?.title ?? '';
}

/** Columns without any number are left out. */
export function matrix(results: readonly ScenarioResult[]): Markup {
  const faces = FACES.filter((face) => count(results, face) > 0);
  const suites = groupBy(results, ({ suite }) => suite);
  const row = ([suite, members]: [string, ScenarioResult[]], at: number) =>
    html`<tr><th scope="row"><a href="#s${at}">${suite}</a><span>${suiteTitle(suite)}</span></th><td class="cells">${strip(members)}</td>${faces.map(
      (face) => {
        const number = count(members, face);
        return html`<td class="number${number === 0 ? ' zero' : ` v-${face.verdict}`}" data-w="${face.word}">${number}</td>`;
      },
    )}</tr>`;
  return html`<table class="matrix"><thead><tr><th scope="col">Suite</th><th scope="col" class="cells">Checks</th>${faces.map(
    (face) =>
      html`<th scope="col" class="number"><svg class="shape v-${face.verdict}" viewBox="0 0 8 8" aria-hidden="true"><path d="M0 0${face.path}"/></svg>${face.word}</th>`,
  )}</tr></thead><tbody>${suites.map(row)}</tbody></table>`;
}
