/** Loopback servers for these tests, closed at the end of the test, and their certificates. */
import https from 'node:https';
import { createServer, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { type IssuedCertificate, makeCertificate } from '../../../certs/index.ts';
import {
  type HelloOutcome,
  matchHello,
  type ProbeOffer,
  probeHello,
  type ServerHelloOutcome,
} from '../../../harness/probe/index.ts';
import type { HelloMatch } from '../../../scenarios/index.ts';
import { listen } from '../../endpoints/listen.ts';

export interface Authority {
  readonly root: IssuedCertificate;
  readonly intermediate: IssuedCertificate;
  readonly leaf: IssuedCertificate;
}

const HOSTS = ['localhost', '127.0.0.1'];

export async function authority(name = 'Test'): Promise<Authority> {
  const root = await makeCertificate({ subject: `CN=${name} Root, O=Example`, authority: true });
  const intermediate = await makeCertificate({ subject: `CN=${name} Intermediate`, issuer: root, authority: true });
  return { root, intermediate, leaf: await leafOf(intermediate) };
}

export function leafOf(issuer: IssuedCertificate | null, hosts: readonly string[] = HOSTS): Promise<IssuedCertificate> {
  return makeCertificate({
    subject: 'CN=localhost',
    hosts,
    usages: ['serverAuth'],
    ...(issuer !== null && { issuer }),
  });
}

/** Returns the `cert` option of a server with these certificates in this order. */
export const bundle = (...certificates: readonly IssuedCertificate[]) => certificates.map(({ cert }) => cert).join('');

async function listenDuringTest(server: Server): Promise<number> {
  const { port, close } = await listen(server);
  onTestFinished(close);
  return port;
}

/** Starts an HTTPS server of Node, and returns its port. */
export function httpsPort(options: https.ServerOptions): Promise<number> {
  const server = https.createServer(options, (request, response) => {
    request.resume().on('end', () => response.end('{}'));
  });
  server.on('tlsClientError', () => undefined);
  return listenDuringTest(server);
}

/** Starts a TCP server and returns its port. */
export function rawPort(onSocket: (socket: Socket) => void): Promise<number> {
  return listenDuringTest(createServer(onSocket));
}

export function plainPort(server: Server): Promise<number> {
  return listenDuringTest(server);
}

/** Returns a port on which nothing is listening. */
export async function closedPort(): Promise<number> {
  const { port, close } = await listen(createServer());
  await close();
  return port;
}

export function probe(port: number, offer: ProbeOffer, timeoutMs = 5_000): Promise<HelloOutcome> {
  return probeHello({ host: '127.0.0.1', port, serverName: 'localhost' }, offer, { timeoutMs });
}

export async function match(port: number, offer: ProbeOffer): Promise<HelloMatch | null> {
  return matchHello(await probe(port, offer), offer);
}

/** Asserts that the outcome is a ServerHello. */
export function helloIn(outcome: HelloOutcome): ServerHelloOutcome {
  if (outcome.kind !== 'server-hello') throw new Error(`There is no ServerHello: ${JSON.stringify(outcome)}`);
  return outcome;
}

export const OFFERS = {
  sslv3: { version: 'SSLv3', suites: ['legacy', 'rc4', '3des'] },
  tls10: { version: 'TLSv1', suites: ['legacy'] },
  tls11: { version: 'TLSv1.1', suites: ['legacy'] },
  tls12: { version: 'TLSv1.2', suites: ['modern'] },
  tls13: { version: 'TLSv1.3', suites: ['tls13'] },
} as const satisfies Record<string, ProbeOffer>;
