import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/setup/global-setup.ts'],
    // Against what hangs, not against what is slow: a busy machine must not decide a test.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Two cores: more workers than that only make timings noisier.
    maxWorkers: 2,
    // A file leaves nothing behind in its process, so the next one need not load every module anew: that is a third of the time.
    isolate: false,
    coverage: { provider: 'v8', include: ['contract/**', 'receiver/**', 'scenarios/**', 'harness/**', 'certs/**'] },
  },
});
