/** Real servers on loopback for the tests of the sender, and partners that point at them. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { generate } from 'selfsigned';
import { onTestFinished } from 'vitest';
import type { Partner } from '../../../harness/partner.ts';
import { prepare } from '../../../harness/sender/index.ts';
import type { Prepared } from '../../../harness/transport/index.ts';
import { buy } from '../sender/samples.ts';

/** Listens on a free port until the end of the test, and returns the port. */
export async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** Starts a plain TCP server, and returns its URL. */
export async function rawServer(onSocket: (socket: Socket) => void): Promise<string> {
  return `http://127.0.0.1:${await listen(createServer(onSocket))}/hooks`;
}

/** Starts a server that sends these bytes as soon as a request begins to arrive. */
export function replying(reply: string | Uint8Array): Promise<string> {
  return rawServer((socket) => socket.once('data', () => socket.end(reply)));
}

export async function httpServer(onRequest: http.RequestListener): Promise<string> {
  return `http://127.0.0.1:${await listen(http.createServer(onRequest))}/hooks`;
}

export async function httpsServer(options: https.ServerOptions, onRequest: http.RequestListener = ok): Promise<number> {
  return await listen(https.createServer(options, onRequest));
}

export const ok: http.RequestListener = (request, response) => {
  request.resume().on('end', () => response.end());
};

export const secret = randomBytes(24).toString('hex');

export function request(url: string, partner: Omit<Partner, 'url'> = {}): Prepared {
  return prepare(buy(), { url, ...partner });
}

/** Creates a request with a body of this many bytes. */
export function largeRequest(url: string, length: number): Prepared {
  const { headers, ...rest } = request(url);
  const body = Buffer.alloc(length, 'a');
  return {
    ...rest,
    body,
    headers: headers.map(([name, value]) => [name, name === 'Content-Length' ? String(length) : value]),
  };
}

export interface Pair {
  readonly cert: string;
  readonly key: string;
}

interface CertificateOptions {
  readonly ca?: Pair;
  readonly isCa?: boolean;
  readonly names?: readonly string[];
  readonly from?: Date;
  readonly to?: Date;
}

/** Creates a certificate with an EC key, self-signed or issued by a CA. */
export async function certificate(name: string, options: CertificateOptions = {}): Promise<Pair> {
  const { ca, isCa = false, names = ['localhost'], from, to } = options;
  const made = await generate([{ name: 'commonName', value: name }], {
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
    ...(from && { notBeforeDate: from }),
    ...(to && { notAfterDate: to }),
    ...(ca && { ca }),
    extensions: [
      { name: 'basicConstraints', cA: isCa, critical: true },
      isCa
        ? { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true }
        : { name: 'keyUsage', digitalSignature: true, critical: true },
      ...(isCa
        ? []
        : [{ name: 'subjectAltName' as const, altNames: names.map((value) => ({ type: 2 as const, value })) }]),
    ],
  });
  return { cert: made.cert, key: made.private };
}

/**
 * A server that runs in another thread. It reports the first bytes of each connection and, on request, answers the last
 * connection and resets it. Over TLS, the socket is below a stream, because a TLS socket cannot be reset.
 */
const RESETTING_PROGRAM = `
  const { parentPort, workerData: { pair, signal } } = require('node:worker_threads');
  const { Duplex } = require('node:stream');
  const tls = require('node:tls');
  let answer;
  const server = require('node:net').createServer({ noDelay: true }, (raw) => {
    const socket = pair === undefined ? raw : new tls.TLSSocket(Duplex.from({ readable: raw, writable: raw }), {
      isServer: true,
      secureContext: tls.createSecureContext(pair),
    });
    for (const one of [raw, socket]) one.on('error', () => {});
    raw.on('close', () => {
      Atomics.store(signal, 0, 1);
      Atomics.notify(signal, 0);
    });
    socket.once('data', () => parentPort.postMessage('reads'));
    answer = ({ text, resets }) => socket.write(text, () => raw.write('', () => resets && raw.resetAndDestroy()));
  });
  parentPort.on('message', (message) => answer(message));
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));`;

export interface ResettingServer {
  readonly port: number;
  /** Resolves when the first bytes of the next connection have been read. */
  reads(): Promise<void>;
  answer(text: string): void;
  /** Answers and resets the connection while this thread waits, so that nothing is read in the meantime. */
  answerAndReset(text: string): void;
}

/** Starts the server. With `pair`, it uses TLS. */
export async function resettingServer(pair?: Pair): Promise<ResettingServer> {
  const signal = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(RESETTING_PROGRAM, { eval: true, workerData: { pair, signal } });
  onTestFinished(async () => void (await worker.terminate()));
  const [port] = await once(worker, 'message');
  return {
    port: port as number,
    async reads() {
      await once(worker, 'message');
    },
    answer: (text) => worker.postMessage({ text, resets: false }),
    answerAndReset(text) {
      worker.postMessage({ text, resets: true });
      Atomics.wait(signal, 0, 0);
    },
  };
}
