import type { ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** A server on a free loopback port. `close` also ends its open connections. */
export interface Endpoint {
  readonly port: number;
  readonly url: string;
  close(): Promise<void>;
}

/** Listens on a free port of the loopback interface. */
export async function listen(server: Server, port = 0): Promise<Endpoint> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const bound = (server.address() as AddressInfo).port;
  return {
    port: bound,
    url: `http://127.0.0.1:${bound}/hooks`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** Starts an HTTP endpoint from a request listener. It does not close kept connections, even on a slow machine. */
export function serve(listener: RequestListener): Promise<Endpoint> {
  return listen(createServer({ keepAliveTimeout: 120_000 }, listener));
}

/** Ports outside every system's ephemeral range, so that they stay free for a moment. */
const [FIRST_PORT, LAST_PORT] = [10_000, 32_000];

/** Returns a free port for a program that cannot choose one itself. */
export async function freePort(): Promise<number> {
  for (;;) {
    const endpoint = await listen(createTcpServer(), randomInt(FIRST_PORT, LAST_PORT)).catch(() => null);
    await endpoint?.close();
    if (endpoint !== null) return endpoint.port;
  }
}

const START_MS = 20_000;

/**
 * Waits until a process accepts connections on a port. Rejects if the process ends, or accepts none within 20 seconds.
 */
export async function accepting(port: number, child: ChildProcess): Promise<void> {
  const deadline = performance.now() + START_MS;
  while (!(await isOpen(port))) {
    const end = child.exitCode ?? child.signalCode;
    if (end !== null) throw new Error(`the process ended with ${end}`);
    if (performance.now() > deadline) throw new Error(`the port accepts no connection after ${START_MS} ms`);
    await pause(20);
  }
}

async function isOpen(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const open = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return open;
}
