/**
 * Tracks the effects of what a run delivered. Because effects are asynchronous, the window is polled until every
 * accepted notification has been handled, or until a deadline. After a pause in which a second handling would have
 * appeared, the window is queried once more.
 */
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { EffectsAnswer } from '../../contract/effects.ts';
import type { EffectsAudit } from '../../scenarios/index.ts';
import { EffectsLedger, NOT_SENT_ID, type SeenEffects, type TrackedDelivery } from './ledger.ts';
import { askForAll, type EffectsWindow, WindowProblem } from './window.ts';

interface TrackerOptions {
  /** Maximum time, in milliseconds, until an accepted notification must be handled. */
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
  readonly now?: () => number;
}

const FIRST_PAUSE_MS = 20;
const MAX_PAUSE_MS = 500;
const longerPause = (pauseMs: number) => Math.min(pauseMs * 1.5, MAX_PAUSE_MS);
/** Minimum wait for a second handling, in milliseconds. */
const MIN_QUIET_MS = 100;
/** After this many failed queries in a row, the window counts as unavailable. */
const MAX_FAILURES = 3;

/**
 * Queries the window once, and creates the tracker.
 *
 * @throws WindowProblem if the window does not answer; nothing should be sent then
 */
export async function trackEffects(window: EffectsWindow, options: TrackerOptions): Promise<EffectsTracker> {
  const { total } = await window.ask({ notifications: [NOT_SENT_ID] });
  return new EffectsTracker(window, total, { now: performance.now.bind(performance), ...options });
}

export class EffectsTracker {
  readonly #window: EffectsWindow;
  readonly #options: Required<TrackerOptions>;
  readonly #ledger: EffectsLedger;
  /** Ids of the notifications whose effects are judged. They are polled during the run. */
  readonly #expected = new Set<string>();
  /** Polling stops when {@link settle} begins, because it queries the window itself. */
  #phase: 'running' | 'settling' | 'closed' = 'running';
  #isPolling = false;
  #pollPauseMs = FIRST_PAUSE_MS;
  /** The result of the last {@link settle}. */
  #problem: WindowProblem | null = null;

  constructor(window: EffectsWindow, total: number, options: Required<TrackerOptions>) {
    this.#window = window;
    this.#options = options;
    this.#ledger = new EffectsLedger(total, options.now);
  }

  /** Records a delivery of the run. */
  record(delivery: TrackedDelivery): void {
    this.#ledger.record(delivery);
  }

  /** Declares that the effect of a notification will be judged, and starts to poll for it. */
  expect(id: string): void {
    this.#ledger.await(id);
    this.#expected.add(id);
    this.#pollPauseMs = FIRST_PAUSE_MS;
    void this.#poll();
  }

  /** Resolves when these notifications have been handled, or at the deadline. */
  async waitUntilHandled(ids: readonly string[]): Promise<void> {
    const until = this.#options.now() + this.#options.deadlineMs;
    while (ids.some((id) => this.#ledger.isOpen(id)) && this.#options.now() < until && !this.#options.signal.aborted) {
      await this.#pause(FIRST_PAUSE_MS, { ref: false });
    }
  }

  /**
   * Waits until all expected and accepted notifications have been handled, or until the deadline. Then waits again, as
   * long as the slowest handling took, for second handlings. After a restart, always waits until the deadline: when a
   * lease ends, a receiver repeats the work that was interrupted.
   *
   * @returns why the window gave no answer; null if it did
   */
  async settle({ isAfterRestart = false }: { readonly isAfterRestart?: boolean } = {}): Promise<WindowProblem | null> {
    this.#phase = 'settling';
    const startedAt = this.#options.now();
    const until = startedAt + this.#options.deadlineMs;
    this.#problem = await this.#retry(() => this.#queryOpen(until));
    if (this.#problem === null) {
      await this.#pause(Math.max(this.#quietMs(startedAt), isAfterRestart ? until - this.#options.now() : 0));
      this.#problem = await this.#retry(() => this.#query(this.#ledger.idsToQuery));
    }
    if (this.#phase === 'settling') this.#phase = 'running';
    return this.#problem;
  }

  /** Returns what the window has shown about a notification up to the last {@link settle}. */
  effectsOf(id: string): SeenEffects {
    return this.#ledger.effectsOf(id);
  }

  async currentOf(transaction: string): Promise<EffectsAnswer['current']> {
    return (await this.#window.ask({ transaction })).current;
  }

  audit(): EffectsAudit {
    return this.#ledger.audit(this.#problem);
  }

  close(): void {
    this.#phase = 'closed';
    this.#window.close();
  }

  /**
   * Polls during the run, in order to measure how long each handling takes. After a failed query, polling continues.
   */
  async #poll(): Promise<void> {
    if (this.#isPolling) return;
    this.#isPolling = true;
    while (this.#phase === 'running' && !this.#options.signal.aborted) {
      const open = [...this.#expected].filter((id) => this.#ledger.isOpen(id));
      if (open.length === 0) break;
      await this.#query(open).catch(() => {});
      await this.#pause(this.#pollPauseMs, { ref: false });
      this.#pollPauseMs = longerPause(this.#pollPauseMs);
    }
    this.#isPolling = false;
  }

  /** Repeats a query until it is done, has failed several times in a row, or the run is interrupted. */
  async #retry(isDone: () => Promise<boolean>): Promise<WindowProblem | null> {
    let failures = 0;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = longerPause(pauseMs)) {
      if (this.#options.signal.aborted) return new WindowProblem('the run was interrupted', '');
      try {
        if (await isDone()) return null;
        failures = 0;
      } catch (error) {
        failures += 1;
        if (failures === MAX_FAILURES) {
          return error instanceof WindowProblem ? error : new WindowProblem(`${error}`, '');
        }
      }
      await this.#pause(pauseMs);
    }
  }

  /** Queries the notifications that have not been handled yet. Returns true if all are handled or the time is up. */
  async #queryOpen(until: number): Promise<boolean> {
    const { open } = this.#ledger;
    if (open.length > 0) await this.#query(open);
    return !open.some((id) => this.#ledger.isOpen(id)) || this.#options.now() >= until;
  }

  /** @throws WindowProblem if the window gives no valid answer, or shows less than before */
  async #query(ids: readonly string[]): Promise<true> {
    const { total } = this.#ledger;
    this.#ledger.update(ids, await askForAll(this.#window, ids), total);
    return true;
  }

  /** Returns how long to wait for a second handling, in milliseconds: as long as the slowest first one took. */
  #quietMs(startedAt: number): number {
    // A notification that was not polled during the run may have been handled long before the window was queried.
    const sinceOf = (id: string) => (this.#expected.has(id) ? 0 : startedAt);
    const slowest = Math.max(
      0,
      ...this.#ledger.idsToQuery.map((id) => this.#ledger.effectsOf(id, sinceOf(id)).tookMs ?? 0),
    );
    return Math.min(this.#options.deadlineMs, Math.max(MIN_QUIET_MS, slowest));
  }

  async #pause(ms: number, options: { readonly ref?: boolean } = {}): Promise<void> {
    await delay(ms, undefined, { ...options, signal: this.#options.signal }).catch(() => {});
  }
}
