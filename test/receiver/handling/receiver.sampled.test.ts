/** Duplicates, handlers and the inbox over HTTP. */
import { randomUUID } from 'node:crypto';
import express from 'express';
import request from 'supertest';
import { describe, expect, it, vi } from 'vitest';
import type { ReceivedNotification } from '../../../contract/index.ts';
import { createApp, createPipeline } from '../../../receiver/create-receiver.ts';
import { Handling } from '../../../receiver/handling/handling.ts';
import { createReceiver, type Inbox, memoryInbox, type Receiver } from '../../../receiver/index.ts';
import { resolveOptions } from '../../../receiver/options.ts';
import { buy, post, SECRET } from '../deliveries.ts';
import { received } from '../inbox/stores.ts';
import { collectLogs } from '../logs.ts';

const bare = { 'X-Service-Signature': undefined, 'X-API-Key': undefined };

describe('a duplicate', () => {
  it('gets 200 and is handled once, sequentially and concurrently', async () => {
    const handled: string[] = [];
    const receiver = createReceiver({ open: true, handlers: { CAAS_BUY: ({ id }) => void handled.push(id) } });
    const body = JSON.stringify(buy('same'));
    const first = await post(receiver, body, bare);
    const second = await post(receiver, `${body}\n`, bare);
    expect([first.status, first.body, second.status, second.body]).toEqual([
      200,
      { status: 'accepted' },
      200,
      { status: 'duplicate' },
    ]);
    const burst = JSON.stringify(buy('burst'));
    const answers = await Promise.all(Array.from({ length: 10 }, () => post(receiver, burst, bare)));
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect(answers.filter(({ body: { status } }) => status === 'accepted')).toHaveLength(1);
    await receiver.settled();
    expect(handled).toEqual(['same', 'burst']);
  });
});

describe('the handlers', () => {
  it('get the notifications of their kind, and a kind without a handler is accepted', async () => {
    const seen: ReceivedNotification[] = [];
    const receiver = createReceiver({
      open: true,
      handlers: {
        CAAS_BUY: (notification) => {
          const status: string | null = notification.data.metadata.orderStatus;
          expect(status).toBe('COMPLETED');
          seen.push(notification);
        },
        UNKNOWN: (notification) => void seen.push(notification),
      },
    });
    await post(receiver, JSON.stringify(buy('a')), bare);
    await post(receiver, JSON.stringify(buy('b', { type: 'SELL' })), bare);
    for (const type of ['NEW', '__proto__', 'constructor', 'toString']) {
      const answer = await post(receiver, JSON.stringify({ id: type, type, at: 1, data: {} }), bare);
      expect(answer.status).toBe(200);
    }
    await receiver.settled();
    expect(seen.map(({ kind, id }) => `${kind} ${id}`)).toEqual([
      'CAAS_BUY a',
      'UNKNOWN NEW',
      'UNKNOWN __proto__',
      'UNKNOWN constructor',
      'UNKNOWN toString',
    ]);
  });
});

describe('the inbox', () => {
  it('that fails causes a 503 without details, and nothing is handled', async () => {
    const { logger, lines } = collectLogs();
    const handled: string[] = [];
    const put = () => Promise.reject(new Error('disk full at 10.0.0.7'));
    const broken: Inbox = { ...memoryInbox(), put };
    const receiver = createReceiver({
      open: true,
      inbox: broken,
      logger,
      handlers: { CAAS_BUY: ({ id }) => void handled.push(id) },
    });
    const answer = await post(receiver, JSON.stringify(buy()), bare);
    expect([answer.status, answer.text]).toEqual([503, '{"error":"not-stored"}']);
    await receiver.settled();
    expect(handled).toEqual([]);
    await vi.waitFor(() => {
      expect(lines.filter(({ level }) => level === 'error')).toMatchObject([
        { event: 'delivery', status: 503, reason: 'inbox failed: disk full at 10.0.0.7' },
      ]);
    }, 120_000);
  });

  it('gets the bytes, the notification and the time of arrival', async () => {
    const kept: Parameters<Inbox['put']>[0][] = [];
    const inbox: Inbox = {
      ...memoryInbox(),
      put: async (delivery) => {
        kept.push(delivery);
        return 'stored';
      },
    };
    const body = `${JSON.stringify(buy('kept'))}\n`;
    await post(createReceiver({ open: true, inbox }), body, bare);
    expect(
      kept.map(({ rawBody, notification, receivedAt }) => [
        rawBody.toString(),
        notification.id,
        receivedAt instanceof Date,
      ]),
    ).toEqual([[body, 'kept', true]]);
  });

  it('in memory drops the oldest ids beyond its limit', async () => {
    const inbox = memoryInbox({ maxIds: 2 });
    const put = (id: string) => inbox.put({ ...received('WALLET', { id }), handle: false });
    expect([await put('a'), await put('b'), await put('a'), await put('c')]).toEqual([
      'stored',
      'stored',
      'duplicate',
      'stored',
    ]);
    expect([await put('b'), await put('c'), await put('a')]).toEqual(['duplicate', 'duplicate', 'stored']);
  });
});

describe('handlers that cannot keep up', () => {
  it('fill the inbox in memory, which answers 503 until they have caught up', async () => {
    let open = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    let count = 0;
    const handle = async () => {
      await gate;
      count += 1;
    };
    const inbox = memoryInbox({ maxWaiting: 20 });
    const receiver = createReceiver({ open: true, inbox, handlers: { UNKNOWN: handle } });
    const statuses: number[] = [];
    for (let index = 0; index < 22; index += 1) {
      const body = JSON.stringify({ id: `id-${index}`, type: 'X', data: {} });
      statuses.push((await post(receiver, body, bare)).status);
    }
    expect(statuses).toEqual([...Array(20).fill(200), 503, 503]);
    open();
    await receiver.settled();
    expect(count).toBe(20);
    expect((await post(receiver, JSON.stringify({ id: 'id-21', type: 'X', data: {} }), bare)).status).toBe(200);
  });
});

describe('an app', () => {
  it('behind a body parser answers 500 and logs the reason', async () => {
    const { logger, lines } = collectLogs();
    const receiver = createReceiver({ open: true, logger });
    const outer = express().use(express.json()).use('/hooks', receiver.app);
    const answer = await request(outer).post('/hooks').send(buy(randomUUID()));
    expect([answer.status, answer.text]).toEqual([500, '{"error":"internal"}']);
    expect(lines.find(({ level }) => level === 'error')).toMatchObject({
      event: 'internal-error',
      error: { message: 'The body was read before the receiver saw it.' },
    });
  });

  it('without one of its stages answers 500', async () => {
    const config = resolveOptions({ signing: { secrets: [SECRET] } });
    const handling = new Handling(config);
    const pipeline = createPipeline(config, handling);
    const skip: typeof pipeline.readBody = (_req, _res, next) => next();
    for (const stage of ['readBody', 'parse', 'validate', 'store'] as const) {
      const app = createApp({ ...pipeline, [stage]: skip }, config);
      const answer = await post({ app } as Receiver, JSON.stringify(buy()), {});
      expect([stage, answer.status, answer.text]).toEqual([stage, 500, '{"error":"internal"}']);
    }
  });

  it('in front of a body parser works, and its path is relative to where it is mounted', async () => {
    const receiver = createReceiver({ open: true, path: '/caas' });
    const outer = express().use('/hooks', receiver.app).use(express.json());
    expect((await request(outer).post('/hooks/caas').send(buy(randomUUID()))).status).toBe(200);
  });
});
