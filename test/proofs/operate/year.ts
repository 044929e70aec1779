/**
 * Simulates a year of `hookproof operate`: its clock advances by a day at a time, but the queue, the runs, the register
 * and the receivers are real. Partners fail, are unavailable, get another key or are revoked, and the catalogue gets a
 * new revision. After each day, the register must agree with what the receivers have seen.
 */
import { generateKeyPairSync } from 'node:crypto';
import { subscribe } from 'node:diagnostics_channel';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import { makeCertificate } from '../../../certs/index.ts';
import { keyIdOf } from '../../../harness/certify/index.ts';
import { runPartner } from '../../../harness/cli/certify/certify-partner.ts';
import { createWorkers } from '../../../harness/cli/certify/worker-process.ts';
import { plan, tasksOf } from '../../../harness/cli/operate/operate.ts';
import type { Operation } from '../../../harness/cli/operate/partner-job.ts';
import { openQueue, operate } from '../../../harness/operate/index.ts';
import {
  makeRecord,
  type RegisterRecord,
  recordsOf,
  refreshStandings,
  signGrant,
  standingsOf,
} from '../../../harness/register/index.ts';
import { FAULTS, startFaultyReceiver } from '../../../mutants/index.ts';
import { type RunningReceiver, startReceiver } from '../../../receiver/index.ts';
import { MAIN } from '../../cli/hookproof.ts';
import { newDatabase, type PostgresServer } from '../../setup/postgres.ts';

const DAY = 86_400_000;
const START = Date.parse('2027-01-04T12:00:00Z');
const SECRET = 'made-for-a-year-in-fast-motion-0123456789';
const FAULT = 'missing-signature-accepted';

/** The events in the life of a partner, by the last digit of its number. */
const LIVES = ['fails', 'is away', 'gets another key', 'is revoked'] as const;
type Life = (typeof LIVES)[number] | 'is right';
const lifeOf = (at: number): Life => LIVES[at % 10] ?? 'is right';

interface YearOptions {
  readonly weeks: number;
  readonly partners: number;
  readonly check: (what: string, isTrue: boolean) => void;
}

export async function playYear(server: PostgresServer, { check, partners: count, weeks }: YearOptions): Promise<void> {
  const began = performance.now();
  const folder = await mkdtemp(join(tmpdir(), 'hookproof-year-'));
  const url = await newDatabase(server.url);
  const pool = await openQueue(url, 4);
  const world = await makeWorld(folder, count);
  let now = START;
  let revision = 2;
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const allWorkers = createWorkers(MAIN);
  const operation: Operation = {
    partners: join(folder, 'partners'),
    flags: { allowPrivate: ['localhost'] },
    folder: join(folder, 'out'),
    privateKey,
    validForMs: 90 * DAY,
    timeoutMs: 600_000,
    perHost: 4,
    now: () => new Date(now),
    currentRevision: () => revision,
    log: () => {},
    workers: () => allWorkers,
    // The next revision does not exist yet, so certificates only name it.
    certify: async (...args) => {
      const partner = await runPartner(...args);
      return partner && { ...partner, revision };
    },
  };
  const stop = new AbortController();
  const working = operate({
    url,
    concurrency: 4,
    tasks: (session) => ({ ...tasksOf(operation, session), plan: async () => {} }),
    kill: () => {},
    signal: stop.signal,
    log: console.log,
  });
  const story: { day: number; partner: string; event: string }[] = [];
  const disagreements: string[] = [];
  for (let day = 0; day < weeks * 7; day++) {
    now = START + day * DAY;
    if (day === 35 * 7) revision = 3;
    await world.turn(day, { pool, privateKey, publicKey, at: new Date(now) });
    const slots = await plan(operation, pool, new Date(operation.now().getTime() - 2 * DAY));
    await emptied(pool);
    const seen = world.contacted();
    for (const { due, partner } of slots) {
      const record = (await recordsOf(pool, partner)).find((one) => one.due === due.toISOString());
      story.push({ day, partner, event: record?.event ?? 'nothing' });
      const isAway = record?.event === 'unreachable' || record?.event === 'inconclusive';
      if (record === undefined || isAway === seen.has(partner))
        disagreements.push(`day ${day}: ${partner} ${record?.event}`);
      seen.delete(partner);
    }
    disagreements.push(...[...seen].map((partner) => `day ${day}: ${partner} was contacted without a slot`));
    if (day % 28 === 27)
      console.log(`week ${(day + 1) / 7}: ${story.length} runs, ${Math.round((performance.now() - began) / 1000)} s`);
  }
  stop.abort();
  await working;
  await judgeYear(pool, { story, disagreements, world, keyId: keyIdOf(publicKey), publicKey, weeks, check });
  console.log(
    `${count} partners, ${weeks} weeks, ${story.length} runs in ${Math.round((performance.now() - began) / 1000)} s`,
  );
  allWorkers.close();
  await world.close();
  await pool.end();
  await rm(folder, { recursive: true, force: true });
}

