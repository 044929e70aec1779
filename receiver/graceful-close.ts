import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Prepares a server for a graceful end and returns the function that ends it: no new connections, requests under way get
 * their answers (with `Connection: close`), idle connections are closed. What is still open after `timeoutMs` is cut.
 * The function can be called again; it is the same end.
 */
export function gracefulClose(server: Server, timeoutMs: number): () => Promise<void> {
  const sockets = new Set<Socket>();
  const responses = new Set<ServerResponse>();
  let closed: Promise<void> | undefined;

  const track = (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  };
  // With HTTPS there are two sockets to a connection, and the first is all there is before the handshake.
  server.on('connection', track).on('secureConnection', track);
  server.prependListener('request', (_req, res) => {
    responses.add(res);
    if (closed !== undefined) res.setHeader('Connection', 'close');
    res.on('close', () => responses.delete(res));
  });

  return () => {
    closed ??= new Promise((resolve, reject) => {
      const deadline = setTimeout(() => {
        for (const socket of sockets) socket.destroy();
      }, timeoutMs);
      server.close((error) => {
        clearTimeout(deadline);
        if (error === undefined) resolve();
        else reject(error);
      });
      for (const res of responses) {
        if (!res.headersSent) res.setHeader('Connection', 'close');
      }
      // Node closes what is idle after a request, but not a connection on which there was none yet.
      for (const socket of sockets) {
        if (socket.bytesRead === 0) socket.destroy();
      }
    });
    return closed;
  };
}
