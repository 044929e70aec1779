/**
 * `npm run proofs -- operate`: 200 partners on loopback and three workers, of which two are repeatedly killed at
 * random. PostgreSQL restarts once. Then a year is simulated at high speed. `--partners N`, `--weeks N`, `--only
 * speed|kills|year`.
 */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { sha256 } from '../../../harness/certify/index.ts';
import { newDatabase, type PostgresServer, startPostgres } from '../../setup/postgres.ts';
import { seededRandom } from '../../setup/seeded-random.ts';
import { DEAD, FAULTY, type Kind, RIGHT } from '../fleet/kinds.ts';
import { startFleet, type TestFleet } from '../fleet/start-fleet.ts';
import { processorTime, startWorker, type WorkerProcess } from './workers.ts';
import { playYear } from './year.ts';

const { values: given } = parseArgs({
  options: {
    partners: { type: 'string', default: '200' },
    weeks: { type: 'string', default: '52' },
    'year-partners': { type: 'string', default: '50' },
    only: { type: 'string' },
    seed: { type: 'string', default: '1' },
    concurrency: { type: 'string', default: '2' },
  },
});

const PROCESSES = 2;
const HOSTS = Array.from({ length: 20 }, (_, at) => `127.0.1.${at + 1}`);
const ALLOWED = HOSTS.flatMap((host) => ['--allow-private', host]);
const problems: string[] = [];
const check = (what: string, isTrue: boolean) => {
  console.log(`${isTrue ? 'ok   ' : 'WRONG'}  ${what}`);
  if (!isTrue) problems.push(what);
};

async function fleetOf(kinds: readonly Kind[]): Promise<{ folder: string; fleet: TestFleet }> {
  const folder = await mkdtemp(join(tmpdir(), 'hookproof-operate-'));
  const fleet = await startFleet(folder, kinds, PROCESSES, HOSTS);
  const schedule = 'operate:\n  retry-after: [2s, 5s]\n';
  const defaults = join(folder, 'partners', '_defaults.yaml');
  await writeFile(defaults, (await readFile(defaults, 'utf8')) + schedule);
  return { folder, fleet };
}

/** Resolves when each partner has a record. Rejects after a time limit. */
async function finished(url: string, count: number, minutes: number): Promise<void> {
  const until = performance.now() + minutes * 60_000;
  for (;;) {
    const found = await query<{ count: string }>(url, 'SELECT count(DISTINCT partner) FROM hookproof_register').catch(
      () => [],
    );
    if (Number(found[0]?.count ?? 0) >= count) return;
    if (performance.now() > until) throw new Error(`only ${found[0]?.count} of ${count} partners after ${minutes} min`);
    await sleep(250);
  }
}

async function query<Row extends pg.QueryResultRow>(url: string, statement: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query<Row>(statement)).rows;
  } finally {
    await client.end().catch(() => {});
  }
}

/** Measures how many partners per hour one and two workers certify, and the processor time per partner. */
async function measureSpeed(server: PostgresServer): Promise<void> {
  const count = 40;
  const { fleet, folder } = await fleetOf(Array.from({ length: count }, () => RIGHT));
  for (const number of [1, 2]) {
    const url = await newDatabase(server.url);
    const began = performance.now();
    const workers = Array.from({ length: number }, () => startWorker({ folder, url, args: ALLOWED }));
    await finished(url, count, 15);
    const seconds = (performance.now() - began) / 1000;
    const used = (await Promise.all(workers.map(({ pid }) => processorTime(pid)))).reduce((sum, one) => sum + one, 0);
    const codes = await Promise.all(workers.map((worker) => worker.stop()));
    console.log(
      `${number} worker(s): ${count} partners in ${seconds.toFixed(1)} s, ` +
        `${Math.round((count / seconds) * 3600)} an hour; ` +
        `${(used / count).toFixed(2)} s of processor time a partner; load ${loadavg()[0]?.toFixed(1)}`,
    );
    check(
      'each stops with exit code 0 at SIGTERM',
      codes.every((code) => code === 0),
    );
    await rm(join(folder, 'out'), { recursive: true, force: true });
  }
  fleet.close();
  await rm(folder, { recursive: true, force: true });
}

