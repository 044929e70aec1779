/** Duplicates, handlers, and the inbox. */
import { randomUUID } from 'node:crypto';
import express from 'express';
import request from 'supertest';
import { describe, expect, it, vi } from 'vitest';
import type { ReceivedNotification } from '../../../contract/index.ts';
import { createApp, createPipeline } from '../../../receiver/create-receiver.ts';
import { createHandling } from '../../../receiver/handling/handling.ts';
import {
  createReceiver,
  type Inbox,
  memoryInbox,
  type Receiver,
  type ReceiverLogger,
} from '../../../receiver/index.ts';
import { resolveOptions } from '../../../receiver/options.ts';
import { buy, post, SECRET } from '../deliveries.ts';

const bare = { 'X-Service-Signature': undefined, 'X-API-Key': undefined };

function collectingLogger(): { logger: ReceiverLogger; lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = [];
  const add = (level: string) => (fields: object, message: string) => void lines.push({ level, message, ...fields });
  return { logger: { info: add('info'), warn: add('warn'), error: add('error') }, lines };
}

function unknown(id: string): Parameters<Inbox['put']>[0] {
  const notification = { kind: 'UNKNOWN', id, type: 'X', at: null, data: {}, raw: {} } as const;
  const rawBody = Buffer.from(JSON.stringify({ id, type: 'X', data: {} }));
  return { notification, rawBody, receivedAt: new Date(), handle: true };
}

