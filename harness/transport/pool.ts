/**
 * The connections of a sender: kept, bounded per endpoint, and used for one delivery at a time. Ordinary requests and
 * answers are written and read here as text; Node's HTTP client does the rest on the same connection.
 */
import { validateHeaderName, validateHeaderValue } from 'node:http';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { Answer, Attempt, Prepared } from './attempt.ts';
import { ADDRESS_TIMEOUT_MS, type ConnectionOptions, type Endpoint, endpointOf } from './connections.ts';
import { continueWithNode, DEFAULT_BODY_CAP_BYTES, DEFAULT_MAX_HEADER_BYTES, type ExchangeLimits } from './exchange.ts';
import { Progress } from './exchange-progress.ts';
import { reportWriteErrorsLate } from './late-write-errors.ts';
import { NodeStream } from './node-stream.ts';
import { mayKeep, type PlainAnswer, plainAnswer, plainRequest, type RequestText } from './plain-message.ts';
import { connectTls, tlsOptionsFor } from './tls-options.ts';
import { CLOSED_CODE, classifyTransportError, QUEUE_FULL_CODE, TIMEOUT_CODE } from './transport-error.ts';

export interface PoolOptions extends ConnectionOptions, ExchangeLimits {
  /**
   * Maximum number of deliveries waiting for a connection to one endpoint; a further one fails as `local`. Default:
   * 10,000.
   */
  readonly maxWaiting?: number;
}

/** The current state of a pool, across all endpoints. */
export interface PoolState {
  /** The number of connections, including those being opened. */
  readonly open: number;
  /** The number of connections without a delivery. */
  readonly idle: number;
  /** The number of deliveries waiting for a connection. */
  readonly waiting: number;
}

/** Called once with the result. `idleMs` is how long a kept connection had been idle. */
export type PoolDone = (attempt: Attempt, idleMs: number) => void;

export interface SendOptions {
  readonly signal?: AbortSignal | undefined;
  /** Replaces the pool's time limit. */
  readonly timeoutMs?: number;
}

const MAX_SOCKETS = 256;
const MAX_WAITING = 10_000;
/** Maximum number of endpoints without a connection that are remembered, with their TLS sessions. */
const MAX_EMPTY_ENDPOINTS = 1_000;
const KEEP_ALIVE_PROBE_MS = 1_000;
/** Maximum number of pieces of an ordinary answer: it arrives in one piece, or with head and body in one each. */
const MAX_PIECES = 4;

type Limits = Required<ExchangeLimits>;

export class Pool {
  readonly limits: Limits;
  readonly keepAlive: boolean;
  readonly #options: PoolOptions;
  readonly #endpoints = new Map<string, EndpointPool>();
  #last: { readonly url: string; readonly pool: EndpointPool } | undefined;
  #isClosed = false;

  /** @throws HookproofError PARTNER_TLS if the TLS material cannot be used */
  constructor(options: PoolOptions, defaultTimeoutMs: number) {
    const { timeoutMs = defaultTimeoutMs, bodyCapBytes = DEFAULT_BODY_CAP_BYTES, keepAlive = true } = options;
    this.limits = { timeoutMs, bodyCapBytes, maxHeaderBytes: options.maxHeaderBytes ?? DEFAULT_MAX_HEADER_BYTES };
    this.keepAlive = keepAlive;
    this.#options = options;
    // Invalid TLS material must fail here, not at the first delivery.
    if (options.tls !== undefined) tlsOptionsFor({ tls: options.tls });
  }

