/** What a hostile endpoint is, and the servers that they are made of. */

import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer, type TLSSocket, type TlsOptions } from 'node:tls';
import { makeWorkingSet } from '../../../certs/index.ts';
import { listen } from '../../endpoints/listen.ts';

/** A hostile endpoint that is up. */
export interface Up {
  readonly url: string;
  close(): Promise<void>;
  /** What the endpoint has to say against hookproof once the run is over: null when it did nothing that it must not. */
  complaint?(): string | null;
}

export interface Behaviour {
  readonly name: string;
  /** What it does, for the table. */
  readonly what: string;
  /** Options of `hookproof run` beside the usual ones. */
  readonly flags?: readonly string[];
  start(material: Material): Promise<Up>;
}

/** Speaks on one connection. `nth` counts connections from 0. */
type Speaker = (socket: Socket, nth: number, material: Material) => void;

async function up(server: Server, secure: boolean): Promise<Up> {
  const { port, close } = await listen(server);
  return { url: `${secure ? 'https' : 'http'}://127.0.0.1:${port}/hooks`, close };
}

/**
 * An endpoint that does this on each TCP connection; with `https` in the URL when `secure` is set, whatever it speaks.
 */
export function onConnection(name: string, what: string, speak: Speaker, secure = false): Behaviour {
  return {
    name,
    what,
    start: (material) => {
      let nth = 0;
      return up(
        createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
          speak(socket, nth, material);
          nth += 1;
        }),
        secure,
      );
    },
  };
}

/** An endpoint that finishes the TLS handshake with a right certificate, and then does this. */
export function onSecureConnection(
  name: string,
  what: string,
  speak: (socket: TLSSocket) => void,
  options: TlsOptions = {},
): Behaviour {
  return {
    name,
    what,
    start: ({ cert, key }) => {
      const server = createTlsServer({ cert, key, ...options }, (socket) => {
        socket.on('error', () => {});
        speak(socket);
      });
      server.on('tlsClientError', () => {});
      return up(server, true);
    },
  };
}

/** Whether these bytes begin a request. The rest of one may follow in further pieces. */
function beginsRequest(piece: Buffer): boolean {
  return /^[A-Za-z]+ [^\r\n]*\r?\n/.test(piece.subarray(0, 2000).toString('latin1'));
}

/** Calls back for each request that comes on a connection, with its first piece. `nth` counts them from 0. */
export function onRequests(socket: Socket, reply: (nth: number, piece: Buffer) => void): void {
  let nth = 0;
  socket.on('data', (piece: Buffer) => {
    if (!beginsRequest(piece)) return;
    reply(nth, piece);
    nth += 1;
  });
}

/** An endpoint that answers each request with these bytes. `nth` counts the requests on all connections. */
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
      return up(server, false);
    },
  };
}

/** A whole answer. Texts are UTF-8; header lines stand as they are. */
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

/** Writes again and again, as fast as the other side takes it, until the connection ends. */
export function flood(socket: Socket, piece: Buffer | string, pauseMs = 0): void {
  const bytes = Buffer.from(piece as string);
  const next = () => {
    if (socket.destroyed || !socket.writable) return;
    if (socket.write(bytes)) setTimeout(next, pauseMs);
    else socket.once('drain', () => setTimeout(next, pauseMs));
  };
  next();
}

/** Secrets and certificates for the runs against hostile endpoints, made for the occasion. */

export interface Material {
  readonly secret: string;
  readonly apiKey: string;
  /** Of the server, PEM. */
  readonly cert: string;
  readonly key: string;
  /** A folder for this one purpose; `ca.pem` in it is the authority of the server. */
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
