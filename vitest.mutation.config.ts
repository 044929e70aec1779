import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Tests that open sockets or draw many samples. They do not run for a mutant that a quick test has found. */
const SLOW =
  /\/(verify-signature|check-api-key|check-partner|retry|tls|failures|keep-alive|connections|answers|pool)\./;

class QuickFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => (SLOW.test(moduleId) ? 1 : 0);
    return files.toSorted((a, b) => rank(a) - rank(b) || (a.moduleId < b.moduleId ? -1 : 1));
  }
}

/**
 * The tests that mutation testing runs: those of the judge, the sender, the transport and the verifier. None of them
 * needs the compiled program, so nothing is built. Stryker selects tests with one pattern of all their names, which
 * fails beyond some tens of thousands of characters: add a file here only when it finds mutants that the others do not.
 */
export default defineConfig({
  test: {
    include: [
      'test/harness/judge/**/*.test.ts',
      'test/harness/{sender,transport}/**/*.test.ts',
      'test/harness/{operate/send-notice,probe/answer-reader,proxy/exchange-tap}.test.ts',
      'test/receiver/{verify-signature,check-api-key,check-client-certificate}.test.ts',
      'test/receiver/{forwarded-headers,mutual-tls,stages/credentials}.test.ts',
    ],
    exclude: ['**/*.slow.test.ts'],
    sequence: { sequencer: QuickFirst },
    // The tests take less than a second. A timeout on a slow machine must not count as a mutant that was found.
    testTimeout: 20_000,
    hookTimeout: 20_000,
  },
});
