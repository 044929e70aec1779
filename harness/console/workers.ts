/** Reads the queue and the workers of `hookproof operate` from the database. */
import type { Pool } from 'pg';
import {
  countJobs,
  hasQueue,
  type ListedJob,
  listJobs,
  listWorkers,
  type QueueCounts,
  type WorkerRow,
} from '../operate/index.ts';

export interface Operation {
  readonly workers: readonly WorkerRow[];
  readonly jobs: readonly ListedJob[];
  readonly counts: QueueCounts;
}

const MAX_JOBS = 100;

/** Returns the state of the queue and the workers; null if `hookproof operate` has never used this database. */
export async function readOperation(pool: Pool): Promise<Operation | null> {
  if (!(await hasQueue(pool))) return null;
  const [workers, jobs, counts] = await Promise.all([listWorkers(pool), listJobs(pool, MAX_JOBS), countJobs(pool)]);
  return { workers, jobs, counts };
}

/** A worker is alive if it was seen within this time. It renews its lease every 5 seconds. */
const ALIVE_SECONDS = 20;

export function isAlive({ seenSecondsAgo }: WorkerRow): boolean {
  return seenSecondsAgo < ALIVE_SECONDS;
}
