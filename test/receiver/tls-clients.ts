/** Certificates for the tests of the receiver, and clients that speak TLS to it. */
import { once } from 'node:events';
import { type ConnectionOptions, connect } from 'node:tls';
import { type IssuedCertificate, makeCertificate } from '../../certs/index.ts';
import { buy, headersFor } from './deliveries.ts';
import { type HeaderLines, overSocket, rawPost } from './raw-http.ts';

export const VERSIONS = ['TLSv1.2', 'TLSv1.3'] as const;
const HOUR_MS = 3_600_000;
const CLIENT = 'CN=sender.example, O=Example';

let certificates: ReturnType<typeof issueAll> | undefined;

/**
 * Creates a server certificate, the CA of the clients, and client certificates: valid ones, and others with one fault
 * each.
 */
export function makeCertificates(): ReturnType<typeof issueAll> {
  certificates ??= issueAll();
  return certificates;
}

async function issueAll() {
  const [serverCa, clientCa, sameNameCa, otherCa] = await Promise.all(
    ['Server CA', 'Client CA', 'Client CA', 'Another CA'].map((name) =>
      makeCertificate({ subject: `CN=${name}`, authority: true }),
    ),
  );
  const leaf = (issuer: IssuedCertificate, more: object = {}) =>
    makeCertificate({ subject: CLIENT, issuer, usages: ['clientAuth'], ...more });
  const clients = {
    valid: await leaf(clientCa!),
    rsa: await leaf(clientCa!, { key: 'rsa2048' }),
    'self-signed': await makeCertificate({ subject: CLIENT, usages: ['clientAuth'] }),
    'unknown CA': await leaf(otherCa!),
    'CA of the same name': await leaf(sameNameCa!),
    expired: await leaf(clientCa!, { notAfter: new Date(Date.now() - HOUR_MS) }),
    'not yet valid': await leaf(clientCa!, { notBefore: new Date(Date.now() + HOUR_MS) }),
    'for servers only': await leaf(clientCa!, { usages: ['serverAuth'] }),
  };
  const server = await makeServer(serverCa!);
  return {
    serverCa: serverCa!,
    server,
    clientCa: clientCa!,
    otherCa: otherCa!,
    clients,
    /** The options of a client that trusts the server. */
    trust: { ca: serverCa!.cert },
    /** The options of a server. */
    material: { cert: server.cert, key: server.key },
  };
}

export function makeServer(issuer: IssuedCertificate, more: object = {}): Promise<IssuedCertificate> {
  const hosts = ['localhost', '127.0.0.1'];
  return makeCertificate({ subject: 'CN=localhost', issuer, hosts, usages: ['serverAuth'], ...more });
}

/** Returns the options of a client with this certificate. */
export function presenting({ cert, key }: IssuedCertificate): ConnectionOptions {
  return { cert, key };
}

/** Returns the options of a client that supports only this TLS version. */
export function only(version: (typeof VERSIONS)[number]): ConnectionOptions {
  return { minVersion: version, maxVersion: version };
}

/** Opens a connection. If the handshake fails, `post` returns null. */
export function openTls(port: number, options: ConnectionOptions) {
  const socket = connect({ port, host: '127.0.0.1', ...options });
  const { write, answer, ended } = overSocket(socket);
  let session: Buffer | undefined;
  socket.on('session', (given) => {
    session = given;
  });
  return {
    socket,
    /** Returns the newest session, which another connection can resume. */
    session: () => session,
    /** Posts a delivery and returns the response. Null if the connection ends without one. */
    async post(changes: HeaderLines = []) {
      const body = JSON.stringify(buy());
      const extra: readonly (readonly [string, string])[] = Array.isArray(changes) ? changes : Object.entries(changes);
      const names = new Set(extra.map(([name]) => name.toLowerCase()));
      const kept = Object.entries(headersFor(body)).filter(([name]) => !names.has(name.toLowerCase()));
      void write(rawPost(body, [...kept, ...extra]));
      return answer().catch(() => null);
    },
    async end() {
      socket.end();
      await ended;
    },
  };
}

/** Posts one delivery on a new connection. */
export async function deliver(port: number, options: ConnectionOptions, changes: HeaderLines = []) {
  const client = openTls(port, options);
  const answer = await client.post(changes);
  const resumed = client.socket.isSessionReused() === true;
  await client.end();
  return { answer, status: answer?.status ?? null, resumed, session: client.session() };
}

/** Resolves when a socket is closed. */
export async function closed(socket: { destroyed: boolean } & NodeJS.EventEmitter): Promise<void> {
  if (!socket.destroyed) await once(socket, 'close');
}
