/** The matrix as a page: each cell is what the harness said, and a cell that is wrong says what was due. */
import type { Cell, Measured } from './cell.ts';
import { isCannotServe } from './cell.ts';
import { saidIn, type Word } from './expected.ts';
import { INTRUDERS, type Intruder, TRIED } from './expected-of-clients.ts';
import { DELIVERED } from './expected-of-server.ts';
import { SPOKEN } from './material.ts';
import type { TableName } from './matrix.ts';

export interface Measurements {
  readonly tables: Readonly<Record<TableName, readonly Measured[]>>;
  /** "Node v20.20.2" and so on. */
  readonly versions: readonly string[];
}

type Said = ReadonlyMap<string, Word>;

const short = (id: string) => id.replace(/^m?tls\//, '');

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function wrong({ differences }: Measured): string {
  if (differences.length === 0) return '';
  const parts = differences.map(
    ({ kind, scenario, expected, said }) => `${kind} ${scenario}: ${said}, due ${expected}`,
  );
  return ` **WRONG** (${parts.join('; ')})`;
}

/** What is not a plain pass, by verdict. That every scenario of a kind has the same is said of the kind. */
function complaints(said: Said, silent: (id: string, word: Word) => boolean): string {
  const words: readonly Word[] = ['fail', 'warn', 'recorded', 'inconclusive', 'harness-error'];
  const undelivered = DELIVERED.every((id) => said.get(id) === 'inconclusive');
  const parts = words.flatMap((word) => {
    const ids = [...said].filter(
      ([id, is]) => is === word && !silent(id, word) && !(undelivered && DELIVERED.includes(id)),
    );
    return ids.length === 0
      ? []
      : [`${word === 'inconclusive' ? 'no verdict' : word}: ${ids.map(([id]) => short(id)).join(', ')}`];
  });
  if (undelivered) parts.push('nothing delivered');
  return parts.length === 0 ? 'pass' : parts.join('; ');
}

/** Of every server of its kind, so that it says nothing of the certificate. */
const OF_THE_SERVER = new Set(['tls/tls-1-2-spoken', 'tls/tls-1-3-spoken', 'tls/forward-secrecy']);

function serverCell(measured: Measured): string {
  if (measured.document === null) return `cannot serve (${reasonOf(measured.cell.expected)})`;
  return complaints(saidIn(measured.document), (id) => OF_THE_SERVER.has(id)) + wrong(measured);
}

function reasonOf(expected: Cell['expected']): string {
  return isCannotServe(expected) ? expected.cannotServe : '';
}

function rowsOf(measurements: readonly Measured[]): string[] {
  return [...new Set(measurements.map(({ cell }) => cell.row))];
}

function serverTable(measurements: readonly Measured[]): string {
  const columns = [...new Set(measurements.map(({ cell }) => cell.column))];
  const rows = rowsOf(measurements).map((row) => [
    row,
    ...columns.map((column) => {
      const found = measurements.find(({ cell }) => cell.row === row && cell.column === column);
      return found === undefined ? '' : serverCell(found);
    }),
  ]);
  return table(['certificate', ...columns], rows);
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
function intruderCell(said: Said, intruder: Intruder): string {
  const tried = TRIED[intruder].flatMap((id) => {
    const word = said.get(id);
    return word === undefined || word === 'not-applicable' ? [] : [[id, PLAIN_WORDS[word]] as const];
  });
  const words = [...new Set(tried.map(([, word]) => word))];
  if (words.length < 2) return words[0] ?? '';
  return tried
    .filter(([, word]) => word !== 'refused')
    .map(([id, word]) => `${word} (${short(id)})`)
    .join(', ');
}

function clientTables(measurements: readonly Measured[]): string {
  return SPOKEN.toReversed()
    .map((spoken) => {
      const rows = measurements
        .filter(({ cell }) => cell.column === spoken)
        .map((measured) => {
          const said: Said = measured.document === null ? new Map() : saidIn(measured.document);
          return [
            measured.cell.row,
            ...INTRUDERS.map((intruder) => intruderCell(said, intruder)),
            others(measured, said),
          ];
        });
      const title = spoken === 'both' ? 'TLS 1.2 and 1.3' : spoken;
      return `### ${title}\n\n${table(['server', ...INTRUDERS, 'anything else'], rows)}`;
    })
    .join('\n\n');
}

/** What a run said of the server besides. */
function others(measured: Measured, said: Said): string {
  const tried = new Set(Object.values(TRIED).flat());
  const text = complaints(said, (id, word) => tried.has(id) || (word === 'recorded' && OF_THE_SERVER.has(id)));
  return text + wrong(measured);
}

function listTable(measurements: readonly Measured[], head: string): string {
  const rows = measurements.map((measured) => {
    const said = measured.document === null ? 'cannot serve' : complaints(saidIn(measured.document), () => false);
    return [measured.cell.row, measured.cell.column, said + wrong(measured)];
  });
  return table([head, 'server', 'what the harness said'], rows);
}

/** The closing count, of all tables. */
export function countOf(measurements: readonly Measured[]) {
  const kinds = measurements.map(({ differences }) => new Set(differences.map(({ kind }) => kind)));
  return {
    cells: measurements.length,
    judgements: measurements.reduce((sum, { document }) => sum + (document?.results.length ?? 0), 0),
    cannotServe: measurements.filter(({ document }) => document === null).length,
    falsePasses: kinds.filter((kind) => kind.has('false pass')).length,
    falseAlarms: kinds.filter((kind) => kind.has('false alarm')).length,
    tested: measurements.filter(({ cell }) => cell.documentOnly !== true).length,
  };
}

function closing(measurements: readonly Measured[]): string {
  const { cells, falsePasses, falseAlarms } = countOf(measurements);
  return `${cells} cells, ${falsePasses} false passes, ${falseAlarms} false alarms`;
}

export function renderDocument({ tables, versions }: Measurements): string {
  const every = Object.values(tables).flat();
  const { judgements, cannotServe, tested } = countOf(every);
  return `${[
    '# The TLS matrix',
    '<!-- Written by `npm run tls-matrix` from runs against these servers. Do not edit. -->',
    `What a run says of servers whose certificates, client certificates or protocols are right, or wrong in one known way. Each cell is a run of the suites against a real server (${versions.join(', ')}), and says what is not a plain pass. What each has to say is written by hand in \`test/tls-matrix/\`, scenario by scenario; \`npm test\` holds ${tested} of the ${every.length} cells, and \`npm run tls-matrix\` all of them.`,
    '## Server certificates',
    'Each certificate as `certs/fixtures/server-fixtures.ts` makes it. "Nothing delivered": a right sender does not trust the server, so the scenarios that need a delivery have no verdict. Where a server does not load a certificate, its own words stand there.',
    serverTable(tables.servers),
    `${closing(tables.servers)}.`,
    '## Client certificates',
    'Each row is a way to set up mutual TLS, each column somebody who must not get in. "fail" and "warn" mean that the server let them in, and that the run said so. Whether a certificate for another purpose, of another client or a revoked one may get in is a matter of what was agreed on, so it is a warning. An empty cell was not tried: the version is not spoken, or the certificate was not given.',
    clientTables(tables.clients),
    `${closing(tables.clients)}.`,
    '## Protocols, ciphers and connections',
    'The scripted server answers what no right sender sends with bytes made by hand, and hands everything else to a right server. What could not be asked has no verdict.',
    listTable(tables.protocols, 'what it does'),
    `${closing(tables.protocols)}.`,
    '## Right servers',
    'No failure, no warning, nothing without a verdict. "Recorded" is a fact and no complaint.',
    listTable(tables.right, 'what it is'),
    `${closing(tables.right)}.`,
    '## In all',
    `${closing(every)}. These are ${judgements} verdicts of single scenarios; ${cannotServe} of the cells are certificates that the server refuses to load.`,
  ].join('\n\n')}\n`;
}
