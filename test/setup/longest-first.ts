import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The slowest test files: started last, they would leave the other cores idle. */
const LONG = [
  'fleet/short',
  'cli/wrong-as-a-whole',
  'matrix/correct-receivers',
  'tls-matrix/matrix',
  'cli/secrets',
  'harness/run/pace',
  'harness/run/outage',
  'receiver/lift-out',
  'proofs/stateful',
  'cli/run-command',
  'receiver/inspector/page',
  'report/html/browser',
  'cli/receiver-tls',
];

/** Runs the slowest files first, because a fresh checkout has no recorded durations. Keeps the order of the others. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const at = LONG.findIndex((name) => moduleId.endsWith(`${name}.test.ts`));
      return at === -1 ? LONG.length : at;
    };
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}
