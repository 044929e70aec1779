/** Replacements for the transmit stage that an HTTP client can carry out: how a body is written to the wire. */
import { once } from 'node:events';
import type { ClientRequest } from 'node:http';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { type HeaderLine, sameHeaderName } from '../../contract/index.ts';
import type { Transmission } from '../../scenarios/index.ts';
import type { BodyWriter, Prepared } from '../transport/index.ts';

/** How long pieces are held apart. TCP joins what is written at once; this is enough for each to be a packet of its own. */
const PIECE_GAP_MS = 10;

/** How long a client waits for `100 Continue` before it sends the body all the same (RFC 9110, 10.1.1). */
const CONTINUE_WAIT_MS = 1000;

async function write(request: ClientRequest, bytes: Uint8Array, signal: AbortSignal): Promise<void> {
  if (!request.write(bytes)) await once(request, 'drain', { signal });
}

function replaceLength(headers: readonly HeaderLine[], line: HeaderLine): HeaderLine[] {
  return headers.map((old) => (sameHeaderName(old[0], 'Content-Length') ? line : old));
}

/** The headers that a transmission needs in place of, or beside, those of a whole body. */
export function headersFor(transmission: Transmission | null, headers: readonly HeaderLine[]): readonly HeaderLine[] {
  if (transmission?.kind === 'chunked') return replaceLength(headers, ['Transfer-Encoding', 'chunked']);
  if (transmission?.kind === 'expect-continue') return [...headers, ['Expect', '100-continue']];
  return headers;
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
    for (let turn = 0; at < body.length; turn++) {
      const size = Math.max(1, sizes[Math.min(turn, sizes.length - 1)] ?? body.length);
      await write(request, body.subarray(at, at + size), signal);
      at += size;
      if (at >= body.length) break;
      await delay(PIECE_GAP_MS, undefined, { signal });
      // An endpoint in this very process reads between timers and here: without it, a busy moment would join two pieces.
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

function cutOff(fraction: number): BodyWriter {
  return async (request, body) => {
    request.flushHeaders();
    await new Promise<void>((resolve) =>
      request.write(body.subarray(0, Math.floor(body.length * fraction)), () => resolve()),
    );
    request.destroy();
  };
}

/** The writer of a transmission, or undefined for the ordinary way (and for raw bytes, which no HTTP client sends). */
export function writerFor(transmission: Transmission | null): BodyWriter | undefined {
  switch (transmission?.kind) {
    case 'chunked':
      return chunked(transmission.pieces);
    case 'pieces':
      return inPieces(transmission.sizes);
    case 'expect-continue':
      return afterContinue;
    case 'cut-off':
      return cutOff(transmission.fraction);
    default:
      return undefined;
  }
}

/** The well-formed bytes of a request, as a basis for raw ones. */
export function requestBytes(prepared: Prepared): Buffer {
  const head = [
    `${prepared.method} ${prepared.target} HTTP/1.1`,
    ...prepared.headers.map(([n, v]) => `${n}: ${v}`),
    'Connection: close',
  ];
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'), prepared.body]);
}
