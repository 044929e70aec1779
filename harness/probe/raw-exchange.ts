/** Sends bytes that no HTTP client would send, on a new connection, and reads the answer's status, headers and body. */

import { connect as connectTcp, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { ConnectionOptions } from 'node:tls';
import type { Partner } from '../partner.ts';
import {
  type Answer,
  type Attempt,
  classifyTransportError,
  connectTls,
  endpointOf,
  reportWriteErrorsLate,
  TIMEOUT_CODE,
  type TransportError,
  type TransportPhase,
  tlsOptionsFor,
} from '../transport/index.ts';
import { AnswerReader, type AnswerReading } from './answer-reader.ts';
import { serverNameFor } from './tls-handshake.ts';

export interface RawOptions {
  readonly timeoutMs: number;
  readonly bodyCapBytes: number;
  /** Replaces the partner's TLS options; `plain` uses no TLS even for an https URL. */
  readonly tls?: ConnectionOptions | 'plain';
  /** Half-closes the connection after sending the bytes. */
  readonly end?: boolean;
  /** Cancels the exchange. */
  readonly signal?: AbortSignal;
}

/** Sends the bytes and reads the answer. Never rejects: a failure is in the attempt. */
export function rawExchange(url: string, partner: Partner, bytes: Buffer, options: RawOptions): Promise<Attempt> {
  const { hostname: host, port, ...endpoint } = endpointOf(url);
  const secure = endpoint.secure && options.tls !== 'plain';
  const lookup = partner.lookup === undefined ? {} : { lookup: partner.lookup };
  const tls = typeof options.tls === 'object' ? options.tls : undefined;
  const startedAt = new Date().toISOString();
  const start = performance.now();

  return new Promise((resolve) => {
    const reader = new AnswerReader(options.bodyCapBytes);
    let received = false;
    let phase: TransportPhase = 'connect';
    let connectMs: number | null = null;
    let tlsMs: number | null = null;
    let firstByteMs: number | null = null;
    let settled = false;
    const socket = reportWriteErrorsLate<Socket>(
      secure
        ? connectTls({ host, port, servername: serverNameFor(host), ...lookup, ...(tls ?? tlsOptionsFor(partner)) })
        : connectTcp({ host, port, ...lookup }),
    );

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
    const take = (reading: AnswerReading, ended: boolean) => {
      if (reading === 'invalid') fail(Object.assign(new Error('no HTTP answer'), { code: 'HPE_INVALID_CONSTANT' }));
      else if (reading === 'too-large') fail(Object.assign(new Error('too large'), { code: 'HPE_HEADER_OVERFLOW' }));
      else if (reading !== null) settle(reading, null);
      else if (ended) fail(Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' }));
    };
    const end = () => {
      if (!settled) take(reader.end(), true);
    };
    const timer = setTimeout(
      () => fail(Object.assign(new Error('timed out'), { code: TIMEOUT_CODE })),
      options.timeoutMs,
    );

    if (options.signal?.aborted === true) onAbort();
    options.signal?.addEventListener('abort', onAbort, { once: true });
    const write = () => {
      phase = 'answer';
      if (options.end === true) socket.end(bytes);
      else socket.write(bytes);
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
      received = true;
      if (!settled) take(reader.read(data), false);
    });
    socket.on('end', end);
    socket.on('close', end);
    socket.on('error', (error) => (received ? end() : fail(error)));
  });
}
