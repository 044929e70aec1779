/** The partners as a table for spreadsheets: RFC 4180, one line a partner. */

import { visible } from '../../contract/visible.ts';
import { changeOf, type FleetDocument, type FleetPartner } from '../fleet.ts';

const NUMBERS = ['pass', 'fail', 'warn', 'inconclusive', 'notApplicable', 'harnessError'] as const;

const COLUMNS: readonly (readonly [name: string, of: (partner: FleetPartner) => string | number | null])[] = [
  ['partner', ({ name }) => name],
  ['url', ({ url }) => url],
  ['profile', ({ profile }) => profile],
  ['revision', ({ revision }) => revision],
  ['outcome', ({ outcome }) => outcome],
  ['before', ({ previous }) => previous?.outcome ?? null],
  ['change', changeOf],
  ['verdict', ({ verdict }) => verdict],
  ...NUMBERS.map((name) => [name, ({ counts }: FleetPartner) => counts?.[name] ?? null] as const),
  ['diagnosis', ({ diagnosis }) => diagnosis?.fault ?? null],
  ['evidence level', ({ evidenceLevel }) => evidenceLevel],
  ['expires', ({ certificate }) => certificate?.expiresAt ?? null],
  ['reasons', ({ refusals }) => refusals.map(({ code, message }) => `${code}: ${message}`).join('; ')],
  ['started', ({ startedAt }) => startedAt],
  ['seconds', ({ durationMs }) => Number((durationMs / 1000).toFixed(1))],
];

/**
 * What begins like a formula would be computed by the spreadsheet that opens the file, so an apostrophe makes it text.
 */
function cell(value: string | number | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const text = visible(value);
  const tame = /^\s*[=+\-@|%]/.test(text) ? `'${text}` : text;
  return /[",;']/.test(tame) ? `"${tame.replaceAll('"', '""')}"` : tame;
}

/**
 * With a line of names first, and lines that end in CR LF. The suites follow as columns of the number of failures in
 * each.
 */
export function renderFleetCsv({ partners }: FleetDocument): string {
  const suites = [...new Set(partners.flatMap((partner) => Object.keys(partner.suites)))];
  const head = [...COLUMNS.map(([name]) => name), ...suites.map((suite) => `failed in ${suite}`)];
  const rows = partners.map((partner) => [
    ...COLUMNS.map(([, of]) => of(partner)),
    ...suites.map((suite) => partner.suites[suite]?.fail ?? null),
  ]);
  return [head, ...rows].map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}
