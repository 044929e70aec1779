/** Replacements for the transmit stage that an HTTP client can perform: how a body is written to the wire. */

import { once } from 'node:events';
import type { ClientRequest } from 'node:http';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { type HeaderLine, sameHeaderName } from '../../contract/index.ts';
import type { Transmission } from '../../scenarios/index.ts';
import type { BodyWriter, Prepared } from '../transport/index.ts';

/**
 * The pause between pieces, in milliseconds. TCP joins data written at once; the pause puts each piece into its own
 * packet.
 */
const PIECE_GAP_MS = 10;

/** Milliseconds to wait for `100 Continue` before the body is sent anyway (RFC 9110, 10.1.1). */
const CONTINUE_WAIT_MS = 1000;

/** Synchronises the two halves of held bodies. */
export interface Hold {
  /** Called for each body whose first half has been sent. */
  readonly begun: () => void;
  /** Resolves when the second halves may be sent. */
  readonly released: Promise<void>;
}

/** Creates a hold for this many bodies. `allBegun` resolves when the first half of each has been sent. */
export function createHold(bodies = 1): Hold & { readonly allBegun: Promise<void>; readonly release: () => void } {
  let [release, reportBegun] = [() => {}, () => {}];
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const allBegun = new Promise<void>((resolve) => {
    reportBegun = resolve;
  });
  let beginning = bodies;
  const begun = () => {
    beginning -= 1;
    if (beginning === 0) reportBegun();
  };
  return { released, release, allBegun, begun };
}

/** Adapts the headers of a request to a transmission. */
export function headersFor(transmission: Transmission | null, headers: readonly HeaderLine[]): readonly HeaderLine[] {
  if (transmission?.kind === 'chunked') return replaceLength(headers, ['Transfer-Encoding', 'chunked']);
  if (transmission?.kind === 'expect-continue') return [...headers, ['Expect', '100-continue']];
  return headers;
}

/** Returns the writer for a transmission. Undefined for the default, and for raw bytes, which no HTTP client sends. */
export function writerFor(transmission: Transmission | null, hold?: Hold): BodyWriter | undefined {
  switch (transmission?.kind) {
    case 'chunked':
      return chunked(transmission.pieces);
    case 'pieces':
      return inPieces(transmission.sizes);
    case 'expect-continue':
      return afterContinue;
    case 'held':
      return hold && inHalves(hold);
    case 'cut-off':
      return cutOff(transmission.fraction);
    default:
      return undefined;
  }
}

/** Returns the well-formed bytes of a request, from which raw transmissions are derived. */
export function requestBytes(prepared: Prepared): Buffer {
  const head = [
    `${prepared.method} ${prepared.target} HTTP/1.1`,
    ...prepared.headers.map(([n, v]) => `${n}: ${v}`),
    'Connection: close',
  ];
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'), prepared.body]);
}

async function write(request: ClientRequest, bytes: Uint8Array, signal: AbortSignal): Promise<void> {
  if (!request.write(bytes)) await once(request, 'drain', { signal });
}

function replaceLength(headers: readonly HeaderLine[], line: HeaderLine): HeaderLine[] {
  return headers.map((old) => (sameHeaderName(old[0], 'Content-Length') ? line : old));
}

function chunked(pieces: number): BodyWriter {
  return async (request, body, signal) => {
    const size = Math.max(1, Math.ceil(body.length / pieces));
    for (let at = 0; at < body.length; at += size) await write(request, body.subarray(at, at + size), signal);
    request.end();
  };
}

function inPieces(sizes: readonly number[]): BodyWriter {
  return async (request, body, signal) => {
    request.setNoDelay(true);
    request.flushHeaders();
    let at = 0;
    for (let piece = 0; at < body.length; piece++) {
      const size = Math.max(1, sizes[Math.min(piece, sizes.length - 1)] ?? body.length);
      await write(request, body.subarray(at, at + size), signal);
      at += size;
      if (at >= body.length) break;
      await delay(PIECE_GAP_MS, undefined, { signal });
      // Lets an endpoint in this process read before the next piece is written, even if the process is busy.
      await nextTurn();
    }
    request.end();
  };
}

const afterContinue: BodyWriter = async (request, body, signal) => {
  request.flushHeaders();
  const answered = Promise.race([once(request, 'continue', { signal }), once(request, 'response', { signal })]);
  await Promise.race([answered, delay(CONTINUE_WAIT_MS, undefined, { signal, ref: false })]);
  request.end(body);
};

function inHalves({ begun, released }: Hold): BodyWriter {
  return async (request, body, signal) => {
    const half = Math.ceil(body.length / 2);
    request.flushHeaders();
    await new Promise<void>((resolve) => request.write(body.subarray(0, half), () => resolve()));
    begun();
    await released;
    if (!signal.aborted) request.end(body.subarray(half));
  };
}

function cutOff(fraction: number): BodyWriter {
  return async (request, body) => {
    request.flushHeaders();
    await new Promise<void>((resolve) =>
      request.write(body.subarray(0, Math.floor(body.length * fraction)), () => resolve()),
    );
    request.destroy();
  };
}
