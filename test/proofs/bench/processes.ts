/**
 * The compiled program in processes of its own: commands that run to their end, receivers that serve them, and a long
 * way in between.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { performance } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { message, start } from './programs.ts';

export const CLI = 'dist/bin/hookproof.js';

/** The environment of processes that share a secret and an API key. */
export const CREDENTIALS: NodeJS.ProcessEnv = {
  ...process.env,
  HOOKPROOF_SECRET: randomBytes(32).toString('base64'),
  HOOKPROOF_API_KEY: randomBytes(24).toString('base64url'),
};

/** Milliseconds of a whole process of Node, which has to end well. */
export function time(args: readonly string[], env: NodeJS.ProcessEnv = process.env): number {
  const startedAt = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { env });
  const took = performance.now() - startedAt;
  if (status !== 0) throw new Error(`${args.join(' ')} exited with ${status}: ${stderr}`);
  return took;
}

/** The reference receiver. */
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

/** A proxy to a port of loopback that takes its time. */
export async function startProxy(
  targetPort: number,
  oneWayMs: number,
): Promise<{ readonly port: number; readonly process: ChildProcess }> {
  const env = { BENCH_TARGET_PORT: String(targetPort), BENCH_DELAY_MS: String(oneWayMs) };
  const proxy = start('distance/delaying-proxy.ts', null, env);
  const { port } = await message<{ port: number }>(proxy);
  return { port, process: proxy };
}
