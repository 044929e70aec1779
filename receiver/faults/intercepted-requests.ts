/** For mutants whose fault is below the stages: what a server does with a request before the app sees it. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** Puts code in front of everything that handles the requests of a server. `pass` hands the request on. */
export function intercept(
  server: Server,
  before: (req: IncomingMessage, res: ServerResponse, pass: () => void) => void,
): void {
  const handlers = server.listeners('request');
  server.removeAllListeners('request');
  server.on('request', (req, res) => {
    before(req, res, () => {
      for (const handle of handlers) handle.call(server, req, res);
    });
  });
}

/** Replaces what happens to requests that the parser of the server refuses. */
export function onBrokenRequest(server: Server, handle: (error: NodeJS.ErrnoException, socket: Duplex) => void): void {
  server.removeAllListeners('clientError');
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    socket.on('error', () => socket.destroy());
    handle(error, socket);
  });
}

/** Ends a connection with an answer that has no body. */
export function endWithStatus(socket: Duplex, status: number, words: string): void {
  if (socket.writable) socket.end(`HTTP/1.1 ${status} ${words}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
  else socket.destroy();
}
