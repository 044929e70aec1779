import type { TestProject } from 'vitest/node';
import { buildWhenStale } from './build.ts';
import { startPostgres } from './postgres.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Of a PostgreSQL server that the tests share, each with databases of its own. Null where it is not installed. */
    postgresUrl: string | null;
    /** Whether everything is played of what a share stands for otherwise. */
    whole: boolean;
  }
}

/**
 * The tests of the command line run the compiled program, so it is built before the first test when anything has changed since. The database
 * server is started meanwhile.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const [started, built] = await Promise.allSettled([startPostgres(), buildWhenStale()]);
  const postgres = started.status === 'fulfilled' ? started.value : null;
  if (built.status === 'rejected') {
    // Nobody would end the server.
    await postgres?.remove();
    throw built.reason;
  }
  if (started.status === 'rejected') throw started.reason;
  project.provide('postgresUrl', postgres?.url ?? null);
  return async () => postgres?.remove();
}
