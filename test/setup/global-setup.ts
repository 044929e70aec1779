import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildWhenStale } from './build.ts';
import { missingPrograms } from './programs.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** True if every case is run, even in tests for which `npm test` runs only a sample. */
    whole: boolean;
  }
}

/**
 * Builds the program before the first test if a source has changed, because the command line tests run the compiled
 * program. After the tests, prints the missing programs for which tests were skipped.
 */
export async function setup(): Promise<() => Promise<void>> {
  await buildWhenStale();
  // Tests store their runs in a temporary folder instead of the user's.
  const state = await mkdtemp(join(tmpdir(), 'hookproof-state-'));
  process.env.XDG_STATE_HOME = state;
  return async () => {
    const missing = missingPrograms();
    if (missing.length > 0) console.log(`Skipped the tests that need a program: ${missing.join(', ')} not installed`);
    await rm(state, { recursive: true, force: true });
  };
}
