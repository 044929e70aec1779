import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Tests that open sockets or draw many samples. A mutant that a quick one finds never gets to them. */
const SLOW =
  /receiver\/(answers|wire|handling|verify-signature|check-api-key)|sender\/(tls|failures|keep-alive|check-partner|retry)\./;

class QuickFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) =>
      SLOW.test(moduleId) ? (/answers|wire|handling/.test(moduleId) ? 2 : 1) : 0;
    return files.toSorted((a, b) => rank(a) - rank(b) || (a.moduleId < b.moduleId ? -1 : 1));
  }
}

/** The tests that mutation testing runs: those of the judge, the sender and the verifier. None of them needs the compiled program, so nothing is built. */
export default defineConfig({
  test: {
    include: [
      'test/harness/judge/**/*.test.ts',
      'test/harness/sender/**/*.test.ts',
      'test/receiver/{verify-signature,check-api-key,answers,wire,handling,stages}.test.ts',
    ],
    // It looks at the compiled program in processes of its own, where no mutant is.
    exclude: ['test/harness/sender/trusted-roots.test.ts'],
    sequence: { sequencer: QuickFirst },
    // Of tests that take less than a second: a slow machine must not count as a mutant that was found.
    testTimeout: 20_000,
    hookTimeout: 20_000,
  },
});
