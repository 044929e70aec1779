/** The servers of the matrix except nginx: Node's HTTPS server, the reference receiver and OpenSSL's s_server. */

import { spawn } from 'node:child_process';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingHttpHeaders, RequestListener } from 'node:http';
import type { ServerOptions } from 'node:https';
import https from 'node:https';
import type { Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { serverFixture } from '../../../certs/index.ts';
import { createReceiver, type ReceiverOptions, type ServerTls, startReceiver } from '../../../receiver/index.ts';
import { secureContextOptions } from '../../../receiver/server/tls.ts';
import { startDelayingProxy } from '../../endpoints/delaying-proxy.ts';
import { listen } from '../../endpoints/listen.ts';
import { bodyOf } from '../../endpoints/verifying.ts';
import type { OpenServer } from './cell.ts';
import { API_KEY, protocolsOf, SECRET, type TlsVersions } from './material.ts';

export interface NodeChecks {
  /** Returns whether this client may deliver. Default: every client may. */
  readonly accepts?: (socket: TLSSocket, headers: IncomingHttpHeaders) => boolean;
  /** The answer to other clients, instead of 401. */
  readonly rejection?: number | 'none';
  /** Fault: records the id of a notification before the checks, and answers 409 to the next one with this id. */
  readonly recordsFirst?: true;
  /** Faults: the checks are skipped for these connections. */
  readonly skipsSignature?: (socket: TLSSocket) => boolean;
  readonly skipsKey?: (socket: TLSSocket) => boolean;
}

const NEVER = () => false;

/**
 * Creates a minimal receiver, independent of the reference receiver. It answers 200 to valid credentials, otherwise
 * 401, and 400 to a body that is not a notification. Without the 400, it would look like a page that answers every
 * request in the same way.
 */
export function receiving(checks: NodeChecks = {}): RequestListener {
  const { accepts = () => true, rejection = 401, recordsFirst, skipsSignature = NEVER, skipsKey = NEVER } = checks;
  const recorded = new Set<unknown>();
  const listener: RequestListener = (request, response) => {
    // The socket is read before the body arrives, because the connection may be closed by then.
    const socket = request.socket as TLSSocket;
    const [signatureCounts, keyCounts] = [!skipsSignature(socket), !skipsKey(socket)];
    const mayDeliver = accepts(socket, request.headers);
    bodyOf(request).then(
      (body) => {
        const { 'x-service-signature': signature, 'x-api-key': key } = request.headers;
        const isValid =
          (!signatureCounts || isSame(signature, createHmac('sha256', SECRET).update(body).digest('base64'))) &&
          (!keyCounts || isSame(key, API_KEY));
        const id = idIn(body);
        const again = recordsFirst === true && id !== undefined && !isNew(id, recorded);
        const handled = id === undefined ? 400 : 200;
        const status = again ? 409 : !mayDeliver ? rejection : isValid ? handled : 401;
        if (status === 'none') return;
        response.writeHead(status, { 'Content-Type': 'application/json' }).end('{}');
      },
      () => request.destroy(),
    );
  };
  return listener;
}

/** Returns the id of a notification. Undefined for any other body. */
function idIn(body: Buffer): unknown {
  try {
    return (JSON.parse(body.toString()) as { id?: unknown } | null)?.id;
  } catch {
    return undefined;
  }
}

function isNew(id: unknown, recorded: Set<unknown>): boolean {
  const before = recorded.size;
  return recorded.add(id).size > before;
}

function isSame(received: string | string[] | undefined, expected: string): boolean {
  const [a, b] = [Buffer.from(typeof received === 'string' ? received : ''), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** How a partner connects to a server on loopback, and which CA it trusts. */
interface PartnerAccess {
  readonly host?: 'localhost' | '127.0.0.1';
  readonly tls: OpenServer['tls'];
}

/** Serves on a free port until the server is closed. */
export async function openServer(server: Server, { host = 'localhost', tls }: PartnerAccess): Promise<OpenServer> {
  // The server ignores failed handshakes.
  server.on('tlsClientError', () => {});
  const { port, close } = await listen(server);
  return { url: `https://${host}:${port}/hooks`, tls, close };
}

export function openNode(
  options: ServerOptions,
  access: PartnerAccess,
  listener: RequestListener = receiving(),
): Promise<OpenServer> {
  return openServer(https.createServer(options, listener), access);
}

const PROTECTED = { signing: { secrets: [SECRET] }, apiKey: { keys: [API_KEY] } } as const;

/**
 * Starts the reference receiver. It has no option for TLS versions, so its app runs in a separate HTTPS server for a
 * single version.
 */
export async function openReceiver(
  tlsVersions: TlsVersions,
  tls: ServerTls,
  { host = 'localhost', tls: trust }: PartnerAccess,
  more: Partial<ReceiverOptions> = {},
): Promise<OpenServer> {
  if (tlsVersions === 'both') {
    const { port, close } = await startReceiver({ ...PROTECTED, ...more, tls });
    return { url: `https://${host}:${port}/hooks`, tls: trust, close };
  }
  const { clientCertificate } = tls;
  const check = clientCertificate === undefined ? {} : { clientCertificate: { from: 'connection' } as const };
  const receiver = createReceiver({ ...PROTECTED, ...check, ...more });
  const options: ServerOptions = {
    ...secureContextOptions(tls),
    ...protocolsOf(tlsVersions),
    requestCert: clientCertificate !== undefined,
    rejectUnauthorized: clientCertificate === 'required',
  };
  return openServer(https.createServer(options, receiver.app), { host, tls: trust });
}

/** Starts the receiver over plain HTTP, for a proxy on this machine. */
export function openUpstream(more: Partial<ReceiverOptions> = {}) {
  return startReceiver({ ...PROTECTED, ...more });
}

/** Starts OpenSSL's test server, which is only for handshakes, because it does not answer HTTP. */
export async function openSServer(...options: readonly string[]): Promise<OpenServer> {
  const folder = await mkdtemp(join(tmpdir(), 'hookproof-'));
  const { cert, key, ca } = await serverFixture('p256');
  const [leaf = '', ...rest] = cert.split(/(?=-----BEGIN)/);
  await writeFile(join(folder, 'leaf.pem'), leaf);
  await writeFile(join(folder, 'rest.pem'), rest.join(''));
  await writeFile(join(folder, 'key.pem'), key, { mode: 0o600 });
  const files = ['-cert', 'leaf.pem', '-cert_chain', 'rest.pem', '-key', 'key.pem'];
  // -rev answers each line with the reversed line.
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
    // The server keeps printing, and would block if its output were not read.
    child.stdout.resume();
    return { url: `https://localhost:${port}/hooks`, tls: { ca }, close };
  }
  await close();
  throw new Error(`s_server did not start: ${output}`);
}

/** Returns the server with a delay in each direction. */
export async function withDelay(server: OpenServer, oneWayMs: number): Promise<OpenServer> {
  const proxy = await startDelayingProxy(Number(new URL(server.url).port), oneWayMs);
  return {
    url: `https://localhost:${proxy.port}/hooks`,
    tls: server.tls,
    close: async () => void (await Promise.all([proxy.close(), server.close()])),
  };
}
