/** A sink for RabbitMQ. Needs the package `amqplib`, version 2. */
import { type ChannelModel, type ConfirmChannel, connect } from 'amqplib';
import type { NotificationSink } from '../index.ts';

/**
 * Stores notifications in a quorum queue. Creates the queue when it is missing, and rejects when RabbitMQ cannot be
 * reached or the queue has other properties. RabbitMQ confirms a persistent message when most members of the queue have
 * flushed it. It does not detect duplicates, so `put` resolves with `unknown`, and consumers must compare message ids.
 */
export async function rabbitmqSink(url: string, queue: string): Promise<NotificationSink & { close(): Promise<void> }> {
  let channel: ConfirmChannel | undefined;
  let isBlocked = false;
  let puts = 0;
  /** Messages that RabbitMQ could not route to a queue. It confirms these as well, after returning them. */
  const returned = new Set<string>();
  const setup = async (model: ChannelModel) => {
    const opened = await model.createConfirmChannel();
    opened.on('return', ({ properties }) => returned.add(properties.correlationId));
    opened.on('error', () => {}); // Followed by "close".
    opened.on('close', () => {
      channel = undefined;
      // A channel can end while its connection stays open. Closing the connection as well makes the client library open
      // both again.
      model.close().catch(() => {});
    });
    await opened.assertQueue(queue, { durable: true, arguments: { 'x-queue-type': 'quorum' } });
    [channel, isBlocked] = [opened, false];
  };
  const connection = await connect(url, { timeout: 5000, recovery: { maxDelay: 1000, initialMaxRetries: 0, setup } });
  connection.on('error', () => {}); // Followed by "close".
  connection.on('blocked', () => {
    isBlocked = true;
  });
  connection.on('unblocked', () => {
    isBlocked = false;
  });
  return {
    async put({ idempotencyKey, rawBody }) {
      const open = channel;
      // Without memory or disk, RabbitMQ stops reading, and unsent messages would fill the memory of this process.
      if (open === undefined || isBlocked) throw new Error('RabbitMQ is not connected, or accepts no messages');
      puts += 1;
      const correlationId = String(puts);
      const message = { persistent: true, mandatory: true, messageId: idempotencyKey, correlationId };
      await new Promise<void>((resolve, reject) => {
        open.sendToQueue(queue, rawBody, message, (error) => (error ? reject(error) : resolve()));
      });
      if (returned.delete(correlationId)) throw new Error(`there is no queue ${queue}`);
      return 'unknown';
    },
    close: () => connection.close(),
  };
}
