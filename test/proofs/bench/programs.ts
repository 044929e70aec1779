/** The processes of the benchmarks: compiled as the product is, each on the core that it is given. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';

const SOURCE = 'test/proofs/bench';
/** Inside the repository, where the libraries are found. */
const COMPILED = resolve('node_modules/.cache/hookproof-bench');

/**
 * Compiles the programs (`servers/ours.ts`) by the rules by which the product is: what runs is JavaScript without a
 * loader.
 */
export async function compile(programs: readonly string[]): Promise<void> {
  mkdirSync(COMPILED, { recursive: true });
  await build({
    entryPoints: programs.map((program) => join(SOURCE, program)),
    outbase: SOURCE,
    outdir: COMPILED,
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

/** Whether processes can be pinned: one core for what is measured, the other for what it is measured with. */
export const PINNED = availableParallelism() > 1 && spawnSync('taskset', ['--version']).status === 0;

/** Null for a process that may run on any. */
export type Core = 0 | 1 | null;

/** Starts a compiled program with a channel for messages. */
export function start(program: string, core: Core, env: NodeJS.ProcessEnv): ChildProcess {
  const command = [process.execPath, join(COMPILED, program.replace(/\.ts$/, '.mjs'))];
  const [file = '', ...args] = PINNED && core !== null ? ['taskset', '-c', String(core), ...command] : command;
  return spawn(file, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
}

/** The next message of a process. Throws when it ends before. */
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

/** Asks a process something and gives its answer. */
export async function ask<T>(child: ChildProcess, question: object | string): Promise<T> {
  child.send(question);
  return await message<T>(child);
}

export async function stop(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.disconnect();
  await exited;
}
