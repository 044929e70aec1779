/**
 * Runs the handlers: claims from the inbox what is due, a few at a time, and writes down what came of it. What a handler throws never takes the
 * process down, and what is under way when the process dies is claimed again.
 */
import { setMaxListeners } from 'node:events';
import type { ReceivedNotification } from '../../contract/index.ts';
import type { ClaimedEntry, Inbox, Settlement } from '../inbox/inbox.ts';
import { type InboxMeter, silentMeter } from '../inbox/meter.ts';
import type { ReceiverLogger } from '../logger.ts';
import { within } from '../time-limit.ts';
import { attempt } from './attempt.ts';
import type { Handlers } from './handlers.ts';
import type { HandlingPolicy } from './handling-policy.ts';
import { outageLog } from './outage-log.ts';
import { describeThrown } from './thrown.ts';

export interface Handling {
  /** How a notification is to be stored: whether a handler is waiting for it, and what it has to wait for. */
  plan(notification: ReceivedNotification): { readonly handle: boolean; readonly waitMs?: number };
  /** Says that something was stored. */
  wake(): void;
  /** Resolves when nothing is due and nothing runs. */
  settled(): Promise<void>;
  /**
   * Claims no more, and resolves when what runs has ended, after `timeoutMs` at the latest. What still runs shortly before is told by its signal. A
   * durable inbox keeps what waits; what waits in memory is lost, so that what is due there is still handled.
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
  const ending = new AbortController();
  // One listener for each handler that runs.
  setMaxListeners(0, ending.signal);
  let onSettled: (() => void)[] = [];
  let scheduled = false;
  let woken = false;
  let claiming: Promise<void> | undefined;
  let stopped = Object.keys(handlers).length === 0;
  let keeping = false;
  const outages = outageLog(logger);
  let next: NodeJS.Timeout | undefined;

  /** Once for everything that happens in one turn of the event loop. */
  function wake(): void {
    woken = true;
    if (scheduled || stopped || claiming !== undefined) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      claiming = claim().then((again) => {
        claiming = undefined;
        // Whoever called meanwhile may have meant what this claim did not see yet. Without a place, the end of a handler calls.
        if (again || (woken && !outages.has('inbox-failed') && running.size < policy.concurrency)) wake();
      });
    });
  }

  /** Resolves with whether there is more to claim at once. Never rejects. */
  async function claim(): Promise<boolean> {
    const free = policy.concurrency - running.size;
    if (stopped || free <= 0) return false;
    woken = false;
    clearTimeout(next);
    try {
      const claims = await inbox.claim(free, policy.leaseMs);
      outages.over('inbox-failed');
      for (const claimed of claims) running.set(claimed, stopped ? giveBack(claimed) : run(claimed));
      if (claims.length === free) return running.size < policy.concurrency;
      if (running.size === 0 && !woken) settle();
      const dueMs = await inbox.nextDueMs();
      if (inbox.durable) sleep(Math.min(dueMs ?? policy.pollMs, policy.pollMs));
      else if (dueMs !== null) sleep(dueMs);
    } catch (error) {
      outages.began('inbox-failed', error);
      sleep(policy.pollMs);
    }
    return false;
  }

  /** Never rejects. */
  async function run(claimed: ClaimedEntry): Promise<void> {
    const startedAt = performance.now();
    let settlement: Settlement = { claim: claimed, state: 'pending', delayMs: policy.pollMs, error: null };
    try {
      const result = await attempt(claimed, { handlers, policy, logger, signal: ending.signal });
      settlement = result.settlement;
      if (result.outcome !== 'interrupted')
        meter.handled(result.kind, result.outcome, (performance.now() - startedAt) / 1000);
    } catch (error) {
      // Of the logger or the meter: a reason to lose neither the entry nor the process.
      process.emitWarning(`The receiver's own code failed: ${describeThrown(error)}`);
    }
    await writeDown(settlement);
    running.delete(claimed);
    wake();
  }

  /** What was claimed while the receiver began to end. */
  async function giveBack(claimed: ClaimedEntry): Promise<void> {
    await writeDown({ claim: claimed, state: 'pending', delayMs: 0, error: null, uncounted: true });
    running.delete(claimed);
  }

  /** Until it is written, or nobody waits for it any more: otherwise the handler would have to run again. */
  async function writeDown(settlement: Settlement): Promise<void> {
    let unsure = false;
    while (true) {
      try {
        const ours = await inbox.settle(settlement);
        outages.over('settle-failed');
        // It may have been written before, and only the answer was lost.
        if (ours || unsure) return;
        logger.warn({ event: 'lease-lost', id: settlement.claim.id }, 'another receiver has taken this entry over');
        return;
      } catch (error) {
        unsure = true;
        outages.began('settle-failed', error);
        if (stopped) return;
        await new Promise((resolve) => setTimeout(resolve, policy.pollMs));
      }
    }
  }

  function sleep(ms: number): void {
    clearTimeout(next);
    if (stopped) return;
    // Not below a few milliseconds, because the clock of a database and that of the timer need not agree.
    next = setTimeout(wake, Math.max(5, ms)).unref();
  }

  function settle(): void {
    const resolved = onSettled;
    onSettled = [];
    for (const resolve of resolved) resolve();
  }

  /** Keeps what is ours, and takes what has lost its receiver. */
  async function keepLeases(): Promise<void> {
    if (keeping) return;
    keeping = true;
    try {
      await inbox.extend([...running.keys()], policy.leaseMs);
      const recovered = await inbox.recover(policy.attempts);
      if (recovered > 0) {
        logger.warn({ event: 'recovered', entries: recovered }, 'entries of a receiver that is gone');
        wake();
      }
    } catch {
      // The next claim fails too, and says so.
    } finally {
      keeping = false;
    }
  }

  async function allEnded(): Promise<void> {
    await claiming;
    await Promise.all(running.values());
  }

  const leases = stopped || !inbox.durable ? undefined : setInterval(keepLeases, Math.ceil(policy.leaseMs / 3)).unref();
  if (inbox.durable && !stopped) void keepLeases().then(wake);

  return {
    plan({ kind }) {
      // A failed SELL has to be known for its REFUND's sake, even when nobody handles it.
      const handle = handlers[kind] !== undefined || (kind === 'CAAS_SELL' && handlers.REFUND !== undefined);
      return kind === 'REFUND' && handle ? { handle, waitMs: policy.refundWaitMs } : { handle };
    },
    wake,
    settled() {
      if (stopped) return allEnded();
      return new Promise((resolve) => {
        onSettled.push(resolve);
        wake();
      });
    },
    async stop(timeoutMs) {
      const graceMs = Math.min(1000, timeoutMs / 10);
      const deadline = performance.now() + timeoutMs - graceMs;
      // What is only in memory would be lost.
      if (!inbox.durable && !stopped) await within(timeoutMs - graceMs, this.settled());
      stopped = true;
      clearTimeout(next);
      await within(deadline - performance.now(), allEnded());
      // The rest is told, and gets a moment to give up in an orderly way. What goes on nevertheless comes back when its lease has run out.
      ending.abort(new Error('the receiver ends'));
      await within(graceMs, allEnded());
      clearInterval(leases);
      settle();
      if (!inbox.durable) await tellOfLoss();
    },
  };

  async function tellOfLoss(): Promise<void> {
    const { pending, running: unfinished } = await inbox.depths();
    const entries = pending + unfinished;
    if (entries > 0) logger.warn({ event: 'inbox-lost', entries }, 'notifications that waited in memory are lost');
  }
}
