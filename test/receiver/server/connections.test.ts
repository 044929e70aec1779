/** Senders that take more than their share: connections, headers, time. On plain sockets. */
import { connect as tlsConnect } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { quickStartCertificate } from '../../../certs/index.ts';
import { HookproofError } from '../../../contract/index.ts';
import {
  type ConnectionObserver,
  createReceiver,
  type Inbox,
  memoryInbox,
  type RunningReceiver,
  type ServerOptions,
  startReceiver,
} from '../../../receiver/index.ts';
import { createHttpServer } from '../../../receiver/server/http-server.ts';
import { serve } from '../../../receiver/start-receiver.ts';
import { API_KEY, buy, headersFor, SECRET } from '../deliveries.ts';
import { openRaw, type RawConnection, rawPost } from '../raw-http.ts';

const HALF_A_HEAD = 'POST / HTTP/1.1\r\nHost: x\r\nX-Half';

let receiver: RunningReceiver | undefined;
const connections: RawConnection[] = [];
afterEach(async () => {
  for (const { socket } of connections.splice(0)) socket.destroy();
  await receiver?.close();
});

/** Counts what a receiver tells about its connections. */
function counting() {
  const counts = { open: 0, most: 0, waiting: 0, full: 0 };
  const refusals: [number, string][] = [];
  const observer: ConnectionObserver = {
    opened() {
      counts.open += 1;
      counts.most = Math.max(counts.most, counts.open);
    },
    closed() {
      counts.open -= 1;
    },
    dropped(why) {
      counts[why] += 1;
    },
    refused: (status, error) => void refusals.push([status, error]),
  };
  return { counts, refusals, observer };
}

async function start(options: ServerOptions & { inbox?: Inbox } = {}) {
  const watched = counting();
  receiver = await startReceiver({
    signing: { secrets: [SECRET] },
    apiKey: { keys: [API_KEY] },
    connectionObserver: watched.observer,
    ...options,
  });
  return { ...watched, port: receiver.port };
}

async function open(port: number): Promise<RawConnection> {
  const connection = await openRaw(port);
  connections.push(connection);
  return connection;
}

function rightPost(): Buffer {
  const body = JSON.stringify(buy());
  return rawPost(body, headersFor(body));
}

/** A right delivery on a new connection. */
async function deliver(port: number): Promise<number> {
  const connection = await open(port);
  await connection.write(rightPost());
  const { status } = await connection.answer();
  connection.socket.destroy();
  return status;
}

/** Sends a byte from time to time, for as long as the other side lets it. */
function drip(connection: RawConnection, everyMs: number): void {
  const timer = setInterval(() => connection.socket.write('a'), everyMs);
  void connection.ended.then(() => clearInterval(timer));
}

