/**
 * Benchmarks of the command line from a cold process: `--help` against an empty Node, and the whole catalogue against the
 * reference receiver on loopback in a process of its own. Prints medians and ratios of one interleaved series. No test depends on it.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CLI, CREDENTIALS, headline, median, row, startReceiver, time, wall } from './measuring.ts';

const HELP_ROUNDS = 15;
const RUN_ROUNDS = 5;

headline();

const empty: number[] = [];
const help: number[] = [];
const paired: number[] = [];
for (let round = -1; round < HELP_ROUNDS; round++) {
  const base = time(['-e', '0']);
  const ours = time([CLI, '--help']);
  if (round < 0) continue; // warm-up
  empty.push(base);
  help.push(ours);
  paired.push(ours / base);
}
row(
  '--help against node -e 0',
  `${median(paired).toFixed(2)}x (${median(help).toFixed(0)} / ${median(empty).toFixed(0)} ms)`,
  'target 1.25x',
);

const { url, close } = await startReceiver([], CREDENTIALS);
const folder = mkdtempSync(join(tmpdir(), 'hookproof-bench-'));
try {
  const file = join(folder, 'run.json');
  const walls: number[] = [];
  for (let round = -1; round < RUN_ROUNDS; round++) {
    const took = time([CLI, 'run', url, '--reporter', `json=${file}`], CREDENTIALS);
    if (round >= 0) walls.push(took);
  }
  const { requests, judged, planned, durationMs } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, number>;
  row('whole catalogue, loopback, cold process', wall(walls), 'target under 1 s');
  row(
    '  of which the run itself',
    `${((durationMs ?? 0) / 1000).toFixed(2)} s, ${requests} requests`,
    `${judged} of ${planned} judged`,
  );
} finally {
  close();
  rmSync(folder, { recursive: true, force: true });
}
