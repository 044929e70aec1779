/** The last stages of the pipeline: connect and transmit, and the answer read. One request, one answer, no repetition. */

import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import http from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { type HeaderLine, LIMITS } from '../../contract/index.ts';
import type { Answer, Attempt, Prepared, TransportError } from './attempt.ts';
import { type Endpoint, endpointOf } from './connections.ts';
import { ConnectionWatch, Progress, type Reader } from './exchange-progress.ts';
import { classifyTransportError, TIMEOUT_CODE } from './transport-error.ts';

/**
 * Writes the body of a request and ends the request, in place of the ordinary way. The signal is aborted when the exchange is
 * over; a rejection counts as a failure of the attempt.
 */
export type BodyWriter = (request: ClientRequest, body: Uint8Array, signal: AbortSignal) => Promise<void>;

/** What an exchange reads at most. */
export interface ExchangeLimits {
  /** Milliseconds from the start of the attempt to the end of the answer; 10,000 by default. */
  readonly timeoutMs?: number;
  /** Bytes of the answer's body that are kept; a longer answer is cut there and its connection closed. 65,536 by default. */
  readonly bodyCapBytes?: number;
  /** Bytes of the answer's headers that are accepted, and of its trailers; 16,384 by default. */
  readonly maxHeaderBytes?: number;
}

export interface ExchangeOptions extends ExchangeLimits {
  /** From {@link createConnections}; it must be of the protocol of the URL. */
  readonly agent: http.Agent;
  readonly write?: BodyWriter;
  /** Breaks the exchange off; the attempt then has an error of kind `local`. */
  readonly signal?: AbortSignal | undefined;
}

const DEFAULT_BODY_CAP_BYTES = 64 * 1024;
const DEFAULT_MAX_HEADER_BYTES = 16 * 1024;
/** Up to this size a body goes out together with the head. */
const ONE_PIECE_BYTES = 16 * 1024;
/** Interim answers (1xx) before the real one. Honest servers send one or two. */
const MOST_INTERIM = 16;
/** Pieces of a body; one that comes in more is cut there. */
const MOST_PIECES = 10_000;
/** Each piece keeps the whole of what was read with it, so many of them are put together. */
const PIECES_KEPT = 64;

/**
 * Sends one prepared request and reads its answer. Exactly the given header lines go out, in their order; Node adds one line of its own
 * behind them, `Connection`. Redirects are not followed, 1xx answers are passed over, and an answer that comes before the request is
 * wholly sent (a 401 or 413) counts, whatever the endpoint does to the connection afterwards. Nothing is ever decompressed. What comes is bounded in
 * bytes on the wire too: interim answers, the frames of chunks and blank lines count.
 *
 * @returns an attempt, always: it never rejects
 */
export function exchange(prepared: Prepared, options: ExchangeOptions): Promise<Attempt> {
  return new Promise((resolve) => transmit(prepared, options, resolve));
}

/** {@link exchange} without a promise: `done` is called once, and not before this has returned or the request could not be made. */
export function transmit(prepared: Prepared, options: ExchangeOptions, done: (attempt: Attempt) => void): void {
  new Exchange(prepared, options, done).start();
}

/** The state of one exchange. It ends in `#settle`, once. */
class Exchange implements Reader {
  readonly #prepared: Prepared;
  readonly #options: ExchangeOptions;
  readonly #resolve: (attempt: Attempt) => void;
  readonly #progress = new Progress();
  #timer: NodeJS.Timeout | undefined;
  #writing: AbortController | undefined;
  #request: ClientRequest | undefined;
  #response: IncomingMessage | undefined;
  #watch: ConnectionWatch | undefined;
  /** Bytes that came, of whatever kind. */
  #received = 0;
  #interim = 0;
  /** The head of the answer came before the request was wholly sent. */
  #early = false;
  #chunks: Uint8Array[] = [];
  #size = 0;
  #pieces = 0;
  #settled = false;

  constructor(prepared: Prepared, options: ExchangeOptions, resolve: (attempt: Attempt) => void) {
    this.#prepared = prepared;
    this.#options = options;
    this.#resolve = resolve;
  }

