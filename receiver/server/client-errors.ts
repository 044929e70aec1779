/** Answers requests that never reach the stages, because they are not well-formed HTTP or do not arrive completely. */
import { type IncomingMessage, type RequestListener, type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ConnectionObserver } from '../budget.ts';
import { answer } from '../stages/stage.ts';
import type { OpenExchange } from './connections.ts';

/** Maximum time, in milliseconds, for the client to read the last answer before its connection is destroyed. */
const LINGER_MS = 1000;

/**
 * Answers the requests that Node reports as `clientError` with 400, 408, 413 or 431, and CONNECT requests with 405.
 * Each answer has a JSON body and `Connection: close`. Never throws.
 *
 * Complete requests that precede the broken one on the same connection are answered first. Otherwise a sender that
 * pipelines would read the 400 as the answer to an accepted delivery. `openExchanges` lists these requests.
 */
export function answerClientErrors(
  server: Server,
  openExchanges: (socket: object) => readonly OpenExchange[],
  observer: ConnectionObserver,
): void {
  const broken = new WeakSet<Duplex>();

  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // While the connection lingers, Node reports another error for everything that arrives.
    if (broken.has(socket)) return;
    broken.add(socket);
    if (!socket.writable || error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    const open = openExchanges(socket);
    const faulty = open.find(({ req }) => !req.complete);
    const lastComplete = open.findLast(({ req, res }) => req.complete && !res.writableFinished);
    const finish = () => {
      // The broken request may already have been answered: a 405, for example, does not wait for the body.
      if (faulty?.res.headersSent) {
        socket.end();
        return;
      }
      const [status, code] = answerTo(error.code);
      observer.refused(status, code);
      endWith(socket, status, code);
    };
    if (lastComplete === undefined) finish();
    else lastComplete.res.once('close', finish);
  });

  server.on('connect', (_req: IncomingMessage, socket: Duplex) => {
    // After `connect`, Node no longer handles errors of the socket.
    socket.on('error', () => socket.destroy());
    observer.refused(405, 'method-not-allowed');
    endWith(socket, 405, 'method-not-allowed', 'Allow: POST\r\n');
  });
}

/** Answers 431 to requests with more than `maxHeaders` header lines, and passes the others to `listener`. */
export function rejectTooManyHeaders(
  maxHeaders: number,
  listener: RequestListener,
  observer: ConnectionObserver,
): RequestListener {
  return (req, res) => {
    // The connection was closed at a limit, but the parser continues with bytes that it has already read.
    if (req.socket.destroyed) return;
    if (req.rawHeaders.length <= 2 * maxHeaders) return listener(req, res);
    observer.refused(431, 'headers-too-many');
    // Reads and discards the body. Otherwise the connection would be reset, and the answer would be lost.
    req.resume();
    answer(res, 431, { error: 'headers-too-many' }, { Connection: 'close' });
  };
}

function answerTo(code: string | undefined): [status: number, error: string] {
  if (code === 'HPE_HEADER_OVERFLOW') return [431, 'headers-too-large'];
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') return [413, 'body-too-large'];
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return [408, 'timeout'];
  return [400, 'bad-request'];
}

function endWith(socket: Duplex, status: number, error: string, headers = ''): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const body = JSON.stringify({ error });
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n${headers}Connection: close\r\n\r\n${body}`,
  );
  // Destroying the connection while the client is still sending would reset it, and the answer would be lost.
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
