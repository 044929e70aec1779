/** Certificates for the receiver's tests, made once a file, and clients that speak TLS to it. */
import { once } from 'node:events';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { type IssuedCertificate, makeCertificate } from '../../certs/index.ts';
import { buy, headersFor } from './deliveries.ts';

export const VERSIONS = ['TLSv1.2', 'TLSv1.3'] as const;
const HOUR_MS = 3_600_000;
const CLIENT = 'CN=sender.example, O=Example';

/** A server certificate, the authority of the clients, and clients: one right, the others wrong in one way each. */
export async function makeCertificates() {
  const [serverAuthority, authority, twin] = await Promise.all([
    makeCertificate({ subject: 'CN=Server authority', authority: true }),
    makeCertificate({ subject: 'CN=Client authority', authority: true }),
    makeCertificate({ subject: 'CN=Client authority', authority: true }),
  ]);
  const stranger = await makeCertificate({ subject: 'CN=Another authority', authority: true });
  const leaf = (issuer: IssuedCertificate, more: object = {}) =>
    makeCertificate({ subject: CLIENT, issuer, usages: ['clientAuth'], ...more });
  const server = await makeServer(serverAuthority);
  const clients = {
    right: await leaf(authority),
    rsa: await leaf(authority, { key: 'rsa2048' }),
    'self-signed': await makeCertificate({ subject: CLIENT, usages: ['clientAuth'] }),
    'unknown authority': await leaf(stranger),
    'same names': await leaf(twin),
    expired: await leaf(authority, { notAfter: new Date(Date.now() - HOUR_MS) }),
    'not yet valid': await leaf(authority, { notBefore: new Date(Date.now() + HOUR_MS) }),
    'for servers only': await leaf(authority, { usages: ['serverAuth'] }),
  };
  return { serverAuthority, server, authority, stranger, clients };
}

export function makeServer(issuer: IssuedCertificate, more: object = {}): Promise<IssuedCertificate> {
  return makeCertificate({
    subject: 'CN=localhost',
    issuer,
    hosts: ['localhost', '127.0.0.1'],
    usages: ['serverAuth'],
    ...more,
  });
}

interface Answer {
  readonly status: number;
  /** The whole answer, without the date, which changes from second to second. */
  readonly text: string;
}

export interface TlsClient {
  readonly socket: TLSSocket;
  /** Posts a delivery and gives the answer, or null when the connection ends without one. */
  post(headers?: Record<string, string> | readonly (readonly [string, string])[]): Promise<Answer | null>;
  /** The newest session, for another connection to resume. Undefined when the server gave none. */
  session(): Buffer | undefined;
  end(): Promise<void>;
}

/** Opens a connection; a handshake that fails shows as an answer that is null. */
export function openTls(port: number, options: ConnectionOptions): TlsClient {
  const socket = connect({ port, host: '127.0.0.1', ...options });
  let received = '';
  let session: Buffer | undefined;
  let wake = () => {};
  let over = false;
  socket.on('session', (given) => {
    session = given;
  });
  socket.on('data', (data: Buffer) => {
    received += data.toString('latin1');
    wake();
  });
  socket.on('error', () => {});
  const closed = new Promise<void>((resolve) => {
    socket.on('close', () => {
      over = true;
      wake();
      resolve();
    });
  });

  const take = (): Answer | undefined => {
    const [, head = '', length] = /^(HTTP\/1\.1.*?\r\nContent-Length: (\d+)\r\n.*?\r\n\r\n)/s.exec(received) ?? [];
    if (length === undefined || received.length < head.length + Number(length)) return undefined;
    const text = received.slice(0, head.length + Number(length));
    received = received.slice(text.length);
    return { status: Number(text.slice(9, 12)), text: text.replace(/^Date: .*\r\n/m, '') };
  };

  return {
    socket,
    session: () => session,
    async post(headers = {}) {
      const body = JSON.stringify(buy());
      const extra = Array.isArray(headers) ? headers : Object.entries(headers);
      const names = new Set(extra.map(([name]) => name.toLowerCase()));
      const lines = [...Object.entries(headersFor(body)).filter(([name]) => !names.has(name.toLowerCase())), ...extra];
      socket.write(
        `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
          `${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`,
      );
      for (;;) {
        const answer = take();
        if (answer !== undefined) return answer;
        if (over) return null;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    async end() {
      if (over) return;
      socket.end();
      await closed;
    },
  };
}

/** One delivery on a connection of its own, and the session that it left behind. */
export async function deliver(
  port: number,
  options: ConnectionOptions,
  headers: Parameters<TlsClient['post']>[0] = {},
) {
  const client = openTls(port, options);
  const answer = await client.post(headers);
  const resumed = client.socket.isSessionReused() === true;
  await client.end();
  return { answer, status: answer?.status ?? null, resumed, session: client.session() };
}

/** One version of TLS and no other. */
export function only(version: (typeof VERSIONS)[number]): ConnectionOptions {
  return { minVersion: version, maxVersion: version };
}

/** A logger that keeps what it is given, and can wait for a line. */
export function keepingLogger() {
  const lines: Record<string, unknown>[] = [];
  let wake = () => {};
  const keep = (fields: object, message: string) => {
    lines.push({ ...fields, message });
    wake();
  };
  return {
    logger: { info: keep, warn: keep, error: keep },
    lines,
    async next(event: string): Promise<Record<string, unknown>> {
      for (;;) {
        const index = lines.findIndex((line) => line.event === event);
        if (index !== -1) return lines.splice(index, 1)[0] as Record<string, unknown>;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}

/** Waits for the end of a socket, whatever it is. */
export async function ended(socket: { destroyed: boolean } & NodeJS.EventEmitter): Promise<void> {
  if (!socket.destroyed) await once(socket, 'close');
}
