/** Renders the partners in the register as CSV for spreadsheets (RFC 4180): one line per partner. */

import { visible } from '../../contract/visible.ts';
import { endpointOf, judgedBy, type Standing } from '../register/standing.ts';

const COLUMNS: readonly (readonly [name: string, of: (standing: Standing) => string | number | null])[] = [
  ['partner', ({ partner }) => partner],
  ['url', endpointOf],
  ['traffic', ({ mayGetTraffic }) => (mayGetTraffic ? 'yes' : 'no')],
  ['state', ({ state }) => state],
  ['since', ({ since }) => since],
  ['until', ({ until }) => until],
  ['profile', ({ certificate }) => certificate?.profile ?? null],
  ['revision', ({ certificate }) => certificate?.revision ?? null],
  ['evidence level', ({ certificate }) => certificate?.evidenceLevel ?? null],
  ['reason', ({ reason }) => reason],
  ['cause', ({ last }) => last.find(({ cause }) => cause !== null)?.cause?.fault ?? null],
  ['warnings', ({ warnings }) => warnings.join('; ')],
  ['last event', ({ last }) => last[0]?.event ?? null],
  ['last event at', ({ last }) => last[0]?.at ?? null],
];

/**
 * Formats a cell. A leading apostrophe keeps spreadsheets from evaluating text that looks like a formula.
 */
function cell(value: string | number | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const text = visible(value);
  const tame = /^\s*[=+\-@|%]/.test(text) ? `'${text}` : text;
  return /[",;']/.test(tame) ? `"${tame.replaceAll('"', '""')}"` : tame;
}

/**
 * Renders a header line and one line per partner, each ending in CR LF. The last columns have the number of failures in
 * each suite.
 */
export function renderFleetCsv(standings: readonly Standing[]): string {
  const suitesOf = (standing: Standing) => judgedBy(standing)?.suites ?? {};
  const suites = [...new Set(standings.flatMap((standing) => Object.keys(suitesOf(standing))))];
  const head = [...COLUMNS.map(([name]) => name), ...suites.map((suite) => `failed in ${suite}`)];
  const rows = standings.map((standing) => [
    ...COLUMNS.map(([, of]) => of(standing)),
    ...suites.map((suite) => suitesOf(standing)[suite]?.fail ?? null),
  ]);
  return [head, ...rows].map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}