describe('a duplicate', () => {
  it('is answered 200 and handled once, one after another and at the same time', async () => {
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

  it('is told by the id alone', async () => {
    const handled: string[] = [];
    const receiver = createReceiver({ open: true, handlers: { CAAS_BUY: ({ id }) => void handled.push(id) } });
    for (const id of ['one', 'two', 'One', 'one ']) await post(receiver, JSON.stringify(buy(id)), bare);
    await receiver.settled();
    expect(handled).toEqual(['one', 'two', 'One', 'one ']);
  });
});

describe('the handlers', () => {
  it('get the notification of their kind, and a kind without one is accepted', async () => {
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

  it('run after the answer', async () => {
    let release = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const receiver = createReceiver({ open: true, handlers: { CAAS_BUY: () => gate } });
    expect((await post(receiver, JSON.stringify(buy()), bare)).status).toBe(200);
    let settled = false;
    const settling = receiver.settled().then(() => {
      settled = true;
    });
    expect(settled).toBe(false);
    release();
    await settling;
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('handler broke');
      },
    ],
    ['rejects', () => Promise.reject(new Error('handler broke'))],
    [
      'throws what is not an error',
      () => {
        throw 'text';
      },
    ],
  ])('one that %s is logged, the process goes on, and it is tried again', async (_label, fail) => {
    const { logger, lines } = collectingLogger();
    let calls = 0;
    const keys = new Set<string>();
    const receiver = createReceiver({
      open: true,
      logger,
      handling: { firstDelayMs: 0 },
      handlers: {
        CAAS_BUY: (_notification, { idempotencyKey, attempt }) => {
          calls += 1;
          keys.add(idempotencyKey);
          expect(attempt).toBe(calls);
          return calls === 1 ? fail() : undefined;
        },
      },
    });
    const body = JSON.stringify(buy('failing'));
    for (const expected of ['accepted', 'duplicate']) {
      const answer = await post(receiver, body, bare);
      expect([answer.status, answer.body]).toEqual([200, { status: expected }]);
      await vi.waitFor(() => expect(calls).toBe(2));
      await receiver.settled();
    }
    expect([calls, [...keys]]).toEqual([2, ['failing']]);
    expect(lines.filter(({ event }) => event === 'handler-failed')).toMatchObject([
      { level: 'error', id: 'failing', kind: 'CAAS_BUY' },
    ]);
  });

  it('are started in the order of acceptance, 16 at a time, and all of them', async () => {
    const started: string[] = [];
    let running = 0;
    let most = 0;
    const config = resolveOptions({ open: true });
    const handlers = {
      UNKNOWN: async ({ id }: ReceivedNotification) => {
        started.push(id);
        running += 1;
        most = Math.max(most, running);
        await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
      },
    };
    const handling = createHandling({ ...config, handlers });
    const ids = Array.from({ length: 100 }, (_, index) => `id-${index}`);
    for (const id of ids) await config.inbox.put(unknown(id));
    expect(started).toEqual([]);
    await handling.settled();
    expect(started).toEqual(ids);
    expect(most).toBe(16);
  });
});

describe('the inbox', () => {
  it('that fails means 503, nothing handled, and no word of why', async () => {
    const { logger, lines } = collectingLogger();
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
    });
  });

  it('that cannot write down what came of a handler is asked again until it can, and that is one line in the log', async () => {
    const { logger, lines } = collectingLogger();
    const memory = memoryInbox();
    let asked = 0;
    const inbox: Inbox = {
      ...memory,
      settle(settlement) {
        asked += 1;
        return asked < 3 ? Promise.reject(new Error('gone')) : memory.settle(settlement);
      },
    };
    let calls = 0;
    const handlers = {
      CAAS_BUY: () => {
        calls += 1;
      },
    };
    const receiver = createReceiver({ open: true, inbox, logger, handlers, handling: { pollMs: 1 } });
    await post(receiver, JSON.stringify(buy()), bare);
    await receiver.settled();
    expect([calls, asked]).toEqual([1, 3]);
    const errors = lines.filter(({ level }) => level === 'error').map(({ event }) => event);
    expect(errors).toEqual(['settle-failed']);
  });

  it('gets the bytes, the notification and the time', async () => {
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

  it('in memory forgets the oldest ids beyond its limit', async () => {
    const inbox = memoryInbox({ maxIds: 2 });
    const put = (id: string) => inbox.put({ ...unknown(id), handle: false });
    expect([await put('a'), await put('b'), await put('a'), await put('c')]).toEqual([
      'stored',
      'stored',
      'duplicate',
      'stored',
    ]);
    expect([await put('b'), await put('c'), await put('a')]).toEqual(['duplicate', 'duplicate', 'stored']);
  });
});

describe('when handlers cannot keep up', () => {
  it('the inbox in memory takes no more, the answer is 503, and it works off what it has', async () => {
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

describe('wired wrongly', () => {
  it('behind a body parser it answers 500 at once, and says why in the log', async () => {
    const { logger, lines } = collectingLogger();
    const receiver = createReceiver({ open: true, logger });
    const outer = express().use(express.json()).use('/hooks', receiver.app);
    const answer = await request(outer).post('/hooks').send(buy(randomUUID()));
    expect([answer.status, answer.text]).toEqual([500, '{"error":"internal"}']);
    expect(lines.find(({ level }) => level === 'error')).toMatchObject({
      event: 'internal-error',
      error: { message: 'The body was read before the receiver saw it.' },
    });
  });

  it('a stage that misses what an earlier one does fails closed', async () => {
    const config = resolveOptions({ signing: { secrets: [SECRET] } });
    const handling = createHandling(config);
    const pipeline = createPipeline(config, handling);
    const skip: typeof pipeline.readBody = (_req, _res, next) => next();
    for (const stage of ['readBody', 'parse', 'validate', 'store'] as const) {
      const app = createApp({ ...pipeline, [stage]: skip }, config);
      const answer = await post({ app } as Receiver, JSON.stringify(buy()), {});
      expect([stage, answer.status, answer.text]).toEqual([stage, 500, '{"error":"internal"}']);
    }
  });

  it('in front of one it works, and takes the path below where it is mounted', async () => {
    const receiver = createReceiver({ open: true, path: '/caas' });
    const outer = express().use('/hooks', receiver.app).use(express.json());
    expect((await request(outer).post('/hooks/caas').send(buy(randomUUID()))).status).toBe(200);
  });
});
