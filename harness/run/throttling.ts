/** What the answers 429 and 503 have shown so far, on all lanes together. */

import type { StatedLimit } from '../transport/index.ts';

/** After this many deliveries that still get 503 when they are repeated, it is not a rate limit. */
const MAX_PAUSED_503 = 3;

/** A rate limit that the endpoint has reached. */
export interface RateLimit {
  /** Requests that were answered before it. */
  readonly answered: number;
  readonly stated: StatedLimit;
  /** Maximum time in milliseconds that one delivery has waited for its end. */
  readonly waitedMs: number;
  /** Whether it ends too late to wait for. */
  readonly isFinal: boolean;
}

export class Throttling {
  #answered = 0;
  #limit: RateLimit | null = null;
  #isWaitReported = false;
  #isLimitedBy503 = false;
  #constant503 = 0;
  readonly #turnedAway = { 429: 0, 503: 0 };

  /** The limit while the endpoint answers 429 to everything, otherwise null. */
  get limit(): RateLimit | null {
    return this.#limit;
  }

  /** How many answers were 429 and 503, including those to deliveries that were repeated. */
  get turnedAway(): Readonly<Record<429 | 503, number>> {
    return this.#turnedAway;
  }

  /** Whether a pause before a delivery with 503 is repeated is useless: repeated deliveries get 503 as well. */
  get is503Constant(): boolean {
    return !this.#isLimitedBy503 && this.#constant503 >= MAX_PAUSED_503;
  }

  recordStatus(status: number): void {
    if (status === 429 || status === 503) this.#turnedAway[status] += 1;
    if (status === 429) return;
    this.#answered += 1;
    this.#limit = null;
  }

  /** Records a 429 to a delivery that has waited for this time already. */
  recordLimit(stated: StatedLimit, waitedMs: number): RateLimit {
    if (this.#limit === null) this.#isWaitReported = false;
    const limit = this.#limit ?? { answered: this.#answered, stated, waitedMs, isFinal: false };
    this.#limit = { ...limit, waitedMs: Math.max(limit.waitedMs, waitedMs) };
    return this.#limit;
  }

  /** Records that the limit ends too late to wait for. */
  recordFinalLimit(): void {
    if (this.#limit !== null) this.#limit = { ...this.#limit, isFinal: true };
  }

  /** Returns whether the wait for the limit is to be reported, which it is once for all lanes. */
  takeWaitReport(): boolean {
    const isFirst = !this.#isWaitReported;
    this.#isWaitReported = true;
    return isFirst;
  }

  /** Records a delivery that got 503 at first, and whether it got another status later. */
  record503(hasEnded: boolean): void {
    if (hasEnded) this.#isLimitedBy503 = true;
    else this.#constant503 += 1;
  }
}
