/** Collects what 429 and 503 answers show about the endpoint, across all lanes. */

import type { StatedLimit } from '../transport/index.ts';

/** After this many deliveries that got 503 again when repeated, a 503 no longer counts as a rate limit. */
const MAX_PAUSED_503 = 3;

/** A rate limit that the endpoint has reached. */
export interface RateLimit {
  /** Number of requests that were answered with another status before the limit was reached. */
  readonly answered: number;
  readonly stated: StatedLimit;
  /** The longest time that one delivery has waited for the limit to end, in milliseconds. */
  readonly waitedMs: number;
  /** Whether the limit ends too late to wait for it. */
  readonly isFinal: boolean;
}

export class Throttling {
  #answered = 0;
  #limit: RateLimit | null = null;
  #isWaitReported = false;
  #isLimitedBy503 = false;
  #constant503 = 0;
  readonly #turnedAway = { 429: 0, 503: 0 };

  /** The rate limit while the endpoint answers 429 to everything, otherwise null. */
  get limit(): RateLimit | null {
    return this.#limit;
  }

  /** Number of answers with 429 and with 503, including those to deliveries that were then repeated. */
  get turnedAway(): Readonly<Record<429 | 503, number>> {
    return this.#turnedAway;
  }

  /**
   * Whether it is useless to pause before repeating a delivery that got 503, because repeated deliveries got 503 as
   * well.
   */
  get is503Constant(): boolean {
    return !this.#isLimitedBy503 && this.#constant503 >= MAX_PAUSED_503;
  }

  recordStatus(status: number): void {
    if (status === 429 || status === 503) this.#turnedAway[status] += 1;
    if (status === 429) return;
    this.#answered += 1;
    this.#limit = null;
  }

  /** Records a 429 for a delivery that has already waited for this time, in milliseconds. */
  recordLimit(stated: StatedLimit, waitedMs: number): RateLimit {
    if (this.#limit === null) this.#isWaitReported = false;
    const limit = this.#limit ?? { answered: this.#answered, stated, waitedMs, isFinal: false };
    this.#limit = { ...limit, waitedMs: Math.max(limit.waitedMs, waitedMs) };
    return this.#limit;
  }

  /** Records that the limit ends too late to wait for it. */
  recordFinalLimit(): void {
    if (this.#limit !== null) this.#limit = { ...this.#limit, isFinal: true };
  }

  /**
   * Returns whether to report the wait for the limit. True only for the first call after a limit was reached, on any
   * lane.
   */
  takeWaitReport(): boolean {
    const isFirst = !this.#isWaitReported;
    this.#isWaitReported = true;
    return isFirst;
  }

  /** Records a delivery that first got 503. `hasEnded` is true if it later got another status. */
  record503(hasEnded: boolean): void {
    if (hasEnded) this.#isLimitedBy503 = true;
    else this.#constant503 += 1;
  }
}
