/**
 * A worker of `hookproof operate`. It holds a lease while it works, ends its jobs when it loses the lease, and starts
 * over when the database is available again.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import { inTransaction, openDatabase } from '../register/index.ts';
import { Lease, type LeaseTimes, WORKER_TABLE } from './lease.ts';
import { giveBack, type Job, migrateQueue, noteError, replaceJob, startWorkers } from './queue.ts';
import { CERTIFICATE_TABLE } from './results.ts';

const TABLES = [WORKER_TABLE, CERTIFICATE_TABLE];

/** The planning task. One of the workers runs it each minute. */
const PLAN = 'plan';
const STOP_MS = 20_000;
const RECONNECT_MS = 1000;

/** The resources of a worker while it holds its lease. */
export interface Session {
  readonly pool: Pool;
  /** Aborted when the running jobs must end at once. */
  readonly signal: AbortSignal;
}

export interface OperatorOptions {
  /** URL of the database with the register. */
  readonly url: string;
  readonly concurrency: number;
  /** Creates the tasks for a session; one of them is `plan`. */
  readonly tasks: (session: Session) => Readonly<Record<string, (job: Job) => Promise<void>>>;
  /** Immediately ends everything that the tasks have started. */
  readonly kill: () => void;
  /** Aborted by the first signal to stop. */
  readonly signal: AbortSignal;
  readonly log: (line: string) => void;
  readonly leaseTimes?: LeaseTimes;
  /** Milliseconds that running jobs get to end after the signal, before they are given back. */
  readonly stopMs?: number;
}

/** Opens the tables of the register and of the queue. */
export async function openQueue(url: string, max: number): Promise<Pool> {
  const pool = await openDatabase(url, { max, name: 'hookproof-operate', tables: TABLES });
  await migrateQueue(pool).catch(async (error) => {
    await pool.end();
    throw error;
  });
  return pool;
}

/** Runs until the signal to stop. Throws if the first connection fails; later failures are retried. */
export async function operate(options: OperatorOptions): Promise<void> {
  let isFirst = true;
  while (!options.signal.aborted) {
    try {
      const pool = await openQueue(options.url, options.concurrency + 6);
      isFirst = false;
      try {
        await runSession(pool, options);
      } finally {
        await atMost(RECONNECT_MS, pool.end());
      }
    } catch (error) {
      if (isFirst) throw error;
      options.log(`no database: ${error instanceof Error ? error.message : String(error)}`);
      await sleep(RECONNECT_MS, undefined, { signal: options.signal }).catch(() => {});
    }
  }
}

async function runSession(pool: Pool, options: OperatorOptions): Promise<void> {
  const { concurrency, kill, leaseTimes, log, signal, stopMs = STOP_MS, tasks, url } = options;
  const ending = new AbortController();
  const running = new Map<string, { readonly job: Job; readonly ended: Promise<void> }>();
  let queueWorkers: readonly string[] = [];
  // The lease has its own connection, with a time limit, so that neither jobs nor a dead connection delay it.
  const leasePool = await openDatabase(url, { max: 1, name: 'hookproof-lease', queryMs: 4000 });
  const state = () => ({
    queueWorkers,
    running: [...running.values()].map(({ job: { key, payload, task } }) => ({ task, key, payload })),
  });
  const lease = await Lease.begin(leasePool, state, leaseTimes);
  const guarded = Object.entries(tasks({ pool, signal: ending.signal })).map(([name, task]) => {
    const run = (job: Job) => {
      const result = (ending.signal.aborted ? Promise.reject(new Error()) : task(job)).catch(async (error) => {
        if (!ending.signal.aborted) {
          const message = error instanceof Error ? error.message : String(error);
          log(`${job.key ?? name}: attempt ${job.attempts} failed (${message})`);
          await noteError(pool, job);
          throw error;
        }
        // Only a worker that still holds the job can give it back. After a lost lease, others unlock it.
        await inTransaction(pool, (client) => giveBack(client, job)).catch(() => {});
        throw new Error('returned to the queue, because the worker is stopping');
      });
      const ended = result.then(
        () => {},
        () => {},
      );
      running.set(job.id, { job, ended });
      return result.finally(() => running.delete(job.id));
    };
    return [name, async (job: Job) => run(job)] as const;
  });
  try {
    await replaceJob(pool, { task: PLAN, key: PLAN, queue: PLAN, payload: {} });
    const workers = await startWorkers(pool, Object.fromEntries(guarded), { concurrency, everyMinute: PLAN });
    queueWorkers = workers.ids;
    const stopped = new Promise<string>((resolve) => {
      if (signal.aborted) resolve('');
      signal.addEventListener('abort', () => resolve(''), { once: true });
    });
    const reason = await Promise.race([
      lease.lost,
      workers.ended.then(() => 'the connection to the queue was lost'),
      stopped,
    ]);
    const stopping = workers.stop();
    if (reason === '') await atMost(stopMs, stopping);
    else log(`stopping the running jobs (${running.size}) and starting over: ${reason}`);
    ending.abort();
    kill();
    await atMost(STOP_MS, Promise.all([...running.values()].map(({ ended }) => ended)));
    await atMost(RECONNECT_MS, stopping);
  } finally {
    ending.abort();
    kill();
    await lease.end();
    await atMost(RECONNECT_MS, leasePool.end());
  }
}

/** Waits until a promise settles, for a limited time. Leaves no timer that would delay the exit of the process. */
async function atMost(ms: number, promise: Promise<unknown>): Promise<void> {
  const over = new AbortController();
  await Promise.race([promise, sleep(ms, undefined, { signal: over.signal })]).catch(() => {});
  over.abort();
}
