/** The last stages of the pipeline: connect, transmit, and read the answer. One request, one answer, no retry. */

import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import http from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { type HeaderLine, headerValues, LIMITS } from '../../contract/index.ts';
import type { Answer, Attempt, Prepared, TransportError } from './attempt.ts';
import { type Endpoint, endpointOf } from './connections.ts';
import { ConnectionWatch, Progress, type Reader } from './exchange-progress.ts';
import { type NodeStream, NodeStreamAgent } from './node-stream.ts';
import { classifyTransportError, TIMEOUT_CODE } from './transport-error.ts';

/**
 * Writes the body of a request, instead of the default writer, and must also end the request. The signal is aborted
 * when the exchange has ended. A rejection counts as a failure of the attempt.
 */
export type BodyWriter = (request: ClientRequest, body: Uint8Array, signal: AbortSignal) => Promise<void>;

/** The limits of an exchange. */
export interface ExchangeLimits {
  /** Milliseconds from the start of the attempt to the end of the answer. Default: 10,000. */
  readonly timeoutMs?: number;
  /**
   * Maximum number of bytes of the answer's body to keep; a longer one is truncated and its connection closed. Default:
   * 65,536.
   */
  readonly bodyCapBytes?: number;
  /** Maximum size of the answer's headers, and of its trailers, in bytes. Default: 16,384. */
  readonly maxHeaderBytes?: number;
}

export interface ExchangeOptions extends ExchangeLimits {
  /** An agent from {@link createConnections}, for the protocol of the URL. */
  readonly agent: http.Agent;
  readonly write?: BodyWriter;
  /** Aborts the exchange; the attempt then has an error of kind `local`. */
  readonly signal?: AbortSignal | undefined;
  /** The source address of a new connection. */
  readonly localAddress?: string | undefined;
}

export const DEFAULT_BODY_CAP_BYTES = 64 * 1024;
export const DEFAULT_MAX_HEADER_BYTES = 16 * 1024;
/** Maximum size of a body that is sent together with the head. Converting a larger one takes longer than it saves. */
const ONE_PIECE_BYTES = 16 * 1024;
/** Maximum number of interim answers (1xx). Well-behaved servers send one or two. */
const MAX_INTERIM = 16;
/**
 * Maximum number of header lines of an answer. Node ignores most of the lines beyond it. 2,000 short lines would take
 * 200 kB for each answer.
 */
const MAX_HEADER_LINES = 256;
/** Maximum number of pieces of a body; a body in more pieces is truncated. */
const MAX_PIECES = 10_000;

/**
 * Sends one prepared request and reads its answer. It sends exactly the given header lines in their order, followed by
 * Node's `Connection`. It does not follow redirects, skips 1xx answers, and decompresses nothing. An answer that
 * arrives before the whole request was sent (a 401 or 413) counts, whatever the endpoint does to the connection
 * afterwards. The limits also bound the bytes on the wire, including interim answers, chunk framing and blank lines.
 *
 * Never rejects.
 */
export function exchange(prepared: Prepared, options: ExchangeOptions): Promise<Attempt> {
  return new Promise((resolve) => new ExchangeReader(prepared, options, resolve).start());
}

type Done = (attempt: Attempt) => void;

/** An exchange that began without Node's HTTP client and continues with it. */
export interface Continuation {
  /** The connection. Nothing else uses it. */
  readonly stream: NodeStream;
  readonly progress: Progress;
  readonly keepAlive: boolean;
  readonly limits: ExchangeLimits;
  readonly signal: AbortSignal | undefined;
  /** Called after `done` if the connection can be reused, with the answer's `Keep-Alive` header. */
  readonly onKept: (keepAliveHeader: string) => void;
  readonly done: (attempt: Attempt) => void;
}

/**
 * Lets Node's HTTP client continue an exchange on the given connection: it reads the answer and, if necessary, first
 * sends the request.
 */
