/** A sink for NATS JetStream. Needs the packages `@nats-io/jetstream` and `@nats-io/transport-node`. */
import { DiscardPolicy, jetstream, jetstreamManager, StorageType } from '@nats-io/jetstream';
import { connect, nanos } from '@nats-io/transport-node';
import type { NotificationSink } from '../index.ts';

/** How long the stream remembers ids. Later copies are new to it: use more than the time in which senders repeat. */
const DUPLICATE_WINDOW_MS = 24 * 60 * 60 * 1000;

/**
 * Stores notifications in a stream with files, and creates the stream when it is missing. Rejects when the stream has
 * another configuration.
 *
 * A server acknowledges before it flushes its files (`sync_interval`, two minutes by default): what it acknowledged
 * survives the end of its process, and not always a power failure. Use three replicas on machines that do not fail
 * together, or `sync_interval: always` (NATS 2.10), which is slower.
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
    // At a limit that is set later, it rejects new notifications instead of dropping old ones.
    discard: DiscardPolicy.New,
    duplicate_window: nanos(DUPLICATE_WINDOW_MS),
  });
  const client = jetstream(connection);
  return {
    async put({ idempotencyKey, rawBody }) {
      // Sent as Nats-Msg-Id, by which the stream detects duplicates. Rejects without an acknowledgement within 5 s.
      const { duplicate } = await client.publish(subject, rawBody, { msgID: idempotencyKey });
      return duplicate ? 'duplicate' : 'new';
    },
    close: () => connection.drain(),
  };
}
