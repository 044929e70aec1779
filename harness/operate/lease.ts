/**
 * The lease of a worker, which shows that it is alive: a row whose time, by the database's clock, the worker renews
 * every few seconds.
 *
 * A worker that cannot renew its lease ends its jobs before others may take them over: it stops 12 s after the last
 * renewal, and the others take over after 20 s.
 */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Pool, PoolClient } from 'pg';
import { inTransaction } from '../register/index.ts';
import { version } from '../version.ts';
import { orphanedWorkers, removeReplaced, unlockJobs } from './queue.ts';

/** Times in milliseconds. */
export interface LeaseTimes {
  /** Time between two renewals. */
  readonly beat: number;
  /** Time after the last renewal at which the worker ends its jobs. */
  readonly abandon: number;
  /** Time after the last renewal at which other workers take over its jobs. */
  readonly dead: number;
}
const TIMES: LeaseTimes = { beat: 5000, abandon: 12_000, dead: 20_000 };
/** A failed renewal is repeated after the time between two renewals, divided by this number. */
const RETRIES = 5;

export const WORKER_TABLE = `
CREATE TABLE IF NOT EXISTS hookproof_worker (
  id uuid PRIMARY KEY,
  host text NOT NULL,
  version text NOT NULL,
  started_at timestamptz NOT NULL,
  seen_at timestamptz NOT NULL,
  queue_workers text[] NOT NULL,
  running jsonb NOT NULL
)`;

const INSERT = `
INSERT INTO hookproof_worker VALUES ($1, $2, $3, clock_timestamp(), clock_timestamp(), '{}', '[]')`;
const RENEW = `
UPDATE hookproof_worker SET seen_at = clock_timestamp(), queue_workers = $2, running = $3 WHERE id = $1`;
const BURY = `
DELETE FROM hookproof_worker WHERE seen_at < clock_timestamp() - make_interval(secs => $1) RETURNING queue_workers`;

export interface LeaseState {
  /** The ids under which the worker holds jobs. */
  readonly queueWorkers: readonly string[];
  /** What the worker is doing, for display. */
  readonly running: readonly unknown[];
}

export class Lease {
  /** Resolves when the worker must stop, with the reason. */
  readonly lost: Promise<string>;
  readonly #id = randomUUID();
  readonly #pool: Pool;
  readonly #state: () => LeaseState;
  readonly #times: LeaseTimes;
  #lose: (reason: string) => void = () => {};
  #renewedAt = 0;
  #timer: NodeJS.Timeout | undefined;
  #limit: NodeJS.Timeout | undefined;

  private constructor(pool: Pool, state: () => LeaseState, times: LeaseTimes) {
    this.#pool = pool;
    this.#state = state;
    this.#times = times;
    this.lost = new Promise((resolve) => {
      this.#lose = resolve;
    });
  }

  /** `pool` must have its own connections and a time limit for statements, so that no job delays the lease. */
  static async begin(pool: Pool, state: () => LeaseState, times = TIMES): Promise<Lease> {
    const lease = new Lease(pool, state, times);
    const began = performance.now();
    await pool.query(INSERT, [lease.#id, hostname(), version]);
    lease.#renewed(began);
    lease.#next(0);
    return lease;
  }

  /** Gives back all jobs that this worker holds. If the database is unreachable, other workers do so later. */
  async end(): Promise<void> {
    clearTimeout(this.#timer);
    clearTimeout(this.#limit);
    const { queueWorkers } = this.#state();
    await inTransaction(this.#pool, async (client) => {
      await client.query('DELETE FROM hookproof_worker WHERE id = $1', [this.#id]);
      await unlockJobs(client, queueWorkers);
    }).catch(() => {});
  }

  #next(ms: number): void {
    this.#timer = setTimeout(() => void this.#beat(), ms);
  }

  #renewed(began: number): void {
    this.#renewedAt = began;
    clearTimeout(this.#limit);
    this.#limit = setTimeout(
      () => this.#lose('its lease could not be renewed'),
      began + this.#times.abandon - performance.now(),
    );
  }

  async #beat(): Promise<void> {
    const began = performance.now();
    const { queueWorkers, running } = this.#state();
    try {
      // A process that was suspended must not renew a lease whose jobs others may have taken over.
      if (began - this.#renewedAt > this.#times.abandon) return this.#lose('it was suspended');
      const { rowCount } = await this.#pool.query(RENEW, [this.#id, queueWorkers, JSON.stringify(running)]);
      if (rowCount === 0) return this.#lose('other workers consider it dead');
      this.#renewed(began);
      await inTransaction(this.#pool, (client) => releaseDead(client, this.#times.dead));
      this.#next(this.#times.beat);
    } catch {
      this.#next(this.#times.beat / RETRIES);
    }
  }
}

/** Gives back the jobs of workers that have not renewed their lease. */
async function releaseDead(client: PoolClient, deadMs: number): Promise<void> {
  const { rows } = await client.query<{ queue_workers: string[] }>(BURY, [deadMs / 1000]);
  const dead = rows.flatMap(({ queue_workers: ids }) => ids);
  const orphans = await orphanedWorkers(client, 'hookproof_worker', deadMs);
  if (dead.length + orphans.length > 0) await unlockJobs(client, [...dead, ...orphans]);
  await removeReplaced(client);
}

export interface WorkerRow {
  readonly id: string;
  readonly host: string;
  readonly version: string;
  readonly startedAt: Date;
  /** Seconds since the worker renewed its lease, by the clock of the database. */
  readonly seenSecondsAgo: number;
  readonly running: readonly { readonly task: string; readonly key: string | null }[];
}

export async function listWorkers(pool: Pool): Promise<WorkerRow[]> {
  const { rows } = await pool.query<WorkerRow>(`
SELECT id, host, version, started_at AS "startedAt", running,
  round(extract(epoch FROM clock_timestamp() - seen_at))::integer AS "seenSecondsAgo"
FROM hookproof_worker ORDER BY host, started_at`);
  return rows;
}
