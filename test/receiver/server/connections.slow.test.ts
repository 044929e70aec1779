/** Senders that use more than their share of connections, headers or time. */
import { connect as tlsConnect } from 'node:tls';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { quickStartCertificate } from '../../../certs/index.ts';
import {
  type ConnectionObserver,
  createReceiver,
  type DropReason,
  type Inbox,
  memoryInbox,
  type ServerOptions,
  startReceiver,
} from '../../../receiver/index.ts';
import { createHttpServer } from '../../../receiver/server/http-server.ts';
import { serve } from '../../../receiver/start-receiver.ts';
import { API_KEY, buy, headersFor, SECRET } from '../deliveries.ts';
import { exchange, openRaw, type RawConnection, rawPost, receiverForTest, validPost } from '../raw-http.ts';

const HALF_A_HEAD = 'POST / HTTP/1.1\r\nHost: x\r\nX-Half';
const credentials = { signing: { secrets: [SECRET] }, apiKey: { keys: [API_KEY] } };

/** Starts a receiver, and counts the events that it reports about its connections. */
async function start(options: ServerOptions & { inbox?: Inbox } = {}) {
  const counts = { open: 0, most: 0, waiting: 0, full: 0 };
  const dropped: DropReason[] = [];
  const refusals: [number, string][] = [];
  const connectionObserver: ConnectionObserver = {
    opened() {
      counts.open += 1;
      counts.most = Math.max(counts.most, counts.open);
    },
    closed() {
      counts.open -= 1;
    },
    dropped(why) {
      dropped.push(why);
      if (why === 'waiting' || why === 'full') counts[why] += 1;
    },
    refused: (status, error) => void refusals.push([status, error]),
  };
  const { port } = await receiverForTest({ ...credentials, connectionObserver, ...options });
  return { counts, dropped, refusals, port };
}

const deliver = async (port: number) => (await exchange(port)).status;

/** Sends a byte from time to time until the connection ends. */
function drip(connection: RawConnection, everyMs: number): void {
  const timer = setInterval(() => connection.socket.write('a'), everyMs);
  void connection.ended.then(() => clearInterval(timer));
}

