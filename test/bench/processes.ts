/** What the benchmarks share: cold processes of the compiled program, receivers for them, and how a measurement is told. */
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { cpus } from 'node:os';
import { performance } from 'node:perf_hooks';
import { createInterface } from 'node:readline';

export const CLI = 'dist/bin/hookproof.js';

/** The environment of processes that share a secret and an API key. */
export const CREDENTIALS: NodeJS.ProcessEnv = {
  ...process.env,
  HOOKPROOF_SECRET: randomBytes(32).toString('base64'),
  HOOKPROOF_API_KEY: randomBytes(24).toString('base64url'),
};

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** Milliseconds of a whole process of Node, which has to end well. */
export function time(args: readonly string[], env: NodeJS.ProcessEnv = process.env): number {
  const start = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { env });
  const took = performance.now() - start;
  if (status !== 0) throw new Error(`${args.join(' ')} exited with ${status}: ${stderr}`);
  return took;
}

export function row(what: string, measured: string, target: string): void {
  process.stdout.write(`${what.padEnd(46)}${measured.padEnd(38)}${target}\n`);
}

/** Seconds: the median, and from the least to the most. */
export function wall(milliseconds: readonly number[]): string {
  const [middle, least, most] = [median(milliseconds), Math.min(...milliseconds), Math.max(...milliseconds)].map(
    (each) => (each / 1000).toFixed(2),
  );
  return `${middle} s (${least} to ${most})`;
}

export function headline(): void {
  process.stdout.write(`Node ${process.version}, ${cpus().length} cores\n\n`);
}

/** The reference receiver in a process of its own. */
export async function startReceiver(
  options: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<{ readonly url: string; close(): void }> {
  const receiver = spawn(process.execPath, [CLI, 'receiver', '--port', '0', ...options], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const [line] = (await once(createInterface(receiver.stderr), 'line')) as [string];
  const url = new URL('/hooks', line.replace('listening at ', '')).href;
  return { url, close: () => void receiver.kill('SIGTERM') };
}
