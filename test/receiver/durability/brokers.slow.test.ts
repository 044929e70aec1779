/**
 * The receiver and the broker behind its sink are killed under load. `npm run proofs -- brokers` does this 20 times for
 * each, and this test once.
 */
import { connect } from 'amqplib';
import { describe, expect, it } from 'vitest';
import { rabbitmqSink } from '../../../receiver/examples/rabbitmq-sink.ts';
import type { SinkDelivery } from '../../../receiver/index.ts';
import { BROKERS, type BrokerName } from '../../proofs/brokers/broker.ts';
import { brokerKillRounds } from '../../proofs/brokers/kill-rounds.ts';
import { startRabbitmq } from '../../setup/brokers.ts';
import { lacks } from '../../setup/programs.ts';

const run = (name: BrokerName, seed = 7, fault?: 'acknowledges first') =>
  brokerKillRounds({ name, kills: 1, seed, betweenMs: [50, 250], ...(fault === undefined ? {} : { fault }) });

describe.each(Object.keys(BROKERS) as BrokerName[])('a receiver with a sink for %s', (name) => {
  it.skipIf(lacks(BROKERS[name].program))('loses nothing when it or the broker is killed', async () => {
    const result = await run(name);
    expect(result.acknowledged).toBeGreaterThan(20);
    expect(result).toMatchObject({ lost: [], multiplied: [], otherwise: 0 });
    // Only NATS compares ids. Duplicates in RabbitMQ were sent twice; see `multiplied`.
    if (name === 'NATS') expect(result.duplicates).toEqual([]);
  });
});

it.skipIf(lacks('rabbitmq-server'))(
  'does not take the confirmation of a message without a queue for stored',
  async () => {
    const broker = await startRabbitmq();
    try {
      const sink = await rabbitmqSink(broker.url, 'notifications');
      const put = () => sink.put({ idempotencyKey: 'id-1', rawBody: Buffer.from('{}') } as SinkDelivery);
      expect(await put()).toBe('unknown');
      const connection = await connect(broker.url);
      await (await connection.createChannel()).deleteQueue('notifications');
      await connection.close();
      await expect(put()).rejects.toThrow('there is no queue notifications');
      await sink.close();
    } finally {
      await broker.remove();
    }
  },
);

it.skipIf(lacks('nats-server'))('is caught when it acknowledges before the broker has', async () => {
  let lost = 0;
  for (let seed = 1; seed <= 8 && lost === 0; seed += 1) {
    lost = (await run('NATS', seed, 'acknowledges first')).lost.length;
  }
  expect(lost).toBeGreaterThan(0);
});
