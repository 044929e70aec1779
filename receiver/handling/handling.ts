/**
 * Runs the handlers: claims from the inbox what is due, a few at a time, and writes down what came of it. What a handler throws never takes the
 * process down, and what is under way when the process dies is claimed again.
 */
import type { ReceivedNotification } from '../../contract/index.ts';
import type { ClaimedEntry, Inbox, Settlement } from '../inbox/inbox.ts';
import { type InboxMeter, silentMeter } from '../inbox/meter.ts';
import { errorFields, type ReceiverLogger } from '../logger.ts';
import { attempt } from './attempt.ts';
import type { Handlers } from './handlers.ts';
import type { HandlingPolicy } from './handling-policy.ts';

export interface Handling {
  /** How a notification is to be stored: whether a handler is waiting for it, and what it has to wait for. */
  plan(notification: ReceivedNotification): { readonly handle: boolean; readonly waitMs?: number };
  /** Says that something was stored. */
  wake(): void;
  /** Resolves when nothing is due and nothing runs. */
  settled(): Promise<void>;
  /** Claims no more, and resolves when what runs has ended, after `timeoutMs` at the latest. */
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
  let onSettled: (() => void)[] = [];
  let scheduled = false;
  let claiming = false;
  let keeping = false;
  let woken = false;
  let stopped = Object.keys(handlers).length === 0;
  const failing = new Set<string>();
  let claimUnderWay: Promise<void> = Promise.resolve();
  let next: NodeJS.Timeout | undefined;

  /** Once for everything that happens in one turn of the event loop. */
  function wake(): void {
    woken = true;
    if (scheduled || stopped) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      pump();
    });
  }

  function pump(): void {
    const free = policy.concurrency - running.size;
    if (claiming || stopped || free <= 0) return;
    claiming = true;
    woken = false;
    clearTimeout(next);
    claimUnderWay = claim(free);
  }

  async function claim(free: number): Promise<void> {
    try {
      const claims = await inbox.claim(free, policy.leaseMs);
      succeeded('inbox-failed');
      if (stopped) {
        await Promise.all(claims.map(giveBack));
        return;
      }
      for (const claim of claims) running.set(claim, run(claim));
      claiming = false;
      if (woken || claims.length === free) return wake();
      if (running.size === 0) settle();
      await sleepUntilDue();
    } catch (error) {
      claiming = false;
      failed('inbox-failed', error);
      sleep(policy.pollMs);
    }
  }

  /** One line for an outage, and not one for every attempt. */
  function failed(event: 'inbox-failed' | 'settle-failed', error: unknown): void {
    if (!failing.has(event)) logger.error({ event, error: errorFields(error) }, 'the inbox cannot be reached');
    failing.add(event);
  }

  function succeeded(event: 'inbox-failed' | 'settle-failed'): void {
    if (!failing.delete(event) || failing.size > 0) return;
    logger.info({ event: 'inbox-back' }, 'the inbox can be reached again');
  }

  /** For another receiver, or the next start. */
  function giveBack(claim: ClaimedEntry): Promise<boolean> {
    return inbox.settle({ claim, state: 'pending', delayMs: 0, error: null, uncounted: true });
  }

  async function run(claim: ClaimedEntry): Promise<void> {
    const startedAt = performance.now();
    const { kind, outcome, settlement } = await attempt(claim, { handlers, policy, logger, signal: ending.signal });
    meter.handled(kind, outcome, (performance.now() - startedAt) / 1000);
    await writeDown(settlement);
    running.delete(claim);
    wake();
  }

  /** Until it is written, or nobody waits for it any more: otherwise the handler would have to run again. */
  async function writeDown(settlement: Settlement): Promise<void> {
    let unsure = false;
    while (true) {
      try {
        const ours = await inbox.settle(settlement);
        succeeded('settle-failed');
        // An earlier attempt may have been written, and only its answer was lost.
        if (ours || unsure) return;
        logger.warn({ event: 'lease-lost', id: settlement.claim.id }, 'another receiver has taken this entry over');
        return;
      } catch (error) {
        unsure = true;
        failed('settle-failed', error);
        if (stopped) return;
        await new Promise((resolve) => setTimeout(resolve, policy.pollMs));
      }
    }
  }

  async function sleepUntilDue(): Promise<void> {
    const dueMs = await inbox.nextDueMs();
    if (inbox.durable) sleep(Math.min(dueMs ?? policy.pollMs, policy.pollMs));
    else if (dueMs !== null) sleep(dueMs);
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
      if (stopped) return Promise.all(running.values()).then(() => {});
      return new Promise((resolve) => {
        onSettled.push(resolve);
        wake();
      });
    },
    async stop(timeoutMs) {
      // What is only in memory would be lost.
      const deadline = new Promise((resolve) => setTimeout(resolve, timeoutMs).unref());
      if (!inbox.durable && !stopped) await Promise.race([this.settled(), deadline]);
      stopped = true;
      clearTimeout(next);
      await Promise.race([claimUnderWay.then(() => Promise.all(running.values())), deadline]);
      clearInterval(leases);
      ending.abort(new Error('the receiver ends'));
      settle();
    },
  };
}
