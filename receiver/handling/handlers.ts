/** What an application provides: a handler for each kind of notification, and how often and how long they are tried. */
import { HookproofError, type ReceivedKind, type ReceivedOf } from '../../contract/index.ts';
import { MAX_TIMER_MS } from '../budget.ts';
import type { ReceiverLogger } from '../logger.ts';

export interface HandlerContext {
  readonly logger: ReceiverLogger;
  /**
   * The id of the notification: the same in every attempt, different for every other notification, at most 200
   * characters. Pass it to every service that you call (a payment, a ledger), so that a second attempt has no second
   * effect: after a crash a handler can run again even though it had finished.
   */
  readonly idempotencyKey: string;
  /** 1 for the first. */
  readonly attempt: number;
  /**
   * Aborted when the time limit of the handler is over, or the receiver stops. A handler that continues after that runs
   * concurrently with the next attempt.
   */
  readonly signal: AbortSignal;
  /**
   * For a REFUND: the failed SELL that precedes it did not arrive in time, or its handler has failed for the last time.
   * Specification: Refund status.
   */
  readonly sellMissing: boolean;
}

/**
 * Your code for one kind of notification. It runs after the 200 was sent, at least once, one at a time per transaction
 * and in the order of the transaction. When it throws it is retried later; after the last attempt the notification is
 * dead.
 */
export type Handler<K extends ReceivedKind> = (
  notification: ReceivedOf<K>,
  context: HandlerContext,
) => Promise<void> | void;

/** One handler per kind. A kind without a handler is accepted and stored as done. Specification: Events. */
export type Handlers = { readonly [K in ReceivedKind]?: Handler<K> } & {
  /** For an order status that arrives too late, which the handler of its kind does not see: to record it. */
  readonly SUPERSEDED?: Handler<'CAAS_BUY' | 'CAAS_SELL'>;
};

/** Times are in milliseconds. */
export interface HandlingPolicy {
  /** Handlers that run at the same time. 16 by default. */
  readonly concurrency: number;
  /** Attempts before a notification is dead. 10 by default. */
  readonly attempts: number;
  /** The pause after the first failed attempt, 1 s by default. It doubles each time. */
  readonly firstDelayMs: number;
  /** The longest pause. 1 hour by default. */
  readonly maxDelayMs: number;
  /** The time limit of a handler. 60 s by default. */
  readonly timeLimitMs: number;
  /** How long a REFUND waits for the failed SELL that precedes it. 10 minutes by default. */
  readonly refundWaitMs: number;
  /** How long a claim outlives a receiver that no longer renews it. 15 s by default. */
  readonly leaseMs: number;
  /** How often the inbox is polled for entries of other receivers. 1 s by default. */
  readonly pollMs: number;
}

const DEFAULTS: HandlingPolicy = {
  concurrency: 16,
  attempts: 10,
  firstDelayMs: 1000,
  maxDelayMs: 3_600_000,
  timeLimitMs: 60_000,
  refundWaitMs: 600_000,
  leaseMs: 15_000,
  pollMs: 1000,
};

const MAY_BE_ZERO: ReadonlySet<string> = new Set(['firstDelayMs', 'maxDelayMs', 'refundWaitMs']);

/** Fills in the defaults. Throws {@link HookproofError} `RECEIVER_HANDLING`. */
export function resolveHandlingPolicy(given: Partial<HandlingPolicy> = {}): HandlingPolicy {
  const policy = { ...DEFAULTS, ...given };
  for (const [name, value] of Object.entries(policy)) {
    if (!Object.hasOwn(DEFAULTS, name)) {
      throw new HookproofError('RECEIVER_HANDLING', `handling.${name} is not a setting.`, {
        hint: `The settings are ${Object.keys(DEFAULTS).join(', ')}.`,
      });
    }
    const min = MAY_BE_ZERO.has(name) ? 0 : 1;
    if (Number.isSafeInteger(value) && value >= min && value <= MAX_TIMER_MS) continue;
    throw new HookproofError(
      'RECEIVER_HANDLING',
      `handling.${name} is not a whole number between ${min} and ${MAX_TIMER_MS}.`,
      { hint: `Leave it out to use the default, ${DEFAULTS[name as keyof HandlingPolicy]}.` },
    );
  }
  return policy;
}

/**
 * The pause after failed attempt number `attempt`, which starts at 1. Varies at random between half and all of the
 * delay, so that handlers that failed together are not retried together.
 */
export function retryDelayMs(
  { firstDelayMs, maxDelayMs }: HandlingPolicy,
  attempt: number,
  random = Math.random(),
): number {
  const full = Math.min(maxDelayMs, firstDelayMs * 2 ** Math.min(attempt - 1, 40));
  return Math.round(full * (0.5 + random / 2));
}
