/** Workers of `hookproof operate` as processes, for proofs and tests. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MAIN } from '../../cli/hookproof.ts';

export interface OperateFolder {
  readonly folder: string;
  /** URL of the database. */
  readonly url: string;
  readonly args: readonly string[];
}

export interface WorkerProcess {
  readonly pid: number;
  readonly child: ChildProcess;
  /** Returns what the worker has printed so far. */
  log(): string;
  kill(): Promise<void>;
  /** Sends SIGTERM. Returns the exit code. */
  stop(): Promise<number | null>;
}

/** Starts a worker in the folder that `startFleet` has written. */
export function startWorker({ args, folder, url }: OperateFolder): WorkerProcess {
  const common = ['operate', '--partners', 'partners', '--key', 'operator.pem', '--output-dir', 'out'];
  const child = spawn(process.execPath, [MAIN, ...common, ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, HOOKPROOF_REGISTER: url },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let printed = '';
  child.stderr.on('data', (data) => {
    printed += data;
  });
  const ended = once(child, 'exit') as Promise<[number | null]>;
  return {
    pid: child.pid ?? 0,
    child,
    log: () => printed,
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
    async stop() {
      child.kill('SIGTERM');
      const [code] = await ended;
      return code;
    },
  };
}

const TICKS_A_SECOND = 100;

/** Returns the processor time of a process and of its running and ended children, in seconds. */
export async function processorTime(pid: number): Promise<number> {
  const statOf = async (id: string) => {
    const text = await readFile(join('/proc', id, 'stat'), 'utf8').catch(() => '');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  };
  const sum = (stat: readonly string[], fields: readonly number[]) =>
    fields.reduce((total, field) => total + Number(stat[field] ?? 0), 0);
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const stats = await Promise.all(ids.map(statOf));
  const children = stats.filter((stat) => Number(stat[1]) === pid);
  const ticks =
    sum(await statOf(String(pid)), [11, 12, 13, 14]) + children.reduce((all, stat) => all + sum(stat, [11, 12]), 0);
  return ticks / TICKS_A_SECOND;
}
