/** One phase of load: so many connections for so long, and what came of it. */
import { createHistogram, performance } from 'node:perf_hooks';
import { openConnection } from './connection.ts';
import type { Requests } from './requests.ts';

export interface Phase {
  readonly port: number;
  readonly connections: number;
  /** How long requests are begun, in milliseconds. The last ones are still waited for. */
  readonly durationMs: number;
  /** The number of the request to begin with. Behind the last one comes the first again. */
  readonly from: number;
  /**
   * Whether to stay awake between answers, which takes a whole core. To wake another process is the dearest part of a
   * write in a virtual machine, and would be charged to the server.
   */
  readonly awake: boolean;
}

export interface PhaseResult {
  readonly count: number;
  /** From the first request to the last answer, in milliseconds. */
  readonly elapsedMs: number;
  /** The time from a request to its answer, in milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

/** Throws when an answer is anything but 200: what is refused is cheap, and would look fast. */
export async function runPhase(requests: Requests, phase: Phase): Promise<PhaseResult> {
  const latency = createHistogram();
  let next = phase.from;
  let count = 0;
  const start = performance.now();
  const end = start + phase.durationMs;
  let last = start;

  const take = () => requests.at(next++ % requests.count);
  const connection = async () => {
    let sentAt = performance.now();
    await openConnection(phase.port, take(), (status) => {
      if (status !== 200) throw new Error(`load: an answer of ${status}`);
      last = performance.now();
      latency.record(Math.max(1, Math.round((last - sentAt) * 1e6)));
      sentAt = last;
      count += 1;
      return last < end ? take() : undefined;
    });
  };
  const sleepless = phase.awake ? stayAwake() : undefined;
  await Promise.all(Array.from({ length: phase.connections }, connection));
  sleepless?.();
  return {
    count,
    elapsedMs: last - start,
    p50: latency.percentile(50) / 1e6,
    p99: latency.percentile(99) / 1e6,
  };
}

/** Keeps the event loop turning until the function that it gives is called. */
export function stayAwake(): () => void {
  let turn = setImmediate(function again() {
    turn = setImmediate(again);
  });
  return () => clearImmediate(turn);
}
