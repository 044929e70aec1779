/** Measures the cost of a process and its children: time, processor time and peak memory, from /proc (Linux). */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { median } from '../bench/rounds.ts';

export interface Cost {
  readonly wallMs: number;
  /** User and system time of the process and its children. */
  readonly cpuMs: number;
  /** Peak of their total resident memory. Shared pages count for each process. */
  readonly peakMb: number;
}

const SAMPLE_MS = 100;
/** Milliseconds of a clock tick in /proc/PID/stat. */
const TICK_MS = 10;
/** Number of characters of the end of the output that an error shows. */
const SHOWN_OUTPUT = 2_000;

/** Runs a program with Node and measures it. Throws if its exit code is not one of `exits`. */
export async function measureProgram(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  exits: readonly number[] = [0],
): Promise<Cost> {
  const waitedBefore = waitedCpuMs();
  const startedAt = performance.now();
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let output = '';
  child.stderr.on('data', (data) => {
    output = (output + data).slice(-SHOWN_OUTPUT);
  });
  const cpuOfEach = new Map<number, number>();
  let peakMb = 0;
  const sample = () => {
    const pids = withChildren(child.pid ?? 0);
    for (const pid of pids) cpuOfEach.set(pid, Math.max(cpuOfEach.get(pid) ?? 0, cpuMsOf(pid)));
    const [only, ...others] = pids;
    // The kernel records the peak of one process. The peak of several can only be sampled.
    const mb = others.length === 0 ? memoryMb(only ?? 0, 'VmHWM') : pids.reduce((sum, pid) => sum + memoryMb(pid), 0);
    peakMb = Math.max(peakMb, mb);
  };
  sample();
  const timer = setInterval(sample, SAMPLE_MS);
  const [code] = (await once(child, 'exit')) as [number | null];
  clearInterval(timer);
  const wallMs = performance.now() - startedAt;
  if (code === null || !exits.includes(code)) throw new Error(`${args.join(' ')} exited with ${code}: ${output}`);
  // Both are lower bounds: samples miss the last moments, and the other value misses children that were not waited for.
  const sampledMs = [...cpuOfEach.values()].reduce((sum, ms) => sum + ms, 0);
  return { wallMs, cpuMs: Math.max(sampledMs, waitedCpuMs() - waitedBefore), peakMb };
}

/** Returns the medians of several measurements of the same thing. */
export function medianCost(costs: readonly Cost[]): Cost {
  const of = (field: keyof Cost) => median(costs.map((cost) => cost[field]));
  return { wallMs: of('wallMs'), cpuMs: of('cpuMs'), peakMb: of('peakMb') };
}

/** Returns the user and system time of a running process, without its children, in milliseconds. 0 if it has ended. */
export function cpuMsOf(pid: number): number {
  const [user, system] = timesIn(`/proc/${pid}/stat`);
  return (user + system) * TICK_MS;
}

/** Returns the processor time of all ended child processes of this process. */
function waitedCpuMs(): number {
  const [, , user, system] = timesIn('/proc/self/stat');
  return (user + system) * TICK_MS;
}

/** Returns utime, stime, cutime and cstime, in clock ticks. */
function timesIn(file: string): [number, number, number, number] {
  const text = read(file);
  // The name of the program, in parentheses, may contain spaces.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const field = (at: number) => Number(fields[at] ?? 0);
  return [field(11), field(12), field(13), field(14)];
}

function withChildren(pid: number): number[] {
  const children = read(`/proc/${pid}/task/${pid}/children`).trim();
  return [pid, ...(children === '' ? [] : children.split(' ').map(Number))];
}

function memoryMb(pid: number, field: 'VmRSS' | 'VmHWM' = 'VmRSS'): number {
  const kilobytes = new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(read(`/proc/${pid}/status`))?.[1];
  return (Number(kilobytes ?? 0) * 1024) / 1e6;
}

/** Returns the text of a file in /proc. Empty if the process has ended. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
