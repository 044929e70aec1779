/** A sink instead of an inbox: the answers, and when they are sent. */
import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { HookproofError } from '../../../contract/index.ts';
import {
  createReceiver,
  type DeliveryReport,
  memoryInbox,
  type NotificationSink,
  type ReceiverOptions,
  type SinkDelivery,
  type SinkResult,
} from '../../../receiver/index.ts';
import { buy, post, SECRET } from '../deliveries.ts';

const signing = { secrets: [SECRET] };
const BODY = JSON.stringify(buy('id-1'));

/** Starts a receiver with this sink. Returns it with the notifications that were put, and with the reports. */
function receiverWith(put: NotificationSink['put'], options: ReceiverOptions = {}) {
  const deliveries: SinkDelivery[] = [];
  const reports: DeliveryReport[] = [];
  const sink: NotificationSink = {
    put(delivery) {
      deliveries.push(delivery);
      return put(delivery);
    },
  };
  const observers = [(report: DeliveryReport) => void reports.push(report)];
  return { receiver: createReceiver({ signing, sink, observers, ...options }), deliveries, reports };
}

describe('a receiver with a sink', () => {
  it('passes on the bytes as received, and answers 200 only after the sink has stored them', async () => {
    let acknowledge: (result: SinkResult) => void = () => {};
    const { receiver, deliveries } = receiverWith(() => new Promise((resolve) => (acknowledge = resolve)));
    let answered = false;
    const answer = post(receiver, BODY).then((response) => {
      answered = true;
      return response;
    });
    while (deliveries.length === 0) await pause(5);
    await pause(50);
    expect(answered).toBe(false);
    acknowledge('new');
    expect(await answer).toMatchObject({ status: 200, body: { status: 'accepted' } });
    expect(deliveries[0]?.rawBody.toString()).toBe(BODY);
    expect(deliveries[0]).toMatchObject({ idempotencyKey: 'id-1', notification: { id: 'id-1', kind: 'CAAS_BUY' } });
  });

  it('passes on nothing that fails a check', async () => {
    const { receiver, deliveries } = receiverWith(async () => 'new');
    expect((await post(receiver, BODY, { 'X-Service-Signature': 'x' })).status).toBe(401);
    expect((await post(receiver, '{}')).status).toBe(400);
    expect(deliveries).toEqual([]);
  });

  it.each<[SinkResult, string, boolean]>([
    ['new', 'accepted', false],
    ['unknown', 'accepted', false],
    ['duplicate', 'duplicate', true],
  ])('answers 200 when the sink resolves with %s', async (result, status, duplicate) => {
    const { receiver, reports } = receiverWith(async () => result);
    expect(await post(receiver, BODY)).toMatchObject({ status: 200, body: { status } });
    expect(reports).toMatchObject([{ outcome: 'accepted', duplicate }]);
    await receiver.settled();
    await receiver.stop(1000);
  });

  it.each<[string, NotificationSink['put'], string]>([
    ['rejects', () => Promise.reject(new Error('no quorum')), 'no quorum'],
    [
      'throws',
      () => {
        throw new Error('not connected');
      },
      'not connected',
    ],
    ['takes too long', () => new Promise(() => {}), 'no acknowledgement within 20 ms'],
    ['resolves with nothing', async () => undefined as never, 'put resolved with none of new, duplicate, unknown'],
  ])('answers 503 when the sink %s', async (_what, put, reasonDetail) => {
    const { receiver, reports } = receiverWith(put, { sinkTimeLimitMs: 20 });
    expect(await post(receiver, BODY)).toMatchObject({ status: 503, body: { error: 'not-stored' } });
    expect(reports).toMatchObject([{ outcome: 'refused', reasonCode: 'sink-failed', reasonDetail }]);
  });

  it('ignores a rejection after the time limit, and accepts the repeated delivery', async () => {
    let puts = 0;
    const { receiver } = receiverWith(
      async () => {
        puts += 1;
        if (puts > 1) return 'new';
        await pause(60);
        throw new Error('late');
      },
      { sinkTimeLimitMs: 20 },
    );
    expect((await post(receiver, BODY)).status).toBe(503);
    expect((await post(receiver, BODY)).status).toBe(200);
    await pause(80);
  });

  it.each(['id with spaces ', '\ud800', 'sha256:x', 'Grüße'])(
    'replaces the id %j by its hash, because a header of a broker may not hold it',
    async (id) => {
      const { receiver, deliveries } = receiverWith(async () => 'new');
      expect((await post(receiver, JSON.stringify(buy(id)))).status).toBe(200);
      const hash = createHash('sha256').update(JSON.stringify(id)).digest('hex');
      expect(deliveries[0]?.idempotencyKey).toBe(`sha256:${hash}`);
    },
  );
});

describe('the options of a sink', () => {
  const sink: NotificationSink = { put: async () => 'new' };

  it.each<[string, ReceiverOptions, RegExp]>([
    ['an inbox', { sink, inbox: memoryInbox() }, /`sink` and `inbox`/],
    ['a handler, which needs claims', { sink, handlers: { CAAS_BUY: () => {} } }, /`sink` and `handlers`/],
    ['no put', { sink: {} as NotificationSink }, /put/],
    ['no time limit', { sink, sinkTimeLimitMs: 0 }, /sinkTimeLimitMs/],
    ['a time limit that no timer supports', { sink, sinkTimeLimitMs: 2 ** 31 }, /sinkTimeLimitMs/],
  ])('are refused with %s', (_what, options, message) => {
    const create = () => createReceiver({ signing, ...options });
    expect(create).toThrow(message);
    expect(create).toThrow(HookproofError);
  });

  it('are accepted with an empty list of handlers', () => {
    expect(() => createReceiver({ signing, sink, handlers: {} })).not.toThrow();
  });
});
