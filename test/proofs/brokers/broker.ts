/** Starts brokers, and reads their content without the receiver. */
import { setTimeout as pause } from 'node:timers/promises';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect as connectNats } from '@nats-io/transport-node';
import { type ConsumeMessage, connect as connectRabbitmq } from 'amqplib';
import { startNats, startRabbitmq } from '../../setup/brokers.ts';

/** The name of the stream, of its subject, and of the queue. */
export const NAME = 'notifications';

export const BROKERS = {
  NATS: { program: 'nats-server', start: startNats, storedIds: idsInNats },
  RabbitMQ: { program: 'rabbitmq-server', start: startRabbitmq, storedIds: idsInRabbitmq },
} as const;
export type BrokerName = keyof typeof BROKERS;

const idOf = (body: Uint8Array): string => JSON.parse(Buffer.from(body).toString('utf8')).id;

/** Returns the id in each message of the stream. */
async function idsInNats(url: string): Promise<string[]> {
  const connection = await connectNats({ servers: url });
  try {
    const { state } = await (await jetstreamManager(connection)).streams.info(NAME);
    const ids: string[] = [];
    if (state.messages === 0) return ids;
    const consumer = await jetstream(connection).consumers.get(NAME);
    for await (const message of await consumer.consume()) {
      ids.push(idOf(message.data));
      if (message.info.pending === 0) break;
    }
    return ids;
  } finally {
    await connection.close();
  }
}

/**
 * Returns the id in each message of the queue, until none arrives for five seconds. Removes the messages, because a
 * quorum queue delivers only 2,000 messages without an acknowledgement.
 */
async function idsInRabbitmq(url: string): Promise<string[]> {
  const connection = await connectRabbitmq(url);
  try {
    const channel = await connection.createChannel();
    const ids: string[] = [];
    const onMessage = (message: ConsumeMessage | null) => {
      if (message !== null) ids.push(idOf(message.content));
    };
    await channel.consume(NAME, onMessage, { noAck: true });
    let before: number;
    do {
      before = ids.length;
      await pause(5000);
    } while (ids.length > before);
    return ids;
  } finally {
    await connection.close();
  }
}
