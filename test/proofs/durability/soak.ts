/**
 * Many deliveries in a row, all new, with handlers that work them off: memory at each tenth, latencies, rows, the
 * write-ahead log, and how often the disk was waited for.
 */
import { createHistogram } from 'node:perf_hooks';
import { fsyncCounter } from './count-fsyncs.ts';
import { notification, startLoad } from './deliveries.ts';
import { isSettled, query, unsettled, until } from './from-outside.ts';
import { openFolder, type ReceiverSetup, startReceiverProcess } from './receiver-process.ts';
import type { Store } from './stores.ts';
import { cpuSeconds, watchProcess } from './watch-process.ts';

export interface SoakResult {
  readonly store: string;
  readonly deliveries: number;
  readonly acknowledged: number;
  readonly rows: number;
  /** Distinct ids that were handled to the end, and runs of handlers. */
  readonly handled: number;
  readonly seconds: number;
  /** From the last answer until nothing was left to handle. */
  readonly workedOffSeconds: number;
  /** Waiting for a handler when the last answer came. */
  readonly backlog: number;
  /** Of the receiver, the median of each tenth, in MB. The first is after the warm-up. */
  readonly memory: readonly number[];
  /** In milliseconds. */
  readonly latency: Readonly<Record<'p50' | 'p90' | 'p99' | 'p99.9' | 'max', number>>;
  readonly cpuUs: number;
  readonly walMb: number;
  /** Of acknowledged notifications; what handlers cost is in it. Null where they could not be counted. */
  readonly commitsEach: number | null;
  readonly fsyncsEach: number | null;
}

export interface SoakOptions {
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
  const told = (_: unknown, answer: { status: number; ms: number } | null) => {
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
  await startLoad({ url: receiver.url, connections, next, told }).ended;
  const seconds = (performance.now() - startedAt) / 1000;
  const cpuUs = ((cpuSeconds(receiver.pid) - cpuBefore) * 1e6) / deliveries;
  const backlog = await unsettled(inbox);
  const lastAnswerAt = performance.now();
  await until('everything is handled', () => isSettled(inbox), 600_000, 500);
  const workedOffSeconds = (performance.now() - lastAnswerAt) / 1000;
  const [counted] = await query<{ rows: number | string; handled: number | string }>(
    inbox,
    "SELECT COUNT(*) AS rows, SUM(CASE WHEN state = 'done' AND attempts <= 1 THEN 1 ELSE 0 END) AS handled FROM hookproof_inbox",
  );
  watch.stop();
  const { words, counts } = await receiver.end();
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
    fsyncsEach: counter === null ? null : counter.read(words) / total,
  };
}
