/**
 * A sink stores accepted notifications instead of an inbox, usually in a message broker, so that other programs can
 * handle them.
 */
import { createHash } from 'node:crypto';
import type { AcceptedDelivery } from './inbox.ts';

/**
 * - `new`: the broker stored the notification, and did not have it before
 * - `duplicate`: the broker already had a notification with this id
 * - `unknown`: the broker stored the notification, and does not detect duplicates
 */
export const SINK_RESULTS = ['new', 'duplicate', 'unknown'] as const;
export type SinkResult = (typeof SINK_RESULTS)[number];

/** A notification that passed every check. */
export interface SinkDelivery extends Pick<AcceptedDelivery, 'notification' | 'rawBody' | 'receivedAt'> {
  /**
   * The id of the notification in a form that is valid as a message id in a broker: 1 to 200 ASCII characters without
   * spaces, different for every id. An id with other characters is replaced by its hash.
   */
  readonly idempotencyKey: string;
}

/**
 * Stores accepted notifications durably. A sink has no claims, leases or order.
 *
 * A notification that was answered 200 is in the broker at least once. It can be there more than once, because a sender
 * repeats a delivery when it does not receive the answer. Programs that handle the notifications must therefore compare
 * ids.
 *
 * @example
 * const sink: NotificationSink = {
 *   async put({ idempotencyKey, rawBody }) {
 *     await broker.publish(rawBody, { id: idempotencyKey }); // resolves when the broker has acknowledged it
 *     return 'unknown';
 *   },
 * };
 */
export interface NotificationSink {
  /**
   * Resolves as soon as the broker has acknowledged that the notification is durable. The sender then gets 200. When
   * `put` rejects, resolves with any other value, or takes longer than `sinkTimeLimitMs`, the sender gets 503 and
   * delivers again. The receiver also calls `put` for duplicates, and for several notifications at the same time.
   */
  put(delivery: SinkDelivery): Promise<SinkResult>;
}

/**
 * Returns {@link SinkDelivery.idempotencyKey} for an id. An id that begins with `sha256:` is hashed too, so that no id
 * can equal the hash of another.
 */
export function sinkKey(id: string): string {
  if (/^[\x21-\x7e]{1,200}$/.test(id) && !id.startsWith('sha256:')) return id;
  return `sha256:${createHash('sha256').update(JSON.stringify(id)).digest('hex')}`;
}
