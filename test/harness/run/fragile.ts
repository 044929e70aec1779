import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { hmacOf, verifying } from '../../endpoints/verifying.ts';

/** What a request does to the endpoint: it is answered, drops every connection, or stops the endpoint for a while or for good. */
export type Blow = 'none' | 'drop' | 'stop' | 'stop-for-good';

export interface Fragile {
  readonly url: string;
  close(): void;
}

const DOWN_MS = 120;

/** A right receiver that a request can hurt. `blow` looks at the body of a rightly signed delivery. */
export async function fragile(secret: string, blow: (body: Buffer) => Blow): Promise<Fragile> {
  let server: Server | null = null;
  let sockets = new Set<Socket>();
  let timer: NodeJS.Timeout | undefined;

  const down = () => {
    server?.close();
    for (const socket of sockets) socket.resetAndDestroy();
    sockets = new Set();
  };
  const right = verifying((body) => hmacOf(secret, body).toString('base64'));
  const listener: RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      const signed = request.headers['x-service-signature'] === hmacOf(secret, body).toString('base64');
      const kind = signed ? blow(body) : 'none';
      if (kind === 'none') return;
      if (kind === 'drop') for (const socket of sockets) socket.resetAndDestroy();
      else down();
      if (kind === 'stop') timer = setTimeout(() => void up(port), DOWN_MS);
    });
    right(request, response);
  };
  const up = (at: number) =>
    new Promise<number>((resolve) => {
      server = createServer(listener);
      server.on('connection', (socket) => {
        sockets.add(socket);
        socket.on('error', () => {});
        socket.on('close', () => sockets.delete(socket));
      });
      const listening = server;
      listening.listen(at, '127.0.0.1', () => resolve((listening.address() as AddressInfo).port));
    });
  const port: number = await up(0);
  return {
    url: `http://127.0.0.1:${port}/hooks`,
    close: () => {
      clearTimeout(timer);
      down();
    },
  };
}
