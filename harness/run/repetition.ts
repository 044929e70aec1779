/** Decides whether to repeat a delivery that was answered with 429 or 503. */

import { performance } from 'node:perf_hooks';
import { type Attempt, type StatedLimit, statedLimit } from '../transport/index.ts';
import type { RunContext } from './context.ts';

const MAX_REPEATS = 3;
const MAX_PAUSE_MS = 5000;
/**
 * Length of a rate limit as a multiple of the recovery time. Most rate limits are per minute, and with the default
 * recovery time of 10 s, this is 65 s.
 */
const RECOVERIES_PER_RATE_WINDOW = 6.5;

/** Returns how long the run waits for the end of a rate limit, in milliseconds. */
export function rateWindowMs({ limits }: Pick<RunContext, 'limits'>): number {
  return limits.recoveryMs * RECOVERIES_PER_RATE_WINDOW;
}

export interface RepetitionOptions {
  /** Whether to accept 429 and 503 as the answer. Otherwise the delivery is repeated. */
  readonly once?: boolean;
  /** Whether to wait only briefly for the end of a rate limit, because the check is about rate limits. */
  readonly meetsLimits?: boolean;
  /** Whether to accept a 503 as the answer. */
  readonly is503Answer?: boolean;
}

/**
 * Decides whether to repeat a delivery. A 503 counts as a rate limit only if the identical request gets another status
 * later; otherwise it is the answer. Once several deliveries received only 503, repetitions follow without a pause. If
 * a 429 says when the limit ends, the run waits for it, unless this would take too long.
 */
export class Repetition {
  readonly #context: RunContext;
  readonly #options: RepetitionOptions;
  #turn = 0;
  #was503 = false;
  #waitedMs = 0;

  constructor(context: RunContext, options: RepetitionOptions) {
    this.#context = context;
    this.#options = options;
  }

  /**
   * Records an attempt. Returns the pause before the next one in milliseconds, or null if this attempt is the result.
   */
  pauseMsAfter(attempt: Attempt): number | null {
    const { throttling } = this.#context.facts;
    const status = attempt.answer?.status;
    const is503 = status === 503 && this.#options.is503Answer !== true;
    if (status !== undefined) {
      if (this.#was503 && status !== 503) {
        throttling.record503(true);
        this.#continueSerially(503);
      }
      throttling.recordStatus(status);
    }
    if (attempt.answer === null || this.#options.once === true || (status !== 429 && !is503)) return null;
    const stated = statedLimit(attempt.answer.headers, Date.now());
    // The stated end may have passed although the limit is still in force.
    const wantedMs = Math.max(stated.endsInMs ?? 0, this.#context.limits.backoffMs * 2 ** this.#turn);
    const isLast = this.#turn === MAX_REPEATS || this.#context.signal.aborted;
    const pauseMs = is503 ? this.#pauseMsAfter503(attempt, wantedMs, isLast) : this.#pauseMsAfter429(stated, wantedMs);
    if (isLast || pauseMs === null) return null;
    if (pauseMs > MAX_PAUSE_MS) this.#reportWait(pauseMs);
    this.#turn += 1;
    this.#waitedMs += pauseMs;
    return pauseMs;
  }

  #pauseMsAfter429(stated: StatedLimit, wantedMs: number): number | null {
    const { throttling } = this.#context.facts;
    const { waitedMs } = throttling.recordLimit(stated, this.#waitedMs);
    this.#continueSerially(429);
    if (this.#options.meetsLimits !== true && this.#endsTooLate(waitedMs, wantedMs)) throttling.recordFinalLimit();
    if (throttling.limit?.isFinal === true) return null;
    return this.#options.meetsLimits === true ? Math.min(wantedMs, MAX_PAUSE_MS) : wantedMs;
  }

  #pauseMsAfter503({ timings }: Attempt, wantedMs: number, isLast: boolean): number | null {
    const { throttling } = this.#context.facts;
    this.#was503 = true;
    const isSlow = this.#turn > 0 && timings.totalMs > MAX_PAUSE_MS;
    if (isLast || isSlow) throttling.record503(false);
    if (isSlow) return null;
    return throttling.is503Constant ? 0 : Math.min(wantedMs, MAX_PAUSE_MS);
  }

  /** Returns whether a limit ends later than most rate limits do, or after the run. */
  #endsTooLate(waitedMs: number, pauseMs: number): boolean {
    const windowMs = Math.max(MAX_PAUSE_MS, rateWindowMs(this.#context));
    return pauseMs > Math.min(windowMs, this.#context.endsAtMs - performance.now()) || waitedMs >= windowMs;
  }

  #reportWait(ms: number): void {
    if (!this.#context.facts.throttling.takeWaitReport()) return;
    const message = `the endpoint limits deliveries: waiting ${Math.ceil(ms / 1000)} s for the limit to end`;
    this.#context.emit({ type: 'notice', message });
  }

  #continueSerially(status: number): void {
    const { pacing, emit } = this.#context;
    if (!pacing.isSerial) {
      const message = `the endpoint answered ${status}: continuing with one delivery at a time`;
      emit({ type: 'notice', message });
    }
    pacing.continueSerially();
  }
}
