/** Measures the whole matrix and writes docs/tls-matrix.md. Exits with 1 when a cell is wrong. Run by `npm run tls-matrix`. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { type Cell, type Measured, measure } from './cell.ts';
import { countOf, renderDocument } from './document.ts';
import { openTable, TABLES, type TableName } from './matrix.ts';
import { NGINX } from './servers/nginx.ts';
import { HAS_OPENSSL } from './servers/s-server.ts';

/** Cells at the same time. More than the cores have work for would only make the timings of a run unlike those of a real one. */
const SIDE_BY_SIDE = 3;

/** In the order of the cells. */
async function measureAll(cells: readonly Cell[]): Promise<Measured[]> {
  const measured: Measured[] = [];
  let next = 0;
  async function work(): Promise<void> {
    for (let at = next++; at < cells.length; at = next++) {
      const cell = cells[at];
      if (cell === undefined) return;
      measured[at] = await measure(cell);
      process.stderr.write(measured[at]?.differences.length === 0 ? '.' : `\nwrong: ${cell.row} / ${cell.column}\n`);
    }
  }
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, work));
  return measured;
}

async function measureTable(name: TableName): Promise<Measured[]> {
  const { cells, close } = openTable(name);
  try {
    return await measureAll(cells);
  } finally {
    await close();
  }
}

function wordOf(program: string, option: string, pattern: RegExp): string {
  const { stdout, stderr } = spawnSync(program, [option], { encoding: 'utf8' });
  return pattern.exec(`${stdout}${stderr}`)?.[1] ?? 'unknown';
}

if (NGINX === undefined || !HAS_OPENSSL) throw new Error('The matrix needs the programs nginx and openssl.');
const tables: Partial<Record<TableName, Measured[]>> = {};
for (const name of Object.keys(TABLES) as TableName[]) tables[name] = await measureTable(name);
const versions = [
  `Node ${process.version} with OpenSSL ${process.versions.openssl.replace('+quic', '')}`,
  `OpenSSL ${wordOf('openssl', 'version', /OpenSSL (\S+)/)}`,
  `nginx ${wordOf(NGINX, '-v', /nginx\/(\S+)/)}`,
];
const complete = tables as Record<TableName, Measured[]>;
writeFileSync(new URL('../../docs/tls-matrix.md', import.meta.url), renderDocument({ tables: complete, versions }));
const { cells, falsePasses, falseAlarms } = countOf(Object.values(complete).flat());
process.stderr.write(`\n${cells} cells, ${falsePasses} false passes, ${falseAlarms} false alarms\n`);
if (falsePasses + falseAlarms > 0) process.exitCode = 1;
