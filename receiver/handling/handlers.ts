import type { ReceivedKind, ReceivedOf } from '../../contract/index.ts';
import type { ReceiverLogger } from '../logger.ts';

export interface HandlerContext {
  readonly logger: ReceiverLogger;
  /**
   * The id of the notification: the same in every attempt, and never that of another one. At most 200 characters. Hand it to whatever you call (a payment, a ledger), so that a second
   * attempt does nothing twice: a handler may run again after a crash, even when it had come to its end.
   */
  readonly idempotencyKey: string;
  /** 1 for the first. */
  readonly attempt: number;
  /** Aborted when the time limit of the handler is over, or the receiver ends. What a handler does after that, it does beside another attempt. */
  readonly signal: AbortSignal;
  /** For a REFUND: the failed SELL that belongs to it did not come within the limit, or its handler has failed for good. Specification: Refund status. */
  readonly sellMissing: boolean;
}

/**
 * Your code for one kind of notification. It runs after the 200 has been sent, at least once, one at a time for each transaction and in its
 * order. When it throws it is tried again later, and in the end the notification is dead: it waits for somebody to look at it.
 */
export type Handler<K extends ReceivedKind> = (
  notification: ReceivedOf<K>,
  context: HandlerContext,
) => Promise<void> | void;

/** A handler for each kind that you care about. A kind without one is accepted and left at that. Specification: Events. */
export type Handlers = { readonly [K in ReceivedKind]?: Handler<K> };
