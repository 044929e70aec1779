import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** They wait or work longest: begun last, they would leave one core without work. */
const LONG = [
  'fleet/short',
  'cli/secrets',
  'cli/wrong-as-a-whole',
  'cli/inbox',
  'tls-matrix/clients',
  'receiver/inspector/page',
  'report/html/browser',
  'cli/receiver-tls',
];

/** The longest files first, as known here: a fresh checkout has no recorded times. The rest is as it was sorted. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const at = LONG.findIndex((name) => moduleId.endsWith(`${name}.test.ts`));
      return at === -1 ? LONG.length : at;
    };
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}
