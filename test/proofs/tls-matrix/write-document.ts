/**
 * Measures the whole matrix and writes docs/tls-matrix.md, or with `--check` fails when the page is stale. Exits with 1
 * when a cell is wrong. Run by `npm run proofs -- tls-matrix`.
 */
import { fork, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { lacks, pathOf } from '../../setup/programs.ts';
import { type Cell, measure, nameOf } from './cell.ts';
import { countInWords, countOf, renderDocument, type Told, VERSIONS_LINE } from './document.ts';
import { saidIn } from './expected.ts';
import { openTable, type TableName } from './matrix.ts';

const PAGE = fileURLToPath(new URL('../../../docs/tls-matrix.md', import.meta.url));
/**
 * Cells at the same time in one process. More than the cores have work for would only make the timings unlike those of
 * a real run.
 */
const SIDE_BY_SIDE = 3;
/** One process measures one table after the other; the longest stands alone. */
const PROCESSES: readonly (readonly TableName[])[] = [['clients'], ['servers', 'protocols', 'right']];

/** What one process tells the other; the cells are the same in both. */
type Message = readonly [table: TableName, at: number, told: Omit<Told, 'cell'>];

async function measureTable(name: TableName, tell: (message: Message) => void): Promise<void> {
  const { cells, close } = openTable(name);
  let next = 0;
  async function work(): Promise<void> {
    for (let at = next++; at < cells.length; at = next++) {
      const { document, differences } = await measure(cells[at] as Cell);
      tell([name, at, { said: document === null ? null : [...saidIn(document)], differences }]);
    }
  }
  try {
    await Promise.all(Array.from({ length: SIDE_BY_SIDE }, work));
  } finally {
    await close();
  }
}

async function measureElsewhere(names: readonly TableName[], hear: (message: Message) => void): Promise<void> {
  const child = fork(fileURLToPath(import.meta.url), ['--tables', ...names]);
  child.on('message', (message) => hear(message as Message));
  const code = await new Promise((resolve) => child.on('exit', resolve));
  if (code !== 0) throw new Error(`the tables ${names.join(', ')} could not be measured`);
}

function wordOf(program: string, option: string, pattern: RegExp): string {
  const { stdout, stderr } = spawnSync(program, [option], { encoding: 'utf8' });
  return pattern.exec(`${stdout}${stderr}`)?.[1] ?? 'unknown';
}

/** Everything but what the machine is. */
function comparable(page: string): string[] {
  return page.split('\n').filter((line) => !line.startsWith(VERSIONS_LINE));
}

function check(page: string): void {
  const [is, due] = [comparable(readFileSync(PAGE, 'utf8')), comparable(page)];
  const stale = [...is.filter((line) => !due.includes(line)), ...due.filter((line) => !is.includes(line))];
  if (is.join('\n') === due.join('\n')) return;
  process.stderr.write(
    `docs/tls-matrix.md is stale, run npm run proofs -- tls-matrix; it differs in\n${stale.join('\n')}\n`,
  );
  process.exitCode = 1;
}

async function main(): Promise<void> {
  if (lacks('nginx', 'openssl')) throw new Error('The matrix needs the programs nginx and openssl.');
  const told: Record<TableName, Told[]> = { servers: [], clients: [], protocols: [], right: [] };
  const cells = Object.fromEntries(PROCESSES.flat().map((name) => [name, openTable(name).cells])) as Record<
    TableName,
    readonly Cell[]
  >;
  const hear = ([name, at, { said, differences }]: Message) => {
    const cell = cells[name][at] as Cell;
    told[name][at] = { cell, said, differences };
    process.stderr.write('.');
    for (const each of differences) process.stderr.write(`\n${nameOf(cell)}: ${JSON.stringify(each)}\n`);
  };
  await Promise.all(PROCESSES.map((names) => measureElsewhere(names, hear)));
  const versions = [
    `Node ${process.versions.node} (OpenSSL ${process.versions.openssl.replace('+quic', '')})`,
    `the program openssl ${wordOf('openssl', 'version', /OpenSSL (\S+)/)}`,
    `nginx ${wordOf(pathOf('nginx') ?? 'nginx', '-v', /nginx\/(\S+)/)}`,
  ];
  const page = renderDocument({ tables: told, versions });
  const count = countOf(Object.values(told).flat());
  process.stderr.write(`\n${countInWords(count)}\n`);
  if (count.right < count.cells) process.exitCode = 1;
  if (process.argv.includes('--check')) check(page);
  else writeFileSync(PAGE, page);
}

const [option, ...names] = process.argv.slice(2);
if (option === '--tables') {
  const tell = (message: Message) => void process.send?.(message);
  for (const name of names) await measureTable(name as TableName, tell);
  process.disconnect();
} else await main();
