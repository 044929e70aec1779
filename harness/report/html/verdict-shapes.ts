/**
 * The appearance of verdicts: a word, and a shape where there is no space for the word. Colour only repeats the
 * meaning.
 */
import { EVERY_SUITE } from '../../../scenarios/index.ts';
import { groupBy } from '../causes.ts';
import type { ScenarioResult, Verdict } from '../result-document.ts';
import { html, type Markup } from './markup.ts';

export interface Face {
  readonly verdict: Verdict;
  /** The word that stands for the verdict in a list of checks. */
  readonly word: string;
  /** Returns the words that follow a number of checks. */
  readonly counted: (count: number) => string;
  /** The SVG path of the shape, in a box of 8 by 8 units, relative to its start. */
  readonly path: string;
}

function face(verdict: Verdict, word: string, one: string, many: string, path: string): Face {
  return { verdict, word, counted: (count) => (count === 1 ? one : many), path };
}

/**
 * The verdicts, starting with those that need attention most: a cross, a frame with a dot, a triangle, a hollow
 * diamond, a square, a dash.
 */
export const FACES: readonly Face[] = [
  face('fail', 'fail', 'failed', 'failed', 'm1 0 3 3 3-3 1 1-3 3 3 3-1 1-3-3-3 3-1-1 3-3-3-3z'),
  face('harness-error', 'error', 'harness error', 'harness errors', 'm0 0h8v8h-8zm1.5 1.5v5h5v-5zm1.5 1.5h2v2h-2z'),
  face('warn', 'warn', 'warning', 'warnings', 'm4 0 4 8h-8z'),
  face('inconclusive', 'no verdict', 'inconclusive', 'inconclusive', 'm4 0 4 4-4 4-4-4zm0 2-2 2 2 2 2-2z'),
  face('pass', 'pass', 'passed', 'passed', 'm.5 .5h7v7h-7z'),
  face('not-applicable', 'n/a', 'not applicable', 'not applicable', 'm1 3h6v2h-6z'),
];

export function faceOf(verdict: Verdict): Face {
  const found = FACES.find((one) => one.verdict === verdict);
  if (found === undefined) throw new TypeError(`unknown verdict ${verdict}`);
  return found;
}

export function countOf(results: readonly ScenarioResult[], verdict: Verdict): number {
  return results.filter((result) => result.verdict === verdict).length;
}

/** Renders the shape of a verdict as a small image. */
export function shape(verdict: Verdict, path = faceOf(verdict).path): Markup {
  return html`<svg class="shape v-${verdict}" viewBox="0 0 8 8" aria-hidden="true"><path d="M0 0${path}"/></svg>`;
}

/** Renders numbers as lengths of one bar, in the given order. */
export function barOf(parts: readonly { readonly verdict: Verdict; readonly count: number }[], total: number): Markup {
  let x = 0;
  const rects = parts.map(({ count, verdict }) => {
    const width = (count / Math.max(1, total)) * 100;
    const left = x;
    x += width;
    if (width === 0) return '';
    const shown = Math.max(0.4, width - 0.3).toFixed(2);
    return html`<rect class="v-${verdict}" x="${left.toFixed(2)}" width="${shown}" height="6"/>`;
  });
  return html`<svg class="bar" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">${rects}</svg>`;
}

/** Returns the title of a suite in the catalogue; empty if the document comes from another catalogue. */
export function suiteTitle(name: string): string {
  return EVERY_SUITE.find((suite) => suite.name === name)?.title ?? '';
}

/** Returns the anchor of a suite, to which the page of all partners also links. It has only letters, digits and -. */
export function suiteAnchor(name: string): string {
  return `suite-${name.replaceAll(/[^a-z0-9-]/g, '').slice(0, 64)}`;
}

/** Groups checks by suite: those with failures first, then those with warnings, otherwise in the order of the run. */
export function bySuite(results: readonly ScenarioResult[]): [suite: string, members: ScenarioResult[]][] {
  const rank = ([, members]: [string, ScenarioResult[]]) =>
    countOf(members, 'fail') > 0 ? 0 : countOf(members, 'warn') > 0 ? 1 : 2;
  return groupBy(results, ({ suite }) => suite).toSorted((one, other) => rank(one) - rank(other));
}

/**
 * Renders the suites as a table: a small shape for each check, and the numbers. Columns without a number are omitted.
 */
export function suiteTable(results: readonly ScenarioResult[]): Markup {
  const faces = FACES.filter(({ verdict }) => countOf(results, verdict) > 0);
  const numbers = (members: readonly ScenarioResult[]) =>
    faces.map(({ verdict, word }) => {
      const number = countOf(members, verdict);
      return html`<td class="number ${number === 0 ? 'zero' : `v-${verdict}`}" data-w="${word}">${number}</td>`;
    });
  const rows = bySuite(results).map(
    ([suite, members]) => html`<tr>
<th scope="row"><a href="#${suiteAnchor(suite)}">${suite}</a><span>${suiteTitle(suite)}</span></th>
<td class="cells">${shapesOf(members)}</td>${numbers(members)}</tr>`,
  );
  const columns = faces.map(({ verdict, word }) => html`<th scope="col" class="number">${shape(verdict)}${word}</th>`);
  return html`<table class="matrix"><thead><tr>
<th scope="col">Suite</th><th scope="col" class="cells">Checks</th>${columns}</tr></thead>
<tbody>${rows}</tbody></table>`;
}

/** Number of shapes per line, few enough for a phone. */
const COLUMNS = 30;
const PITCH = 10;

/** Renders one path for all shapes of a verdict, which keeps hundreds of them small. */
function shapesOf(results: readonly ScenarioResult[]): Markup {
  const width = Math.min(results.length, COLUMNS) * PITCH - 2;
  const height = Math.ceil(results.length / COLUMNS) * PITCH - 2;
  const paths = FACES.map(({ path, verdict }) => {
    const places = results.flatMap((result, at) => (result.verdict === verdict ? [at] : []));
    if (places.length === 0) return '';
    const starts = places.map((at) => `M${(at % COLUMNS) * PITCH} ${Math.floor(at / COLUMNS) * PITCH}${path}`);
    return html`<path class="v-${verdict}" d="${starts}"/>`;
  });
  return html`<svg class="strip" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"
aria-hidden="true">${paths}</svg>`;
}
