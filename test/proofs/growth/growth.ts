/**
 * Measures how time, memory and storage grow with checks, distance, partners and connections: `npm run proofs --
 * growth`, or one part with `--only partners`. Prints its tables and writes them to docs/growth.md. `--quick`, for a
 * trial, measures small counts and writes nothing; `--only page` measures nothing and writes the page from the last
 * measurements.
 */
import { writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { asText, conditions, today } from '../bench/page.ts';
import { growthPage, type Measured, PAGE, type Part, store, TABLES } from './page.ts';
import { note } from './progress.ts';

const { values } = parseArgs({ options: { only: { type: 'string' }, quick: { type: 'boolean', default: false } } });
const { quick } = values;

/** Each part loads only what it needs. */
const MEASURE: { readonly [P in Part]: () => Promise<Measured[P]> } = {
  async checks() {
    const { measureChecks } = await import('./checks.ts');
    return await measureChecks(quick ? { rounds: 1, partners: 2 } : { rounds: 3, partners: 8 });
  },
  async distance() {
    const { measureDistance } = await import('./distance.ts');
    return await measureDistance(
      quick ? { distances: [0, 10], rounds: 1 } : { distances: [0, 10, 50, 200], rounds: 3 },
    );
  },
  async partners() {
    const { measurePartners } = await import('./partners.ts');
    return await measurePartners(
      quick
        ? { counts: [2, 4], workers: [1, 2], partnersForWorkers: 2 }
        : { counts: [10, 100, 1_000], workers: [1, 2, 3, 4], partnersForWorkers: 8 },
    );
  },
  async sender() {
    const { measureSender } = await import('./sender.ts');
    return await measureSender(
      quick
        ? {
            endpoints: [1, 2],
            connections: [4, 16],
            warmUpMs: 100,
            sliceMs: 50,
            idle: [100, 200, 300],
            waiting: [10, 1_000, 2_000],
          }
        : {
            endpoints: [1, 2, 4],
            connections: [16, 64, 256],
            warmUpMs: 1_000,
            sliceMs: 250,
            idle: [100, 1_000, 2_000, 4_000],
            waiting: [1_000, 10_000, 20_000, 40_000],
          },
    );
  },
};

/** The parts, with the quick ones first. */
const PARTS: readonly Part[] = ['sender', 'checks', 'distance', 'partners'];

async function measure<P extends Part>(part: P): Promise<void> {
  const load = loadavg()[0]?.toFixed(1);
  const figures = await MEASURE[part]();
  for (const table of TABLES[part](figures)) process.stdout.write(`${asText(table)}\n`);
  if (!quick) store(part, `${today()}: ${conditions([])}, load ${load} at the start`, figures);
}

const wanted = PARTS.filter((part) => values.only === undefined || values.only === part);
if (values.only === 'page') writeFileSync(PAGE, growthPage());
else if (wanted.length === 0) {
  process.stderr.write(`--only takes one of ${[...PARTS, 'page'].join(', ')}\n`);
  process.exitCode = 2;
}
for (const part of wanted) await measure(part);
if (wanted.length > 0) note('done');
