import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The slowest test files: started last, they would leave the other cores idle. */
const LONG = [
  'fleet/short',
  'tls-matrix/matrix',
  'cli/effects-run',
  'recipes/recipes',
  'cli/wrong-as-a-whole',
  'cli/secrets',
  'recipes/effects',
  'matrix/correct-receivers',
  'harness/proxy/verdicts',
  'cli/mcp-hostile',
  'cli/run-command',
  'harness/run/pace',
  'harness/run/outage',
  'durability/kill',
  'server/connections',
  'receiver/lift-out',
  'proofs/stateful',
  'hostile/short',
  'fuzz/short',
  'cli/faults',
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
