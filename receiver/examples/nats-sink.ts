/** A sink for NATS JetStream. Needs the packages `@nats-io/jetstream` and `@nats-io/transport-node`. */
import { DiscardPolicy, jetstream, jetstreamManager, StorageType } from '@nats-io/jetstream';
import { connect, nanos } from '@nats-io/transport-node';
import type { NotificationSink } from '../index.ts';

/**
 * How long the stream remembers ids. It stores a later copy as a new notification, so this must be longer than the time
 * for which senders retry.
 */
const DUPLICATE_WINDOW_MS = 24 * 60 * 60 * 1000;

/**
 * Stores notifications in a file-based stream. Creates the stream when it is missing, and rejects when it has another
 * configuration.
 *
 * A server acknowledges a message before it flushes its files (`sync_interval`, two minutes by default). Acknowledged
 * messages survive the end of the server process, but not always a power failure. To prevent a loss, use three replicas
 * on machines that do not fail together, or `sync_interval: always` (NATS 2.10), which is slower.
 */
export async function natsSink(options: {
  readonly servers: string | string[];
  readonly stream: string;
  readonly subject: string;
  readonly replicas?: number;
}): Promise<NotificationSink & { close(): Promise<void> }> {
  const { servers, stream, subject, replicas = 1 } = options;
  const connection = await connect({ servers, maxReconnectAttempts: -1, reconnectTimeWait: 250 });
  const manager = await jetstreamManager(connection);
  await manager.streams.add({
    name: stream,
    subjects: [subject],
    storage: StorageType.File,
    num_replicas: replicas,
    // If a limit is set later, the stream rejects new notifications at the limit instead of dropping old ones.
    discard: DiscardPolicy.New,
    duplicate_window: nanos(DUPLICATE_WINDOW_MS),
  });
  const client = jetstream(connection);
  return {
    async put({ idempotencyKey, rawBody }) {
      // The stream detects duplicates by this id (Nats-Msg-Id). `publish` rejects when there is no acknowledgement
      // within 5 s.
      const { duplicate } = await client.publish(subject, rawBody, { msgID: idempotencyKey });
      return duplicate ? 'duplicate' : 'new';
    },
    close: () => connection.drain(),
  };
}
