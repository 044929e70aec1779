/** Node's own https server with a receiver in the plainest style, written apart from the reference receiver. */

import { spawn } from 'node:child_process';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingHttpHeaders, RequestListener } from 'node:http';
import type { ServerOptions } from 'node:https';
import https from 'node:https';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { serverFixture } from '../../../certs/index.ts';
import { createReceiver, type ReceiverOptions, type ServerTls, startReceiver } from '../../../receiver/index.ts';
import { listen } from '../../endpoints/listen.ts';
import { bodyOf } from '../../endpoints/verifying.ts';
import type { Open } from './cell.ts';
import { API_KEY, protocolsOf, SECRET, type Spoken } from './material.ts';

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
interface Reached {
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

/**
 * The reference receiver, served by itself or, where it has no switch for what is asked, in an https server of its
 * user's own.
 */

const PROTECTED = { signing: { secrets: [SECRET] }, apiKey: { keys: [API_KEY] } } as const;

/**
 * It has no option for the versions of TLS: whoever wants but one of them puts the receiver into a server of their own.
 * So both ways of using it are here.
 */
export async function openReceiver(
  spoken: Spoken,
  tls: ServerTls,
  { host = 'localhost', tls: trust }: Reached,
  more: Partial<ReceiverOptions> = {},
): Promise<Open> {
  if (spoken === 'both') {
    const { port, close } = await startReceiver({ ...PROTECTED, ...more, tls });
    return { url: `https://${host}:${port}/hooks`, tls: trust, close };
  }
  const { clientCertificate, ...material } = tls;
  const check = clientCertificate === undefined ? {} : { clientCertificate: { from: 'connection' } as const };
  const receiver = createReceiver({ ...PROTECTED, ...check, ...more });
  const options: ServerOptions = {
    ...material,
    ...protocolsOf(spoken),
    requestCert: clientCertificate !== undefined,
    rejectUnauthorized: clientCertificate === 'required',
  };
  return openServer(https.createServer(options, receiver.app), { host, tls: trust });
}

/** The receiver over plain HTTP, for a proxy on this machine. */
export function openUpstream(more: Partial<ReceiverOptions> = {}) {
  return startReceiver({ ...PROTECTED, ...more });
}

/**
 * The test server of OpenSSL. It speaks no HTTP that a delivery could be answered in, and handshakes are what it is
 * for.
 */

export async function openSServer(...options: readonly string[]): Promise<Open> {
  const folder = await mkdtemp(join(tmpdir(), 'hookproof-'));
  const { cert, key, ca } = await serverFixture('p256');
  const [leaf = '', ...rest] = cert.split(/(?=-----BEGIN)/);
  await writeFile(join(folder, 'leaf.pem'), leaf);
  await writeFile(join(folder, 'rest.pem'), rest.join(''));
  await writeFile(join(folder, 'key.pem'), key, { mode: 0o600 });
  const files = ['-cert', 'leaf.pem', '-cert_chain', 'rest.pem', '-key', 'key.pem'];
  // -rev answers each line with the same line backwards.
  const args = ['s_server', '-accept', '127.0.0.1:0', '-rev', ...files, ...options];
  const child = spawn('openssl', args, { cwd: folder, stdio: ['pipe', 'pipe', 'ignore'] });
  const ended = once(child, 'exit');
  const close = async () => {
    child.kill('SIGKILL');
    await ended;
    await rm(folder, { recursive: true });
  };
  let output = '';
  for await (const piece of child.stdout.iterator({ destroyOnReturn: false })) {
    output += String(piece);
    const port = /ACCEPT 127\.0\.0\.1:(\d+)/.exec(output)?.[1];
    if (port === undefined) continue;
    // It goes on printing, and would stand still once nobody takes it.
    child.stdout.resume();
    return { url: `https://localhost:${port}/hooks`, tls: { ca }, close };
  }
  await close();
  throw new Error(`s_server did not start: ${output}`);
}

/** The same endpoint, with everything so many milliseconds on the way, there and back. */
export async function farAway(near: Open, oneWayMs: number): Promise<Open> {
  const { port } = new URL(near.url);
  const front = await listen(
    createServer({ allowHalfOpen: true }, (socket) => {
      const peer = connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true });
      carry(socket, peer, oneWayMs);
      carry(peer, socket, oneWayMs);
    }),
  );
  return {
    url: `https://localhost:${front.port}/hooks`,
    tls: near.tls,
    close: async () => void (await Promise.all([front.close(), near.close()])),
  };
}

/** Timers of the same length go off in the order in which they were set, so nothing overtakes anything. */
function carry(from: Socket, to: Socket, oneWayMs: number): void {
  const later = (act: () => void) => void delay(oneWayMs).then(act);
  from.on('data', (piece) => later(() => to.write(piece)));
  from.on('end', () => later(() => to.end()));
  from.on('error', () => to.destroy());
  from.on('close', () => later(() => to.destroy()));
}
