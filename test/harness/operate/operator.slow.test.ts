/** The queue and the workers on a real PostgreSQL: unique slots, limits for each host, killed workers, restarts. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { Pool } from 'pg';
import { afterEach, expect, inject, it, vi } from 'vitest';
import {
  addJobs,
  countJobs,
  deadLetters,
  type Job,
  openQueue,
  operate,
  type Session,
  storeResult,
} from '../../../harness/operate/index.ts';
import { makeRecord } from '../../../harness/register/index.ts';
import { newDatabase, startPostgres } from '../../setup/postgres.ts';

const server = inject('postgresUrl');
/** Lease times, in milliseconds, for tests that wait for the end of a lease. */
const SHORT = { beat: 300, abandon: 2500, dead: 5000 };
/** Lease times for the other tests: on a busy machine, no lease may end. */
const LONG = { beat: 5000, abandon: 120_000, dead: 240_000 };
const HELD = new URL('held-worker.ts', import.meta.url).pathname;

const clean: (() => unknown)[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const one of clean.splice(0).toReversed()) await one();
});

async function queueOn(url: string): Promise<Pool> {
  const pool = await openQueue(url, 8);
  clean.push(() => pool.end());
  return pool;
}

/** Starts a worker in this process. */
function work(
  url: string,
  partner: (job: Job, session: Session) => Promise<void>,
  leaseTimes = LONG,
  plan = async () => {},
) {
  const stop = new AbortController();
  const ended = operate({
    url,
    concurrency: 4,
    tasks: (session) => ({ plan, partner: (job) => partner(job, session) }),
    kill: () => {},
    signal: stop.signal,
    log: () => {},
    leaseTimes,
    stopMs: 300,
  });
  const end = () => {
    stop.abort();
    return ended;
  };
  clean.push(end);
  return { end };
}

const jobOf = (key: string, queue?: string) => ({ task: 'partner', key, queue, payload: { key } });

/** Creates a promise and the function that fulfils it. */
function signalled<T = void>() {
  let done: (value: T) => void = () => {};
  const promise = new Promise<T>((resolve) => {
    done = resolve;
  });
  return { promise, done };
}

it.skipIf(server === null)('holds one job for each slot, and stores one record, whoever adds it', async () => {
  const url = await newDatabase(server ?? '');
  const pools = [await queueOn(url), await queueOn(url)] as const;
  const slots = Array.from({ length: 50 }, (_, at) => jobOf(`partner-${at} 2027-01-01T00:00:00.000Z`));
  await Promise.all([...pools, ...pools].map((pool) => addJobs(pool, slots)));
  expect(await countJobs(pools[0])).toEqual({ running: 0, waiting: 50, later: 0, dead: 0 });
  const stored: boolean[] = [];
  const all = signalled();
  work(url, async (job, { pool }) => {
    // All partners have the same slot.
    const record = makeRecord({
      partner: 'acme',
      event: 'failed',
      due: '2027-01-01T00:00:00.000Z',
      catalogue: '',
      version: '',
    });
    stored.push(await storeResult(pool, job, { record, certificate: null }));
    if (stored.length === 50) all.done();
  });
  await all.promise;
  expect(stored.filter(Boolean)).toHaveLength(1);
  expect((await pools[0].query('SELECT FROM hookproof_register')).rowCount).toBe(1);
});

it.skipIf(server === null)('keeps the limit of a host over all workers, and a busy host blocks no other', async () => {
  const url = await newDatabase(server ?? '');
  const pool = await queueOn(url);
  const free = signalled();
  const all = signalled();
  const busy = new Map<string, number>();
  let most = 0;
  let done = 0;
  const run = async ({ queue }: Job) => {
    const host = queue ?? '';
    busy.set(host, (busy.get(host) ?? 0) + 1);
    most = Math.max(most, busy.get(host) ?? 0);
    // The slow host waits until all others are done.
    if (host === 'slow 0') await free.promise;
    else await pool.query('SELECT pg_sleep(0.01)');
    busy.set(host, (busy.get(host) ?? 0) - 1);
    done += 1;
    if (done === 20) free.done();
    if (done === 24) all.done();
  };
  const jobs = ['slow 0', 'a 0', 'a 1', 'b 0'].flatMap((queue) =>
    Array.from({ length: queue === 'slow 0' ? 4 : queue === 'b 0' ? 8 : 6 }, (_, at) => jobOf(`${queue} ${at}`, queue)),
  );
  await addJobs(pool, jobs);
  work(url, run);
  work(url, run);
  await all.promise;
  expect(most).toBe(1);
});