/** Resolves when no job of a partner or notice is in the queue. */
async function emptied(pool: Pool): Promise<void> {
  const select = `SELECT FROM hookproof_queue._private_jobs
JOIN hookproof_queue._private_tasks AS task ON task.id = task_id
WHERE identifier <> 'plan' AND attempts < max_attempts`;
  while (((await pool.query(select)).rowCount ?? 0) > 0) await sleep(20);
}

type World = Awaited<ReturnType<typeof makeWorld>>;

async function makeWorld(folder: string, count: number) {
  const ca = await makeCertificate({ subject: 'CN=CA', authority: true });
  const newPair = async () => {
    const made = { subject: 'CN=localhost', issuer: ca, hosts: ['localhost'], usages: ['serverAuth'] as const };
    const { cert, key } = await makeCertificate({ ...made, usages: [...made.usages] });
    return { cert, key };
  };
  const partners = join(folder, 'partners');
  await mkdir(join(partners, 'secrets'), { recursive: true });
  await writeFile(join(partners, 'ca.pem'), ca.cert);
  const schedule = 'operate:\n  recheck-every: 7d\n  retry-after: []\n';
  await writeFile(join(partners, '_defaults.yaml'), `profile: staging\ntls:\n  ca: ca.pem\n${schedule}`);
  const tls = await newPair();
  const other = await newPair();
  const names = Array.from({ length: count }, (_, at) => `p${String(at).padStart(2, '0')}`);
  const running = new Map<string, RunningReceiver>();
  const ports = new Map<string, number>();
  const byPort = new Map<number, string>();
  let contacted = new Set<string>();
  subscribe('net.server.socket', (message) => {
    const name = byPort.get((message as { socket: Socket }).socket.localPort ?? 0);
    if (name !== undefined) contacted.add(name);
  });
  const start = async (name: string, parts: { fault?: string; tls?: typeof tls } = {}) => {
    await running.get(name)?.close();
    const pair = parts.tls ?? tls;
    const options = { signing: { secrets: [SECRET] }, tls: pair, host: '127.0.0.1', port: ports.get(name) ?? 0 };
    const fault = FAULTS.find((one) => one.name === parts.fault);
    const one =
      fault === undefined
        ? await startReceiver(options)
        : await startFaultyReceiver(fault, { ...options, log: () => {} });
    running.set(name, one);
    const port = Number(new URL(one.url).port);
    ports.set(name, port);
    byPort.set(port, name);
  };
  for (const name of names) {
    await start(name);
    await writeFile(join(partners, 'secrets', name), SECRET);
    const lines = [
      `url: https://localhost:${ports.get(name)}/hooks`,
      'hmac:',
      `  secret: \${file:secrets/${name}}`,
      'recovery: 1s',
    ];
    await writeFile(join(partners, `${name}.yaml`), `${lines.join('\n')}\n`);
  }
  const living = (life: Life) => names.filter((_, at) => lifeOf(at) === life);
  return {
    names,
    living,
    /** Returns the partners that have received a connection since the last call. */
    contacted() {
      const all = contacted;
      contacted = new Set();
      return all;
    },
    /** Performs the events of a day. */
    async turn(day: number, about: Decisions) {
      if (day === 10 * 7) for (const name of living('fails')) await start(name, { fault: FAULT });
      if (day === 20 * 7) for (const name of living('fails')) await start(name);
      if (day === 15 * 7) for (const name of living('is away')) await running.get(name)?.close();
      if (day === 17 * 7) for (const name of living('is away')) await start(name);
      if (day === 25 * 7) for (const name of living('gets another key')) await start(name, { tls: other });
      if (day === 28 * 7) for (const name of living('gets another key')) await override(name, about);
      if (day === 30 * 7) for (const name of living('is revoked')) await append(about, about.at, name, 'revoked');
      contacted = new Set();
    },
    async close() {
      for (const one of running.values()) await one.close();
    },
  };
}

interface Decisions {
  readonly pool: Pool;
  readonly privateKey: Parameters<typeof signGrant>[1];
  readonly publicKey: Parameters<typeof signGrant>[1];
  readonly at: Date;
}

async function append(
  { pool, publicKey }: Decisions,
  at: Date,
  partner: string,
  event: 'revoked' | 'override',
  grant: string | null = null,
) {
  const about = {
    partner,
    event,
    reason: 'decided in the proof',
    at: at.toISOString(),
    catalogue: '',
    version: '',
    grant,
  } as const;
  const record = makeRecord(about);
  await pool.query('INSERT INTO hookproof_register (id, partner, event, at, record) VALUES ($1, $2, $3, $4, $5)', [
    record.id,
    partner,
    event,
    record.at,
    JSON.stringify(record),
  ]);
  await refreshStandings(pool, [publicKey], { currentRevision: 2, now: at }, [partner]);
}

