/**
 * The matrix as a page: one row for cells that go together, what the harness reported of them, and whether it was
 * right.
 */
import { type Cell, isCannotServe, shareOf } from './cell.ts';
import { DELIVERED, type Difference, INTRUDERS, type Intruder, TRIED, type Word } from './expected.ts';
import { SPOKEN, type Spoken } from './material.ts';
import type { TableName } from './matrix.ts';

/** A cell that was measured, as far as the page tells of it. */
export interface Told {
  readonly cell: Cell;
  /** The verdict of each scenario. Null when the server cannot serve it, and says so as it should. */
  readonly said: readonly (readonly [id: string, word: Word])[] | null;
  readonly differences: readonly Omit<Difference, 'reason'>[];
}

export interface Tables {
  readonly tables: Readonly<Record<TableName, readonly Told[]>>;
  /** "Node 20.20.2" and so on. */
  readonly versions: readonly string[];
}

type Row = readonly Told[];

const short = (id: string) => id.replace(/^m?tls\//, '');

function markdown(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** In the order in which each key comes first. */
function groupBy(told: readonly Told[], keyOf: (told: Told) => string): Row[] {
  const groups = new Map<string, Told[]>();
  for (const one of told) {
    const key = keyOf(one);
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return [...groups.values()];
}

const VERSION_WORDS: Readonly<Record<Spoken, string>> = { 'TLS 1.2 only': '1.2', 'TLS 1.3 only': '1.3', both: 'both' };

function versionsOf(row: Row): string {
  const spoken = SPOKEN.filter((version) => row.some(({ cell }) => cell.spoken === version));
  return spoken.map((version) => VERSION_WORDS[version]).join(', ');
}

/** "9 of 9", and each cell that is not. */
function asExpected(row: Row): string {
  const wrong = row.filter(({ differences }) => differences.length > 0);
  const parts = wrong.map(({ cell, differences }) => {
    const each = differences.map(
      ({ kind, scenario, expected, said }) => `${kind} ${scenario}: ${said}, due ${expected}`,
    );
    return `**WRONG** on ${cell.server}, ${cell.spoken} (${each.join('; ')})`;
  });
  return [`${row.length - wrong.length} of ${row.length}`, ...parts].join('; ');
}

const COMPLAINTS: readonly (readonly [Word, string])[] = [
  ['fail', 'fail'],
  ['warn', 'warn'],
  ['recorded', 'recorded'],
  ['inconclusive', 'no verdict'],
  ['harness-error', 'error'],
];

/**
 * What is not a plain pass, by verdict. Scenarios that all need a delivery are named as one when none of them has a
 * verdict.
 */
function complaints(said: NonNullable<Told['said']>, isSilent: (id: string, word: Word) => boolean): string {
  const words = new Map(said);
  const undelivered = DELIVERED.every((id) => words.get(id) === 'inconclusive');
  const unheard = !undelivered && [...words.values()].every((word) => word === 'inconclusive');
  const told = said.filter(([id, word]) => !isSilent(id, word) && !(undelivered && DELIVERED.includes(id)));
  const parts = COMPLAINTS.flatMap(([word, name]) => {
    const ids = told.filter(([, is]) => is === word).map(([id]) => short(id));
    if (ids.length === 0) return [];
    return [ids.length === told.length ? `${name}: everything` : `${name}: ${ids.join(', ')}`];
  });
  if (undelivered && !unheard) parts.push('nothing delivered');
  return parts.length === 0 ? 'pass' : parts.join('; ');
}

/** Of every server of its kind, so that it says nothing of the certificate. */
const OF_THE_SERVER = new Set(['tls/tls-1-2-spoken', 'tls/tls-1-3-spoken', 'tls/forward-secrecy']);

function serverWords({ cell, said }: Told): string {
  if (said !== null) return complaints(said, (id) => OF_THE_SERVER.has(id));
  return isCannotServe(cell.expected) ? `cannot serve it (${cell.expected.cannotServe})` : 'cannot serve it';
}

function serverTable(told: readonly Told[]): string {
  const servers = [...new Set(told.map(({ cell }) => cell.server))];
  const rows = groupBy(told, (one) => `${one.cell.row}\n${serverWords(one)}`).map((row) => [
    row[0]?.cell.row ?? '',
    ...servers.map((server) => versionsOf(row.filter(({ cell }) => cell.server === server))),
    row[0] === undefined ? '' : serverWords(row[0]),
    asExpected(row),
  ]);
  return markdown(['certificate', ...servers, 'what the harness reported', 'as expected'], rows);
}

const PLAIN_WORDS: Readonly<Record<Word, string>> = {
  pass: 'refused',
  recorded: 'refused',
  warn: '**warn**',
  fail: '**fail**',
  inconclusive: 'no verdict',
  'not-applicable': '',
  'harness-error': '**error**',
};

/** What became of the scenarios that try an intruder: one word when they agree, else each that does not. */
function intruderWords(row: Row, intruder: Intruder): string {
  const tried = row
    .flatMap(({ said }) => said ?? [])
    .filter(([id, word]) => TRIED[intruder].includes(id) && word !== 'not-applicable')
    .map(([id, word]) => [id, PLAIN_WORDS[word]] as const);
  const words = new Set(tried.map(([, word]) => word));
  if (words.size < 2) return [...words].join('');
  const others = tried.filter(([, word]) => word !== 'refused').map(([id, word]) => `${word} (${short(id)})`);
  return [...new Set(others)].join(', ');
}

/** What a run said of the server besides. */
function otherWords(row: Row): string {
  const tried = new Set(Object.values(TRIED).flat());
  const isSilent = (id: string, word: Word) => tried.has(id) || (word === 'recorded' && OF_THE_SERVER.has(id));
  return [...new Set(row.map(({ said }) => complaints(said ?? [], isSilent)))].join(' / ');
}

function clientTable(told: readonly Told[]): string {
  const rows = groupBy(told, ({ cell }) => `${cell.server}: ${cell.row}`).map((row) => [
    `${row[0]?.cell.server}: ${row[0]?.cell.row}`,
    versionsOf(row),
    ...INTRUDERS.map((intruder) => intruderWords(row, intruder)),
    otherWords(row),
    asExpected(row),
  ]);
  return markdown(['server', 'TLS', ...INTRUDERS, 'anything else', 'as expected'], rows);
}

function listTable(told: readonly Told[], head: string): string {
  const rows = told.map((one) => [
    one.cell.row,
    one.cell.server,
    versionsOf([one]),
    complaints(one.said ?? [], () => false),
    asExpected([one]),
  ]);
  return markdown([head, 'server', 'TLS', 'what the harness reported', 'as expected'], rows);
}

interface Count {
  readonly cells: number;
  readonly right: number;
  readonly falsePasses: number;
  readonly falseAlarms: number;
  readonly verdicts: number;
}

export function countOf(told: readonly Told[]): Count {
  const having = (kind: Difference['kind']) => told.filter((one) => one.differences.some((each) => each.kind === kind));
  return {
    cells: told.length,
    right: told.filter(({ differences }) => differences.length === 0).length,
    falsePasses: having('false pass').length,
    falseAlarms: having('false alarm').length,
    verdicts: told.reduce((sum, { said }) => sum + (said?.length ?? 0), 0),
  };
}

export function countInWords({ cells, right, falsePasses, falseAlarms }: Count): string {
  return `${cells} cells, ${right} as expected, ${falsePasses} false passes, ${falseAlarms} false alarms`;
}

const KINDS: Readonly<Record<TableName, string>> = {
  servers: 'server certificates',
  clients: 'client certificates',
  protocols: 'protocols, ciphers and connections',
  right: 'correct servers',
};

function countTable(tables: Tables['tables']): string {
  const line = (kind: string, told: readonly Told[]) => {
    const { cells, right, falsePasses, falseAlarms, verdicts } = countOf(told);
    return [kind, ...[cells, right, falsePasses, falseAlarms, verdicts].map(String)];
  };
  const rows = (Object.keys(KINDS) as TableName[]).map((name) => line(KINDS[name], tables[name]));
  return markdown(
    ['kind', 'cells', 'as expected', 'false passes', 'false alarms', 'verdicts of single scenarios'],
    [...rows, line('**in all**', Object.values(tables).flat())],
  );
}

/** What the line of the page begins with that depends on the machine. */
export const VERSIONS_LINE = 'Written with ';

export function renderDocument({ tables, versions }: Tables): string {
  const every = Object.values(tables).flat();
  const tested = Object.values(tables)
    .map((table) => shareOf(table.map(({ cell }) => cell)).length)
    .reduce((sum, count) => sum + count, 0);
  return `${[
    '# The TLS matrix',
    '<!-- Written by `npm run proofs -- tls-matrix` from runs against these servers. Do not edit. -->',
    `The verdicts of runs against servers whose certificates, client certificates or protocols are correct, or faulty in one known way. Each cell is a run of the suites \`tls\` and, with client certificates, \`mtls\` against a real server over TLS 1.2, TLS 1.3, or both. \`test/proofs/tls-matrix/\` lists the expected verdict of every scenario, and a cell is as expected when no scenario differs. \`npm test\` checks ${tested} of the ${every.length} cells; \`npm run proofs -- tls-matrix\` measures all of them, and with \`-- --check\` fails when this page is stale.`,
    `${VERSIONS_LINE}${versions.join(', ')}.`,
    '## In all',
    countTable(tables),
    `**${countInWords(countOf(every))}.** A false pass is a cell with fewer findings than expected: no finding, a weaker one, or a pass where no verdict was possible. A false alarm is a cell with more findings.`,
    '## Server certificates',
    'The certificates are those of `certs/factory/server-fixtures.ts`. Scenarios that are not named pass. "Nothing delivered": the sender does not trust the server, so the scenarios that need a delivery have no verdict. Where a server does not load a certificate, the cell shows its error.',
    serverTable(tables.servers),
    `${countInWords(countOf(tables.servers))}.`,
    '## Client certificates',
    'Each row is a configuration of mutual TLS, each column a client that must be rejected. "Fail" and "warn" mean that the server accepted the client, and that the run reported it. A certificate for another purpose, of another client or a revoked one is a warning, because partner and operator may have agreed on it. An empty cell was not tried, because the certificate was not configured. Where TLS 1.2 and 1.3 differ, the cell names the scenarios that are not "refused".',
    clientTable(tables.clients),
    `${countInWords(countOf(tables.clients))}.`,
    '## Protocols, ciphers and connections',
    'The scripted server answers old protocols with prepared bytes, because OpenSSL no longer supports them, and passes everything else to a correct server. What could not be tested has no verdict.',
    listTable(tables.protocols, 'what it does'),
    `${countInWords(countOf(tables.protocols))}.`,
    '## Correct servers',
    'No failure, no warning, no check without a verdict. "Recorded" is information, not a finding.',
    listTable(tables.right, 'what it is'),
    `${countInWords(countOf(tables.right))}.`,
  ].join('\n\n')}\n`;
}
