/**
 * Measures the whole matrix and writes docs/tls-matrix.md or, with `--check`, fails if the page is stale. Exits with 1
 * if a cell is not as expected. Run by `npm run proofs -- tls-matrix`.
 */
import { fork, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { lacks, pathOf } from '../../setup/programs.ts';
import { type Cell, measure, nameOf } from './cell.ts';
import { countOf, countText, type MeasuredCell, renderDocument, SOFTWARE_LINE } from './document.ts';
import { outcomesIn } from './expected.ts';
import { openTable, type TableName } from './matrix.ts';

const PAGE = fileURLToPath(new URL('../../../docs/tls-matrix.md', import.meta.url));
/** Number of concurrent cells in one process. More would change the timing of the runs. */
const CONCURRENT_CELLS = 3;
/** The tables of each process, which measures them in sequence. */
const PROCESSES: readonly (readonly TableName[])[] = [['clients'], ['servers', 'protocols', 'correct']];

/** A result from a child process. Both processes have the same cells. */
type Message = readonly [table: TableName, at: number, measured: Omit<MeasuredCell, 'cell'>];

async function measureTable(name: TableName, send: (message: Message) => void): Promise<void> {
  const { cells, close } = openTable(name);
  let next = 0;
  async function work(): Promise<void> {
    for (let at = next++; at < cells.length; at = next++) {
      const { document, differences } = await measure(cells[at] as Cell);
      send([name, at, { reported: document === null ? null : [...outcomesIn(document)], differences }]);
    }
  }
  try {
    await Promise.all(Array.from({ length: CONCURRENT_CELLS }, work));
  } finally {
    await close();
  }
}

async function measureInProcess(names: readonly TableName[], onMessage: (message: Message) => void): Promise<void> {
  const child = fork(fileURLToPath(import.meta.url), ['--tables', ...names]);
  child.on('message', (message) => onMessage(message as Message));
  const code = await new Promise((resolve) => child.on('exit', resolve));
  if (code !== 0) throw new Error(`the tables ${names.join(', ')} could not be measured`);
}

function wordOf(program: string, option: string, pattern: RegExp): string {
  const { stdout, stderr } = spawnSync(program, [option], { encoding: 'utf8' });
  return pattern.exec(`${stdout}${stderr}`)?.[1] ?? 'unknown';
}

/** Returns the lines that do not depend on the machine. */
function comparable(page: string): string[] {
  return page.split('\n').filter((line) => !line.startsWith(SOFTWARE_LINE));
}

function check(page: string): void {
  const [is, expectedOutcome] = [comparable(readFileSync(PAGE, 'utf8')), comparable(page)];
  const stale = [
    ...is.filter((line) => !expectedOutcome.includes(line)),
    ...expectedOutcome.filter((line) => !is.includes(line)),
  ];
  if (is.join('\n') === expectedOutcome.join('\n')) return;
  process.stderr.write(
    `docs/tls-matrix.md is stale, run npm run proofs -- tls-matrix; the differing lines are\n${stale.join('\n')}\n`,
  );
  process.exitCode = 1;
}

async function main(): Promise<void> {
  if (lacks('nginx', 'openssl')) throw new Error('the matrix needs the programs nginx and openssl');
  const measured: Record<TableName, MeasuredCell[]> = { servers: [], clients: [], protocols: [], correct: [] };
  const cells = Object.fromEntries(PROCESSES.flat().map((name) => [name, openTable(name).cells])) as Record<
    TableName,
    readonly Cell[]
  >;
  const onMessage = ([name, at, { reported, differences }]: Message) => {
    const cell = cells[name][at] as Cell;
    measured[name][at] = { cell, reported, differences };
    process.stderr.write('.');
    for (const each of differences) process.stderr.write(`\n${nameOf(cell)}: ${JSON.stringify(each)}\n`);
  };
  await Promise.all(PROCESSES.map((names) => measureInProcess(names, onMessage)));
  const versions = [
    `Node ${process.versions.node} (OpenSSL ${process.versions.openssl.replace('+quic', '')})`,
    `the program openssl ${wordOf('openssl', 'version', /OpenSSL (\S+)/)}`,
    `nginx ${wordOf(pathOf('nginx') ?? 'nginx', '-v', /nginx\/(\S+)/)}`,
  ];
  const page = renderDocument({ tables: measured, versions });
  const count = countOf(Object.values(measured).flat());
  process.stderr.write(`\n${countText(count)}\n`);
  if (count.asExpected < count.cells) process.exitCode = 1;
  if (process.argv.includes('--check')) check(page);
  else writeFileSync(PAGE, page);
}

const [option, ...names] = process.argv.slice(2);
if (option === '--tables') {
  const send = (message: Message) => void process.send?.(message);
  for (const name of names) await measureTable(name as TableName, send);
  process.disconnect();
} else await main();
