/**
 * What every client of the benchmark does: it keeps 64 deliveries in flight for as long as it is told to, and says what
 * that took.
 */
import { performance } from 'node:perf_hooks';

export const IN_FLIGHT = 64;
export const URL_TO = process.env.BENCH_URL ?? '';
export const SECRET = process.env.BENCH_SECRET ?? '';
export const API_KEY = process.env.BENCH_API_KEY ?? '';

/** Starts the delivery with this number, and calls `done` with the status once the whole answer is there. */
export type Deliver = (number: number, done: (status: number) => void) => void;

export interface ClientPhase {
  readonly durationMs: number;
}

export interface ClientResult {
  readonly count: number;
  readonly elapsedMs: number;
  /** User and system time of the whole process, in microseconds. */
  readonly cpuUs: number;
}

export function runClient(deliver: Deliver): void {
  let next = 0;
  process.on('message', ({ durationMs }: ClientPhase) => {
    const before = process.cpuUsage();
    const start = performance.now();
    const end = start + durationMs;
    let count = 0;
    let inFlight = IN_FLIGHT;
    const one = () => deliver(next++, over);
    const over = (status: number) => {
      if (status !== 200) throw new Error(`client: an answer of ${status}`);
      count += 1;
      const now = performance.now();
      if (now < end) return one();
      inFlight -= 1;
      if (inFlight > 0) return;
      const { user, system } = process.cpuUsage(before);
      const result: ClientResult = { count, elapsedMs: now - start, cpuUs: user + system };
      process.send?.(result);
    };
    for (let started = 0; started < IN_FLIGHT; started++) one();
  });
  process.on('disconnect', () => process.exit());
  process.send?.('ready');
}
