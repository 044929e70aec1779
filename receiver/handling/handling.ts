/**
 * Runs the handlers: claims due entries from the inbox, a limited number at a time, and writes their results. An error
 * of a handler never ends the process, and entries under way when the process dies are claimed again.
 */
import { setMaxListeners } from 'node:events';
import type { ReceivedNotification } from '../../contract/index.ts';
import { type ClaimedEntry, type Inbox, type InboxMeter, type Settlement, silentMeter } from '../inbox/inbox.ts';
import { errorFields, type ReceiverLogger } from '../logger.ts';
import { attempt, describeThrown } from './attempt.ts';
import type { Handlers, HandlingPolicy } from './handlers.ts';

export interface Handling {
  /** How to store a notification: whether there is a handler for it, and how long it may wait for another one. */
  plan(notification: ReceivedNotification): { readonly handle: boolean; readonly waitMs?: number };
  /** To be called after a notification was stored. */
  wake(): void;
  /** Resolves when nothing is due and no handler runs. */
  settled(): Promise<void>;
  /**
   * Claims no more entries, and resolves when the running handlers have ended, at the latest after `timeoutMs`. Shortly
   * before, the signal of the remaining ones is aborted. A durable inbox keeps the entries that wait; those in memory
   * would be lost, so due ones are still handled.
   */
  stop(timeoutMs: number): Promise<void>;
}

