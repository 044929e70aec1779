import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { type ConnectionTap, type Relay, startRelay } from '../../../harness/proxy/index.ts';

interface Site {
  readonly relay: Relay;
  /** Opens a connection to the relay. Returns both its client and its upstream socket. */
  open(): Promise<{ client: Socket; server: Socket }>;
}

async function site(options: { maxConnections?: number; tap?: () => ConnectionTap } = {}): Promise<Site> {
  const upstream: Server = createServer({ allowHalfOpen: true });
  const sockets: Socket[] = [];
  const keep = (socket: Socket) => {
    sockets.push(socket);
    return socket.on('error', () => {});
  };
  upstream.on('connection', keep);
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  const { port } = upstream.address() as AddressInfo;
  const { maxConnections = 10, tap } = options;
  const target = { host: '127.0.0.1', port };
  const relay = await startRelay({ host: '127.0.0.1', port: 0, upstream: target, maxConnections, ...(tap && { tap }) });
  onTestFinished(async () => {
    await relay.close();
    for (const socket of sockets) socket.destroy();
    upstream.close();
  });
  return {
    relay,
    async open() {
      const arrived = once(upstream, 'connection') as Promise<[Socket]>;
      const client = keep(connect({ port: relay.port, host: '127.0.0.1', allowHalfOpen: true }));
      const [server] = await arrived;
      return { client, server };
    },
  };
}

/** Resolves with the bytes once this many have arrived. */
function received(socket: Socket, length: number): Promise<Buffer> {
  return new Promise((resolve) => {
    let all = Buffer.alloc(0);
    socket.on('data', (piece) => {
      all = Buffer.concat([all, piece]);
      if (all.length >= length) resolve(all);
    });
  });
}

/** All byte values, in an order that reveals swapped bytes. */
const BYTES = Buffer.from(Array.from({ length: 70_000 }, (_, at) => (at * 31 + (at >> 8)) % 256));

it('forwards any bytes in both directions, and half-closes', async () => {
  const { client, server } = await (await site()).open();
  const atServer = received(server, BYTES.length);
  client.end(BYTES);
  expect((await atServer).equals(BYTES)).toBe(true);
  if (!server.readableEnded) await once(server, 'end');
  // The answer still reaches a client that has ended its side.
  const atClient = received(client, BYTES.length);
  server.end(BYTES);
  expect((await atClient).equals(BYTES)).toBe(true);
  await once(client, 'close');
});

it('forwards before the request is complete: an interim answer, and an early one', async () => {
  const { client, server } = await (await site()).open();
  const head = 'POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n';
  const atServer = received(server, head.length);
  client.write(head);
  await atServer;
  const interim = 'HTTP/1.1 100 Continue\r\n\r\n';
  const atClient = received(client, interim.length);
  server.write(interim);
  expect(String(await atClient)).toBe(interim);
});

it.each([
  ['client', 'server'],
  ['server', 'client'],
] as const)('a reset of the %s resets the %s', async (from, to) => {
  const ends = await (await site()).open();
  const failed = once(ends[to], 'error') as Promise<[NodeJS.ErrnoException]>;
  const seen = received(ends[to], 5);
  ends[from].write('hello');
  await seen;
  ends[from].resetAndDestroy();
  expect((await failed)[0].code).toBe('ECONNRESET');
});

it.each([
  ['server', 'client'],
  ['client', 'server'],
] as const)(
  'what the %s has sent reaches the %s even if a write of the relay fails before it is read',
  async (from, to) => {
    const { relay, open } = await site();
    const ends = await open();
    const isConnected = Promise.all([received(ends.client, 5), received(ends.server, 5)]);
    ends.client.write('hello');
    ends.server.write('hello');
    await isConnected;
    const seen = received(ends[to], 'the rest'.length);
    // The relay reads the x first, and writes it to a connection that has been reset.
    ends[to].write('x');
    ends[from].write('the rest');
    ends[from].resetAndDestroy();
    expect(String(await seen)).toBe('the rest');
    await expect.poll(() => relay.openConnections()).toBe(0);
  },
);

it('reads the rest from a side whose other side was reset while it did not read', async () => {
  const { relay, open } = await site();
  const { client, server } = await open();
  server.pause();
  // This is more than the buffers of the system and of the relay can hold.
  client.write(Buffer.alloc(64 * 1024 * 1024));
  const seen = received(client, 6);
  await once(server, 'readable');
  server.write('answer');
  server.resetAndDestroy();
  expect(String(await seen)).toBe('answer');
  await expect.poll(() => relay.openConnections()).toBe(0);
});

it('resets the client when nothing is listening upstream', async () => {
  const closed = createServer();
  await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
  const { port } = closed.address() as AddressInfo;
  await new Promise((resolve) => closed.close(resolve));
  const upstream = { host: '127.0.0.1', port };
  const relay = await startRelay({ host: '127.0.0.1', port: 0, upstream, maxConnections: 1 });
  onTestFinished(() => relay.close());
  const client = connect(relay.port, '127.0.0.1');
  const [error] = (await once(client, 'error')) as [NodeJS.ErrnoException];
  expect(error.code).toBe('ECONNRESET');
});

it('stops reading from a side whose other side does not read, and loses nothing', async () => {
  const { open } = await site();
  // This is far more than the buffers of the system and of the relay can hold.
  const piece = Buffer.alloc(64 * 1024 * 1024, 'x');
  const [stuck, flowing] = [await open(), await open()];
  stuck.server.pause();
  let taken = false;
  stuck.client.write(piece, () => {
    taken = true;
  });
  const count = (socket: Socket) =>
    new Promise<void>((resolve) => {
      let length = 0;
      socket.on('data', (data) => {
        length += data.length;
        if (length === piece.length) resolve();
      });
    });
  // Meanwhile, the same amount passes twice over another connection, so there was enough time.
  flowing.client.write(piece);
  await count(flowing.server);
  flowing.server.write(piece);
  await count(flowing.client);
  expect(taken).toBe(false);
  const whole = count(stuck.server);
  stuck.server.resume();
  await whole;
});

it('closes connections beyond the limit at once, and takes new ones after others have ended', async () => {
  const { relay, open } = await site({ maxConnections: 1 });
  const { client } = await open();
  const second = connect(relay.port, '127.0.0.1');
  second.on('error', () => {});
  await once(second, 'close');
  expect([relay.openConnections(), relay.dropped()]).toEqual([1, 1]);
  client.resetAndDestroy();
  await expect.poll(() => relay.openConnections()).toBe(0);
  await open();
});

it('goes on when its tap fails', async () => {
  const fails = () => {
    throw new Error('a fault of the tap');
  };
  const tap = () => ({ fromClient: fails, fromServer: fails, clientEnded: fails, serverEnded: fails, closed: fails });
  const { client, server } = await (await site({ tap })).open();
  const atServer = received(server, 10);
  client.write('hello');
  client.write('again');
  expect(String(await atServer)).toBe('helloagain');
});
