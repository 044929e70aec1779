import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Prepares a server for a graceful end and returns the function that ends it: no new connections, requests under way get
 * their answers (with `Connection: close`), idle connections are closed. What is still open after `timeoutMs` is cut.
 * The function can be called again; it is the same end.
 */
export function gracefulClose(server: Server, timeoutMs: number): () => Promise<void> {
  /** Each connection with the answer to the last request that came on it. To keep account of every answer by itself takes a microsecond of each delivery. */
  const connections = new Map<Socket, ServerResponse | null>();
  let closed: Promise<void> | undefined;

  const track = (socket: Socket) => {
    connections.set(socket, null);
    socket.once('close', () => connections.delete(socket));
  };
  // With HTTPS there are two sockets to a connection, and the first is all there is before the handshake.
  server.on('connection', track).on('secureConnection', track);
  server.prependListener('request', (req, res) => {
    if (connections.has(req.socket)) connections.set(req.socket, res);
    if (closed !== undefined) res.setHeader('Connection', 'close');
  });

  return () => {
    closed ??= new Promise((resolve, reject) => {
      const deadline = setTimeout(() => {
        for (const socket of connections.keys()) socket.destroy();
      }, timeoutMs);
      server.close((error) => {
        clearTimeout(deadline);
        if (error === undefined) resolve();
        else reject(error);
      });
      for (const [socket, res] of connections) {
        if (res !== null && !res.headersSent) res.setHeader('Connection', 'close');
        // Node closes what is idle after a request, but not a connection on which there was none yet.
        if (socket.bytesRead === 0) socket.destroy();
      }
    });
    return closed;
  };
}
