import { createServer } from 'node:http';
import { createServer as createTcpServer, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { EndpointWatch } from '../../harness/cli/watch/endpoint-watch.ts';
import { type Endpoint, freePort, listen } from '../endpoints/listen.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close();
});

/** Starts a watch whose events can be awaited. */
async function watching(url: string) {
  let wake = () => {};
  const watch = new EndpointWatch(url, () => wake());
  await watch.open();
  open.push(watch);
  const seen = async (events: number): Promise<EndpointWatch> => {
    while (watch.events < events) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    return watch;
  };
  return { watch, seen };
}

/** Starts an endpoint that tracks the connections on which nothing was sent. */
async function serving(port = 0) {
  const idle = new Set<Socket>();
  const opened: Socket[] = [];
  let wake = () => {};
  const server = createServer((request, response) => {
    idle.delete(request.socket);
    response.end();
  });
  server.on('connection', (socket) => {
    idle.add(socket);
    opened.push(socket);
    socket.on('close', () => idle.delete(socket));
    wake();
  });
  const endpoint: Endpoint = await listen(server, port);
  open.push(endpoint);
  const idleOnes = async (count: number) => {
    while (idle.size < count) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  return { endpoint, idle, idleOnes, opened };
}

/** Connections older than this count as held, in milliseconds. */
const HELD_MS = 600;
const held = () => new Promise((resolve) => setTimeout(resolve, HELD_MS));

it('sees that the endpoint is closed and opened again', async () => {
  const { endpoint, idleOnes } = await serving();
  const { watch, seen } = await watching(endpoint.url);
  await idleOnes(2);
  await held();
  await endpoint.close();
  expect((await seen(1)).last?.backMs).toBeNull();
  await serving(endpoint.port);
  await seen(2);
  expect(watch.last?.backMs).toBeGreaterThanOrEqual(watch.last?.goneMs ?? Number.NaN);
});

it('takes no timeout of an idle connection for a restart', async () => {
  const { endpoint, idle, idleOnes, opened } = await serving();
  const { watch } = await watching(endpoint.url);
  watch.expectRestart();
  await idleOnes(2);
  await held();
  for (let round = 0; round < 2; round++) {
    const [oldest] = idle;
    const before = opened.length;
    if (oldest !== undefined) idle.delete(oldest);
    oldest?.destroy();
    await idleOnes(2);
    expect(opened.length).toBeGreaterThan(before);
    await held();
  }
  expect(watch.events).toBe(0);
});

it('takes closed connections for a restart only after a change, while the port still answers', async () => {
  const { endpoint, idle, idleOnes } = await serving();
  const { watch, seen } = await watching(endpoint.url);
  const closeAll = async () => {
    await idleOnes(2);
    await held();
    for (const socket of idle) socket.destroy();
  };
  await closeAll();
  await idleOnes(1);
  expect(watch.events).toBe(0);
  watch.expectRestart();
  await closeAll();
  await seen(2);
  expect(watch.last?.backMs).not.toBeNull();
});

it('waits for an endpoint that is not there yet', async () => {
  const port = await freePort();
  const { seen } = await watching(`http://127.0.0.1:${port}/hooks`);
  expect((await seen(1)).last?.backMs).toBeNull();
  await serving(port);
  expect((await seen(2)).last?.backMs).not.toBeNull();
});

it('holds no connection to a server that serves one at a time, and sees all the same that it ends', async () => {
  const waiting: Socket[] = [];
  let current: Socket | undefined;
  const serveNext = () => {
    current = waiting.shift();
    const socket = current;
    socket?.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'));
    socket?.once('close', serveNext);
    socket?.resume();
  };
  const server = createTcpServer({ pauseOnConnect: true }, (socket) => {
    waiting.push(socket);
    if (current === undefined) serveNext();
  });
  const endpoint = await listen(server);
  open.push(endpoint);
  const { watch, seen } = await watching(endpoint.url);
  const { status } = await fetch(endpoint.url);
  expect({ status, events: watch.events }).toEqual({ status: 200, events: 0 });
  await endpoint.close();
  await seen(1);
});