  start(): void {
    const { signal, write, timeoutMs = LIMITS.answerTimeoutMs } = this.#options;
    try {
      signal?.throwIfAborted();
      const endpoint = endpointOf(this.#prepared.url);
      const request = this.#open(endpoint);
      this.#request = request;
      this.#timer = setTimeout(() => this.#fail({ code: TIMEOUT_CODE, hostname: endpoint.hostname }), timeoutMs);
      signal?.addEventListener('abort', this.#abort);
      this.#progress.follow(request, endpoint);
      request.on('response', (response) => this.#read(response));
      request.on('socket', (socket) => this.#connected(socket, endpoint));
      request.on('information', this.#countInterim);
      request.on('upgrade', (response, socket) => {
        this.#settle(this.#answer(response, false), null);
        // Nobody speaks the other protocol here.
        socket.destroy();
      });
      request.on('error', (error) => this.#fail(error));
      if (write === undefined) this.#end(request, this.#prepared.body);
      else this.#write(request, write);
    } catch (error) {
      this.#fail(error);
    }
  }

  #open({ secure, hostname, port }: Endpoint): ClientRequest {
    const { agent, maxHeaderBytes = DEFAULT_MAX_HEADER_BYTES } = this.#options;
    const request: RequestOptions = {
      agent,
      hostname,
      port,
      method: this.#prepared.method,
      path: this.#prepared.target,
      headers: flatten(this.#prepared.headers),
      maxHeaderSize: maxHeaderBytes,
    };
    return secure ? https.request(request) : http.request(request);
  }

  /** Node writes the head and a text in one piece, and the head and bytes in two. Latin-1 carries every byte as it is. */
  #end(request: ClientRequest, body: Uint8Array): void {
    if (body.length > ONE_PIECE_BYTES) request.end(body);
    else request.end(Buffer.from(body.buffer, body.byteOffset, body.length).toString('latin1'), 'latin1');
  }

  #connected(socket: Socket, endpoint: Endpoint): void {
    this.#progress.connection(socket, endpoint);
    // An exchange that has ended before it had a connection reads nothing.
    if (this.#settled) return;
    this.#watch = ConnectionWatch.over(socket);
    this.#watch.begin(this);
  }

  /** A byte of a body takes six in a chunk of its own; what takes more has no end. */
  came(bytes: number): void {
    this.#progress.firstByte();
    this.#received += bytes;
    const { bodyCapBytes = DEFAULT_BODY_CAP_BYTES, maxHeaderBytes = DEFAULT_MAX_HEADER_BYTES } = this.#options;
    if (this.#received > 4 * maxHeaderBytes + 8 * bodyCapBytes) this.#tooMuch();
  }

  #countInterim = (): void => {
    this.#interim += 1;
    if (this.#interim > MOST_INTERIM) this.#tooMuch();
  };

  #tooMuch(): void {
    if (this.#response === undefined) this.#fail({ code: 'HPE_HEADER_OVERFLOW' });
    else this.#settle(this.#answer(this.#response, true), null);
  }

  #write(request: ClientRequest, write: BodyWriter): void {
    this.#writing = new AbortController();
    write(request, this.#prepared.body, this.#writing.signal).catch((error: unknown) => this.#fail(error));
  }

  #read(response: IncomingMessage): void {
    const { bodyCapBytes = DEFAULT_BODY_CAP_BYTES } = this.#options;
    this.#response = response;
    this.#early = this.#request?.writableFinished === false;
    response.on('data', (chunk: Buffer) => {
      this.#chunks.push(chunk);
      this.#size += chunk.length;
      this.#pieces += 1;
      if (this.#chunks.length === PIECES_KEPT) this.#chunks = [Buffer.concat(this.#chunks, this.#size)];
      if (this.#size > bodyCapBytes || this.#pieces > MOST_PIECES) this.#settle(this.#answer(response, true), null);
    });
    response.on('end', () => this.#settle(this.#answer(response, false), null));
    response.on('error', (error) => this.#fail(error));
  }

  #answer(response: IncomingMessage, truncated: boolean): Answer {
    const { bodyCapBytes = DEFAULT_BODY_CAP_BYTES } = this.#options;
    const [first, ...more] = this.#chunks;
    const body = more.length === 0 ? (first ?? new Uint8Array()) : Buffer.concat(this.#chunks, this.#size);
    return {
      status: response.statusCode ?? 0,
      reasonPhrase: response.statusMessage ?? '',
      headers: headerLines(response.rawHeaders),
      body: truncated ? body.subarray(0, bodyCapBytes) : body,
      truncated,
    };
  }

  #abort = (): void => this.#fail({ code: 'ABORT_ERR' });

  #fail(cause: unknown): void {
    const error = classifyTransportError(cause, this.#progress.phase());
    if (error.kind === 'reset' && this.#early && this.#response !== undefined) {
      this.#settle(this.#answer(this.#response, true), null);
    } else {
      this.#settle(null, error);
    }
  }

  #settle(answer: Answer | null, error: TransportError | null): void {
    if (this.#settled) return;
    this.#settled = true;
    clearTimeout(this.#timer);
    this.#options.signal?.removeEventListener('abort', this.#abort);
    this.#watch?.end(this);
    this.#writing?.abort();
    const request = this.#request;
    // A connection with an unread rest of an answer, or an unsent rest of a request, is of no further use.
    if (request !== undefined && (!request.writableFinished || !this.#response?.complete)) request.destroy();
    this.#resolve({ startedAt: this.#progress.startedAt, timings: this.#progress.timings(), answer, error });
  }
}

/** A flat list goes out as it is; an object would be given a Host and lose repeated names. `flat()` would take a microsecond, a loop takes next to nothing. */
function flatten(lines: readonly HeaderLine[]): string[] {
  const flat: string[] = [];
  for (const [name, value] of lines) flat.push(name, value);
  return flat;
}

function headerLines(raw: readonly string[]): HeaderLine[] {
  const lines: HeaderLine[] = [];
  for (let at = 0; at < raw.length; at += 2) lines.push([raw[at] ?? '', raw[at + 1] ?? '']);
  return lines;
}