describe('slow senders', () => {
  it.each([
    ['headers', HALF_A_HEAD],
    ['bodies', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n'],
  ])(
    '%s that come drop by drop are answered 408 at the time limit, however steadily they come',
    async (_what, head) => {
      const { port, refusals } = await start({ timeouts: { headersMs: 150, requestMs: 150 } });
      const slow = await open(port);
      await slow.write(head);
      drip(slow, 10);
      expect(await slow.answer()).toMatchObject({ status: 408, body: '{"error":"timeout"}' });
      await slow.ended;
      expect(refusals).toEqual([[408, 'timeout']]);
      expect(await deliver(port)).toBe(200);
    },
  );

  it('a connection on which nothing comes ends at the time limit for headers', async () => {
    const { port } = await start({ timeouts: { headersMs: 150 } });
    const silent = await open(port);
    expect((await silent.answer()).status).toBe(408);
    await silent.ended;
  });
});

describe('at the limit of connections', () => {
  it('a right delivery is answered while hundreds of half-open connections come and stay', async () => {
    const { port, counts } = await start({ limits: { maxConnections: 50 } });
    const halfOpen = await Promise.all(Array.from({ length: 300 }, () => open(port)));
    await Promise.all(halfOpen.map((connection) => connection.write(HALF_A_HEAD).catch(() => {})));
    expect(await Promise.all(Array.from({ length: 10 }, () => deliver(port)))).toEqual(Array(10).fill(200));
    expect(counts.most).toBe(50);
    expect(counts.waiting).toBeGreaterThanOrEqual(250);
    expect(counts.full).toBe(0);
  });

  it('which the limit of Node alone would not bring about: it keeps those that came first', async () => {
    const inner = createReceiver({ signing: { secrets: [SECRET] }, apiKey: { keys: [API_KEY] } });
    const server = createHttpServer(inner.app);
    server.maxConnections = 50;
    const naive = await serve(inner, server);
    const halfOpen = await Promise.all(Array.from({ length: 100 }, () => open(naive.port)));
    await Promise.all(halfOpen.slice(0, 50).map((connection) => connection.write(HALF_A_HEAD)));
    await expect(deliver(naive.port)).rejects.toThrow('connection ended');
    for (const { socket } of connections) socket.destroy();
    await naive.close();
  });

  it('closes the connection that has kept it waiting longest: silent, idle, or in the middle of a body', async () => {
    const { port, counts } = await start({ limits: { maxConnections: 4 } });
    const ended: string[] = [];
    const named = async (name: string, bytes: string | Buffer, answered = false) => {
      const connection = await open(port);
      void connection.ended.then(() => ended.push(name));
      await connection.write(bytes);
      if (answered) expect((await connection.answer()).status).toBe(200);
      return connection;
    };
    const silent = await named('silent', '');
    await vi.waitFor(() => expect(counts.open).toBe(1));
    const idle = await named('idle', rightPost(), true);
    const body = await named('body', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n');
    expect((await body.answer()).status).toBe(100);
    const kept = await named('kept', rightPost(), true);
    for (const [next, connection] of [
      ['silent', silent],
      ['idle', idle],
      ['body', body],
    ] as const) {
      const other = await named('other', '');
      await connection.ended;
      expect(ended.at(-1)).toBe(next);
      // It has come last, so it is the last to be closed.
      other.socket.destroy();
      await other.ended;
      await named('filler', rightPost(), true);
    }
    await kept.write(rightPost());
    expect((await kept.answer()).status).toBe(200);
    expect(counts.waiting).toBeGreaterThanOrEqual(3);
  });

  it('never closes a connection with a whole request, and then refuses the new one', async () => {
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
    const busy = await Promise.all([open(port), open(port), open(port)]);
    for (const connection of busy) await connection.write(rightPost());
    await vi.waitFor(() => expect(storing).toBe(3));
    const refused = await open(port);
    await refused.ended;
    expect([counts.full, counts.waiting]).toEqual([1, 0]);
    release();
    for (const connection of busy) expect((await connection.answer()).status).toBe(200);
    // Now they wait for a next request, so there is place again.
    expect(await deliver(port)).toBe(200);
  });

  it('holds over HTTPS too: handshakes that never end give way, and a connection in use does not', async () => {
    const { ca, ...server } = await quickStartCertificate();
    const { port, counts } = await start({ tls: server, limits: { maxConnections: 10 } });
    const silent = await Promise.all(Array.from({ length: 30 }, () => open(port)));
    await vi.waitFor(() => expect(counts.waiting).toBeGreaterThanOrEqual(20));
    const socket = tlsConnect({ port, host: '127.0.0.1', ca: ca.cert });
    const statuses: string[] = [];
    socket.on('data', (chunk: Buffer) => statuses.push(chunk.toString().slice(9, 12)));
    socket.on('error', () => {});
    socket.write(rightPost());
    await vi.waitFor(() => expect(statuses).toEqual(['200']));
    // Its place in the queue is that of its request, and not that of the opening of the connection.
    await Promise.all(Array.from({ length: 9 }, () => open(port)));
    socket.write(rightPost());
    await vi.waitFor(() => expect(statuses).toEqual(['200', '200']));
    await Promise.all(Array.from({ length: 9 }, () => open(port)));
    socket.write(rightPost());
    await vi.waitFor(() => expect(statuses).toEqual(['200', '200', '200']));
    expect(counts.most).toBe(10);
    socket.destroy();
    await Promise.all(silent.map(({ ended }) => ended));
  });
});

describe('large requests', () => {
  const withHeaders = (count: number) => {
    const body = JSON.stringify(buy());
    const right = headersFor(body);
    // Host, Content-Length, and those of the delivery.
    const others = count - 2 - Object.keys(right).length;
    const more = Object.fromEntries(Array.from({ length: others }, (_, index) => [`X-${index}`, '1']));
    return rawPost(body, { ...more, ...right });
  };

  it('more header lines than the limit are answered 431, and none is left out silently', async () => {
    const { port, refusals } = await start();
    const connection = await open(port);
    await connection.write(withHeaders(200));
    expect((await connection.answer()).status).toBe(200);
    await connection.write(withHeaders(201));
    const answer = await connection.answer();
    expect([answer.status, answer.body]).toEqual([431, '{"error":"headers-too-many"}']);
    expect(answer.headers).toContain('Connection: close');
    expect(await connection.ended).toBe('closed');
    expect(refusals).toEqual([[431, 'headers-too-many']]);
  });

  it('a request line and headers beyond the limit in bytes are answered 431', async () => {
    const { port, refusals } = await start({ limits: { maxHeaderBytes: 2048 } });
    expect(await deliver(port)).toBe(200);
    const connection = await open(port);
    await connection.write(rawPost('{}', { 'X-Long': 'x'.repeat(2100) }));
    expect(await connection.answer()).toMatchObject({ status: 431, body: '{"error":"headers-too-large"}' });
    expect(await connection.ended).toBe('closed');
    expect(refusals).toEqual([[431, 'headers-too-large']]);
  });

  it('pipelined requests are answered in order, up to one that is too large', async () => {
    const { port } = await start({ limits: { maxHeaders: 20 } });
    const connection = await open(port);
    const right = Array.from({ length: 50 }, rightPost);
    await connection.write(Buffer.concat([...right, withHeaders(30), rightPost()]));
    const statuses: number[] = [];
    for (let count = 0; count < 51; count += 1) statuses.push((await connection.answer()).status);
    expect(statuses).toEqual([...Array(50).fill(200), 431]);
    await connection.ended;
    expect(await deliver(port)).toBe(200);
  });

  it('a compressed body is not inflated, whatever it holds', async () => {
    const { port } = await start();
    const bomb = gzipSync(Buffer.alloc(50 * 1024 * 1024, ' '), { level: 9 });
    const connection = await open(port);
    await connection.write(rawPost(bomb, headersFor(bomb, { 'Content-Encoding': 'gzip' })));
    expect(await connection.answer()).toMatchObject({
      status: 415,
      body: '{"error":"content-encoding-not-supported"}',
    });
  });
});

describe('limits that are none', () => {
  it.each<[string, ServerOptions, RegExp]>([
    ['no connection', { limits: { maxConnections: 0 } }, /limits\.maxConnections .* connections/],
    ['half a connection', { limits: { maxConnections: 1.5 } }, /limits\.maxConnections/],
    ['no bytes', { limits: { maxHeaderBytes: Number.NaN } }, /limits\.maxHeaderBytes .* bytes/],
    ['no headers', { limits: { maxHeaders: -1 } }, /limits\.maxHeaders .* headers/],
    ['no time', { timeouts: { requestMs: 0 } }, /timeouts\.requestMs .* milliseconds/],
    ['more time than a timer takes', { timeouts: { closeMs: 2 ** 31 } }, /timeouts\.closeMs/],
    ['more time for the headers than for all', { timeouts: { headersMs: 200, requestMs: 100 } }, /headersMs is longer/],
  ])('%s is refused at the start', async (_what, options, says) => {
    const error = await startReceiver({ open: true, ...options }).then(
      () => null,
      (reason: unknown) => reason as HookproofError,
    );
    expect(error).toBeInstanceOf(HookproofError);
    expect([error?.code, says.test(error?.message ?? '')]).toEqual(['RECEIVER_LIMIT', true]);
  });

  it('undefined is the default, and a short time for the request is one for its headers', async () => {
    const options = { limits: { maxConnections: undefined }, timeouts: { requestMs: 100 } } as unknown as ServerOptions;
    const { port } = await start(options);
    const silent = await open(port);
    expect((await silent.answer()).status).toBe(408);
  });
});