describe('slow senders', () => {
  it.each([
    ['headers', HALF_A_HEAD],
    ['bodies', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n'],
  ])('get 408 at the time limit when %s arrive byte by byte', async (_what, head) => {
    const { port, refusals } = await start({ timeouts: { headersMs: 150, requestMs: 150 } });
    const slow = await openRaw(port);
    await slow.write(head);
    drip(slow, 10);
    expect(await slow.answer()).toMatchObject({ status: 408, body: '{"error":"timeout"}' });
    await slow.ended;
    expect(refusals).toEqual([[408, 'timeout']]);
    expect(await deliver(port)).toBe(200);
  });

  it('get 408 at the time limit for headers when nothing arrives', async () => {
    const { port } = await start({ timeouts: { headersMs: 150 } });
    const silent = await openRaw(port);
    expect((await silent.answer()).status).toBe(408);
    await silent.ended;
  });
});

describe('at the limit of connections', () => {
  it('answers valid deliveries while hundreds of half-open connections are opened', async () => {
    const { port, counts } = await start({ limits: { maxConnections: 50 } });
    const halfOpen = await Promise.all(Array.from({ length: 300 }, () => openRaw(port)));
    await Promise.all(halfOpen.map((connection) => connection.write(HALF_A_HEAD).catch(() => {})));
    expect(await Promise.all(Array.from({ length: 10 }, () => deliver(port)))).toEqual(Array(10).fill(200));
    expect(counts.most).toBe(50);
    expect(counts.waiting).toBeGreaterThanOrEqual(250);
    expect(counts.full).toBe(0);
  });

  it('would not answer with the limit of Node alone, which keeps the oldest connections', async () => {
    const inner = createReceiver(credentials);
    const server = createHttpServer(inner.app);
    server.maxConnections = 50;
    const naive = await serve(inner, server);
    const halfOpen = await Promise.all(Array.from({ length: 100 }, () => openRaw(naive.port)));
    await Promise.all(halfOpen.slice(0, 50).map((connection) => connection.write(HALF_A_HEAD)));
    await expect(deliver(naive.port)).rejects.toThrow('connection ended');
    for (const { socket } of halfOpen) socket.destroy();
    await naive.close();
  });

  it('closes the connection that has waited longest: silent, idle, or in the middle of a body', async () => {
    const { port, counts } = await start({ limits: { maxConnections: 4 } });
    const ended: string[] = [];
    const named = async (name: string, bytes: string | Buffer, answered = false) => {
      const connection = await openRaw(port);
      void connection.ended.then(() => ended.push(name));
      await connection.write(bytes);
      if (answered) expect((await connection.answer()).status).toBe(200);
      return connection;
    };
    const silent = await named('silent', '');
    await vi.waitFor(() => expect(counts.open).toBe(1), 120_000);
    const idle = await named('idle', validPost(), true);
    const body = await named('body', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n');
    expect((await body.answer()).status).toBe(100);
    const kept = await named('kept', validPost(), true);
    for (const [next, connection] of [
      ['silent', silent],
      ['idle', idle],
      ['body', body],
    ] as const) {
      const other = await named('other', '');
      await connection.ended;
      expect(ended.at(-1)).toBe(next);
      // This connection was opened last, so it would be closed last.
      other.socket.destroy();
      await other.ended;
      await named('filler', validPost(), true);
    }
    await kept.write(validPost());
    expect((await kept.answer()).status).toBe(200);
    expect(counts.waiting).toBeGreaterThanOrEqual(3);
  });

  it('never closes a connection with a complete request, and drops the new connection instead', async () => {
    let release = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    let storing = 0;
    const inbox: Inbox = {
      ...memoryInbox(),
      async put() {
        storing += 1;
        await gate;
        return 'stored';
      },
    };
    const { port, counts } = await start({ limits: { maxConnections: 3 }, inbox });
    const busy = await Promise.all([openRaw(port), openRaw(port), openRaw(port)]);
    for (const connection of busy) await connection.write(validPost());
    await vi.waitFor(() => expect(storing).toBe(3), 120_000);
    const refused = await openRaw(port);
    await refused.ended;
    expect([counts.full, counts.waiting]).toEqual([1, 0]);
    release();
    for (const connection of busy) expect((await connection.answer()).status).toBe(200);
    // The connections are now idle, and can be closed for a new one.
    expect(await deliver(port)).toBe(200);
  });

  it('closes unfinished TLS handshakes before a connection in use', async () => {
    const { ca, ...server } = await quickStartCertificate();
    const { port, counts } = await start({ tls: server, limits: { maxConnections: 10 } });
    const silent = await Promise.all(Array.from({ length: 30 }, () => openRaw(port)));
    await vi.waitFor(() => expect(counts.waiting).toBeGreaterThanOrEqual(20), 120_000);
    const socket = tlsConnect({ port, host: '127.0.0.1', ca: ca.cert });
    const statuses: string[] = [];
    socket.on('data', (chunk: Buffer) => statuses.push(chunk.toString().slice(9, 12)));
    socket.on('error', () => {});
    socket.write(validPost());
    await vi.waitFor(() => expect(statuses).toEqual(['200']), 120_000);
    // The place of a connection in the queue is determined by its latest request, not by its opening.
    await Promise.all(Array.from({ length: 9 }, () => openRaw(port)));
    socket.write(validPost());
    await vi.waitFor(() => expect(statuses).toEqual(['200', '200']), 120_000);
    await Promise.all(Array.from({ length: 9 }, () => openRaw(port)));
    socket.write(validPost());
    await vi.waitFor(() => expect(statuses).toEqual(['200', '200', '200']), 120_000);
    expect(counts.most).toBe(10);
    socket.destroy();
    await Promise.all(silent.map(({ ended }) => ended));
  });
});

/** Creates requests of 26 bytes, all of which are answered 401. */
const tinyRequests = (count: number) => 'POST / HTTP/1.1\r\nHost:\r\n\r\n'.repeat(count);

/** Opens a client that never reads, and whose answers do not fit into the buffers of the kernel. */
async function openDeaf(port: number): Promise<RawConnection> {
  const deaf = await openRaw(port);
  deaf.socket.pause();
  const flood = () => {
    while (!deaf.socket.destroyed && deaf.socket.write(tinyRequests(60)));
  };
  deaf.socket.on('drain', flood);
  flood();
  return deaf;
}

/** Limits that allow any number of requests. */
const UNREAD = { maxPipelined: 1_000_000, maxRequests: 1_000_000 };

describe('clients that do not read their answers', () => {
  it('are closed when they pipeline more requests than the limit, and others are answered', async () => {
    const { port, dropped } = await start({ limits: { maxPipelined: 8 } });
    const polite = await openRaw(port);
    await polite.write(Buffer.concat(Array.from({ length: 8 }, validPost)));
    for (let count = 0; count < 8; count += 1) expect((await polite.answer()).status).toBe(200);
    const greedy = await openRaw(port);
    await greedy.write(tinyRequests(500));
    await greedy.ended;
    expect(dropped).toEqual(['pipelined']);
    expect(await deliver(port)).toBe(200);
  });

  it('cost nothing for the requests that were read before their connection was closed', async () => {
    const { app } = createReceiver(credentials);
    const server = createHttpServer(app, { limits: { maxPipelined: 8 } });
    let requests = 0;
    server.on('request', () => {
      requests += 1;
    });
    const receiver = await serve(createReceiver(credentials), server);
    onTestFinished(() => receiver.close());
    const greedy = await openRaw(receiver.port);
    await greedy.write(tinyRequests(500));
    await greedy.ended;
    expect(requests).toBe(9);
  });

  it('are closed when all connections together have more requests than the limit', async () => {
    const never: Inbox = { ...memoryInbox(), put: () => new Promise(() => {}) };
    const { port, dropped } = await start({ limits: { maxRequests: 10 }, timeouts: { closeMs: 1 }, inbox: never });
    const busiest = await openRaw(port);
    await busiest.write(Buffer.concat(Array.from({ length: 6 }, validPost)));
    const others = await Promise.all(Array.from({ length: 5 }, () => openRaw(port)));
    for (const { write } of others) await write(validPost());
    await busiest.ended;
    expect(dropped).toEqual(['requests']);
    expect(others.every(({ socket }) => !socket.destroyed)).toBe(true);
  });

  it('are closed when they have not taken an answer for the write timeout', async () => {
    const { port, dropped } = await start({ limits: UNREAD, timeouts: { writeMs: 50 } });
    const deaf = await openDeaf(port);
    await deaf.ended;
    expect(dropped).toEqual(['unread']);
    expect(await deliver(port)).toBe(200);
  });

  it('are closed for new connections, because their requests are answered', async () => {
    const { port, dropped } = await start({ limits: { maxConnections: 2, ...UNREAD } });
    const deaf = await Promise.all([openDeaf(port), openDeaf(port)]);
    // Their answers fill the buffers, and then nothing more is transferred.
    await Promise.all(deaf.map(({ socket }) => vi.waitFor(() => expect(socket.writableNeedDrain).toBe(true), 120_000)));
    expect(await deliver(port)).toBe(200);
    expect(dropped).toContain('waiting');
  });
});

describe('large requests', () => {
  const withHeaders = (count: number) => {
    const body = JSON.stringify(buy());
    const right = headersFor(body);
    // These headers are in addition to Host, Content-Length and the headers of the delivery.
    const others = count - 2 - Object.keys(right).length;
    const more = Object.fromEntries(Array.from({ length: others }, (_, index) => [`X-${index}`, '1']));
    return rawPost(body, { ...more, ...right });
  };

  it('get 431 for more header lines than the limit, which Node alone would drop silently', async () => {
    const { port, refusals } = await start();
    const connection = await openRaw(port);
    await connection.write(withHeaders(200));
    expect((await connection.answer()).status).toBe(200);
    await connection.write(withHeaders(201));
    const answer = await connection.answer();
    expect([answer.status, answer.body]).toEqual([431, '{"error":"headers-too-many"}']);
    expect(answer.headers).toContain('Connection: close');
    expect(await connection.ended).toBe('closed');
    expect(refusals).toEqual([[431, 'headers-too-many']]);
  });

  it('get 431 for a head that exceeds the limit in bytes', async () => {
    const { port, refusals } = await start({ limits: { maxHeaderBytes: 2048 } });
    expect(await deliver(port)).toBe(200);
    const connection = await openRaw(port);
    await connection.write(rawPost('{}', { 'X-Long': 'x'.repeat(2100) }));
    expect(await connection.answer()).toMatchObject({ status: 431, body: '{"error":"headers-too-large"}' });
    expect(await connection.ended).toBe('closed');
    expect(refusals).toEqual([[431, 'headers-too-large']]);
  });

  it('end a pipeline: the requests before it are answered in order', async () => {
    const { port } = await start({ limits: { maxHeaders: 20 } });
    const connection = await openRaw(port);
    const right = Array.from({ length: 50 }, validPost);
    await connection.write(Buffer.concat([...right, withHeaders(30), validPost()]));
    const statuses: number[] = [];
    for (let count = 0; count < 51; count += 1) statuses.push((await connection.answer()).status);
    expect(statuses).toEqual([...Array(50).fill(200), 431]);
    await connection.ended;
    expect(await deliver(port)).toBe(200);
  });
});

describe('limits', () => {
  it.each<[string, ServerOptions, RegExp]>([
    ['no connection', { limits: { maxConnections: 0 } }, /limits\.maxConnections` .* connections/],
    ['half a connection', { limits: { maxConnections: 1.5 } }, /limits\.maxConnections/],
    ['no bytes', { limits: { maxHeaderBytes: Number.NaN } }, /limits\.maxHeaderBytes` .* bytes/],
    ['no headers', { limits: { maxHeaders: -1 } }, /limits\.maxHeaders` .* headers/],
    ['half a request', { limits: { maxRequests: 0.5 } }, /limits\.maxRequests` .* requests/],
    ['fewer bytes than a body', { limits: { maxUploadBytes: 1000 } }, /maxUploadBytes` is smaller than `bodyLimit/],
    ['no time', { timeouts: { requestMs: 0 } }, /timeouts\.requestMs` .* milliseconds/],
    ['more time than a timer takes', { timeouts: { closeMs: 2 ** 31 } }, /timeouts\.closeMs/],
    [
      'more time for the headers than for all',
      { timeouts: { headersMs: 200, requestMs: 100 } },
      /headersMs` is longer/,
    ],
  ])('reject %s at the start', async (_what, options, message) => {
    const error = { code: 'RECEIVER_LIMIT', message: expect.stringMatching(message) };
    await expect(startReceiver({ open: true, ...options })).rejects.toMatchObject(error);
  });

  it('have defaults for undefined, and a short request limit applies to the headers too', async () => {
    const options = { limits: { maxConnections: undefined }, timeouts: { requestMs: 100 } } as unknown as ServerOptions;
    const silent = await openRaw((await start(options)).port);
    expect((await silent.answer()).status).toBe(408);
  });
});
