import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/setup/longest-first.ts';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Some tests run a sample of their cases; `npm run proofs -- sampled-tests` runs all of them.
    provide: { whole: process.env.HOOKPROOF_TEST_CASES === 'all' },
    globalSetup: ['test/setup/global-setup.ts'],
    // They end a test that hangs. A slow machine must not make one fail.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // Two more than there are cores in CI: many tests wait, and each worker loads all modules.
    maxWorkers: 4,
    // Test files share the modules that their process has loaded, which saves a third of the time.
    isolate: false,
    // Another run takes what was compiled before, by the hash of each file, which saves a fifteenth of the time.
    experimental: { fsModuleCache: true },
    sequence: { sequencer: LongestFirst },
    coverage: { provider: 'v8', include: ['contract/**', 'receiver/**', 'scenarios/**', 'harness/**', 'certs/**'] },
  },
});
