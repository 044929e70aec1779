import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo, Server, Socket } from 'node:net';

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

/** An HTTP endpoint from a request listener. */
export function serve(listener: RequestListener): Promise<Endpoint> {
  return listen(createServer(listener));
}
