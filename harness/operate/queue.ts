/**
 * The queue in PostgreSQL. This is the only module that knows the engine, graphile-worker, and its schema.
 *
 * A job is identified by its key. A job whose key is in the queue is not added again, even after it has failed for
 * good. Jobs of one `queue` run one at a time, across all workers.
 */
import { EventEmitter } from 'node:events';
import type { Task as EngineTask } from 'graphile-worker';
import type { Pool, PoolClient } from 'pg';
import { loadOptional } from '../../contract/optional-package.ts';

const SCHEMA = 'hookproof_queue';
/** Maximum number of starts of a job that never throws, but whose workers are killed. */
const MAX_STARTS = 25;
/** Maximum number of starts of a job that throws. The engine waits 3, 7, 20 and 55 s in between. */
const MAX_ERRORS = 5;
/** Polling interval. New jobs are announced, so polling only finds jobs that waited for their time or their queue. */
const POLL_MS = 1000;
const MINUTE_MS = 60_000;

export interface NewJob {
  readonly task: string;
  readonly key: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly queue?: string | undefined;
  readonly runAt?: Date;
}

export interface Job {
  readonly id: string;
  readonly task: string;
  readonly key: string | null;
  readonly queue: string | null;
  /** Number of times that the job has been started, including this time. */
  readonly attempts: number;
  /** The id of the worker that runs the job. */
  readonly worker: string;
  readonly payload: unknown;
}

/** A job that has failed permanently and waits for the operator. */
export interface DeadLetter {
  readonly id: string;
  readonly task: string;
  readonly key: string;
  readonly error: string | null;
  readonly attempts: number;
  readonly since: Date;
}

export interface QueueCounts {
  readonly running: number;
  readonly waiting: number;
  /** Jobs that are scheduled for later. */
  readonly later: number;
  readonly dead: number;
}

export interface RunningWorkers {
  /** The ids under which the workers hold jobs. */
  readonly ids: readonly string[];
  /** Resolves as soon as one of the workers has ended. Never rejects. */
  readonly ended: Promise<void>;
  /** Stops taking jobs, and resolves when the running ones have ended. */
  stop(): Promise<void>;
}

type Tasks = Readonly<Record<string, (job: Job) => Promise<void>>>;

const ADD = `
SELECT count(${SCHEMA}.add_job(task, payload => payload, queue_name => queue, run_at => "runAt", max_attempts => $2,
  job_key => key, job_key_mode => $3))
FROM json_to_recordset($1) AS job (task text, key text, payload json, queue text, "runAt" timestamptz)`;

/**
 * Adds one job for the next minute, no matter how many workers ask for it. A waiting job keeps its time, a running job
 * gets a successor, and a failed job is scheduled again.
 */
const NEXT_MINUTE = `
SELECT FROM ${SCHEMA}.add_job($1, queue_name => $1, run_at => date_trunc('minute', now()) + interval '1 minute',
  max_attempts => 1, job_key => $1, job_key_mode => 'preserve_run_at')`;

const engine = () => loadOptional('graphile-worker', () => import('graphile-worker'));

/** Creates or updates the schema of the queue. */
export async function migrateQueue(pool: Pool): Promise<void> {
  const { runMigrations, Logger } = await engine();
  await runMigrations({ pgPool: pool, schema: SCHEMA, logger: new Logger(() => () => {}) });
}

/**
 * Adds jobs, unless their keys are in the queue. With the client of a transaction, they are part of the transaction.
 */
export async function addJobs(client: Pool | PoolClient, jobs: readonly NewJob[]): Promise<void> {
  if (jobs.length === 0) return;
  // Known keys are omitted, because the engine would write their rows again.
  const select = `SELECT key FROM ${SCHEMA}._private_jobs WHERE key = ANY ($1)`;
  const { rows } = await client.query<{ key: string }>(select, [jobs.map(({ key }) => key)]);
  const known = new Set(rows.map(({ key }) => key));
  const fresh = jobs.filter(({ key }) => !known.has(key));
  await client.query(ADD, [JSON.stringify(fresh), MAX_STARTS, 'unsafe_dedupe']);
}

/** Adds a job, and replaces the one with its key. A job that is running does not run again. */
export async function replaceJob(client: Pool | PoolClient, job: NewJob): Promise<void> {
  await client.query(ADD, [JSON.stringify([job]), MAX_STARTS, 'replace']);
}