async function override(partner: string, about: Decisions): Promise<void> {
  const [standing] = standingsOf(await recordsOf(about.pool, partner), { keys: [about.publicKey], at: about.at });
  if (standing?.certificate == null) return;
  const grant = { ...standing.certificate, kind: 'override' as const, issuedAt: about.at.toISOString() };
  await append(about, about.at, partner, 'override', signGrant(grant, about.privateKey));
}

interface YearResult {
  readonly story: readonly { readonly day: number; readonly partner: string; readonly event: string }[];
  readonly disagreements: readonly string[];
  readonly world: World;
  readonly keyId: string;
  readonly publicKey: Parameters<typeof signGrant>[1];
  readonly weeks: number;
  readonly check: YearOptions['check'];
}

async function judgeYear(
  pool: Pool,
  { check, disagreements, publicKey, story, weeks, world }: YearResult,
): Promise<void> {
  const { living, names } = world;
  check(
    `the register tells what the receivers have seen: ${disagreements.slice(0, 5).join('; ')}`,
    disagreements.length === 0,
  );
  const records = new Map<string, RegisterRecord[]>();
  for (const name of names) records.set(name, await recordsOf(pool, name));
  const all = [...records.values()].flat().filter(({ due }) => due !== null);
  const slots = new Set(all.map(({ due, partner }) => `${partner} ${due}`));
  check(
    `one record for each partner and slot: ${all.length}`,
    slots.size === all.length && all.length === story.length,
  );
  const right = living('is right');
  check(
    `a partner that is right has a slot each week: ${right.map((name) => records.get(name)?.length).join(' ')}`,
    right.every((name) => Math.abs((records.get(name)?.length ?? 0) - weeks) <= 1),
  );
  const gaps = right.filter((name) => {
    for (let day = 1; day < weeks * 7; day++) {
      const at = new Date(START + day * DAY);
      if (standingsOf(records.get(name) ?? [], { keys: [publicKey], at })[0]?.mayGetTraffic !== true) return true;
    }
    return false;
  });
  check(`its certificate never expires: ${gaps.join(' ')}`, gaps.length === 0);
  const eventsOf = (name: string, from: number, to: number) =>
    story.filter(({ day, partner }) => partner === name && day >= from * 7 && day < to * 7).map(({ event }) => event);
  const every = (list: readonly string[], isFine: (name: string) => boolean) => list.every(isFine);
  if (weeks >= 21) {
    check(
      'a partner that fails is found, certified each week again, and certified when it is repaired',
      every(living('fails'), (name) => {
        const events = eventsOf(name, 10, 20);
        return (
          ['drifted', 'failed'].includes(events[0] ?? '') &&
          events.slice(1).every((event) => event === 'failed') &&
          eventsOf(name, 20, 21)[0] === 'certified'
        );
      }),
    );
    check(
      'a partner that is away is reported, keeps its certificate, and goes on',
      every(
        living('is away'),
        (name) =>
          eventsOf(name, 15, 17).every((event) => /unreachable|inconclusive/.test(event)) &&
          /unchanged|certified/.test(eventsOf(name, 17, 18)[0] ?? ''),
      ),
    );
  }
  if (weeks >= 30) {
    check(
      'another key suspends a partner until the operator overrides it; then it is certified with the new key',
      every(living('gets another key'), (name) => {
        const events = eventsOf(name, 25, 28);
        return events.length === 1 && events[0] === 'drifted' && eventsOf(name, 28, 30)[0] === 'certified';
      }),
    );
  }
  if (weeks >= 37) {
    check(
      'a revoked partner is left alone',
      every(living('is revoked'), (name) => eventsOf(name, 30, weeks).length === 0),
    );
    check(
      'all others are certified within a week of the new revision, each in its slot',
      every(
        names.filter((name) => !living('is revoked').includes(name)),
        (name) => eventsOf(name, 35, 36).includes('certified'),
      ),
    );
  }
  const { rows } = await pool.query(
    `SELECT kind, count(DISTINCT partner) AS partners, count(*) AS notices
    FROM hookproof_notice GROUP BY kind ORDER BY kind`,
  );
  console.log(
    `notices: ${rows.map(({ kind, notices, partners }) => `${kind} ${notices} about ${partners}`).join(', ')}`,
  );
  const notified = async (kind: string) =>
    new Set(
      (await pool.query<{ partner: string }>('SELECT partner FROM hookproof_notice WHERE kind = $1', [kind])).rows.map(
        ({ partner }) => partner,
      ),
    );
  if (weeks >= 26)
    check(
      'each other key has a notice',
      every(
        living('gets another key'),
        (
          (set) => (name) =>
            set.has(name)
        )(await notified('key-or-chain-changed')),
      ),
    );
  const events = [...new Set(story.map(({ event }) => event))].toSorted();
  const counts = events.map((event) => `${story.filter((one) => one.event === event).length} ${event}`);
  console.log(`records: ${counts.join(', ')}`);
}