/** Kills workers and the database while all partners are certified. */
async function killEverything(server: PostgresServer): Promise<void> {
  const count = Number(given.partners);
  const random = seededRandom(Number(given.seed));
  const kinds = Array.from({ length: count }, (_, at) =>
    at % 10 === 3 ? DEAD : at % 10 === 7 ? FAULTY[((at / 10) % FAULTY.length) | 0]! : RIGHT,
  );
  const { fleet, folder } = await fleetOf(kinds);
  const url = await newDatabase(server.url);
  const start = () => startWorker({ folder, url, args: [...ALLOWED, '--concurrency', given.concurrency] });
  const workers: WorkerProcess[] = [start(), start(), start()];
  const logs: string[] = [];
  const [began, startedAt] = [performance.now(), new Date()];
  let isOver = false;
  let kills = 0;
  const end = finished(url, count, 40).finally(() => {
    isOver = true;
  });
  const killing = (async () => {
    while (!isOver) {
      await Promise.race([sleep(20_000 + random() * 20_000), end]).catch(() => {});
      if (isOver) return;
      // The first worker is never killed, so that one is working at all times.
      const at = 1 + Math.floor(random() * 2);
      await workers[at]?.kill();
      kills += 1;
      logs.push(workers[at]?.log() ?? '');
      workers[at] = start();
    }
  })();
  const restarting = (async () => {
    await Promise.race([sleep(45_000), end]).catch(() => {});
    if (isOver) return;
    await server.kill();
    await sleep(3000);
    await server.start();
    console.log('PostgreSQL was restarted');
  })();
  await end;
  await Promise.all([killing, restarting]);
  const seconds = (performance.now() - began) / 1000;
  // A killed worker may hold a job whose record is stored. Such a job is finished within a minute.
  const queueEmpty =
    'SELECT FROM hookproof_queue._private_jobs JOIN hookproof_queue._private_tasks t ON t.id = task_id ' +
    "WHERE identifier = 'partner'";
  const until = performance.now() + 60_000;
  while ((await query(url, queueEmpty)).length > 0 && performance.now() < until) await sleep(500);
  check('no job of a partner is left in the queue within a minute', (await query(url, queueEmpty)).length === 0);
  await Promise.all(workers.map((worker) => worker.stop()));
  logs.push(...workers.map((worker) => worker.log()));
  console.log(`${count} partners in ${seconds.toFixed(0)} s with ${kills} kills; load ${loadavg()[0]?.toFixed(1)}`);
  await judge(url, folder, fleet, logs, startedAt);
  fleet.close();
  await rm(folder, { recursive: true, force: true });
}

async function judge(
  url: string,
  folder: string,
  fleet: TestFleet,
  logs: readonly string[],
  startedAt: Date,
): Promise<void> {
  const records = await query<{ partner: string; due: Date; event: string; id: string }>(
    url,
    'SELECT partner, due, event, id FROM hookproof_register ORDER BY partner',
  );
  const slots = new Set(records.map(({ due, partner }) => `${partner} ${due.toISOString()}`));
  const expected = fleet.kindOf.size + records.filter(({ due }) => due > startedAt).length;
  check(
    `one record for each partner and slot: ${records.length}, ${records.length - fleet.kindOf.size} of them for a ` +
      'second slot that came meanwhile',
    slots.size === records.length && records.length === expected,
  );
  // A second slot may be a recheck.
  const first = records.filter(({ due }) => due <= startedAt);
  const wrong = first.filter(({ event, partner }) => fleet.kindOf.get(partner)?.outcome !== event);
  check(
    `each outcome is the expected one: ${wrong.map(({ event, partner }) => `${partner} ${event}`).join(', ')}`,
    wrong.length === 0,
  );
  const certificates = await query<{ partner: string; sha256: string; record: string }>(
    url,
    'SELECT * FROM hookproof_certificate',
  );
  const certified = records.filter(({ event }) => event === 'certified').map(({ id }) => id);
  check(
    `one certificate for each certified partner: ${certificates.length}`,
    certificates.length === certified.length && certificates.every(({ record }) => certified.includes(record)),
  );
  const files = await Promise.all(
    certificates.map(async ({ partner, sha256: digest }) => {
      const bytes = await readFile(join(folder, 'out', partner, 'certificate.dsse.json')).catch(() => Buffer.alloc(0));
      return sha256(bytes) === digest;
    }),
  );
  check('each certificate is in the output folder', files.every(Boolean));
  const left = (await readdir(join(folder, 'out'))).filter((name) => name.startsWith('.'));
  check(`no unfinished folder is left: ${left.length}`, left.length === 0);
  const seen = await fleet.seen();
  const most = Math.max(...[...seen.values()].map(({ mostPartners }) => mostPartners));
  const details = [...seen]
    .filter(([, { mostPartners }]) => mostPartners > 1)
    .map(([host, { detail }]) => `${host} ${detail}`);
  check(
    `never two partners of a host at the same time, on ${seen.size} hosts: ${most} ${details.join('; ')}`,
    most === 1,
  );
  const text = logs.join('\n');
  const dead = [...fleet.kindOf].filter(([, { name }]) => name === 'dead').map(([name]) => name);
  const tries = dead.map((name) => text.split(`${name}: not reached`).length - 1);
  check(
    `each unreachable partner was tried three times: ${tries.length}`,
    tries.every((times) => times >= 2),
  );
}

const wanted = (part: string) => given.only === undefined || given.only === part;
const server = await startPostgres();
if (server === null) throw new Error('PostgreSQL is not installed');
try {
  if (wanted('speed')) await measureSpeed(server);
  if (wanted('kills')) await killEverything(server);
  if (wanted('year'))
    await playYear(server, { weeks: Number(given.weeks), partners: Number(given['year-partners']), check });
} finally {
  await server.remove();
}
if (problems.length > 0) {
  console.log(`\n${problems.length} wrong`);
  process.exitCode = 1;
}
