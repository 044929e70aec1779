import type { TestProject } from 'vitest/node';
import { startPostgres } from './postgres.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** URL of a PostgreSQL server that the tests share. Each test creates its own database. Null without a server. */
    postgresUrl: string | null;
  }
}

/**
 * Starts a database server for the slow tests. If PostgreSQL is missing or does not start, the tests that need it are
 * skipped.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startPostgres().catch((error: Error) => {
    console.log(`Skipped the tests that need PostgreSQL, which does not start: ${error.message.split('\n')[0]}`);
    return null;
  });
  project.provide('postgresUrl', server?.url ?? null);
  return async () => server?.remove();
}
