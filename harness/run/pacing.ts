/** The pacing of a run across all lanes. It changes only through the methods of {@link RunPacing}. */

import type { Stop } from './facts.ts';
import { FailureGroups, Pace, Spacing } from './pace.ts';
import { TimeLeft } from './time-left.ts';

/**
 * Limits for the time spent waiting for missing answers, as multiples of the time limit for one delivery. At the first,
 * the lanes pause and doubtful checks are repeated alone. At the second, the run stops. An endpoint that never answers
 * forged deliveries shows this within a dozen checks; waiting for all of them would take an hour.
 */
const MAX_SILENCES_IN_PASS = 12;
const MAX_SILENCES = 30;

/**
 * After this many deliveries without an answer on kept connections, every delivery gets a new connection. The check of
 * kept connections reports the fault.
 */
const MAX_SILENT_WHEN_KEPT = 2;

/**
 * Maximum number of consecutive forgeries without a control between them. Lock-outs usually begin at ten, and
 * deliveries from several lanes arrive in a slightly different order.
 */
export const MAX_FORGED_IN_A_ROW = 6;

export class RunPacing {
  readonly pace: Pace;
  readonly spacing: Spacing;
  readonly failureGroups = new FailureGroups();
  readonly timeLeft: TimeLeft;
  readonly #timeoutMs: number;
  #isSerial: boolean;
  #waitedMs = 0;
  #forgedInARow = 0;
  #silentWhenKept = 0;
  #sharesControls = false;

  constructor(limits: {
    readonly timeoutMs: number;
    readonly concurrency: number;
    readonly intervalMs: number | null;
  }) {
    this.pace = new Pace(limits);
    this.spacing = new Spacing(limits.intervalMs);
    this.timeLeft = new TimeLeft(this.pace, limits.intervalMs);
    this.#timeoutMs = limits.timeoutMs;
    this.#isSerial = limits.concurrency === 1;
  }

  /**
   * Whether only one delivery is sent at a time. This is the case after a 429, and after an outage, so that the next
   * outage has a single suspect.
   */
  get isSerial(): boolean {
    return this.#isSerial;
  }

  /** Whether several checks may share the controls around them. */
  get sharesControls(): boolean {
    return this.#sharesControls;
  }

  /** Total time that deliveries have waited for answers that did not arrive, in milliseconds. */
  get waitedMs(): number {
    return this.#waitedMs;
  }

  /** Whether kept connections are avoided, because several deliveries got no answer on one but did on a new one. */
  get avoidsKeptConnections(): boolean {
    return this.#silentWhenKept >= MAX_SILENT_WHEN_KEPT;
  }

  /** Returns whether a pass over the queue has used up its time for missing answers. */
  isPassExhausted(waitedBeforeMs: number): boolean {
    return this.#waitedMs - waitedBeforeMs >= MAX_SILENCES_IN_PASS * this.#timeoutMs;
  }

  /** Returns the reason to stop if the run has waited too long for missing answers, or null. */
  silenceStop(): Stop | null {
    if (this.#waitedMs < MAX_SILENCES * this.#timeoutMs) return null;
    const seconds = Math.round(this.#waitedMs / 1000);
    return {
      code: 'silence',
      reason: `deliveries waited ${seconds} s in total for answers that did not arrive, so the rest was not sent`,
    };
  }

  /** Returns whether this many more forgeries would exceed {@link MAX_FORGED_IN_A_ROW}. */
  wouldLockOut(forged: number): boolean {
    return this.#forgedInARow + forged > MAX_FORGED_IN_A_ROW;
  }

  continueSerially(): void {
    this.#isSerial = true;
  }

  /** Undoes {@link continueSerially}. `wasSerial` is the value of {@link isSerial} before that call. */
  resumeConcurrency(wasSerial: boolean): void {
    this.#isSerial = wasSerial;
  }

  /** Starts the phase of the run in which checks are sent on all lanes. */
  startConcurrency(sharesControls: boolean): void {
    this.pace.startConcurrency();
    this.timeLeft.startTogether();
    this.#sharesControls = sharesControls;
  }

  recordControl(): void {
    this.#forgedInARow = 0;
  }

  recordForgeries(forged: number): void {
    this.#forgedInARow += forged;
  }

  /** Records how long a delivery waited without getting an answer, in milliseconds. */
  recordSilence(waitedMs: number): void {
    this.#waitedMs += waitedMs;
  }

  /** Records that a delivery got no answer on a kept connection but did on a new one. */
  recordSilenceWhenKept(): void {
    this.#silentWhenKept += 1;
  }
}