/**
 * Starts workers. `everyMinute` names the task that one of all workers runs at the beginning of each minute.
 *
 * The engine could do that itself, but a database error at that moment would then end the process, because the engine
 * does not handle the rejection of its crontab.
 */
export async function startWorkers(
  pool: Pool,
  tasks: Tasks,
  { concurrency, everyMinute }: { readonly concurrency: number; readonly everyMinute: string },
): Promise<RunningWorkers> {
  const { Logger, runTaskList } = await engine();
  const events = new EventEmitter();
  const ids: string[] = [];
  const oneEnded = new Promise<void>((resolve) => events.once('worker:stop', () => resolve()));
  events.on('worker:create', ({ worker }: { worker: { workerId: string } }) => ids.push(worker.workerId));
  const options = {
    schema: SCHEMA,
    concurrency,
    pollInterval: POLL_MS,
    noHandleSignals: true,
    // Results and errors are in the tables; the engine's own lines would show payloads and stacks.
    logger: new Logger(() => () => {}),
    events,
  };
  const list = Object.entries(tasks).map(([name, task]): [string, EngineTask] => [
    name,
    async (payload, { job }) => {
      const { attempts, id, job_queue_id: queueId, key, locked_by: worker } = job;
      const queue = queueId === null ? null : await queueName(pool, queueId);
      await task({ id, task: name, key, queue, attempts, worker: worker ?? '', payload });
    },
  ]);
  const workers = runTaskList(options, Object.fromEntries(list), pool);
  // While the database is unavailable, nothing is added. The next minute tries again.
  const addNext = () => void pool.query(NEXT_MINUTE, [everyMinute]).catch(() => {});
  addNext();
  const timer = setInterval(addNext, MINUTE_MS);
  const all = Promise.resolve(workers.promise).then(
    () => {},
    () => {},
  );
  return {
    ids,
    ended: Promise.race([all, oneEnded]),
    stop: async () => {
      clearInterval(timer);
      await workers.gracefulShutdown().catch(() => {});
    },
  };
}

async function queueName(pool: Pool, id: number): Promise<string | null> {
  const select = `SELECT queue_name FROM ${SCHEMA}._private_job_queues WHERE id = $1`;
  return (await pool.query<{ queue_name: string }>(select, [id])).rows[0]?.queue_name ?? null;
}

/** Gives back the jobs of workers that no longer run them. The jobs can start again at once. */
export async function unlockJobs(client: Pool | PoolClient, workers: readonly string[]): Promise<void> {
  await client.query(`SELECT ${SCHEMA}.force_unlock_workers($1)`, [workers]);
}

/** Gives a running job back, as if it had not been started. Its task must throw then. */
export async function giveBack(client: PoolClient, { attempts, id, worker }: Job): Promise<void> {
  await unlockJobs(client, [worker]);
  await client.query(`SELECT ${SCHEMA}.reschedule_jobs($1, run_at => now(), attempts => $2)`, [[id], attempts - 1]);
}

/** Records that the task of a job has thrown. After the first time, the job is started only a few more times. */
export async function noteError(pool: Pool, { id, worker }: Job): Promise<void> {
  const update = `
UPDATE ${SCHEMA}._private_jobs SET max_attempts = least(max_attempts, attempts + $3) WHERE id = $1 AND locked_by = $2`;
  await pool.query(update, [id, worker, MAX_ERRORS - 1]);
}

/**
 * Returns whether a worker still holds a job. The row stays locked until the end of the transaction, so that no other
 * worker takes the job in the meantime.
 */
export async function holdsJob(client: PoolClient, { id, worker }: Job): Promise<boolean> {
  const select = `SELECT FROM ${SCHEMA}._private_jobs WHERE id = $1 AND locked_by = $2 FOR UPDATE`;
  return (await client.query(select, [id, worker])).rowCount === 1;
}

/** Returns the workers that have held a job for longer than `olderMs` and are not in the table `known`. */
export async function orphanedWorkers(client: PoolClient, known: string, olderMs: number): Promise<string[]> {
  const select = `
SELECT DISTINCT locked_by FROM (
  SELECT locked_by, locked_at FROM ${SCHEMA}._private_jobs
  UNION ALL SELECT locked_by, locked_at FROM ${SCHEMA}._private_job_queues
) AS held
WHERE locked_at < clock_timestamp() - make_interval(secs => $1)
AND NOT EXISTS (SELECT FROM ${known} WHERE held.locked_by = ANY (queue_workers))`;
  const { rows } = await client.query<{ locked_by: string }>(select, [olderMs / 1000]);
  return rows.map(({ locked_by: id }) => id);
}

