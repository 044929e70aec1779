/**
 * The benchmarks: `npm run bench`, or one part with `npm run bench -- --only receiver`; `--old FOLDER` measures
 * another checkout in the same rounds. Prints its tables and writes them to docs/performance.md. No test depends on a
 * figure.
 */
import { parseArgs } from 'node:util';
import { report, targetTable } from './page.ts';

/** Each part loads only what it needs. */
const PARTS = {
  async receiver() {
    const { measureReceivers, receiverTable, receiverTargets } = await import('./receiver-bench.ts');
    const results = await measureReceivers();
    report(
      'receiver',
      ['express', 'zod', 'fastify', '@photostructure/sqlite', 'pg'],
      [targetTable(receiverTargets(results)), receiverTable(results)],
    );
  },
  async sender() {
    const { measureSenders, senderTable, senderTargets } = await import('./sender-bench.ts');
    const series = await measureSenders();
    report('sender', ['undici'], [targetTable(senderTargets(series)), senderTable(series)]);
  },
  async command() {
    const { helpTarget, measureHelp, measureRuns, runTable, runTargets } = await import('./command-bench.ts');
    const help = measureHelp();
    const runs = await measureRuns();
    report('command', [], [targetTable([helpTarget(help), ...runTargets(runs)]), runTable(runs)]);
  },
};

const { values } = parseArgs({ options: { only: { type: 'string' }, old: { type: 'string' } } });
const names = Object.keys(PARTS) as (keyof typeof PARTS)[];
const wanted = names.filter((name) => values.only === undefined || values.only === name);
if (wanted.length === 0) {
  process.stderr.write(`--only takes one of ${names.join(', ')}\n`);
  process.exitCode = 2;
}
for (const name of wanted) await PARTS[name]();
