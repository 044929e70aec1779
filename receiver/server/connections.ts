/** Limits how many connections may be open and what each may leave unread, and closes them at the end. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionObserver, DropReason, ResolvedLimits } from '../budget.ts';

/** A request whose head has arrived. */
export interface OpenExchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
}

interface Connection {
  /** With HTTPS, the decrypted socket as soon as there is one. */
  socket: Socket;
  /** The exchanges that were not over when the latest began. */
  exchanges: OpenExchange[];
  /** The answer that was being sent at the last check for unread answers, and since when. */
  sending: { readonly res: ServerResponse; readonly since: number } | undefined;
}

type ConnectionLimits = Pick<ResolvedLimits, 'maxConnections' | 'maxRequests' | 'maxPipelined'> & {
  /** How long a client may take to read an answer, in milliseconds. */
  readonly writeMs: number;
};

/** An exchange is open until the whole request has arrived, and the client has taken the whole answer. */
function isOpen({ req, res }: OpenExchange): boolean {
  return !res.writableFinished || !req.complete;
}

/** Interval of the check for unread answers, in milliseconds. */
const CHECKING_MS = 500;

/**
 * Limits what the connections use without locking out valid senders. When one more arrives than `maxConnections`, the
 * connection that has been waiting longest for a complete request is closed: half-open and idle ones, those that send
 * their header or body drop by drop, and those that do not read their answers. A connection with a complete request
 * that is not answered is never closed for another; when all have one, the new connection is closed.
 *
 * A sender that sends at once needs milliseconds. To displace it, a flood of half-open connections has to open
 * `maxConnections` others in that time.
 *
 * A connection that does not read its answers is closed when it has sent more than `maxPipelined` requests, when it has
 * the most of more than `maxRequests` on all connections, or `writeMs` milliseconds after an answer.
 */
export class ConnectionLimiter {
  readonly #limits: ConnectionLimits;
  readonly #observer: ConnectionObserver;
  /** Ordered by the last sign of a request: the opening, or the head of one. */
  readonly #connections = new Set<Connection>();
  readonly #bySocket = new WeakMap<object, Connection>();
  /** Connections whose TLS handshake is not complete, by their endpoints. */
  readonly #handshakes = new Map<string, Connection>();
  /** The exchanges of all connections. Those that have ended are counted until {@link #forgetEnded} removes them. */
  #requests = 0;

