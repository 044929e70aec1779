/**
 * Sends many new deliveries that are handled. Measures the memory in each tenth of them, latencies, rows, the size of
 * the write-ahead log, and the number of flushes.
 */

import { existsSync, readFileSync, statSync } from 'node:fs';
import { createHistogram } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { notification, startLoad } from './deliveries.ts';
import { fsyncCounter } from './fsyncs.ts';
import { openFolder, type ReceiverSetup, type Store, startReceiverProcess } from './receiver-process.ts';
import { isSettled, query, unsettled, waitUntil } from './stored-state.ts';

export interface SoakResult {
  readonly store: string;
  readonly deliveries: number;
  readonly acknowledged: number;
  readonly rows: number;
  /** Number of notifications that were handled at the first attempt. */
  readonly handled: number;
  readonly seconds: number;
  /** Time from the last answer until everything was handled, in seconds. */
  readonly workedOffSeconds: number;
  /** Number of notifications that were waiting for a handler when the last answer arrived. */
  readonly backlog: number;
  /** The resident set of the receiver in MB, the median of each tenth; the first begins after the warm-up. */
  readonly memory: readonly number[];
  /** Percentiles of the response time, in milliseconds. */
  readonly latency: Readonly<Record<'p50' | 'p90' | 'p99' | 'p99.9' | 'max', number>>;
  readonly cpuUs: number;
  readonly walMb: number;
  /** Commits per acknowledged notification, including those of its handler. Null if they could not be counted. */
  readonly commitsEach: number | null;
  readonly fsyncsEach: number | null;
}

interface SoakOptions {
  readonly store: Store;
  readonly setup: Omit<ReceiverSetup, 'inbox' | 'folder'>;
  readonly deliveries: number;
  readonly warmUp?: number;
  readonly connections?: number;
}

export async function soak(options: SoakOptions): Promise<SoakResult> {
  const { store, setup, deliveries, warmUp = 0, connections = 64 } = options;
  const { url: inbox, folder } = store;
  const tools = openFolder();
  const counter = store.name === 'SQLite' ? fsyncCounter(tools.path) : null;
  const env = { ...setup.env, ...counter?.env() };
  const receiver = await startReceiverProcess({ ...setup, inbox, folder, env });
  const watch = watchProcess(receiver.pid, inbox);
  const total = warmUp + deliveries;
  const histogram = createHistogram({ lowest: 1, highest: 60_000_000, figures: 3 });
  const memory: number[] = [];
  let [sent, answered, acknowledged, startedAt, cpuBefore] = [0, 0, 0, 0, 0];
  const onAnswer = (_: unknown, answer: { status: number; ms: number } | null) => {
    answered += 1;
    if (answer?.status === 200) acknowledged += 1;
    if (answered === warmUp || (warmUp === 0 && answered === 1)) {
      watch.memory();
      startedAt = performance.now();
      cpuBefore = cpuSeconds(receiver.pid);
    }
    if (answered <= warmUp) return;
    histogram.record(Math.max(1, Math.round((answer?.ms ?? 60_000) * 1000)));
    if (Math.floor(((answered - warmUp) * 10) / deliveries) > memory.length) memory.push(watch.memory());
  };
  const next = () => {
    if (sent === total) return null;
    sent += 1;
    return notification(`id-${sent}`, `t-${Math.floor(sent / 5)}`, 1_700_000_000 + sent);
  };
  await startLoad({ url: receiver.url, connections, next, onAnswer }).ended;
  const seconds = (performance.now() - startedAt) / 1000;
  const cpuUs = ((cpuSeconds(receiver.pid) - cpuBefore) * 1e6) / deliveries;
  const backlog = await unsettled(inbox);
  const lastAnswerAt = performance.now();
  await waitUntil('everything is handled', () => isSettled(inbox), 600_000, 500);
  const workedOffSeconds = (performance.now() - lastAnswerAt) / 1000;
  const [counted] = await query<{ rows: number | string; handled: number | string }>(
    inbox,
    `SELECT COUNT(*) AS rows,
            SUM(CASE WHEN state = 'done' AND attempts <= 1 THEN 1 ELSE 0 END) AS handled
       FROM hookproof_inbox`,
  );
  watch.stop();
  const { stderr, counts } = await receiver.end();
  tools.remove();
  const at = (percentile: number) => histogram.percentile(percentile) / 1000;
  return {
    store: store.name,
    deliveries: total,
    acknowledged,
    rows: Number(counted?.rows),
    handled: Number(counted?.handled),
    seconds,
    workedOffSeconds,
    backlog,
    memory,
    latency: { p50: at(50), p90: at(90), p99: at(99), 'p99.9': at(99.9), max: histogram.max / 1000 },
    cpuUs,
    walMb: watch.largestWal(),
    commitsEach: counts === null ? null : counts.commits / total,
    fsyncsEach: counter === null ? null : counter.read(stderr) / total,
  };
}

/** Samples the memory and the write-ahead log of a process, on Linux. */
interface Watch {
  /** Returns the resident set in MB: the median of the samples since the last call. */
  memory(): number;
  /** Returns the largest size of the write-ahead log of a SQLite file, in MB. */
  readonly largestWal: () => number;
  stop(): void;
}

const EVERY_MS = 50;
const MB = 1e6;

function watchProcess(pid: number, inbox: string): Watch {
  const wal = inbox.startsWith('file:') ? `${fileURLToPath(inbox)}-wal` : null;
  let samples: number[] = [];
  let largest = 0;
  const sample = () => {
    samples.push(residentSet(pid));
    if (wal !== null && existsSync(wal)) largest = Math.max(largest, statSync(wal).size / MB);
  };
  const timer = setInterval(sample, EVERY_MS);
  return {
    memory() {
      sample();
      const sorted = samples.toSorted((one, other) => one - other);
      samples = [];
      return sorted[Math.floor(sorted.length / 2)] ?? 0;
    },
    largestWal: () => largest,
    stop: () => clearInterval(timer),
  };
}

function residentSet(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return (Number(kilobytes) * 1024) / MB;
}

/** Returns the user and system time of a process so far, in seconds. */
function cpuSeconds(pid: number): number {
  // The name in parentheses may contain spaces.
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1')
    .replace(/^.*\) /s, '')
    .split(' ');
  const TICKS_PER_SECOND = 100;
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}