export function continueWithNode(prepared: Prepared, continuation: Continuation): void {
  const { stream, progress, keepAlive, limits, signal, onKept, done } = continuation;
  let keepAliveHeader = '';
  const agent = new NodeStreamAgent(stream, keepAlive, () => onKept(keepAliveHeader));
  const exchange = new ExchangeReader(prepared, { ...limits, agent, signal }, (attempt) => {
    keepAliveHeader = headerValues(attempt.answer?.headers ?? [], 'Keep-Alive').join(', ');
    // This code also runs if the exchange failed before Node had the connection.
    if (attempt.answer === null) stream.destroy();
    done(attempt);
  });
  exchange.start(progress);
}

/** The state of one exchange. It ends exactly once, in `#settle`. */
class ExchangeReader implements Reader {
  readonly #prepared: Prepared;
  readonly #options: ExchangeOptions;
  readonly #resolve: Done;
  #progress = new Progress();
  #isContinued = false;
  #timer: NodeJS.Timeout | undefined;
  #writing: AbortController | undefined;
  #request: ClientRequest | undefined;
  #response: IncomingMessage | undefined;
  #watch: ConnectionWatch | undefined;
  /** Bytes received on the wire. */
  #received = 0;
  #interim = 0;
  /** The answer, if its head arrived before the whole request was sent. */
  #early: IncomingMessage | undefined;
  readonly #chunks: Uint8Array[] = [];
  #size = 0;
  #settled = false;

  constructor(prepared: Prepared, options: ExchangeOptions, resolve: Done) {
    this.#prepared = prepared;
    this.#options = options;
    this.#resolve = resolve;
  }

