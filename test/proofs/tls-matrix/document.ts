/** Renders the matrix as a page: a row for each group of cells, with their outcomes and the comparison. */
import { markdownTable } from '../../setup/markdown-table.ts';
import { type Cell, isCannotServe } from './cell.ts';
import {
  type Difference,
  INVALID_CLIENTS,
  type InvalidClient,
  NEED_DELIVERY,
  type Outcome,
  SCENARIOS_OF,
} from './expected.ts';
import { TLS_VERSIONS, type TlsVersions } from './material.ts';
import type { TableName } from './matrix.ts';

/** The parts of a measured cell that the page shows. */
export interface MeasuredCell {
  readonly cell: Cell;
  /** The outcome of each scenario. Null if the server rejects the configuration with the expected error. */
  readonly reported: readonly (readonly [id: string, word: Outcome])[] | null;
  readonly differences: readonly Omit<Difference, 'reason'>[];
}

export interface Tables {
  readonly tables: Readonly<Record<TableName, readonly MeasuredCell[]>>;
  /** The versions of the programs, such as "Node 20.20.2". */
  readonly versions: readonly string[];
}

type Row = readonly MeasuredCell[];

const short = (id: string) => id.replace(/^m?tls\//, '');

/** Groups cells by key, in the order of the first occurrence of each key. */
function groupBy(measured: readonly MeasuredCell[], keyOf: (measured: MeasuredCell) => string): Row[] {
  const groups = new Map<string, MeasuredCell[]>();
  for (const one of measured) {
    const key = keyOf(one);
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return [...groups.values()];
}

const VERSION_WORDS: Readonly<Record<TlsVersions, string>> = {
  'TLS 1.2 only': '1.2',
  'TLS 1.3 only': '1.3',
  both: 'both',
};

function versionsOf(row: Row): string {
  const tlsVersions = TLS_VERSIONS.filter((version) => row.some(({ cell }) => cell.tlsVersions === version));
  return tlsVersions.map((version) => VERSION_WORDS[version]).join(', ');
}

/** Returns "9 of 9", followed by each cell that is not as expected. */
function asExpected(row: Row): string {
  const different = row.filter(({ differences }) => differences.length > 0);
  const parts = different.map(({ cell, differences }) => {
    const each = differences.map(
      ({ kind, scenario, expected, reported }) => `${kind} ${scenario}: ${reported}, expected ${expected}`,
    );
    return `**WRONG** on ${cell.server}, ${cell.tlsVersions} (${each.join('; ')})`;
  });
  return [`${row.length - different.length} of ${row.length}`, ...parts].join('; ');
}

const COMPLAINTS: readonly (readonly [Outcome, string])[] = [
  ['fail', 'fail'],
  ['warn', 'warn'],
  ['recorded', 'recorded'],
  ['inconclusive', 'no verdict'],
  ['harness-error', 'error'],
];

/**
 * Returns the outcomes other than a plain pass, by verdict. "Nothing delivered" replaces the scenarios that need a
 * delivery.
 */
function complaints(
  reported: NonNullable<MeasuredCell['reported']>,
  isSilent: (id: string, word: Outcome) => boolean,
): string {
  const words = new Map(reported);
  const undelivered = NEED_DELIVERY.every((id) => words.get(id) === 'inconclusive');
  const unheard = !undelivered && [...words.values()].every((word) => word === 'inconclusive');
  const measured = reported.filter(([id, word]) => !isSilent(id, word) && !(undelivered && NEED_DELIVERY.includes(id)));
  const parts = COMPLAINTS.flatMap(([word, name]) => {
    const ids = measured.filter(([, is]) => is === word).map(([id]) => short(id));
    if (ids.length === 0) return [];
    return [ids.length === measured.length ? `${name}: everything` : `${name}: ${ids.join(', ')}`];
  });
  if (undelivered && !unheard) parts.push('nothing delivered');
  return parts.length === 0 ? 'pass' : parts.join('; ');
}

/** Scenarios whose outcomes depend on the server, not on its certificate. */
const OF_THE_SERVER = new Set(['tls/tls-1-2-spoken', 'tls/tls-1-3-spoken', 'tls/forward-secrecy']);

function reportOfServer({ cell, reported }: MeasuredCell): string {
  if (reported !== null) return complaints(reported, (id) => OF_THE_SERVER.has(id));
  return isCannotServe(cell.expected) ? `cannot serve it (${cell.expected.cannotServe})` : 'cannot serve it';
}

function serverTable(measured: readonly MeasuredCell[]): string {
  const servers = [...new Set(measured.map(({ cell }) => cell.server))];
  const rows = groupBy(measured, (one) => `${one.cell.row}\n${reportOfServer(one)}`).map((row) => [
    row[0]?.cell.row ?? '',
    ...servers.map((server) => versionsOf(row.filter(({ cell }) => cell.server === server))),
    row[0] === undefined ? '' : reportOfServer(row[0]),
    asExpected(row),
  ]);
  return markdownTable(['certificate', ...servers, 'what the harness reported', 'as expected'], rows);
}

const PLAIN_WORDS: Readonly<Record<Outcome, string>> = {
  pass: 'refused',
  recorded: 'refused',
  warn: '**warn**',
  fail: '**fail**',
  inconclusive: 'no verdict',
  'not-applicable': '',
  'harness-error': '**error**',
};

/** Returns the outcome of the scenarios that test a client: one word if they agree, otherwise each that differs. */
function reportOfClient(row: Row, invalidClient: InvalidClient): string {
  const tried = row
    .flatMap(({ reported }) => reported ?? [])
    .filter(([id, word]) => SCENARIOS_OF[invalidClient].includes(id) && word !== 'not-applicable')
    .map(([id, word]) => [id, PLAIN_WORDS[word]] as const);
  const words = new Set(tried.map(([, word]) => word));
  if (words.size < 2) return [...words].join('');
  const others = tried.filter(([, word]) => word !== 'refused').map(([id, word]) => `${word} (${short(id)})`);
  return [...new Set(others)].join(', ');
}

/** Returns the other outcomes of the server. */
function otherReports(row: Row): string {
  const tried = new Set(Object.values(SCENARIOS_OF).flat());
  const isSilent = (id: string, word: Outcome) => tried.has(id) || (word === 'recorded' && OF_THE_SERVER.has(id));
  return [...new Set(row.map(({ reported }) => complaints(reported ?? [], isSilent)))].join(' / ');
}

function clientTable(measured: readonly MeasuredCell[]): string {
  const rows = groupBy(measured, ({ cell }) => `${cell.server}: ${cell.row}`).map((row) => [
    `${row[0]?.cell.server}: ${row[0]?.cell.row}`,
    versionsOf(row),
    ...INVALID_CLIENTS.map((invalidClient) => reportOfClient(row, invalidClient)),
    otherReports(row),
    asExpected(row),
  ]);
  return markdownTable(['server', 'TLS', ...INVALID_CLIENTS, 'anything else', 'as expected'], rows);
}

function listTable(measured: readonly MeasuredCell[], head: string): string {
  const rows = measured.map((one) => [
    one.cell.row,
    one.cell.server,
    versionsOf([one]),
    complaints(one.reported ?? [], () => false),
    asExpected([one]),
  ]);
  return markdownTable([head, 'server', 'TLS', 'what the harness reported', 'as expected'], rows);
}

interface Count {
  readonly cells: number;
  readonly asExpected: number;
  readonly falsePasses: number;
  readonly falseAlarms: number;
  readonly verdicts: number;
}

export function countOf(measured: readonly MeasuredCell[]): Count {
  const having = (kind: Difference['kind']) =>
    measured.filter((one) => one.differences.some((each) => each.kind === kind));
  return {
    cells: measured.length,
    asExpected: measured.filter(({ differences }) => differences.length === 0).length,
    falsePasses: having('false pass').length,
    falseAlarms: having('false alarm').length,
    verdicts: measured.reduce((sum, { reported }) => sum + (reported?.length ?? 0), 0),
  };
}

export function countText({ cells, asExpected, falsePasses, falseAlarms }: Count): string {
  return `${cells} cells, ${asExpected} as expected, ${falsePasses} false passes, ${falseAlarms} false alarms`;
}

const KINDS: Readonly<Record<TableName, string>> = {
  servers: 'server certificates',
  clients: 'client certificates',
  protocols: 'protocols, ciphers and connections',
  correct: 'correct servers',
};

function countTable(tables: Tables['tables']): string {
  const line = (kind: string, measured: readonly MeasuredCell[]) => {
    const { cells, asExpected, falsePasses, falseAlarms, verdicts } = countOf(measured);
    return [kind, ...[cells, asExpected, falsePasses, falseAlarms, verdicts].map(String)];
  };
  const rows = (Object.keys(KINDS) as TableName[]).map((name) => line(KINDS[name], tables[name]));
  return markdownTable(
    ['kind', 'cells', 'as expected', 'false passes', 'false alarms', 'verdicts of single scenarios'],
    [...rows, line('**in all**', Object.values(tables).flat())],
  );
}

/** The beginning of the line that depends on the machine. */
export const SOFTWARE_LINE = 'Written with ';

/** Puts text on one line. */
const paragraph = (text: string) => text.replace(/\s+/g, ' ');

export function renderDocument({ tables, versions }: Tables): string {
  const every = Object.values(tables).flat();
  return `${[
    '# The TLS matrix',
    '<!-- Written by `npm run proofs -- tls-matrix` from runs against these servers. Do not edit. -->',
    paragraph(`The verdicts of runs against servers whose certificates, client certificates or protocols are correct, or
      faulty in one known way. Each cell is a run of the suites \`tls\` and, with client certificates, \`mtls\` against
      a real server over TLS 1.2, TLS 1.3, or both. \`test/proofs/tls-matrix/\` lists the expected verdict of every
      scenario, and a cell is as expected when no scenario differs. \`npm run proofs -- tls-matrix\` measures all
      ${every.length} cells, and with \`-- --check\` fails when this page is stale.`),
    `${SOFTWARE_LINE}${versions.join(', ')}.`,
    '## In all',
    countTable(tables),
    paragraph(`**${countText(countOf(every))}.** A false pass is a cell with fewer findings than expected: no finding, a
      weaker one, or a pass where no verdict was possible. A false alarm is a cell with more findings.`),
    '## Server certificates',
    paragraph(`The certificates are those of \`certs/factory/server-fixtures.ts\`. Scenarios that are not named pass.
      "Nothing delivered": the sender does not trust the server, so the scenarios that need a delivery have no
      verdict. Where a server does not load a certificate, the cell shows its error.`),
    serverTable(tables.servers),
    `${countText(countOf(tables.servers))}.`,
    '## Client certificates',
    paragraph(`Each row is a configuration of mutual TLS, each column a client that must be rejected. "Fail" and "warn"
      mean that the server accepted the client, and that the run reported it. A certificate for another purpose,
      of another client or a revoked one is a warning, because partner and operator may have agreed on it. An empty
      cell was not tried, because the certificate was not configured. Where TLS 1.2 and 1.3 differ, the cell names
      the scenarios that are not "refused".`),
    clientTable(tables.clients),
    `${countText(countOf(tables.clients))}.`,
    '## Protocols, ciphers and connections',
    paragraph(`The scripted server answers old protocols with prepared bytes, because OpenSSL no longer supports them,
      and passes everything else to a correct server. What could not be tested has no verdict.`),
    listTable(tables.protocols, 'what it does'),
    `${countText(countOf(tables.protocols))}.`,
    '## Correct servers',
    'No failure, no warning, no check without a verdict. "Recorded" is information, not a finding.',
    listTable(tables.correct, 'what it is'),
    `${countText(countOf(tables.correct))}.`,
  ].join('\n\n')}\n`;
}
