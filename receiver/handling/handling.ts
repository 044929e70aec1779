/**
 * Runs the handlers: claims due entries from the inbox, a limited number at a time, and writes the results. An error in
 * a handler never ends the process. Entries that were being handled when the process died are claimed again.
 */
import { setMaxListeners } from 'node:events';
import type { ReceivedNotification } from '../../contract/index.ts';
import { type ClaimedEntry, type Inbox, type InboxMeter, type Settlement, silentMeter } from '../inbox/inbox.ts';
import { errorFields, type ReceiverLogger } from '../logger.ts';
import { describeThrown, handleEntry } from './handle-entry.ts';
import type { Handlers, HandlingPolicy } from './handlers.ts';

interface HandlingConfig {
  readonly handlers: Handlers;
  readonly inbox: Inbox;
  readonly logger: ReceiverLogger;
  readonly handling: HandlingPolicy;
  readonly meter?: InboxMeter;
}

export class Handling {
  readonly #config: HandlingConfig;
  readonly #outages: OutageLog;
  /** The claimed entries that are being handled, each with a promise that resolves at its end. */
  readonly #running = new Map<ClaimedEntry, Promise<void>>();
  /** Provides the signal of every handler. */
  readonly #stopping = new AbortController();
  /** Renews the leases, if the inbox is durable. */
  readonly #leaseTimer: NodeJS.Timeout | undefined;
  #isRenewing = false;
  #isStopped: boolean;
  /** True from a call of {@link wake} until the next claim begins. */
  #wasWoken = false;
  #isClaimScheduled = false;
  #claiming: Promise<void> | undefined;
  #nextClaim: NodeJS.Timeout | undefined;
  #onSettled: (() => void)[] = [];