export function createHandling(config: {
  readonly handlers: Handlers;
  readonly inbox: Inbox;
  readonly logger: ReceiverLogger;
  readonly handling: HandlingPolicy;
  readonly meter?: InboxMeter;
}): Handling {
  const { handlers, inbox, logger, handling: policy, meter = silentMeter } = config;
  const running = new Map<ClaimedEntry, Promise<void>>();
  const stopping = new AbortController();
  // One listener for each running handler.
  setMaxListeners(0, stopping.signal);
  const outages = outageLog(logger);
  let onSettled: (() => void)[] = [];
  let scheduled = false;
  let woken = false;
  let claiming: Promise<void> | undefined;
  let stopped = Object.keys(handlers).length === 0;
  let renewing = false;
  let nextClaim: NodeJS.Timeout | undefined;

  /** Claims once for all calls in one turn of the event loop. */
  function wake(): void {
    woken = true;
    if (scheduled || stopped || claiming !== undefined) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      claiming = claim().then((again) => {
        claiming = undefined;
        // A call in the meantime may concern an entry that this claim did not see. When all slots are taken, the end of
        // a handler calls again.
        if (again || (woken && !outages.has('inbox-failed') && running.size < policy.concurrency)) wake();
      });
    });
  }

  /** Resolves with whether there is more to claim immediately. Never rejects. */
  async function claim(): Promise<boolean> {
    const free = policy.concurrency - running.size;
    if (stopped || free <= 0) return false;
    woken = false;
    clearTimeout(nextClaim);
    try {
      const claims = await inbox.claim(free, policy.leaseMs);
      // Claiming nothing writes nothing, which also succeeds on a full disk.
      if (claims.length === 0 && outages.has('inbox-failed')) await inbox.ping();
      outages.over('inbox-failed');
      for (const claimed of claims) running.set(claimed, stopped ? releaseClaim(claimed) : run(claimed));
      if (claims.length === free) return running.size < policy.concurrency;
      if (running.size === 0 && !woken) resolveSettled();
      const dueMs = await inbox.nextDueMs();
      if (inbox.durable) scheduleClaim(Math.min(dueMs ?? policy.pollMs, policy.pollMs));
      else if (dueMs !== null) scheduleClaim(dueMs);
    } catch (error) {
      outages.began('inbox-failed', error);
      scheduleClaim(policy.pollMs);
    }
    return false;
  }

  /** Never rejects. */
  async function run(claimed: ClaimedEntry): Promise<void> {
    const startedAt = performance.now();
    let settlement: Settlement = { claim: claimed, state: 'pending', delayMs: policy.pollMs, error: null };
    try {
      const result = await attempt(claimed, { handlers, policy, logger, signal: stopping.signal });
      settlement = result.settlement;
      if (result.outcome !== 'interrupted') {
        meter.handled(result.kind, result.outcome, (performance.now() - startedAt) / 1000);
      }
    } catch (error) {
      // Thrown by the logger or the meter: no reason to lose the entry or to end the process.
      process.emitWarning(`The receiver's own code failed: ${describeThrown(error)}`);
    }
    await writeSettlement(settlement);
    running.delete(claimed);
    wake();
  }

  /** For an entry that was claimed while the receiver began to stop. */
  async function releaseClaim(claimed: ClaimedEntry): Promise<void> {
    await writeSettlement({ claim: claimed, state: 'pending', delayMs: 0, error: null, uncounted: true });
    running.delete(claimed);
  }

  /** Retries until it is written or the receiver stops: otherwise the handler would have to run again. */
  async function writeSettlement(settlement: Settlement): Promise<void> {
    let retried = false;
    while (true) {
      try {
        const ours = await inbox.settle(settlement);
        outages.over('settle-failed');
        // A previous try may have been written, and only its answer was lost.
        if (ours || retried) return;
        logger.warn({ event: 'lease-lost', id: settlement.claim.id }, 'another receiver has taken this entry over');
        return;
      } catch (error) {
        retried = true;
        outages.began('settle-failed', error);
        if (stopped) return;
        await new Promise((resolve) => setTimeout(resolve, policy.pollMs));
      }
    }
  }

  function scheduleClaim(ms: number): void {
    clearTimeout(nextClaim);
    if (stopped) return;
    // At least a few milliseconds, because the clock of a database and that of the timer may differ.
    nextClaim = setTimeout(wake, Math.max(5, ms)).unref();
  }

  function resolveSettled(): void {
    const resolved = onSettled;
    onSettled = [];
    for (const resolve of resolved) resolve();
  }

  /** Renews the leases of our claims, and takes over the entries of receivers that are gone. */
  async function renewLeases(): Promise<void> {
    if (renewing) return;
    renewing = true;
    try {
      await inbox.extend([...running.keys()], policy.leaseMs);
      const recovered = await inbox.recover(policy.attempts);
      if (recovered > 0) {
        logger.warn({ event: 'recovered', entries: recovered }, 'entries of a receiver that is gone');
        wake();
      }
    } catch {
      // The next claim fails too, and logs it.
    } finally {
      renewing = false;
    }
  }

  async function handlersEnded(): Promise<void> {
    await claiming;
    await Promise.all(running.values());
  }

  const leases =
    stopped || !inbox.durable ? undefined : setInterval(renewLeases, Math.ceil(policy.leaseMs / 3)).unref();
  if (inbox.durable && !stopped) void renewLeases().then(wake);

  return {
    plan({ kind }) {
      // The progress of a failed SELL is needed for its REFUND, even without a handler for CAAS_SELL.
      const handle = handlers[kind] !== undefined || (kind === 'CAAS_SELL' && handlers.REFUND !== undefined);
      return kind === 'REFUND' && handle ? { handle, waitMs: policy.refundWaitMs } : { handle };
    },
    wake,
    settled() {
      if (stopped) return handlersEnded();
      return new Promise((resolve) => {
        onSettled.push(resolve);
        wake();
      });
    },
    async stop(timeoutMs) {
      const graceMs = Math.min(1000, timeoutMs / 10);
      const deadline = performance.now() + timeoutMs - graceMs;
      // Entries in memory would be lost.
      if (!inbox.durable && !stopped) await waitAtMost(timeoutMs - graceMs, this.settled());
      stopped = true;
      clearTimeout(nextClaim);
      await waitAtMost(deadline - performance.now(), handlersEnded());
      // The remaining handlers get a moment to give up. Entries whose handlers continue are claimed again when their
      // leases expire.
      stopping.abort(new Error('the receiver stops'));
      await waitAtMost(graceMs, handlersEnded());
      clearInterval(leases);
      resolveSettled();
      if (!inbox.durable) await logLostEntries();
    },
  };

  async function logLostEntries(): Promise<void> {
    const { pending, running: unfinished } = await inbox.depths();
    const entries = pending + unfinished;
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

type Outage = 'inbox-failed' | 'settle-failed';

/** Logs one line when an outage begins, instead of one for every attempt, and one when it is over. */
function outageLog(logger: ReceiverLogger) {
  const current = new Set<Outage>();
  return {
    has: (event: Outage): boolean => current.has(event),
    began(event: Outage, error: unknown): void {
      if (!current.has(event)) logger.error({ event, error: errorFields(error) }, 'the inbox is unreachable');
      current.add(event);
    },
    over(event: Outage): void {
      if (!current.delete(event) || current.size > 0) return;
      logger.info({ event: 'inbox-back' }, 'the inbox is reachable again');
    },
  };
}