/** Removes jobs that were replaced while they ran, and whose worker ended before it could remove them. */
export async function removeReplaced(client: PoolClient): Promise<void> {
  await client.query(`
SELECT ${SCHEMA}.complete_jobs(array_agg(id)) FROM ${SCHEMA}._private_jobs
WHERE key IS NULL AND locked_at IS NULL AND attempts >= max_attempts HAVING count(*) > 0`);
}

/** A job as the queue lists it. */
export interface ListedJob {
  readonly task: string;
  readonly key: string | null;
  readonly runAt: Date;
  readonly attempts: number;
  readonly maxAttempts: number;
  readonly isRunning: boolean;
  readonly error: string | null;
}

/** Returns the first jobs: running ones, then those that are due next, then those that have failed for good. */
export async function listJobs(pool: Pool, limit: number): Promise<ListedJob[]> {
  const { rows } = await pool.query<ListedJob>(
    `
SELECT tasks.identifier AS task, jobs.key, run_at AS "runAt", attempts, max_attempts AS "maxAttempts",
  locked_at IS NOT NULL AS "isRunning", last_error AS error
FROM ${SCHEMA}._private_jobs AS jobs JOIN ${SCHEMA}._private_tasks AS tasks ON tasks.id = task_id
ORDER BY locked_at IS NULL, attempts >= max_attempts, run_at LIMIT $1`,
    [limit],
  );
  return rows;
}

/** Returns whether workers have used this database. */
export async function hasQueue(pool: Pool): Promise<boolean> {
  const select = `SELECT to_regclass('${SCHEMA}._private_jobs') IS NOT NULL AS found`;
  return (await pool.query<{ found: boolean }>(select)).rows[0]?.found === true;
}

/**
 * Counts the jobs. The job of {@link startWorkers} that always waits for its next minute is not counted as waiting.
 */
export async function countJobs(pool: Pool): Promise<QueueCounts> {
  const { rows } = await pool.query<{ [Name in keyof QueueCounts]: string }>(`
SELECT count(*) FILTER (WHERE locked_at IS NOT NULL) AS running,
  count(*) FILTER (WHERE locked_at IS NULL AND attempts < max_attempts AND run_at <= now()
    AND key IS DISTINCT FROM identifier) AS waiting,
  count(*) FILTER (WHERE locked_at IS NULL AND attempts < max_attempts AND run_at > now()
    AND key IS DISTINCT FROM identifier) AS later,
  count(*) FILTER (WHERE locked_at IS NULL AND attempts >= max_attempts AND key IS NOT NULL) AS dead
FROM ${SCHEMA}._private_jobs AS jobs JOIN ${SCHEMA}._private_tasks AS tasks ON tasks.id = task_id`);
  const of = (name: keyof QueueCounts) => Number(rows[0]?.[name] ?? 0);
  return { running: of('running'), waiting: of('waiting'), later: of('later'), dead: of('dead') };
}

export async function deadLetters(pool: Pool): Promise<DeadLetter[]> {
  const { rows } = await pool.query<DeadLetter>(`
SELECT jobs.id, tasks.identifier AS task, jobs.key, last_error AS error, attempts, updated_at AS since
FROM ${SCHEMA}._private_jobs AS jobs JOIN ${SCHEMA}._private_tasks AS tasks ON tasks.id = task_id
WHERE locked_at IS NULL AND attempts >= max_attempts AND key IS NOT NULL ORDER BY jobs.id`);
  return rows;
}

/** Puts a permanently failed job back into the queue. Returns whether there was one. */
export async function retryDeadLetter(pool: Pool, id: string): Promise<boolean> {
  if (!(await deadLetters(pool)).some((one) => one.id === id)) return false;
  await pool.query(`SELECT ${SCHEMA}.reschedule_jobs($1, run_at => now(), attempts => 0, max_attempts => $2)`, [
    [id],
    MAX_STARTS,
  ]);
  // The engine announces only added jobs, so workers find this one the next time that they poll.
  return true;
}