  /** Limits the connections of `server` from now on. */
  constructor(server: Server, limits: ConnectionLimits, observer: ConnectionObserver) {
    this.#limits = limits;
    this.#observer = observer;
    server.on('connection', (socket: Socket) => this.#admit(socket));
    // With HTTPS, requests arrive on another socket that wraps the first one.
    server.on('secureConnection', (socket: Socket) => {
      const connection = this.#handshakes.get(endpointsOf(socket));
      if (connection === undefined) return;
      connection.socket = socket;
      this.#bySocket.set(socket, connection);
    });
    server.prependListener('request', (req, res) => this.#addExchange({ req, res }));
    const checking = setInterval(() => this.#closeUnread(), Math.min(CHECKING_MS, limits.writeMs)).unref();
    server.once('close', () => clearInterval(checking));
  }

  /** The exchanges on a connection that are not over. */
  openExchanges(socket: object): readonly OpenExchange[] {
    return this.#bySocket.get(socket)?.exchanges.filter(isOpen) ?? [];
  }

  #admit(socket: Socket): void {
    if (this.#connections.size >= this.#limits.maxConnections && !this.#closeLongestWaiting()) {
      this.#observer.dropped('full');
      socket.destroy();
      return;
    }
    const connection: Connection = { socket, exchanges: [], sending: undefined };
    const endpoints = endpointsOf(socket);
    this.#connections.add(connection);
    this.#bySocket.set(socket, connection);
    this.#handshakes.set(endpoints, connection);
    this.#observer.opened();
    socket.once('close', () => {
      if (this.#handshakes.get(endpoints) === connection) this.#handshakes.delete(endpoints);
      this.#forget(connection);
    });
  }

  #addExchange(exchange: OpenExchange): void {
    const { maxPipelined, maxRequests } = this.#limits;
    const connection = this.#bySocket.get(exchange.req.socket);
    // A connection that was closed at a limit may still deliver requests that were read before.
    if (connection === undefined || !this.#connections.delete(connection)) return;
    this.#connections.add(connection);
    this.#forgetEnded(connection);
    connection.exchanges.push(exchange);
    this.#requests += 1;
    if (connection.exchanges.length > maxPipelined) this.#drop(connection, 'pipelined');
    else if (this.#requests > maxRequests) this.#closeBusiest();
  }

  #forgetEnded(connection: Connection): void {
    const before = connection.exchanges.length;
    if (before === 0) return;
    connection.exchanges = connection.exchanges.filter(isOpen);
    this.#requests -= before - connection.exchanges.length;
  }

  /** Does nothing for a connection that was closed at a limit, and is forgotten already. */
  #forget(connection: Connection): void {
    if (!this.#connections.delete(connection)) return;
    this.#requests -= connection.exchanges.length;
    connection.exchanges = [];
    this.#observer.closed();
  }

  #drop(connection: Connection, why: DropReason): void {
    this.#observer.dropped(why);
    this.#forget(connection);
    connection.socket.destroy();
  }

  /** Returns false when every connection has a complete request that is not answered. */
  #closeLongestWaiting(): boolean {
    for (const connection of this.#connections) {
      if (connection.exchanges.some(({ req, res }) => req.complete && !res.writableEnded)) continue;
      this.#drop(connection, 'waiting');
      return true;
    }
    return false;
  }

  #closeBusiest(): void {
    let busiest: Connection | undefined;
    for (const connection of this.#connections) {
      this.#forgetEnded(connection);
      if (connection.exchanges.length > (busiest?.exchanges.length ?? 0)) busiest = connection;
    }
    if (this.#requests > this.#limits.maxRequests && busiest !== undefined) this.#drop(busiest, 'requests');
  }

  #closeUnread(): void {
    const now = performance.now();
    for (const connection of this.#connections) {
      this.#forgetEnded(connection);
      // Answers are sent in order: the others wait for the first.
      const res = connection.exchanges[0]?.res;
      if (res === undefined || !res.writableEnded || res.writableFinished) connection.sending = undefined;
      else if (connection.sending?.res !== res) connection.sending = { res, since: now };
      else if (now - connection.sending.since >= this.#limits.writeMs) this.#drop(connection, 'unread');
    }
  }
}

/** A text that identifies a connection among those of one server. */
function endpointsOf({ remoteAddress, remotePort, localAddress }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress}`;
}

/**
 * Prepares a server for a graceful shutdown and returns the function that performs it: no new connections, requests
 * under way are answered with `Connection: close`, idle connections are closed. What is open after `timeoutMs` is
 * destroyed. Calling the function again returns the same promise.
 */
export function gracefulClose(server: Server, timeoutMs: number): () => Promise<void> {
  /** Each connection with its last answer. Tracking every answer by itself costs a microsecond per delivery. */
  const connections = new Map<Socket, ServerResponse | null>();
  let closed: Promise<void> | undefined;

  const track = (socket: Socket) => {
    connections.set(socket, null);
    socket.once('close', () => connections.delete(socket));
  };
  // With HTTPS a connection has two sockets, and before the handshake only the first exists.
  server.on('connection', track).on('secureConnection', track);
  server.prependListener('request', (req, res) => {
    if (connections.has(req.socket)) connections.set(req.socket, res);
    if (closed !== undefined) res.setHeader('Connection', 'close');
  });

  return () => {
    closed ??= new Promise((resolve, reject) => {
      const deadline = setTimeout(() => {
        for (const socket of connections.keys()) socket.destroy();
      }, timeoutMs);
      server.close((error) => {
        clearTimeout(deadline);
        if (error === undefined) resolve();
        else reject(error);
      });
      for (const [socket, res] of connections) {
        if (res !== null && !res.headersSent) res.setHeader('Connection', 'close');
        // Node closes connections that are idle after a request, but not those that have not had one yet.
        if (socket.bytesRead === 0) socket.destroy();
      }
    });
    return closed;
  };
}
