/** Where accepted notifications go instead of an inbox, when other programs handle them: a message broker, usually. */
import { createHash } from 'node:crypto';
import type { AcceptedDelivery } from './inbox.ts';

/**
 * - `new`: the broker stored it, and did not have it before
 * - `duplicate`: the broker already has a notification with this id
 * - `unknown`: the broker stored it, and does not detect duplicates
 */
export const SINK_RESULTS = ['new', 'duplicate', 'unknown'] as const;
export type SinkResult = (typeof SINK_RESULTS)[number];

/** A notification that passed every check. */
export interface SinkDelivery extends Pick<AcceptedDelivery, 'notification' | 'rawBody' | 'receivedAt'> {
  /**
   * The id of the notification for a header of the broker: 1 to 200 ASCII characters without spaces, different for
   * every other id. An id that has others is replaced by its hash.
   */
  readonly idempotencyKey: string;
}

/**
 * Stores accepted notifications durably, and nothing else: there are no claims, no leases and no order.
 *
 * The receiver promises that a notification answered 200 is in the broker, at least once. It can be there again,
 * because a sender repeats a delivery whose answer it did not receive: programs that handle notifications compare ids.
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
   * Resolves when the broker has acknowledged that the notification is durable, and not before: then the sender gets
   * 200. When it rejects, resolves with anything else, or takes longer than `sinkTimeLimitMs`, the sender gets 503 and
   * delivers again. It is called for duplicates too, and for several notifications at the same time.
   */
  put(delivery: SinkDelivery): Promise<SinkResult>;
}

/**
 * {@link SinkDelivery.idempotencyKey}. An id that begins with `sha256:` is hashed too, so that no id can equal the hash
 * of another, so that no id can be the hash of another.
 */
export function sinkKey(id: string): string {
  if (/^[\x21-\x7e]{1,200}$/.test(id) && !id.startsWith('sha256:')) return id;
  return `sha256:${createHash('sha256').update(JSON.stringify(id)).digest('hex')}`;
}
