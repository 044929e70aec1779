/** The suites in a table: of each check a small shape, and the numbers. */
import { CATALOGUE } from '../../../scenarios/index.ts';
import type { ScenarioResult } from '../../result/result-document.ts';
import { groupBy } from '../group.ts';
import { html, type Markup } from './markup.ts';
import { FACES, type Face } from './verdicts.ts';

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
