/** Node's own https server with a receiver in the plainest style, written apart from the reference receiver. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, RequestListener } from 'node:http';
import https, { type ServerOptions } from 'node:https';
import type { Server } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { listen } from '../../../endpoints/listen.ts';
import { bodyOf } from '../../../endpoints/verifying.ts';
import type { Open } from '../cell.ts';
import { API_KEY, SECRET } from '../material.ts';

export interface NodeChecks {
  /** Whether this client may deliver at all. Everybody may by default. */
  readonly letsIn?: (socket: TLSSocket, headers: IncomingHttpHeaders) => boolean;
  /** The answer to one who may not, in place of 401. */
  readonly refusal?: number | 'none';
  /** A fault: notes the id of a notification before anything is checked, and answers 409 when it comes again. */
  readonly notesFirst?: true;
  /** A fault: the check is left out when this holds of the connection. */
  readonly skipsSignature?: (socket: TLSSocket) => boolean;
  readonly skipsKey?: (socket: TLSSocket) => boolean;
}

const NEVER = () => false;

/** Answers 200 to a delivery with the right credentials and 401 to any other. */
export function receiving(checks: NodeChecks = {}): RequestListener {
  const { letsIn = () => true, refusal = 401, notesFirst, skipsSignature = NEVER, skipsKey = NEVER } = checks;
  const noted = new Set<unknown>();
  const listener: RequestListener = (request, response) => {
    // Before the body is there: the connection may be gone by then.
    const socket = request.socket as TLSSocket;
    const [signatureCounts, keyCounts] = [!skipsSignature(socket), !skipsKey(socket)];
    const mayDeliver = letsIn(socket, request.headers);
    bodyOf(request).then(
      (body) => {
        const { 'x-service-signature': signature, 'x-api-key': key } = request.headers;
        const right =
          (!signatureCounts || isSame(signature, createHmac('sha256', SECRET).update(body).digest('base64'))) &&
          (!keyCounts || isSame(key, API_KEY));
        const again = notesFirst === true && !isNew(body, noted);
        const status = again ? 409 : !mayDeliver ? refusal : right ? 200 : 401;
        if (status === 'none') return;
        response.writeHead(status, { 'Content-Type': 'application/json' }).end('{}');
      },
      () => request.destroy(),
    );
  };
  return listener;
}

function isNew(body: Buffer, noted: Set<unknown>): boolean {
  const { id } = JSON.parse(body.toString()) as { id?: unknown };
  const before = noted.size;
  return noted.add(id).size > before;
}

function isSame(given: string | string[] | undefined, right: string): boolean {
  const [a, b] = [Buffer.from(typeof given === 'string' ? given : ''), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Where a partner reaches a server on loopback, and whom it trusts. */
export interface Reached {
  readonly host?: 'localhost' | '127.0.0.1';
  readonly tls: Open['tls'];
}

/** Serves on a free port until it is closed. */
export async function openServer(server: Server, { host = 'localhost', tls }: Reached): Promise<Open> {
  // A handshake that fails is not the server's concern.
  server.on('tlsClientError', () => {});
  const { port, close } = await listen(server);
  return { url: `https://${host}:${port}/hooks`, tls, close };
}

export function openNode(
  options: ServerOptions,
  reached: Reached,
  listener: RequestListener = receiving(),
): Promise<Open> {
  return openServer(https.createServer(options, listener), reached);
}
