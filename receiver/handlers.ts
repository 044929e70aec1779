import type { ReceivedKind, ReceivedOf } from '../contract/index.ts';
import type { ReceiverLogger } from './logger.ts';

export interface HandlerContext {
  readonly logger: ReceiverLogger;
}

/** Your code for one kind of notification. It runs after the 200 has been sent; what it throws is logged. */
export type Handler<K extends ReceivedKind> = (
  notification: ReceivedOf<K>,
  context: HandlerContext,
) => Promise<void> | void;

/** A handler for each kind that you care about. A kind without one is accepted and left at that. Specification: Events. */
export type Handlers = { readonly [K in ReceivedKind]?: Handler<K> };
