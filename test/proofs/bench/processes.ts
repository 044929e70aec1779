/**
 * The processes of the benchmarks: compiled servers and clients, each pinned to a core, and the compiled command line.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { performance } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';

const SOURCE = 'test/proofs/bench';
/** Folder of the compiled programs. It is inside the repository, so that Node finds the libraries. */
const COMPILED = 'node_modules/.cache/hookproof-bench';

/**
 * The folder of another checkout (`--old FOLDER`), which is built and has its libraries. Its rows are measured in the
 * same rounds.
 */
export const OLD = parseArgs({ options: { old: { type: 'string' } }, strict: false }).values.old as string | undefined;

/** Returns the name of a row of {@link OLD}. */
export const atOld = (name: string) => `${name}, at the old commit`;

/**
 * Compiles the programs (`servers/ours.ts`) of a folder with the build settings of the product, so that no loader is
 * measured.
 */
export async function compile(programs: readonly string[], folder = SOURCE, root = '.'): Promise<void> {
  const outdir = resolve(root, COMPILED);
  mkdirSync(outdir, { recursive: true });
  await build({
    entryPoints: programs.map((program) => resolve(root, folder, program)),
    outbase: resolve(root, folder),
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    packages: 'external',
    logLevel: 'warning',
  });
}

/** True if processes can be pinned: the measured process to one core, and its counterpart to another. */
export const PINNED = availableParallelism() > 1 && spawnSync('taskset', ['--version']).status === 0;

/** The core of a process. Null means any core. */
type Core = 0 | 1 | null;

/** Starts a compiled program with a channel for messages. */
export function start(program: string, core: Core, env: NodeJS.ProcessEnv, root = '.'): ChildProcess {
  const command = [process.execPath, compiled(program, root)];
  const [file = '', ...args] = PINNED && core !== null ? ['taskset', '-c', String(core), ...command] : command;
  return spawn(file, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
}

/** Waits for the next message of a process. Throws if the process ends first. */
export async function message<T>(child: ChildProcess): Promise<T> {
  const stop = new AbortController();
  try {
    const [first] = await Promise.race([
      once(child, 'message', { signal: stop.signal }),
      once(child, 'exit', { signal: stop.signal }).then(([code]) => {
        throw new Error(`${child.spawnargs.join(' ')} ended with ${code}`);
      }),
    ]);
    return first as T;
  } finally {
    stop.abort();
  }
}

/** Sends a message to a process and returns its answer. */
export async function ask<T>(child: ChildProcess, question: object | string): Promise<T> {
  child.send(question);
  return await message<T>(child);
}

export async function stop(child: ChildProcess): Promise<void> {
  if (!child.connected) return; // it has ended by itself
  const exited = once(child, 'exit');
  child.disconnect();
  await exited;
}

export const CLI = 'dist/bin/hookproof.js';

/** The environment of processes that share a secret and an API key. */
export const CREDENTIALS: NodeJS.ProcessEnv = {
  ...process.env,
  HOOKPROOF_SECRET: randomBytes(32).toString('base64'),
  HOOKPROOF_API_KEY: randomBytes(24).toString('base64url'),
};

/** Returns the file of a compiled program. */
export function compiled(program: string, root = '.'): string {
  return join(resolve(root, COMPILED), program.replace(/\.ts$/, '.mjs'));
}

/** Returns how long a Node process takes from start to exit, in milliseconds. Throws if it fails. */
export function time(args: readonly string[], env: NodeJS.ProcessEnv = process.env): number {
  const startedAt = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { env });
  const took = performance.now() - startedAt;
  if (status !== 0) throw new Error(`${args.join(' ')} exited with ${status}: ${stderr}`);
  return took;
}

/** Starts the reference receiver. */
export async function startReceiver(
  options: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<{ readonly url: string; close(): void }> {
  const receiver = spawn(process.execPath, [CLI, 'receiver', '--port', '0', ...options], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const url = await new Promise<string>((resolve, reject) => {
    // A faulty receiver first prints its fault.
    createInterface(receiver.stderr).on('line', (line) => {
      const listening = /^listening at (\S+)/.exec(line)?.[1];
      if (listening !== undefined) resolve(new URL('/hooks', listening).href);
    });
    receiver.once('exit', (code) => reject(new Error(`the receiver ended with ${code}`)));
  });
  return { url, close: () => void receiver.kill('SIGTERM') };
}

/** Starts a proxy that delays everything to and from a loopback port. */
export async function startProxy(
  targetPort: number,
  oneWayMs: number,
): Promise<{ readonly port: number; readonly process: ChildProcess }> {
  const env = { BENCH_TARGET_PORT: String(targetPort), BENCH_DELAY_MS: String(oneWayMs) };
  const proxy = start('servers/delaying-proxy.ts', null, env);
  const { port } = await message<{ port: number }>(proxy);
  return { port, process: proxy };
}
