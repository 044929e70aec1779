/** What an application provides: a handler for each kind of notification, and the policy for retries. */
import { HookproofError, type ReceivedKind, type ReceivedOf } from '../../contract/index.ts';
import { MAX_TIMER_MS } from '../budget.ts';
import type { ReceiverLogger } from '../logger.ts';

export interface HandlerContext {
  readonly logger: ReceiverLogger;
  /**
   * Id of the notification, at most 200 characters. It is the same in every attempt, and different for every other
   * notification. Pass it to every service that you call (a payment service, a ledger), so that a second attempt has no
   * second effect: after a crash, a handler can run again although it had finished.
   */
  readonly idempotencyKey: string;
  /** Number of this attempt, starting at 1. */
  readonly attempt: number;
  /**
   * Aborted when the handler exceeds its time limit, or when the receiver stops. A handler that continues after that
   * can run concurrently with the next attempt.
   */
  readonly signal: AbortSignal;
  /**
   * For a REFUND: true when the failed SELL that precedes it did not arrive in time, or when the last attempt to handle
   * that SELL failed. Specification: Refund status.
   */
  readonly sellMissing: boolean;
}

/**
 * Your code for one kind of notification. It runs after the answer was sent, at least once. Notifications of one
 * transaction are handled one at a time, in their order. A handler that throws is retried later; after the last
 * attempt, the notification is dead.
 */
export type Handler<K extends ReceivedKind> = (
  notification: ReceivedOf<K>,
  context: HandlerContext,
) => Promise<void> | void;

/**
 * At most one handler per kind. A notification without a handler is accepted and stored as done. Specification: Events.
 */
export type Handlers = { readonly [K in ReceivedKind]?: Handler<K> } & {
  /**
   * Called with an order status that arrives too late, so that you can record it. The handler of its kind is not
   * called.
   */
  readonly SUPERSEDED?: Handler<'CAAS_BUY' | 'CAAS_SELL'>;
};

/** Limits and delays of handling. Times are in milliseconds. */
export interface HandlingPolicy {
  /** Maximum number of handlers that run at the same time. Default: 16. */
  readonly concurrency: number;
  /** Number of attempts before a notification is dead. Default: 10. */
  readonly attempts: number;
  /** Delay after the first failed attempt. It doubles after each further one. Default: 1,000. */
  readonly firstDelayMs: number;
  /** Maximum delay between attempts. Default: 3,600,000 (1 hour). */
  readonly maxDelayMs: number;
  /** Time limit of a handler. Default: 60,000. */
  readonly timeLimitMs: number;
  /** How long a REFUND waits for the failed SELL that precedes it. Default: 600,000 (10 minutes). */
  readonly refundWaitMs: number;
  /** How long a claim stays valid when its receiver no longer renews it. Default: 15,000. */
  readonly leaseMs: number;
  /** Interval at which the inbox is checked for entries that other receivers stored. Default: 1,000. */
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
      throw new HookproofError('RECEIVER_HANDLING', `\`handling.${name}\` is not a setting.`, {
        hint: `The settings are ${Object.keys(DEFAULTS).join(', ')}.`,
      });
    }
    const min = MAY_BE_ZERO.has(name) ? 0 : 1;
    if (Number.isSafeInteger(value) && value >= min && value <= MAX_TIMER_MS) continue;
    throw new HookproofError(
      'RECEIVER_HANDLING',
      `\`handling.${name}\` is not a whole number between ${min} and ${MAX_TIMER_MS}.`,
      { hint: `Leave it out to use the default, ${DEFAULTS[name as keyof HandlingPolicy]}.` },
    );
  }
  return policy;
}

/**
 * Returns the delay after failed attempt number `attempt`, counted from 1, in milliseconds. The delay is a random value
 * between half and all of the nominal delay, so that handlers that failed together are not retried together.
 */
export function retryDelayMs(
  { firstDelayMs, maxDelayMs }: HandlingPolicy,
  attempt: number,
  random = Math.random(),
): number {
  const full = Math.min(maxDelayMs, firstDelayMs * 2 ** Math.min(attempt - 1, 40));
  return Math.round(full * (0.5 + random / 2));
}
