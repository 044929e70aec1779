/** TLS over loopback: a server that reports its verdict on the client certificate, and clients that report theirs. */
import { createServer } from 'node:https';
import type { Socket } from 'node:net';
import { connect, type SecureVersion, type TLSSocket, type TlsOptions } from 'node:tls';
import { listen } from '../endpoints/listen.ts';

export const VERSIONS = ['TLSv1.2', 'TLSv1.3'] as const satisfies readonly SecureVersion[];

export interface TlsServer {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Starts an HTTPS server that answers 200 with Node's verdict on the client certificate, or with the result of `judge`.
 */
export async function tlsServer(
  options: TlsOptions,
  judge: (socket: TLSSocket) => string = (socket) =>
    socket.authorized ? 'authorized' : String(socket.authorizationError),
): Promise<TlsServer> {
  const server = createServer(options, (request, response) => {
    response.writeHead(200, { Connection: 'close' }).end(judge(request.socket as TLSSocket));
  });
  // Closes the sockets of rejected clients.
  server.on('tlsClientError', (_error, socket: Socket) => socket.destroy());
  return await listen(server);
}

interface ClientOptions {
  readonly version: SecureVersion;
  readonly ca: string;
  readonly host?: string;
  readonly cert?: string;
  readonly key?: string;
}

function open(port: number, { version, host = 'localhost', ...rest }: ClientOptions, rejectUnauthorized: boolean) {
  const name = host === 'localhost' ? { servername: host } : {};
  return connect({
    host: '127.0.0.1',
    port,
    ...name,
    minVersion: version,
    maxVersion: version,
    rejectUnauthorized,
    ...rest,
  });
}

/** Returns the verdicts of Node's client on the server, once lenient and once strict: null, or the error code. */
export async function verdictOnServer(port: number, options: ClientOptions): Promise<(string | null)[]> {
  const one = (strict: boolean) =>
    new Promise<string | null>((resolve) => {
      const socket = open(port, options, strict);
      const end = (verdict: string | null) => {
        resolve(verdict);
        socket.destroy();
      };
      socket.once('error', (error) => end('code' in error ? String(error.code) : error.message));
      socket.once('secureConnect', () => {
        const said = socket.authorizationError as (Error & { code?: string }) | string | null | undefined;
        end(said == null ? null : typeof said === 'string' ? said : (said.code ?? said.message));
      });
    });
  return [await one(false), await one(true)];
}

/** Sends a request and returns the body of the answer, or `refused` if the connection ends without a byte of HTTP. */
export function ask(port: number, options: ClientOptions): Promise<string> {
  return new Promise((resolve) => {
    const socket = open(port, options, true);
    let answer = '';
    let error = '';
    socket.once('secureConnect', () => socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'));
    socket.on('data', (data) => {
      answer += data.toString('latin1');
    });
    // Some servers reject with an alert, Node's by closing the connection.
    socket.on('error', (cause) => {
      error = cause.message;
    });
    socket.once('close', () => resolve(answer === '' ? 'refused' : bodyOf(answer) || error));
  });
}

function bodyOf(answer: string): string {
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  if (!head.startsWith('HTTP/1.1 200')) return head;
  return /transfer-encoding: chunked/i.test(head) ? (body.split('\r\n')[1] ?? '') : body;
}
