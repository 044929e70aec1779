/** Estimates the remaining time of a run. */

import { performance } from 'node:perf_hooks';
import type { Pace } from './pace.ts';

export interface CheckToSend {
  readonly id: string;
  readonly deliveries: number;
  /** Number of groups of deliveries. Each group waits for its answers. */
  readonly groups: number;
  /** Whether the check runs while no other delivery is in flight. */
  readonly isAlone: boolean;
}

/** Requests per delivery of a check, including controls. Exclusive checks share controls with more other checks. */
const WITH_CONTROLS = 1.35;
const WITH_CONTROLS_ALONE = 1.15;
/** Milliseconds that the harness itself spends on a request. */
const OWN_MS = 1;
/** Minimum number of finished deliveries (groups, for exclusive checks) from which to compute the pace of a phase. */
const MIN_DELIVERIES = 50;
const MIN_STEPS = 5;

/** What a check still has to send. */
interface Left {
  readonly phase: Phase;
  units: number;
  requests: number;
}

/** A phase of a run: the checks on all lanes, or the exclusive checks. Both counts are of deliveries or of groups. */
interface Phase {
  left: number;
  done: number;
  /** When the first deliveries of the phase were answered, on the clock of `performance.now()`. */
  sinceMs: number | null;
}

/** Returns the milliseconds per finished unit of a phase. Null if fewer than `least` units are finished. */
function observedMs({ done, sinceMs }: Phase, least: number): number | null {
  return sinceMs === null || done < least ? null : (performance.now() - sinceMs) / done;
}

/** Estimates the remaining time. It counts checks on all lanes in deliveries, and exclusive checks in groups. */
export class TimeLeft {
  readonly #pace: Pace;
  readonly #intervalMs: number;
  readonly #together: Phase = { left: 0, done: 0, sinceMs: null };
  readonly #alone: Phase = { left: 0, done: 0, sinceMs: null };
  readonly #open = new Map<string, Left>();
  #requests = 0;
  #hasBegun = false;

  constructor(pace: Pace, intervalMs: number | null) {
    this.#pace = pace;
    this.#intervalMs = intervalMs ?? 0;
  }

  /** Adds the checks of the run. Called after the first delivery. */
  begin(checks: readonly CheckToSend[]): void {
    this.#hasBegun = true;
    for (const { id, deliveries, groups, isAlone } of checks) {
      const phase = isAlone ? this.#alone : this.#together;
      const units = isAlone ? groups : deliveries;
      this.#open.set(id, { phase, units, requests: deliveries });
      phase.left += units;
      this.#requests += deliveries;
    }
  }

  /** Records that checks are sent on all lanes from now on. */
  startTogether(): void {
    Object.assign(this.#together, { done: 0, sinceMs: performance.now() });
  }

  /** Records that a group of deliveries of a check was sent and answered. */
  recordGroup(id: string, deliveries: number): void {
    const check = this.#open.get(id);
    if (check === undefined) return;
    const { phase } = check;
    const units = phase === this.#alone ? 1 : deliveries;
    if (phase.sinceMs === null) phase.sinceMs = performance.now();
    else phase.done += units;
    this.#take(check, units, deliveries);
  }

  /** Records that a check sends nothing more. */
  recordEnd(id: string): void {
    const check = this.#open.get(id);
    if (check !== undefined) this.#take(check, check.units, check.requests);
  }

  /**
   * Estimates the milliseconds until the last answer from the pace so far. Null before {@link begin} or before the
   * first answer.
   */
  leftMs(isSerial: boolean): number | null {
    const answers = this.#pace.estimateAnswers();
    if (answers === null || !this.#hasBegun) return null;
    const width = isSerial ? 1 : answers.width;
    const each = observedMs(this.#together, MIN_DELIVERIES) ?? WITH_CONTROLS * (answers.ms / width + OWN_MS);
    const eachAlone = observedMs(this.#alone, MIN_STEPS) ?? WITH_CONTROLS_ALONE * (answers.aloneMs + OWN_MS);
    const ms = this.#together.left * each + this.#alone.left * eachAlone;
    return Math.max(ms, this.#requests * WITH_CONTROLS * this.#intervalMs);
  }

  #take(check: Left, units: number, sent: number): void {
    check.phase.left -= Math.min(check.units, units);
    this.#requests -= Math.min(check.requests, sent);
    check.units -= Math.min(check.units, units);
    check.requests -= Math.min(check.requests, sent);
  }
}
