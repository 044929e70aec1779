/** Hostile endpoints: their type, their servers, and the credentials of a run against them. */

import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer, type TLSSocket, type TlsOptions } from 'node:tls';
import { makeWorkingSet } from '../../../certs/index.ts';
import { listen } from '../../endpoints/listen.ts';

/** A running hostile endpoint. */
export interface RunningEndpoint {
  readonly url: string;
  close(): Promise<void>;
  /** Returns what hookproof did wrong to the endpoint. Null if nothing. It is called after the run. */
  complaint?(): string | null;
}

export interface Behaviour {
  readonly name: string;
  /** What the endpoint does, for the table. */
  readonly what: string;
  /** Further options of `hookproof run`. */
  readonly flags?: readonly string[];
  start(material: Material): Promise<RunningEndpoint>;
}

/** Serves one connection. `nth` counts connections from 0. */
type ServeConnection = (socket: Socket, nth: number, material: Material) => void;

async function listenOn(server: Server, secure: boolean): Promise<RunningEndpoint> {
  const { port, close } = await listen(server);
  return { url: `${secure ? 'https' : 'http'}://127.0.0.1:${port}/hooks`, close };
}

/** Creates an endpoint that does this on each TCP connection. `secure` only sets `https` in its URL. */
export function onConnection(name: string, what: string, serve: ServeConnection, secure = false): Behaviour {
  return {
    name,
    what,
    start: (material) => {
      let nth = 0;
      return listenOn(
        createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
          serve(socket, nth, material);
          nth += 1;
        }),
        secure,
      );
    },
  };
}

/** Creates an endpoint that finishes the TLS handshake with a valid certificate, and then does this. */
export function onSecureConnection(
  name: string,
  what: string,
  serve: (socket: TLSSocket) => void,
  options: TlsOptions = {},
): Behaviour {
  return {
    name,
    what,
    start: ({ cert, key }) => {
      const server = createTlsServer({ cert, key, ...options }, (socket) => {
        socket.on('error', () => {});
        serve(socket);
      });
      server.on('tlsClientError', () => {});
      return listenOn(server, true);
    },
  };
}

/** Returns whether a request begins with these bytes. Its rest may follow in other pieces. */
function beginsRequest(piece: Buffer): boolean {
  return /^[A-Za-z]+ [^\r\n]*\r?\n/.test(piece.subarray(0, 2000).toString('latin1'));
}

/** Calls `reply` for each request on a connection, with its first bytes. `nth` counts requests from 0. */
export function onRequests(socket: Socket, reply: (nth: number, piece: Buffer) => void): void {
  let nth = 0;
  socket.on('data', (piece: Buffer) => {
    if (!beginsRequest(piece)) return;
    reply(nth, piece);
    nth += 1;
  });
}

/** Creates an endpoint that answers each request with these bytes. `nth` counts the requests on all connections. */
export function onRequest(
  name: string,
  what: string,
  answer: Buffer | string | ((nth: number) => Buffer | string),
): Behaviour {
  return {
    ...onConnection(name, what, () => {}),
    start: () => {
      let count = 0;
      const server = createServer({ noDelay: true }, (socket) =>
        onRequests(socket, () => {
          socket.write(typeof answer === 'function' ? answer(count) : answer, 'latin1');
          count += 1;
        }),
      );
      return listenOn(server, false);
    },
  };
}

/** Creates a complete answer. Texts are UTF-8, and header lines are sent unchanged. */
export function answer(
  status: number | string,
  body: string | Buffer = '{"ok":true}',
  lines: readonly string[] = [],
): Buffer {
  const bytes = Buffer.from(body as string);
  const head = [
    `HTTP/1.1 ${status}${/ /.test(String(status)) ? '' : ' OK'}`,
    ...lines,
    `Content-Length: ${bytes.length}`,
  ];
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), bytes]);
}

/** Writes repeatedly, as fast as the other side reads, until the connection ends. */
export function flood(socket: Socket, piece: Buffer | string, pauseMs = 0): void {
  const bytes = Buffer.from(piece as string);
  const next = () => {
    if (socket.destroyed || !socket.writable) return;
    if (socket.write(bytes)) setTimeout(next, pauseMs);
    else socket.once('drain', () => setTimeout(next, pauseMs));
  };
  next();
}

/** Credentials and certificates, generated for this run. */
export interface Material {
  readonly secret: string;
  readonly apiKey: string;
  /** The certificate of the server, in PEM. */
  readonly cert: string;
  readonly key: string;
  /** A temporary folder. Its file `ca.pem` contains the CA of the server. */
  readonly folder: string;
  remove(): Promise<void>;
}

export async function makeMaterial(): Promise<Material> {
  const folder = await mkdtemp(join(tmpdir(), 'hookproof-hostile-'));
  const { files } = await makeWorkingSet({
    directory: '.',
    hosts: ['localhost', '127.0.0.1'],
    days: 30,
    key: 'p256',
    clientName: 'hostile suite',
    keepCaKeys: false,
  });
  const pem = (name: string) => files.find((file) => file.name === name)?.text ?? '';
  await writeFile(join(folder, 'ca.pem'), pem('ca.pem'));
  return {
    secret: randomBytes(32).toString('base64'),
    apiKey: randomBytes(24).toString('base64url'),
    cert: pem('server.pem'),
    key: pem('server-key.pem'),
    folder,
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