  /** Sends a request and reads the answer. Never throws: a failure is in the attempt. */
  send(prepared: Prepared, options: SendOptions, done: PoolDone): void {
    const exchange = new PoolExchange(this, prepared, options, done);
    if (this.#isClosed) exchange.fail({ code: CLOSED_CODE });
    else exchange.start(() => this.#poolFor(prepared.url));
  }

  /** Resolves when a delivery to this URL would not have to wait, or when the signal is aborted. */
  async ready(url: string, signal?: AbortSignal): Promise<void> {
    await this.#poolFor(url).ready(signal);
  }

  /** Closes the idle connections to an endpoint. */
  dropIdle(url: string): void {
    this.#poolFor(url).dropIdle();
  }

  state(): PoolState {
    const states = [...this.#endpoints.values()].map((pool) => pool.state());
    const sum = (field: keyof PoolState) => states.reduce((total, state) => total + state[field], 0);
    return { open: sum('open'), idle: sum('idle'), waiting: sum('waiting') };
  }

  /** Closes every connection. Unfinished deliveries, including waiting ones, get an error of kind `reset`. */
  close(): void {
    this.#isClosed = true;
    for (const pool of this.#endpoints.values()) pool.close();
  }

  #poolFor(url: string): EndpointPool {
    if (this.#last?.url === url) return this.#last.pool;
    const endpoint = endpointOf(url);
    const name = `${endpoint.secure}:${endpoint.hostname}:${endpoint.port}`;
    let pool = this.#endpoints.get(name);
    if (pool === undefined) {
      pool = new EndpointPool(endpoint, this.#options, this.keepAlive, () => this.#forget(name));
      this.#endpoints.set(name, pool);
    }
    this.#last = { url, pool };
    return pool;
  }

  /** Forgets an endpoint that has lost its last connection, if many endpoints are remembered. */
  #forget(name: string): void {
    if (this.#endpoints.size < MAX_EMPTY_ENDPOINTS) return;
    if (this.#last?.pool === this.#endpoints.get(name)) this.#last = undefined;
    this.#endpoints.delete(name);
  }
}

/** The connections to one endpoint. The most recently used one is reused first. */
class EndpointPool {
  readonly #endpoint: Endpoint;
  readonly #options: PoolOptions;
  readonly #keepAlive: boolean;
  readonly #onEmpty: () => void;
  readonly #idle: Connection[] = [];
  readonly #open = new Set<Connection>();
  readonly #waiting = new Set<PoolExchange>();
  readonly #readyWanted = new Set<() => void>();
  #session: Buffer | undefined;
  #isClosed = false;
  #willUnref = false;

  constructor(endpoint: Endpoint, options: PoolOptions, keepAlive: boolean, onEmpty: () => void) {
    this.#onEmpty = onEmpty;
    this.#endpoint = endpoint;
    this.#options = options;
    this.#keepAlive = keepAlive;
  }

  /** Assigns a connection to the exchange, now or later. */
  give(exchange: PoolExchange): void {
    const connection = this.#idle.pop() ?? this.#connect();
    if (connection !== null) connection.begin(exchange, this.#endpoint);
    else if (this.#waiting.size < (this.#options.maxWaiting ?? MAX_WAITING)) this.#waiting.add(exchange);
    else exchange.fail({ code: QUEUE_FULL_CODE });
  }

  forget(exchange: PoolExchange): void {
    this.#waiting.delete(exchange);
  }

  /** Called when a connection is free for the next delivery. */
  release(connection: Connection): void {
    if (!this.#keepAlive || this.#isClosed) {
      connection.destroy();
      return;
    }
    const next = this.#nextWaiting();
    if (next === undefined) {
      this.#idle.push(connection);
      this.#unrefIdle();
      this.#announceReady();
    } else connection.begin(next, this.#endpoint);
  }

  /** Called when a connection has been closed. */
  gone(connection: Connection): void {
    this.#open.delete(connection);
    const at = this.#idle.indexOf(connection);
    if (at !== -1) this.#idle.splice(at, 1);
    const next = this.#isClosed ? undefined : this.#nextWaiting();
    if (next !== undefined) this.give(next);
    else this.#announceReady();
    if (this.#open.size === 0) this.#onEmpty();
  }

  async ready(signal?: AbortSignal): Promise<void> {
    while (!this.#isReady() && signal?.aborted !== true && !this.#isClosed) {
      await new Promise<void>((resolve) => {
        const done = () => {
          this.#readyWanted.delete(done);
          signal?.removeEventListener('abort', done);
          resolve();
        };
        this.#readyWanted.add(done);
        signal?.addEventListener('abort', done);
      });
    }
  }

  dropIdle(): void {
    for (const connection of this.#idle.splice(0)) connection.destroy();
  }

  state(): PoolState {
    return { open: this.#open.size, idle: this.#idle.length, waiting: this.#waiting.size };
  }

  close(): void {
    this.#isClosed = true;
    for (const exchange of this.#waiting) exchange.fail({ code: 'ECONNRESET' });
    this.#waiting.clear();
    for (const connection of this.#open) connection.destroy();
    this.#announceReady();
  }

  #isReady(): boolean {
    const { maxSockets = MAX_SOCKETS } = this.#options;
    return this.#waiting.size === 0 && (this.#idle.length > 0 || this.#open.size < maxSockets);
  }

  #announceReady(): void {
    if (this.#readyWanted.size === 0 || (!this.#isClosed && !this.#isReady())) return;
    for (const resolve of [...this.#readyWanted]) resolve();
  }

  #nextWaiting(): PoolExchange | undefined {
    for (const exchange of this.#waiting) {
      this.#waiting.delete(exchange);
      return exchange;
    }
    return undefined;
  }

  /**
   * Unrefs idle connections, so that they do not keep the process alive. Waits for the end of the turn, because most
   * are reused at once.
   */
  #unrefIdle(): void {
    if (this.#willUnref) return;
    this.#willUnref = true;
    setImmediate(() => {
      this.#willUnref = false;
      for (const connection of this.#idle) connection.unref();
    });
  }

  /** Opens a connection; null if the limit is reached. */
  #connect(): Connection | null {
    const { maxSockets = MAX_SOCKETS, tls, lookup } = this.#options;
    if (this.#open.size >= maxSockets) return null;
    const { secure, hostname, port } = this.#endpoint;
    const options = {
      host: hostname,
      port,
      noDelay: true,
      keepAlive: this.#keepAlive,
      keepAliveInitialDelay: KEEP_ALIVE_PROBE_MS,
      autoSelectFamilyAttemptTimeout: ADDRESS_TIMEOUT_MS,
      ...(lookup !== undefined && { lookup }),
    };
    const socket = reportWriteErrorsLate<Socket>(
      secure
        ? connectTls({
            ...options,
            ...tlsOptionsFor(tls === undefined ? {} : { tls }),
            servername: isIP(hostname) === 0 ? hostname : '',
            ...(this.#session !== undefined && { session: this.#session }),
          })
        : connectTcp(options),
    );
    if (secure && this.#keepAlive) {
      socket.on('session', (session: Buffer) => {
        this.#session = session;
      });
      socket.once('close', (hadError: boolean) => {
        if (hadError) this.#session = undefined;
      });
    }
    const connection = new Connection(this, socket, secure);
    this.#open.add(connection);
    return connection;
  }
}

/**
 * One connection. Its listeners are added only once: adding them for each delivery costs a tenth of the delivery.
 */
class Connection {
  readonly socket: Socket;
  readonly #pool: EndpointPool;
  #exchange: PoolExchange | null = null;
  #isReady = false;
  /** Whether another reader owns the socket. */
  #isLent = false;
  #isUnref = false;
  /** When the last exchange ended, or when the connection was made. */
  #endedAt = performance.now();

  constructor(pool: EndpointPool, socket: Socket, secure: boolean) {
    this.#pool = pool;
    this.socket = socket;
    socket.once(secure ? 'secureConnect' : 'connect', () => {
      this.#isReady = true;
      this.#exchange?.write();
    });
    socket.on('data', (piece: Buffer) => {
      if (this.#isLent) return;
      // Bytes received while no exchange is in progress are not an answer to the next request.
      if (this.#exchange === null) socket.destroy();
      else this.#exchange.read(piece);
    });
    socket.on('end', () => this.#lost(undefined));
    socket.on('error', (error) => this.#lost(error));
    socket.on('close', () => {
      pool.gone(this);
      this.#lost(undefined);
    });
  }

  begin(exchange: PoolExchange, endpoint: Endpoint): void {
    this.#exchange = exchange;
    if (this.#isUnref) this.socket.ref();
    this.#isUnref = false;
    exchange.use(this, endpoint, this.#isReady ? performance.now() - this.#endedAt : 0);
    if (this.#isReady) exchange.write();
  }

  /** Called when the exchange has ended. */
  end(keeps: boolean): void {
    this.#exchange = null;
    this.#isLent = false;
    this.#endedAt = performance.now();
    if (keeps && !this.socket.destroyed) this.#pool.release(this);
    else this.socket.destroy();
  }

  /** Hands the socket to another reader until the exchange ends. */
  lend(): Socket {
    this.#isLent = true;
    return this.socket;
  }

  unref(): void {
    if (this.#isUnref) return;
    this.#isUnref = true;
    this.socket.unref();
  }

  destroy(): void {
    this.socket.destroy();
  }

  #lost(error: Error | undefined): void {
    if (this.#isLent) return;
    if (this.#exchange === null) this.socket.destroy();
    else this.#exchange.fail(error ?? { code: 'ECONNRESET' });
  }
}

/** The state of one delivery. It ends exactly once, in `#settle`. */
class PoolExchange {
  readonly #pool: Pool;
  readonly #prepared: Prepared;
  readonly #signal: AbortSignal | undefined;
  readonly #timeoutMs: number;
  readonly #done: PoolDone;
  readonly #progress = new Progress();
  #timer: NodeJS.Timeout | undefined;
  #endpointPool: EndpointPool | undefined;
  #connection: Connection | undefined;
  #request: RequestText | null = null;
  #received: Buffer | undefined;
  /** The complete answer, while it is unknown whether the request was sent before it. */
  #early: Answer | undefined;
  #pieces = 0;
  #idleMs = 0;
  #isSettled = false;

  constructor(pool: Pool, prepared: Prepared, options: SendOptions, done: PoolDone) {
    this.#pool = pool;
    this.#prepared = prepared;
    this.#signal = options.signal;
    this.#timeoutMs = options.timeoutMs ?? pool.limits.timeoutMs;
    this.#done = done;
  }

  start(poolFor: () => EndpointPool): void {
    try {
      this.#signal?.throwIfAborted();
      this.#request = plainRequest(this.#prepared, this.#pool.keepAlive ? 'keep-alive' : 'close');
      if (this.#request === null) checkHeaders(this.#prepared);
      this.#endpointPool = poolFor();
      const endpoint = endpointOf(this.#prepared.url);
      const { hostname } = endpoint;
      this.#progress.startAt(endpoint);
      this.#timer = setTimeout(() => this.fail({ code: TIMEOUT_CODE, hostname }), this.#timeoutMs);
      this.#signal?.addEventListener('abort', this.#abort);
      this.#endpointPool.give(this);
    } catch (error) {
      this.fail(error);
    }
  }

  /** Takes a connection, which may still have to be opened. */
  use(connection: Connection, endpoint: Endpoint, idleMs: number): void {
    this.#connection = connection;
    this.#idleMs = idleMs;
    this.#progress.useSocket(connection.socket, endpoint);
  }

  write(): void {
    const { socket } = this.#connection as Connection;
    if (this.#request === null) {
      this.#continueWithNode(false);
      return;
    }
    const { text, body } = this.#request;
    this.#progress.isSent = () => socket.writableLength === 0;
    socket.write(text, 'latin1');
    if (body !== null) socket.write(body);
  }

  read(piece: Buffer): void {
    if (this.#early !== undefined) {
      // The endpoint has sent bytes after its answer.
      this.#settle(this.#early, null, false);
      return;
    }
    this.#progress.firstByte();
    this.#pieces += 1;
    this.#received = this.#received === undefined ? piece : Buffer.concat([this.#received, piece]);
    const plain = plainAnswer(this.#received, this.#pool.limits);
    if (plain === null) this.#continueWithNode(true);
    else if (plain !== 'incomplete') this.#settleWhenSent(plain);
    // Part of an answer that arrives before the whole request was sent is also left to Node.
    else if (!this.#progress.isSent() || this.#pieces >= MAX_PIECES) this.#continueWithNode(true);
  }

  fail(cause: unknown): void {
    if (this.#early !== undefined) this.#settle(this.#early, null, false);
    else this.#settle(null, classifyTransportError(cause, this.#progress.phase()), false);
  }

  /**
   * Settles once the request is known to be sent. Over TLS, Node reports writes only at the end of an event loop turn.
   * While many connections are busy, it may read the answer before that. If the request is not sent in the next turn
   * either, the endpoint answered early: the answer counts, but the connection is not kept.
   */
  #settleWhenSent({ answer, keeps }: PlainAnswer): void {
    if (this.#progress.isSent()) {
      this.#settle(answer, null, keeps);
      return;
    }
    this.#early = answer;
    setImmediate(() => this.#settle(answer, null, keeps && this.#progress.isSent()));
  }

  #abort = (): void => this.fail({ code: 'ABORT_ERR' });

  /** Lets Node write the request, unless it has been written, and read the answer. */
  #continueWithNode(isWritten: boolean): void {
    const connection = this.#connection as Connection;
    this.#stopWaiting();
    const stream = new NodeStream(connection.lend(), isWritten, this.#received);
    const { bodyCapBytes, maxHeaderBytes } = this.#pool.limits;
    continueWithNode(this.#prepared, {
      stream,
      progress: this.#progress,
      keepAlive: this.#pool.keepAlive,
      limits: { bodyCapBytes, maxHeaderBytes, timeoutMs: Math.max(1, this.#timeoutMs - this.#progress.elapsedMs()) },
      signal: this.#signal,
      onKept: (keepAliveHeader) => {
        stream.detach();
        connection.end(mayKeep(keepAliveHeader));
      },
      done: (attempt) => this.#done(attempt, this.#idleMs),
    });
  }

  #stopWaiting(): void {
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener('abort', this.#abort);
  }

  #settle(answer: Answer | null, error: Attempt['error'], keeps: boolean): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#stopWaiting();
    const attempt = { startedAt: this.#progress.startedAt, timings: this.#progress.timings(), answer, error };
    if (this.#connection === undefined) this.#endpointPool?.forget(this);
    else this.#connection.end(keeps);
    this.#done(attempt, this.#idleMs);
  }
}

/**
 * Validates the headers before a connection is made.
 *
 * @throws Error the same error that Node throws when it sends invalid headers
 */
function checkHeaders({ headers }: Prepared): void {
  for (const [name, value] of headers) {
    validateHeaderName(name);
    validateHeaderValue(name, value);
  }
}