it.skipIf(server === null)('gives the job of a killed worker to another one', async () => {
  const url = await newDatabase(server ?? '');
  const pool = await queueOn(url);
  await addJobs(pool, [jobOf('acme', 'host 0')]);
  const { abandon, beat, dead } = SHORT;
  const held = fork(HELD, [url, `${beat}`, `${abandon}`, `${dead}`], { execArgv: ['--import', 'tsx'] });
  clean.push(() => held.kill('SIGKILL'));
  await once(held, 'message');
  const taken: (string | null)[] = [];
  const has = { other: signalled(), acme: signalled() };
  work(
    url,
    async ({ key }) => {
      taken.push(key);
      has[key === 'acme' ? 'acme' : 'other'].done();
    },
    SHORT,
  );
  await addJobs(pool, [jobOf('other', 'other 0')]);
  await has.other.promise;
  expect(taken).toEqual(['other']);
  held.kill('SIGKILL');
  await has.acme.promise;
  expect(taken).toEqual(['other', 'acme']);
});

it.skipIf(server === null)('ends its jobs when the database is away, and works again when it is back', async () => {
  // The fake interval marks the beginnings of minutes.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const own = await startPostgres();
  if (own === null) return;
  clean.push(() => own.remove());
  const url = await newDatabase(own.url);
  const pool = await openQueue(url, 2);
  await addJobs(pool, [jobOf('acme', 'host 0')]);
  await pool.end();
  const starts = [signalled<Session>(), signalled<Session>()];
  let at = 0;
  const worker = work(
    url,
    async (_, session) => {
      starts[at++]?.done(session);
      if (at > 1) return;
      await new Promise<void>((_resolve, reject) => {
        session.signal.addEventListener('abort', () => reject(new Error('stopped')), { once: true });
      });
    },
    SHORT,
  );
  const { signal } = await (starts[0]?.promise ?? Promise.reject(new Error()));
  await own.kill();
  vi.advanceTimersByTime(60_000);
  if (!signal.aborted) await once(signal, 'abort');
  await own.start();
  await starts[1]?.promise;
  await worker.end();
});

it.skipIf(server === null)('plans once a minute, whatever the number of workers', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const url = await newDatabase(server ?? '');
  const pool = await queueOn(url);
  const first = signalled();
  const plan = async () => first.done();
  const waiting = async () => {
    const select = `
SELECT run_at = date_trunc('minute', run_at) AS whole, run_at > now() AND run_at <= now() + interval '1 minute' AS next
FROM hookproof_queue._private_jobs WHERE key = 'plan' AND locked_at IS NULL`;
    return (await pool.query(select)).rows;
  };
  work(url, async () => {}, LONG, plan);
  work(url, async () => {}, LONG, plan);
  await first.promise;
  await vi.waitFor(async () => {
    vi.advanceTimersByTime(60_000);
    expect(await waiting()).toEqual([{ whole: true, next: true }]);
  }, 120_000);
  await pool.query("UPDATE hookproof_queue._private_jobs SET attempts = max_attempts WHERE key = 'plan'");
  vi.advanceTimersByTime(60_000);
  await vi.waitFor(async () => expect((await deadLetters(pool)).length).toBe(0), 120_000);
});

it.skipIf(server === null)('lists what has failed for good, and gives running jobs back when it stops', async () => {
  const url = await newDatabase(server ?? '');
  const pool = await queueOn(url);
  await addJobs(pool, [jobOf('acme', 'host 0')]);
  const started = signalled<Session>();
  const worker = work(url, async (_, session) => {
    started.done(session);
    await new Promise<void>((_resolve, reject) =>
      session.signal.addEventListener('abort', () => reject(new Error()), { once: true }),
    );
  });
  await started.promise;
  await worker.end();
  const { rows } = await pool.query('SELECT attempts, locked_at FROM hookproof_queue._private_jobs WHERE key = $1', [
    'acme',
  ]);
  expect(rows).toEqual([{ attempts: 0, locked_at: null }]);
  await pool.query(
    "UPDATE hookproof_queue._private_jobs SET attempts = max_attempts, last_error = 'full disk' WHERE key = 'acme'",
  );
  expect(await deadLetters(pool)).toMatchObject([{ key: 'acme', task: 'partner', error: 'full disk' }]);
});
