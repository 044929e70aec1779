/** Limits the number of open connections and of unread answers, and closes the connections at shutdown. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionObserver, DropReason, ResolvedLimits } from '../budget.ts';

/** A request whose head has arrived. */
export interface OpenExchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
}

interface Connection {
  /** The decrypted socket with HTTPS, once the handshake is complete. */
  socket: Socket;
  /** Requests that were still open when the latest one began, followed by the latest one. */
  exchanges: OpenExchange[];
  /**
   * The answer that was waiting for the client at the last check for unread answers, and when it was first seen.
   * `since` is in milliseconds.
   */
  sending: { readonly res: ServerResponse; readonly since: number } | undefined;
}

type ConnectionLimits = Pick<ResolvedLimits, 'maxConnections' | 'maxRequests' | 'maxPipelined'> & {
  /** Maximum time for a client to read an answer, in milliseconds. */
  readonly writeMs: number;
};

/** An exchange is open until the whole request has arrived and the client has received the whole answer. */
function isOpen({ req, res }: OpenExchange): boolean {
  return !res.writableFinished || !req.complete;
}

/** Interval between two checks for unread answers, in milliseconds. */
const CHECKING_MS = 500;

/**
 * Limits what connections consume, without locking out valid senders. When `maxConnections` is exceeded, the connection
 * that has waited longest for a complete request is closed. Half-open and idle connections are waiting, as are those
 * that send their headers or body very slowly or do not read their answers. A connection with a complete request that
 * is not answered yet is never closed for another one. If all connections have one, the new connection is closed.
 *
 * A sender that sends its request immediately waits for milliseconds only. To displace it, an attacker has to open
 * `maxConnections` other connections within that time.
 *
 * A connection that does not read its answers is closed in one of three cases: it has more than `maxPipelined` open
 * requests, all connections have more than `maxRequests` and this one has the most, or an answer was not read for
 * `writeMs` milliseconds.
 */
export class ConnectionLimiter {
  readonly #limits: ConnectionLimits;
  readonly #observer: ConnectionObserver;
  /** Sorted by the time at which the connection was opened or the head of its latest request arrived. */
  readonly #connections = new Set<Connection>();
  readonly #bySocket = new WeakMap<object, Connection>();
  /** Connections by their addresses and ports, to find the connection of a decrypted socket. */
  readonly #handshakes = new Map<string, Connection>();
  /** Number of exchanges on all connections. Ended exchanges count until {@link #forgetEnded} removes them. */
  #requests = 0;

  /** Attaches the limits to `server`. */
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

  /** Returns the exchanges on a connection that are still open. */
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
    // A connection that was closed at a limit may still emit requests that had already been read.
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

  /** Does nothing for a connection that was closed at a limit, because it is no longer in the list. */
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

  /** Returns false when no connection can be closed, because each has a complete request that is not answered. */
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
      // Answers are sent in order, so only the first can be in progress.
      const res = connection.exchanges[0]?.res;
      if (res === undefined || !res.writableEnded || res.writableFinished) connection.sending = undefined;
      else if (connection.sending?.res !== res) connection.sending = { res, since: now };
      else if (now - connection.sending.since >= this.#limits.writeMs) this.#drop(connection, 'unread');
    }
  }
}

/** Returns a text that identifies a connection of this server. */
function endpointsOf({ remoteAddress, remotePort, localAddress }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress}`;
}

/**
 * Prepares a server for a graceful shutdown, and returns the function that performs it. The function accepts no new
 * connections, answers open requests with `Connection: close`, and closes idle connections. Connections that are still
 * open after `timeoutMs` milliseconds are destroyed. Calling the function again returns the same promise.
 */
export function gracefulClose(server: Server, timeoutMs: number): () => Promise<void> {
  /** Each connection with its last answer. A listener for every answer would cost a microsecond per delivery. */
  const connections = new Map<Socket, ServerResponse | null>();
  let closed: Promise<void> | undefined;

  const track = (socket: Socket) => {
    connections.set(socket, null);
    socket.once('close', () => connections.delete(socket));
  };
  // With HTTPS, a connection has two sockets, and only the first exists before the handshake.
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
        // Node closes connections that are idle after a request, but not those without any request.
        if (socket.bytesRead === 0) socket.destroy();
      }
    });
    return closed;
  };
}
