/** Connections of the server: how many may be open, what each may leave unread, and how they end. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionObserver, DropReason, ResolvedLimits } from '../budget.ts';

/** A request whose head has arrived. */
export interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
}

interface Connection {
  /** With HTTPS, the one that is decrypted as soon as there is one. */
  socket: Socket;
  /** Those that were not over when the latest began. */
  exchanges: Exchange[];
  /** The answer that was being sent when {@link closeUnread} last looked, and since when. */
  sending: { readonly res: ServerResponse; readonly since: number } | undefined;
}

/** Until the whole request has arrived, and the client has taken the whole answer. */
function isOpen({ req, res }: Exchange): boolean {
  return !res.writableFinished || !req.complete;
}

/** How often unread answers are looked for, in milliseconds. */
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
 *
 * Returns the function that lists the exchanges on a connection that are not over.
 */
export function limitConnections(
  server: Server,
  limits: Pick<ResolvedLimits, 'maxConnections' | 'maxRequests' | 'maxPipelined'> & { readonly writeMs: number },
  observer: ConnectionObserver,
): (socket: object) => readonly Exchange[] {
  const { maxConnections, maxRequests, maxPipelined, writeMs } = limits;
  /** Ordered by the last sign of a request: the opening, or the head of one. */
  const connections = new Set<Connection>();
  const bySocket = new WeakMap<object, Connection>();
  /** Connections whose TLS handshake is not complete, by their endpoints. */
  const handshakes = new Map<string, Connection>();
  /** The exchanges of all connections. Those that have ended are counted until {@link forgetEnded} removes them. */
  let requests = 0;

  server.on('connection', (socket: Socket) => {
    if (connections.size >= maxConnections && !closeLongestWaiting()) {
      observer.dropped('full');
      socket.destroy();
      return;
    }
    const connection: Connection = { socket, exchanges: [], sending: undefined };
    const endpoints = endpointsOf(socket);
    connections.add(connection);
    bySocket.set(socket, connection);
    handshakes.set(endpoints, connection);
    observer.opened();
    socket.once('close', () => {
      if (handshakes.get(endpoints) === connection) handshakes.delete(endpoints);
      forget(connection);
    });
  });

  // With HTTPS, requests arrive on another socket that wraps the first one.
  server.on('secureConnection', (socket: Socket) => {
    const connection = handshakes.get(endpointsOf(socket));
    if (connection === undefined) return;
    connection.socket = socket;
    bySocket.set(socket, connection);
  });

  server.prependListener('request', (req, res) => {
    const connection = bySocket.get(req.socket);
    // A connection that was closed at a limit may still deliver requests that were read before.
    if (connection === undefined || !connections.delete(connection)) return;
    connections.add(connection);
    forgetEnded(connection);
    connection.exchanges.push({ req, res });
    requests += 1;
    if (connection.exchanges.length > maxPipelined) drop(connection, 'pipelined');
    else if (requests > maxRequests) closeBusiest();
  });

  const checking = setInterval(closeUnread, Math.min(CHECKING_MS, writeMs)).unref();
  server.once('close', () => clearInterval(checking));

  function forgetEnded(connection: Connection): void {
    const before = connection.exchanges.length;
    if (before === 0) return;
    connection.exchanges = connection.exchanges.filter(isOpen);
    requests -= before - connection.exchanges.length;
  }

  /** Does nothing when it was closed at a limit, and is forgotten. */
  function forget(connection: Connection): void {
    if (!connections.delete(connection)) return;
    requests -= connection.exchanges.length;
    connection.exchanges = [];
    observer.closed();
  }

  function drop(connection: Connection, why: DropReason): void {
    observer.dropped(why);
    forget(connection);
    connection.socket.destroy();
  }

  function closeLongestWaiting(): boolean {
    for (const connection of connections) {
      if (connection.exchanges.some(({ req, res }) => req.complete && !res.writableEnded)) continue;
      drop(connection, 'waiting');
      return true;
    }
    return false;
  }

  function closeBusiest(): void {
    let busiest: Connection | undefined;
    for (const connection of connections) {
      forgetEnded(connection);
      if (connection.exchanges.length > (busiest?.exchanges.length ?? 0)) busiest = connection;
    }
    if (requests > maxRequests && busiest !== undefined) drop(busiest, 'requests');
  }

  function closeUnread(): void {
    const now = performance.now();
    for (const connection of connections) {
      forgetEnded(connection);
      // Answers are sent in order: the others wait for the first.
      const res = connection.exchanges[0]?.res;
      if (res === undefined || !res.writableEnded || res.writableFinished) connection.sending = undefined;
      else if (connection.sending?.res !== res) connection.sending = { res, since: now };
      else if (now - connection.sending.since >= writeMs) drop(connection, 'unread');
    }
  }

  return (socket) => bySocket.get(socket)?.exchanges.filter(isOpen) ?? [];
}

/** Identifies a connection among those of one server. */
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
