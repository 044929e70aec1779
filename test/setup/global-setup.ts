import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildWhenStale } from './build.ts';
import { missingPrograms } from './programs.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Whether all cases run of which `npm test` takes a sample. */
    whole: boolean;
  }
}

/**
 * The tests of the command line run the compiled program, so it is built before the first test when a source has
 * changed. When the tests are over, the programs that tests were skipped for are printed once.
 */
export async function setup(): Promise<() => Promise<void>> {
  await buildWhenStale();
  // The runs of the tests are remembered in a folder of the tests, not in that of the user.
  const state = await mkdtemp(join(tmpdir(), 'hookproof-state-'));
  process.env.XDG_STATE_HOME = state;
  return async () => {
    const missing = missingPrograms();
    if (missing.length > 0) console.log(`Skipped the tests that need a program: ${missing.join(', ')} not installed`);
    await rm(state, { recursive: true, force: true });
  };
}
