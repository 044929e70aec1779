/** What the order of notifications means for an order. Specification: Order status; Refund status. */
import type { OrderProgress } from '../inbox/inbox.ts';

/**
 * Whether a status comes too late: the order was further already when it was made. Handling it would move the order backwards. A status that is not
 * listed has rank 0 and is never late, because nothing says where it belongs.
 */
export function isBehind(step: OrderProgress | null, progress: OrderProgress | null): boolean {
  if (step === null || progress === null || step.rank === 0) return false;
  return step.rank < progress.rank || (step.rank === progress.rank && step.at < progress.at);
}
