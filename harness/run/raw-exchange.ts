/** Sends bytes that no HTTP client would send, on a connection of its own, and reads the answer's status, headers and body. */
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import type { HeaderLine } from '../../contract/index.ts';
import {
  type Answer,
  type Attempt,
  classifyTransportError,
  type Partner,
  TIMEOUT_CODE,
  type TransportError,
  type TransportPhase,
  tlsOptionsFor,
} from '../sender/index.ts';

export interface RawOptions {
  readonly timeoutMs: number;
  readonly bodyCapBytes: number;
  /** In place of the partner's own TLS options; `plain` speaks no TLS whatever the URL says. */
  readonly tls?: ConnectionOptions | 'plain';
  /** Ends the exchange without an answer. */
  readonly signal?: AbortSignal;
}

/** Parses what came so far. Null while the head is not whole; an answer without a length ends with the connection. */
function parseAnswer(received: Buffer, ended: boolean, cap: number): Answer | 'invalid' | null {
  const end = received.indexOf('\r\n\r\n');
  if (end === -1) return ended && received.length > 0 ? 'invalid' : null;
  const [statusLine = '', ...lines] = received.subarray(0, end).toString('latin1').split('\r\n');
  const [, status, reasonPhrase = ''] = /^HTTP\/1\.[01] (\d{3})(?: ([\s\S]*)|$)/.exec(statusLine) ?? [];
  if (status === undefined) return 'invalid';
  if (status.startsWith('1')) return parseAnswer(received.subarray(end + 4), ended, cap);
  const headers = lines.map((line): HeaderLine => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), line.slice(colon + 1).trim()];
  });
  const body = received.subarray(end + 4);
  const length = headers.find(([name]) => name.toLowerCase() === 'content-length')?.[1];
  const whole = ended || body.length >= cap || (length !== undefined && body.length >= Number(length));
  if (!whole) return null;
  return { status: Number(status), reasonPhrase, headers, body: body.subarray(0, cap), truncated: body.length > cap };
}

/** Where to connect, and the name for SNI, which addresses do not have. */
export function addressOf(target: URL): { host: string; port: number; serverName: string } {
  const host = target.hostname.replace(/^\[|\]$/g, '');
  const port = Number(target.port || (target.protocol === 'https:' ? 443 : 80));
  return { host, port, serverName: isIP(host) === 0 ? host : '' };
}

/** Never rejects: what goes wrong is in the attempt. */
export function rawExchange(url: string, partner: Partner, bytes: Buffer, options: RawOptions): Promise<Attempt> {
  const target = new URL(url);
  const secure = target.protocol === 'https:' && options.tls !== 'plain';
  const { host, port, serverName } = addressOf(target);
  const givenTls = typeof options.tls === 'object' ? options.tls : undefined;
  const startedAt = new Date().toISOString();
  const start = performance.now();

  return new Promise((resolve) => {
    let received = Buffer.alloc(0);
    let phase: TransportPhase = 'connect';
    let connectMs: number | null = null;
    let tlsMs: number | null = null;
    let firstByteMs: number | null = null;
    let settled = false;
    const socket: Socket = secure
      ? connectTls({ host, port, servername: serverName, ...(givenTls ?? tlsOptionsFor(partner)) })
      : connectTcp({ host, port });

    const settle = (answer: Answer | null, error: TransportError | null) => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      options.signal?.removeEventListener('abort', onAbort);
      socket.destroy();
      const totalMs = performance.now() - start;
      resolve({ startedAt, timings: { connectMs, tlsMs, firstByteMs, totalMs, reused: false }, answer, error });
    };
    const fail = (cause: unknown) => settle(null, classifyTransportError(cause, phase));
    const onAbort = () => fail(Object.assign(new Error('closed'), { code: 'ECONNRESET' }));
    const read = (ended: boolean) => {
      const answer = parseAnswer(received, ended, options.bodyCapBytes);
      if (answer === 'invalid') fail(Object.assign(new Error('no HTTP answer'), { code: 'HPE_INVALID_CONSTANT' }));
      else if (answer !== null) settle(answer, null);
      else if (ended) fail(Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' }));
    };
    const timer = setTimeout(
      () => fail(Object.assign(new Error('timed out'), { code: TIMEOUT_CODE })),
      options.timeoutMs,
    );

    if (options.signal?.aborted === true) onAbort();
    options.signal?.addEventListener('abort', onAbort, { once: true });
    const write = () => {
      phase = 'answer';
      socket.write(bytes);
    };
    socket.on('connect', () => {
      connectMs = performance.now() - start;
      if (secure) phase = 'tls';
      else write();
    });
    socket.on('secureConnect', () => {
      tlsMs = performance.now() - start;
      write();
    });
    socket.on('data', (data: Buffer) => {
      firstByteMs ??= performance.now() - start;
      received = Buffer.concat([received, data]);
      read(false);
    });
    socket.on('end', () => read(true));
    socket.on('close', () => read(true));
    socket.on('error', (error) => (received.length > 0 ? read(true) : fail(error)));
  });
}