  /**
   * With a durable inbox, recovers the entries of receivers that are gone, and begins to claim entries. Without
   * handlers, it never claims any.
   */
  constructor(config: HandlingConfig) {
    const { handlers, inbox, logger, handling: policy } = config;
    this.#config = config;
    this.#outages = new OutageLog(logger);
    this.#isStopped = Object.keys(handlers).length === 0;
    // Every running handler adds a listener.
    setMaxListeners(0, this.#stopping.signal);
    if (this.#isStopped || !inbox.durable) return;
    this.#leaseTimer = setInterval(() => this.#renewLeases(), Math.ceil(policy.leaseMs / 3)).unref();
    void this.#renewLeases().then(() => this.wake());
  }

  /**
   * Decides how a notification is stored: whether it must be handled, and how long it may wait for another
   * notification.
   */
  plan({ kind }: ReceivedNotification): { readonly handle: boolean; readonly waitMs?: number } {
    const { handlers, handling: policy } = this.#config;
    // A SELL is processed even without a handler for CAAS_SELL, because a REFUND depends on the progress of a failed
    // SELL.
    const handle = handlers[kind] !== undefined || (kind === 'CAAS_SELL' && handlers.REFUND !== undefined);
    return kind === 'REFUND' && handle ? { handle, waitMs: policy.refundWaitMs } : { handle };
  }

  /**
   * Schedules a claim. Call this after storing a notification. All calls in one turn of the event loop cause one claim.
   */
  wake(): void {
    this.#wasWoken = true;
    if (this.#isClaimScheduled || this.#isStopped || this.#claiming !== undefined) return;
    this.#isClaimScheduled = true;
    setImmediate(() => {
      this.#isClaimScheduled = false;
      this.#claiming = this.#claimEntries().then((hasMore) => {
        this.#claiming = undefined;
        // A notification may have been stored after the claim read the inbox. When all slots are taken, the end of a
        // handler calls `wake` again.
        const mayClaim = !this.#outages.includes('inbox-failed') && this.#freeSlots > 0;
        if (hasMore || (this.#wasWoken && mayClaim)) this.wake();
      });
    });
  }

  /** Resolves when no entry is due and no handler is running. */
  settled(): Promise<void> {
    if (this.#isStopped) return this.#waitForHandlers();
    return new Promise((resolve) => {
      this.#onSettled.push(resolve);
      this.wake();
    });
  }

  /**
   * Claims no more entries, and resolves when the running handlers have ended, or after `timeoutMs` milliseconds.
   * Shortly before that, the signals of the remaining handlers are aborted. A durable inbox keeps its waiting entries.
   * Entries in memory would be lost, so those that are due are still handled.
   */
  async stop(timeoutMs: number): Promise<void> {
    const { durable } = this.#config.inbox;
    const graceMs = Math.min(1000, timeoutMs / 10);
    const deadline = performance.now() + timeoutMs - graceMs;
    if (!durable && !this.#isStopped) await waitAtMost(timeoutMs - graceMs, this.settled());
    this.#isStopped = true;
    clearTimeout(this.#nextClaim);
    await waitAtMost(deadline - performance.now(), this.#waitForHandlers());
    // The remaining handlers get a moment to give up. If they continue, their entries are claimed again when the leases
    // expire.
    this.#stopping.abort(new Error('the receiver stops'));
    await waitAtMost(graceMs, this.#waitForHandlers());
    clearInterval(this.#leaseTimer);
    this.#resolveSettled();
    if (!durable) await this.#logLostEntries();
  }

  get #freeSlots(): number {
    return this.#config.handling.concurrency - this.#running.size;
  }

  /**
   * Claims due entries and starts their handlers. Resolves with true when another claim should follow at once. Never
   * rejects.
   */
  async #claimEntries(): Promise<boolean> {
    const { inbox, handling: policy } = this.#config;
    const free = this.#freeSlots;
    if (this.#isStopped || free <= 0) return false;
    this.#wasWoken = false;
    clearTimeout(this.#nextClaim);
    try {
      const claims = await inbox.claim(free, policy.leaseMs);
      // A claim without entries writes nothing, so it succeeds even on a full disk.
      if (claims.length === 0 && this.#outages.includes('inbox-failed')) await inbox.ping();
      this.#outages.end('inbox-failed');
      for (const claimed of claims) {
        this.#running.set(claimed, this.#isStopped ? this.#releaseClaim(claimed) : this.#runHandler(claimed));
      }
      if (claims.length === free) return this.#freeSlots > 0;
      if (this.#running.size === 0 && !this.#wasWoken) this.#resolveSettled();
      const dueMs = await inbox.nextDueMs();
      if (inbox.durable) this.#scheduleClaim(Math.min(dueMs ?? policy.pollMs, policy.pollMs));
      else if (dueMs !== null) this.#scheduleClaim(dueMs);
    } catch (error) {
      this.#outages.begin('inbox-failed', error);
      this.#scheduleClaim(policy.pollMs);
    }
    return false;
  }

  #scheduleClaim(ms: number): void {
    clearTimeout(this.#nextClaim);
    if (this.#isStopped) return;
    // At least 5 ms, because the clocks of the database and the timer may differ.
    this.#nextClaim = setTimeout(() => this.wake(), Math.max(5, ms)).unref();
  }

  /** Never rejects. */
  async #runHandler(claimed: ClaimedEntry): Promise<void> {
    const { handlers, logger, handling: policy, meter = silentMeter } = this.#config;
    const startedAt = performance.now();
    let settlement: Settlement = { claim: claimed, state: 'pending', delayMs: policy.pollMs, error: null };
    try {
      const result = await handleEntry(claimed, { handlers, policy, logger, signal: this.#stopping.signal });
      settlement = result.settlement;
      if (result.outcome !== 'interrupted') {
        meter.handled(result.kind, result.outcome, (performance.now() - startedAt) / 1000);
      }
    } catch (error) {
      // The logger or the meter has thrown. The entry must not be lost, and the process must not end.
      process.emitWarning(`The receiver's own code failed: ${describeThrown(error)}`);
    }
    await this.#writeSettlement(settlement);
    this.#running.delete(claimed);
    this.wake();
  }

  /** Returns to the inbox an entry that was claimed while the receiver was stopping. */
  async #releaseClaim(claimed: ClaimedEntry): Promise<void> {
    await this.#writeSettlement({ claim: claimed, state: 'pending', delayMs: 0, error: null, uncounted: true });
    this.#running.delete(claimed);
  }

  /** Retries until the settlement is written or the receiver stops. Otherwise the handler would run again. */
  async #writeSettlement(settlement: Settlement): Promise<void> {
    const { inbox, logger, handling: policy } = this.#config;
    let isRetry = false;
    while (true) {
      try {
        const isOurs = await inbox.settle(settlement);
        this.#outages.end('settle-failed');
        // After a failed try, the settlement may already be written: only the response may have been lost.
        if (isOurs || isRetry) return;
        logger.warn({ event: 'lease-lost', id: settlement.claim.id }, 'another receiver has taken over this entry');
        return;
      } catch (error) {
        isRetry = true;
        this.#outages.begin('settle-failed', error);
        if (this.#isStopped) return;
        await new Promise((resolve) => setTimeout(resolve, policy.pollMs));
      }
    }
  }

  /** Renews the leases of this receiver's claims, and ends the expired claims of receivers that are gone. */
  async #renewLeases(): Promise<void> {
    if (this.#isRenewing) return;
    const { inbox, logger, handling: policy } = this.#config;
    this.#isRenewing = true;
    try {
      await inbox.extend([...this.#running.keys()], policy.leaseMs);
      const recovered = await inbox.recover(policy.attempts);
      if (recovered > 0) {
        logger.warn({ event: 'recovered', entries: recovered }, 'recovered the entries of a receiver that is gone');
        this.wake();
      }
    } catch {
      // The next claim fails as well, and logs the error.
    } finally {
      this.#isRenewing = false;
    }
  }

  #resolveSettled(): void {
    const resolved = this.#onSettled;
    this.#onSettled = [];
    for (const resolve of resolved) resolve();
  }

  async #waitForHandlers(): Promise<void> {
    await this.#claiming;
    await Promise.all(this.#running.values());
  }

  async #logLostEntries(): Promise<void> {
    const { inbox, logger } = this.#config;
    const { pending, running } = await inbox.depths();
    const entries = pending + running;
    if (entries > 0) logger.warn({ event: 'inbox-lost', entries }, 'notifications that waited in memory are lost');
  }
}

/** Resolves when the promise resolves, or after `ms` milliseconds. */
async function waitAtMost(ms: number, promise: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.max(0, ms));
  });
  await Promise.race([promise, timeout]);
  clearTimeout(timer);
}

type HandlingOutage = 'inbox-failed' | 'settle-failed';

/** Logs one line when an outage begins, and one when all outages are over, instead of one line per attempt. */
class OutageLog {
  readonly #logger: ReceiverLogger;
  readonly #current = new Set<HandlingOutage>();

  constructor(logger: ReceiverLogger) {
    this.#logger = logger;
  }

  includes(event: HandlingOutage): boolean {
    return this.#current.has(event);
  }

  begin(event: HandlingOutage, error: unknown): void {
    if (!this.includes(event)) this.#logger.error({ event, error: errorFields(error) }, 'the inbox is unreachable');
    this.#current.add(event);
  }

  end(event: HandlingOutage): void {
    if (!this.#current.delete(event) || this.#current.size > 0) return;
    this.#logger.info({ event: 'inbox-back' }, 'the inbox is reachable again');
  }
}
