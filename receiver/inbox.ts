/** Where accepted notifications are kept, and how duplicates are told. */
import type { ReceivedNotification } from '../contract/index.ts';

/** A notification that passed every check. */
export interface AcceptedDelivery {
  readonly notification: ReceivedNotification;
  /** The body as it came. */
  readonly rawBody: Buffer;
  readonly receivedAt: Date;
}

/** A store of accepted notifications, by id. Implement it on your database to survive a restart. */
export interface Inbox {
  /**
   * Keeps a delivery unless its id is known. Has to decide in one step (a unique key, not "look, then insert"): copies of a
   * notification can arrive at the same instant. When it throws, the sender is told 503 and nothing is handled.
   */
  put(delivery: AcceptedDelivery): Promise<'stored' | 'duplicate'>;
  /** Forgets an id whose handler failed, so that the notification is handled when it is delivered again. */
  release(id: string): Promise<void>;
}

/**
 * An inbox in memory, for tests, demos and as a model. It remembers ids only, and the last `maxIds` of them (100,000 by
 * default): a duplicate of something older, or from before a restart, counts as new.
 */
export function memoryInbox(options: { maxIds?: number } = {}): Inbox {
  const maxIds = options.maxIds ?? 100_000;
  // A Set keeps the order of insertion, so the first one is the oldest.
  const known = new Set<string>();
  return {
    // Not a single await between the look and the insert: no other delivery can come in between.
    async put({ notification }) {
      if (known.has(notification.id)) return 'duplicate';
      known.add(notification.id);
      if (known.size > maxIds) {
        for (const oldest of known) {
          known.delete(oldest);
          break;
        }
      }
      return 'stored';
    },
    async release(id) {
      known.delete(id);
    },
  };
}
