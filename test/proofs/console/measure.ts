/**
 * Measures how long the console takes for each page with a register of 10,000 partners and 3.6 million records, and how
 * large the tables are. Prints each figure, and exits with 1 if a page takes 300 ms or more. `--partners N --days N`
 * makes a smaller register. Run by `npm run proofs -- console`.
 */
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { openConsole, Tokens } from '../../../harness/console/index.ts';
import { openDatabase, refreshStandings } from '../../../harness/register/index.ts';
import { newDatabase, startPostgres } from '../../setup/postgres.ts';
import { generateRegister } from './generate.ts';

const { values } = parseArgs({
  options: { partners: { type: 'string', default: '10000' }, days: { type: 'string', default: '360' } },
});
const partners = Number(values.partners);
const days = Number(values.days);
const LIMIT_MS = 300;
const REQUESTS = 30;
const INDEXES = ['partner', 'due', 'added', 'cause'].map((name) => `hookproof_register_${name}`);

const print = (text: string) => process.stdout.write(`${text}\n`);
const seconds = (since: number) => `${((performance.now() - since) / 1000).toFixed(1)} s`;
const median = (sorted: readonly number[]) => sorted[Math.floor(sorted.length / 2)] ?? 0;

async function measure(base: string, name: string, path: string): Promise<number> {
  const times: number[] = [];
  let size = 0;
  for (let at = 0; at < REQUESTS; at++) {
    const start = performance.now();
    const response = await fetch(`${base}${path}`);
    size = (await response.arrayBuffer()).byteLength;
    times.push(performance.now() - start);
    if (!response.ok) throw new Error(`${path}: ${response.status}`);
  }
  const sorted = times.toSorted((a, b) => a - b);
  const most = sorted.at(-1) ?? 0;
  const figures = [['p50', median(sorted)] as const, ['p95', sorted[Math.floor(REQUESTS * 0.95)] ?? 0] as const];
  const texts = [...figures, ['max', most] as const].map(([what, ms]) => `${what} ${ms.toFixed(0).padStart(4)} ms`);
  print(`${name.padEnd(34)} ${texts.join('  ')}  ${(size / 1000).toFixed(0).padStart(3)} kB`);
  return most;
}

/** Returns the cursor of a page in the middle of the list, which it reaches page by page like a visitor. */
async function cursorAfter(base: string, path: string, pages: number): Promise<string> {
  let after = '';
  for (let at = 0; at < pages; at++) {
    const response = await fetch(`${base}${path}&limit=200${after === '' ? '' : `&after=${after}`}`);
    after = ((await response.json()) as { next: string }).next ?? after;
  }
  return after;
}

const server = await startPostgres();
if (server === null) throw new Error('PostgreSQL is not installed');
try {
  const database = await newDatabase(server.url);
  const pool = await openDatabase(database, { max: 2, name: 'proof' });
  for (const index of INDEXES) await pool.query(`DROP INDEX ${index}`);
  await pool.query(
    'ALTER DATABASE current SET synchronous_commit = off'.replace('current', new URL(database).pathname.slice(1)),
  );
  let start = performance.now();
  const { publicKey, names } = await generateRegister(pool, { partners, days });
  print(`generated in ${seconds(start)}`);
  start = performance.now();
  await (await openDatabase(database, { max: 1, name: 'proof' })).end();
  print(`indexes in ${seconds(start)}`);
  start = performance.now();
  await refreshStandings(pool, [publicKey], { currentRevision: 1, now: new Date() });
  print(`all standings derived in ${seconds(start)}`);
  await pool.query('VACUUM ANALYZE');
  const counts = await pool.query(
    `SELECT (SELECT count(*) FROM hookproof_register) AS records,
      (SELECT count(*) FROM hookproof_standing) AS standings`,
  );
  print(`${counts.rows[0].standings} partners, ${counts.rows[0].records} records`);
  start = performance.now();
  const fresh = await refreshStandings(pool, [publicKey], { currentRevision: 1, now: new Date() });
  print(`looking for new records when there are ${fresh.length}: ${seconds(start)}`);
  const { rows } = await pool.query(
    `SELECT relname AS name, pg_size_pretty(pg_total_relation_size(oid)) AS total,
      pg_size_pretty(pg_indexes_size(oid)) AS indexes FROM pg_class WHERE relname LIKE 'hookproof%' AND relkind = 'r'
    ORDER BY pg_total_relation_size(oid) DESC`,
  );
  for (const { indexes, name, total } of rows) print(`${name}: ${total}, of it indexes ${indexes}`);

  start = performance.now();
  const running = await openConsole({
    ...{ database, keys: [publicKey], currentRevision: 1, host: '127.0.0.1', port: 0, tokens: Tokens.none },
    readRun: () => Promise.reject(new Error('there are no runs')),
    onError: (error) => print(String(error)),
  });
  print(`console started, with every grant verified, in ${seconds(start)}`);
  start = performance.now();
  await (await fetch(`${running.url}/`)).text();
  print(`first page in ${seconds(start)}`);
  const middle = await cursorAfter(running.url, '/api/partners?sort=name', 20);
  const lateByUntil = await cursorAfter(running.url, '/api/partners?sort=until', 20);
  const one = names[Math.floor(names.length / 2)] ?? '';
  const pages: readonly (readonly [string, string])[] = [
    ['now', '/'],
    ['now, by name, in the middle', `/?sort=name&after=${middle}`],
    ['now, by expiry, in the middle', `/?sort=until&after=${lateByUntil}`],
    ['now, by last record, descending', '/?sort=last&order=desc'],
    ['now, by cause', '/?sort=cause'],
    ['now, search that finds one', `/?q=${one}`],
    ['now, search that finds nothing', '/?q=no-such-partner'],
    ['now, only failing', '/?state=failing'],
    ['expiring within 14 days', '/expiring'],
    ['expiring within 90 days', '/expiring?within=90'],
    ['partner', `/partners/${one}`],
    ['partner, only unreachable', `/partners/${one}?event=unreachable`],
    ['causes of 12 weeks', '/trends'],
    ['causes of 52 weeks', '/trends?weeks=52'],
    ['queue', '/queue'],
    ['audit', '/audit'],
    ['API: partners', '/api/partners?limit=200'],
    ['API: partner', `/api/partners/${one}`],
    ['API: records', `/api/partners/${one}/records`],
    ['API: document', '/api/openapi.json'],
    ['metrics', '/metrics'],
  ];
  print(`load average of the last minute: ${loadavg()[0]?.toFixed(1)}`);
  let worst = 0;
  for (const [name, path] of pages) worst = Math.max(worst, await measure(running.url, name, path));
  print(`the slowest answer took ${worst.toFixed(0)} ms; the limit is ${LIMIT_MS} ms`);
  process.exitCode = worst < LIMIT_MS ? 0 : 1;
  await running.close();
  await pool.end();
} finally {
  await server.remove();
}
