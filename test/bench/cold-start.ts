/**
 * Benchmarks of the command line from a cold process: `--help` against an empty Node, and the whole catalogue against the
 * reference receiver on loopback in a process of its own. Prints medians and ratios of one interleaved series. No test depends on it.
 */
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { createInterface } from 'node:readline';

const CLI = 'dist/bin/hookproof.js';
const HELP_ROUNDS = 15;
const RUN_ROUNDS = 5;

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

function time(args: readonly string[], env: NodeJS.ProcessEnv = process.env): number {
  const start = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { env });
  const took = performance.now() - start;
  if (status !== 0) throw new Error(`${args.join(' ')} exited with ${status}: ${stderr}`);
  return took;
}

function row(what: string, measured: string, target: string): void {
  process.stdout.write(`${what.padEnd(46)}${measured.padEnd(38)}${target}\n`);
}

process.stdout.write(`Node ${process.version}, ${cpus().length} cores\n\n`);

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

const env = {
  ...process.env,
  HOOKPROOF_SECRET: randomBytes(32).toString('base64'),
  HOOKPROOF_API_KEY: randomBytes(24).toString('base64url'),
};
const receiver = spawn(process.execPath, [CLI, 'receiver', '--port', '0'], {
  env,
  stdio: ['ignore', 'ignore', 'pipe'],
});
const [line] = (await once(createInterface(receiver.stderr), 'line')) as [string];
const url = line.replace('listening at ', '');
const folder = mkdtempSync(join(tmpdir(), 'hookproof-bench-'));
try {
  const file = join(folder, 'run.json');
  const walls: number[] = [];
  for (let round = -1; round < RUN_ROUNDS; round++) {
    const wall = time([CLI, 'run', new URL('/hooks', url).href, '--reporter', `json=${file}`], env);
    if (round >= 0) walls.push(wall);
  }
  const { requests, judged, planned, durationMs } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, number>;
  row(
    'whole catalogue, loopback, cold process',
    `${(median(walls) / 1000).toFixed(2)} s (${(Math.min(...walls) / 1000).toFixed(2)} to ${(Math.max(...walls) / 1000).toFixed(2)})`,
    'target under 1 s',
  );
  row(
    '  of which the run itself',
    `${((durationMs ?? 0) / 1000).toFixed(2)} s, ${requests} requests`,
    `${judged} of ${planned} judged`,
  );
} finally {
  receiver.kill('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
}
