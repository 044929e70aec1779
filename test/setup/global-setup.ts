import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { buildWhenStale } from './build.ts';
import { type PostgresServer, startPostgres } from './postgres.ts';
import { missingPrograms } from './programs.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /**
     * URL of a PostgreSQL server that the tests share; each test makes its own database. Null where there is no server.
     */
    postgresUrl: string | null;
    /** Whether everything is run for which `npm test` takes a sample. */
    whole: boolean;
  }
}

/**
 * The tests of the command line run the compiled program, so it is built before the first test when a source has
 * changed. The database server is started at the same time. When the tests are over, what was skipped, and why, is
 * printed once.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  // The runs of the tests are remembered in a folder of the tests, not in that of the user.
  const state = await mkdtemp(join(tmpdir(), 'hookproof-state-'));
  process.env.XDG_STATE_HOME = state;
  const [started, built] = await Promise.allSettled([startPostgres(), buildWhenStale()]);
  const postgres: PostgresServer | null = started.status === 'fulfilled' ? started.value : null;
  if (built.status === 'rejected') {
    await postgres?.remove();
    throw built.reason;
  }
  project.provide('postgresUrl', postgres?.url ?? null);
  const reasons = missingPrograms().map((program) => `${program} is not installed`);
  if (started.status === 'rejected') reasons.push(`PostgreSQL does not start (${firstLine(started.reason)})`);
  return async () => {
    if (reasons.length > 0) console.log(`Skipped the tests that need these programs: ${reasons.join(', ')}`);
    await Promise.all([postgres?.remove(), rm(state, { recursive: true, force: true })]);
  };
}

function firstLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.split('\n')[0] ?? '';
}
