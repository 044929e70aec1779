/**
 * Runs the handlers: claims due entries from the inbox, a limited number at a time, and writes their results. An error
 * of a handler never ends the process, and entries under way when the process dies are claimed again.
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
  /** The claimed entries whose handlers run, each with its end. */
  readonly #running = new Map<ClaimedEntry, Promise<void>>();
  /** The signal of every handler. */
  readonly #stopping = new AbortController();
  /** Renews the leases, where the inbox has any. */
  readonly #leaseTimer: NodeJS.Timeout | undefined;
  #isRenewing = false;
  #isStopped: boolean;
  /** True from {@link wake} until a claim begins. */
  #wasWoken = false;
  #isClaimScheduled = false;
  #claiming: Promise<void> | undefined;
  #nextClaim: NodeJS.Timeout | undefined;
  #onSettled: (() => void)[] = [];

  /** Starts at once with the entries of receivers that are gone. Without handlers, it never claims anything. */
  constructor(config: HandlingConfig) {
    const { handlers, inbox, logger, handling: policy } = config;
    this.#config = config;
    this.#outages = new OutageLog(logger);
    this.#isStopped = Object.keys(handlers).length === 0;
    // One listener for each running handler.
    setMaxListeners(0, this.#stopping.signal);
    if (this.#isStopped || !inbox.durable) return;
    this.#leaseTimer = setInterval(() => this.#renewLeases(), Math.ceil(policy.leaseMs / 3)).unref();
    void this.#renewLeases().then(() => this.wake());
  }

  /** Decides how to store a notification: whether it has a handler, and how long it may wait for another one. */
  plan({ kind }: ReceivedNotification): { readonly handle: boolean; readonly waitMs?: number } {
    const { handlers, handling: policy } = this.#config;
    // The progress of a failed SELL is needed for its REFUND, even without a handler for CAAS_SELL.
    const handle = handlers[kind] !== undefined || (kind === 'CAAS_SELL' && handlers.REFUND !== undefined);
    return kind === 'REFUND' && handle ? { handle, waitMs: policy.refundWaitMs } : { handle };
  }

  /** Call it after a notification was stored. All calls in one turn of the event loop lead to one claim. */
  wake(): void {
    this.#wasWoken = true;
    if (this.#isClaimScheduled || this.#isStopped || this.#claiming !== undefined) return;
    this.#isClaimScheduled = true;
    setImmediate(() => {
      this.#isClaimScheduled = false;
      this.#claiming = this.#claimEntries().then((hasMore) => {
        this.#claiming = undefined;
        // A call in the meantime may concern an entry that this claim did not see. When all slots are taken, the end of
        // a handler calls again.
        const mayClaim = !this.#outages.includes('inbox-failed') && this.#freeSlots > 0;
        if (hasMore || (this.#wasWoken && mayClaim)) this.wake();
      });
    });
  }

  /** Resolves when nothing is due and no handler runs. */
  settled(): Promise<void> {
    if (this.#isStopped) return this.#waitForHandlers();
    return new Promise((resolve) => {
      this.#onSettled.push(resolve);
      this.wake();
    });
  }

  /**
   * Claims no more entries, and resolves when the running handlers have ended, at the latest after `timeoutMs`. Shortly
   * before, the signal of the remaining ones is aborted. A durable inbox keeps the entries that wait; those in memory
   * would be lost, so due ones are still handled.
   */
  async stop(timeoutMs: number): Promise<void> {
    const { durable } = this.#config.inbox;
    const graceMs = Math.min(1000, timeoutMs / 10);
    const deadline = performance.now() + timeoutMs - graceMs;
    if (!durable && !this.#isStopped) await waitAtMost(timeoutMs - graceMs, this.settled());
    this.#isStopped = true;
    clearTimeout(this.#nextClaim);
    await waitAtMost(deadline - performance.now(), this.#waitForHandlers());
    // The remaining handlers get a moment to give up. Entries whose handlers continue are claimed again when their
    // leases expire.
    this.#stopping.abort(new Error('the receiver stops'));
    await waitAtMost(graceMs, this.#waitForHandlers());
    clearInterval(this.#leaseTimer);
    this.#resolveSettled();
    if (!durable) await this.#logLostEntries();
  }

  get #freeSlots(): number {
    return this.#config.handling.concurrency - this.#running.size;
  }

  /** Claims due entries and runs their handlers. Resolves with whether to claim again at once. Never rejects. */
  async #claimEntries(): Promise<boolean> {
    const { inbox, handling: policy } = this.#config;
    const free = this.#freeSlots;
    if (this.#isStopped || free <= 0) return false;
    this.#wasWoken = false;
    clearTimeout(this.#nextClaim);
    try {
      const claims = await inbox.claim(free, policy.leaseMs);
      // Claiming nothing writes nothing, which also succeeds on a full disk.
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
    // At least a few milliseconds, because the clock of a database and that of the timer may differ.
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
      // Thrown by the logger or the meter: no reason to lose the entry or to end the process.
      process.emitWarning(`The receiver's own code failed: ${describeThrown(error)}`);
    }
    await this.#writeSettlement(settlement);
    this.#running.delete(claimed);
    this.wake();
  }

  /** Returns an entry to the inbox that was claimed while the receiver began to stop. */
  async #releaseClaim(claimed: ClaimedEntry): Promise<void> {
    await this.#writeSettlement({ claim: claimed, state: 'pending', delayMs: 0, error: null, uncounted: true });
    this.#running.delete(claimed);
  }

  /** Retries until it is written or the receiver stops: otherwise the handler would have to run again. */
  async #writeSettlement(settlement: Settlement): Promise<void> {
    const { inbox, logger, handling: policy } = this.#config;
    let isRetry = false;
    while (true) {
      try {
        const isOurs = await inbox.settle(settlement);
        this.#outages.end('settle-failed');
        // A previous try may have been written, and only its answer was lost.
        if (isOurs || isRetry) return;
        logger.warn({ event: 'lease-lost', id: settlement.claim.id }, 'another receiver has taken this entry over');
        return;
      } catch (error) {
        isRetry = true;
        this.#outages.begin('settle-failed', error);
        if (this.#isStopped) return;
        await new Promise((resolve) => setTimeout(resolve, policy.pollMs));
      }
    }
  }

  /** Renews the leases of our claims, and takes over the entries of receivers that are gone. */
  async #renewLeases(): Promise<void> {
    if (this.#isRenewing) return;
    const { inbox, logger, handling: policy } = this.#config;
    this.#isRenewing = true;
    try {
      await inbox.extend([...this.#running.keys()], policy.leaseMs);
      const recovered = await inbox.recover(policy.attempts);
      if (recovered > 0) {
        logger.warn({ event: 'recovered', entries: recovered }, 'entries of a receiver that is gone');
        this.wake();
      }
    } catch {
      // The next claim fails too, and logs it.
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

/** Resolves when the promise does, or after `ms` milliseconds. */
async function waitAtMost(ms: number, promise: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.max(0, ms));
  });
  await Promise.race([promise, timeout]);
  clearTimeout(timer);
}

type HandlingOutage = 'inbox-failed' | 'settle-failed';

/** Logs one line when an outage begins, instead of one for every attempt, and one when all are over. */
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