  /** @param begun the progress of an exchange that began without Node */
  start(begun?: Progress): void {
    if (begun !== undefined) {
      this.#progress = begun;
      this.#isContinued = true;
    }
    const { signal, write, timeoutMs = LIMITS.answerTimeoutMs } = this.#options;
    try {
      signal?.throwIfAborted();
      const endpoint = endpointOf(this.#prepared.url);
      const request = this.#open(endpoint);
      this.#request = request;
      this.#timer = setTimeout(() => this.#fail({ code: TIMEOUT_CODE, hostname: endpoint.hostname }), timeoutMs);
      signal?.addEventListener('abort', this.#abort);
      if (begun === undefined) this.#progress.startAt(endpoint);
      this.#progress.isSent = () => request.writableFinished;
      request.on('response', (response) => this.#read(request, response));
      request.on('socket', (socket) => this.#connected(socket, endpoint));
      request.on('information', this.#countInterim);
      request.on('upgrade', (response, socket) => {
        this.#settle(this.#answer(response, false), null);
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
    const { agent, localAddress, maxHeaderBytes = DEFAULT_MAX_HEADER_BYTES } = this.#options;
    const request: RequestOptions = {
      agent,
      hostname,
      port,
      method: this.#prepared.method,
      path: this.#prepared.target,
      headers: flatten(this.#prepared.headers),
      maxHeaderSize: maxHeaderBytes,
      localAddress,
    };
    const made = secure && !this.#isContinued ? https.request(request) : http.request(request);
    made.maxHeadersCount = MAX_HEADER_LINES;
    return made;
  }

  /**
   * Ends the request. Node writes the head and a string in one piece, the head and a buffer in two. Latin-1 preserves
   * every byte.
   */
  #end(request: ClientRequest, body: Uint8Array): void {
    if (body.length > ONE_PIECE_BYTES) request.end(body);
    else request.end(Buffer.from(body.buffer, body.byteOffset, body.length).toString('latin1'), 'latin1');
  }

  #connected(socket: Socket, endpoint: Endpoint): void {
    if (!this.#isContinued) this.#progress.useSocket(socket, endpoint);
    this.#watch = ConnectionWatch.of(socket);
    this.#watch.begin(this);
  }

  /**
   * Limits the bytes on the wire. Even a chunk with a single byte takes only six bytes, so no normal answer exceeds the
   * limit.
   */
  onBytes(bytes: number): void {
    this.#progress.firstByte();
    this.#received += bytes;
    const { bodyCapBytes = DEFAULT_BODY_CAP_BYTES, maxHeaderBytes = DEFAULT_MAX_HEADER_BYTES } = this.#options;
    if (this.#received > 4 * maxHeaderBytes + 8 * bodyCapBytes) this.#stopReading();
  }

  #countInterim = (): void => {
    this.#interim += 1;
    if (this.#interim > MAX_INTERIM) this.#stopReading();
  };

  #stopReading(): void {
    if (this.#response === undefined) this.#fail({ code: 'HPE_HEADER_OVERFLOW' });
    else this.#settle(this.#answer(this.#response, true), null);
  }

  #write(request: ClientRequest, write: BodyWriter): void {
    this.#writing = new AbortController();
    write(request, this.#prepared.body, this.#writing.signal).catch((error: unknown) => this.#fail(error));
  }

  #read(request: ClientRequest, response: IncomingMessage): void {
    const { bodyCapBytes = DEFAULT_BODY_CAP_BYTES } = this.#options;
    this.#response = response;
    if (!request.writableFinished) this.#early = response;
    response.on('data', (chunk: Buffer) => {
      // Copied, because a piece retains the whole buffer it was read into.
      this.#chunks.push(Buffer.from(chunk));
      this.#size += chunk.length;
      if (this.#size > bodyCapBytes || this.#chunks.length > MAX_PIECES)
        this.#settle(this.#answer(response, true), null);
    });
    response.on('end', () => this.#settle(this.#answer(response, false), null));
    response.on('error', (error) => this.#fail(error));
  }

  #answer(response: IncomingMessage, truncated: boolean): Answer {
    const { bodyCapBytes = DEFAULT_BODY_CAP_BYTES } = this.#options;
    const body = this.#chunks.length > 1 ? Buffer.concat(this.#chunks) : (this.#chunks[0] ?? Buffer.alloc(0));
    return {
      // Set for every answer. Node uses the same type for received requests, which have neither.
      status: response.statusCode as number,
      reasonPhrase: response.statusMessage as string,
      headers: headerLines(response.rawHeaders),
      body: truncated ? body.subarray(0, bodyCapBytes) : body,
      truncated,
    };
  }

  #abort = (): void => this.#fail({ code: 'ABORT_ERR' });

  #fail(cause: unknown): void {
    const error = classifyTransportError(cause, this.#progress.phase());
    if (error.kind === 'reset' && this.#early !== undefined) {
      this.#settle(this.#answer(this.#early, true), null);
    } else {
      this.#settle(null, error);
    }
  }

  #settle(answer: Answer | null, error: TransportError | null): void {
    if (this.#settled) return;
    this.#settled = true;
    clearTimeout(this.#timer);
    this.#options.signal?.removeEventListener('abort', this.#abort);
    this.#watch?.end();
    this.#writing?.abort();
    const request = this.#request;
    // A connection with an unread answer or an unsent request cannot be reused.
    if (request !== undefined && (!request.writableFinished || !this.#response?.complete)) request.destroy();
    this.#resolve({ startedAt: this.#progress.startedAt, timings: this.#progress.timings(), answer, error });
  }
}

/**
 * Flattens header lines. Node sends a flat list unchanged. For an object, it would add a Host and lose repeated names.
 * A loop is faster than `flat()`.
 */
function flatten(lines: readonly HeaderLine[]): string[] {
  const flat: string[] = [];
  for (const [name, value] of lines) flat.push(name, value);
  return flat;
}

function headerLines(raw: readonly string[]): HeaderLine[] {
  const lines: HeaderLine[] = [];
  for (let at = 0; at < raw.length; at += 2) lines.push([raw[at] as string, raw[at + 1] as string]);
  return lines;
}
