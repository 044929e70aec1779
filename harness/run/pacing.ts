/** The state that paces a run on all lanes together. Only its methods change it. */

import type { Stop } from './facts.ts';
import { FailureGroups, Pace, Spacing } from './pace.ts';
import { TimeLeft } from './time-left.ts';

/**
 * Deliveries without an answer, counted in time limits, after which the lanes pause to try the doubtful checks alone,
 * and after which the run stops. An endpoint that never answers a forged delivery shows it in a dozen checks; waiting
 * for all of them would take an hour.
 */
const MAX_SILENCES_IN_PASS = 12;
const MAX_SILENCES = 30;

/** Number of silences after which each delivery gets a new connection. A check of kept connections reports it. */
const MAX_SILENT_WHEN_KEPT = 2;

/** Usual lock-outs begin at ten, and deliveries on several lanes do not arrive exactly in the order they were sent. */
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

  /** Whether one delivery is sent at a time: after an outage, so that the next one has a single suspect, or a 429. */
  get isSerial(): boolean {
    return this.#isSerial;
  }

  /** Whether several checks may share the controls around them. */
  get sharesControls(): boolean {
    return this.#sharesControls;
  }

  /** Milliseconds that deliveries waited for answers that did not arrive. */
  get waitedMs(): number {
    return this.#waitedMs;
  }

  /** Whether kept connections are not used: deliveries got no answer on one, but did on a new one. */
  get avoidsKeptConnections(): boolean {
    return this.#silentWhenKept >= MAX_SILENT_WHEN_KEPT;
  }

  /** Whether a pass over the queue has waited long enough for answers. */
  isPassExhausted(waitedBeforeMs: number): boolean {
    return this.#waitedMs - waitedBeforeMs >= MAX_SILENCES_IN_PASS * this.#timeoutMs;
  }

  /** The reason to stop when the run has waited too long for answers, otherwise null. */
  silenceStop(): Stop | null {
    if (this.#waitedMs < MAX_SILENCES * this.#timeoutMs) return null;
    const seconds = Math.round(this.#waitedMs / 1000);
    return {
      code: 'silence',
      reason: `deliveries waited ${seconds} s in total for answers that did not arrive, so the rest was not sent`,
    };
  }

  /** Whether these forgeries would be too many in a row without a plain valid delivery before them. */
  wouldLockOut(forged: number): boolean {
    return this.#forgedInARow + forged > MAX_FORGED_IN_A_ROW;
  }

  continueSerially(): void {
    this.#isSerial = true;
  }

  /** Ends the serial part that {@link continueSerially} began, unless the run was serial before. */
  resumeConcurrency(wasSerial: boolean): void {
    this.#isSerial = wasSerial;
  }

  /** Begins the part of the run in which checks are sent on all lanes. */
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

  /** Records the wait of a delivery that got no answer. */
  recordSilence(waitedMs: number): void {
    this.#waitedMs += waitedMs;
  }

  /** Records that a delivery got no answer on a kept connection, but did on a new one. */
  recordSilenceWhenKept(): void {
    this.#silentWhenKept += 1;
  }
}
