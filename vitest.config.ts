import { defineConfig } from 'vitest/config';
import { BaseSequencer } from 'vitest/node';

/** Test files that take minutes. Vitest does not know their durations at first, and would start small files last. */
const LONGEST = ['secrets', 'recipes', 'promises', 'recipe-journals'].map((name) => `/${name}.slow.test.ts`);

class LongestFirst extends BaseSequencer {
  override async sort(files: Parameters<BaseSequencer['sort']>[0]) {
    const isLong = ({ moduleId }: (typeof files)[number]) => LONGEST.some((name) => moduleId.endsWith(name));
    return (await super.sort(files)).toSorted((a, b) => Number(isLong(b)) - Number(isLong(a)));
  }
}

/**
 * Three projects. `npm test` runs `fast`: the tests that need no database, no browser and no whole catalogue against a
 * slow receiver. `slow` contains the rest (`NAME.slow.test.ts`). A file `NAME.sampled.test.ts` belongs to both: it runs
 * a sample of its cases in `fast`, and all of them in `slow`. `npm run proofs` runs `proof` (`NAME.proof.test.ts`).
 */
export default defineConfig({
  test: {
    // These limits end a test that hangs. They are long, so that no test fails on a slow machine.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
    // Two more than the cores in CI, because many tests mostly wait.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    // Test files share the modules that their process has loaded, which saves a third of the time.
    isolate: false,
    // Later runs reuse the compiled files, by the hash of each file, which saves a fifteenth of the time.
    experimental: { fsModuleCache: true },
    coverage: { provider: 'v8', include: ['contract/**', 'receiver/**', 'scenarios/**', 'harness/**', 'certs/**'] },
    projects: [
      {
        extends: true,
        test: {
          name: 'fast',
          include: ['test/**/*.test.ts'],
          exclude: ['test/**/*.{slow,proof}.test.ts'],
          globalSetup: ['test/setup/global-setup.ts'],
          provide: { whole: false, postgresUrl: null },
        },
      },
      {
        extends: true,
        test: {
          name: 'proof',
          include: ['test/**/*.proof.test.ts'],
          globalSetup: ['test/setup/global-setup.ts', 'test/setup/postgres-setup.ts'],
          provide: { whole: true },
        },
      },
      {
        extends: true,
        test: {
          name: 'slow',
          include: ['test/**/*.{slow,sampled}.test.ts'],
          globalSetup: ['test/setup/global-setup.ts', 'test/setup/postgres-setup.ts'],
          provide: { whole: true },
        },
      },
    ],
  },
});
