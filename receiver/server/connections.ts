/** Connections of the server: who observes them, how many may be open, and how they end. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Is notified of connections, and of requests that are answered before the first stage. For metrics. */
export interface ConnectionObserver {
  opened(): void;
  closed(): void;
  /**
   * At the limit of connections. `waiting`: the connection that had been waiting longest for a request was closed to
   * make room; `full`: there was none, so the new one was closed. Followed by `closed` if the connection was `opened`.
   */
  dropped(why: 'waiting' | 'full'): void;
  /** A request was answered before the first stage, with this status and error code. */
  refused(status: number, error: string): void;
}

export const silentConnectionObserver: ConnectionObserver = { opened() {}, closed() {}, dropped() {}, refused() {} };

interface Connection {
  readonly socket: Socket;
  /** Requests whose head has arrived and whose answer has not been sent. */
  underWay: readonly { readonly req: IncomingMessage; readonly res: ServerResponse }[];
}

/**
 * Limits the number of open connections without locking out valid senders. When one more arrives, the connection that
 * has been waiting longest for a complete request is closed: half-open and idle ones, and those that send their header
 * or body drop by drop. A connection with a complete request is never closed; when all have one, the new connection is
 * closed.
 *
 * A sender that sends at once needs milliseconds. To displace it, a flood of half-open connections has to open
 * `maxConnections` others in that time.
 */
export function limitConnections(server: Server, maxConnections: number, observer: ConnectionObserver): void {
  /** Ordered by the last sign of a request: the opening, or the head of one. */
  const connections = new Set<Connection>();
  const bySocket = new WeakMap<Socket, Connection>();
  /** Connections whose TLS handshake is not complete, by their endpoints. */
  const handshakes = new Map<string, Connection>();

  server.on('connection', (socket: Socket) => {
    if (connections.size >= maxConnections && !closeLongestWaiting()) {
      observer.dropped('full');
      socket.destroy();
      return;
    }
    const connection: Connection = { socket, underWay: [] };
    const endpoints = endpointsOf(socket);
    connections.add(connection);
    bySocket.set(socket, connection);
    handshakes.set(endpoints, connection);
    observer.opened();
    socket.once('close', () => {
      if (handshakes.get(endpoints) === connection) handshakes.delete(endpoints);
      // Otherwise it was closed to make room, and has been counted.
      if (connections.delete(connection)) observer.closed();
    });
  });

  // With HTTPS, requests arrive on another socket that wraps the first one.
  server.on('secureConnection', (socket: Socket) => {
    const connection = handshakes.get(endpointsOf(socket));
    if (connection !== undefined) bySocket.set(socket, connection);
  });

  server.prependListener('request', (req, res) => {
    const connection = bySocket.get(req.socket);
    // A connection that was closed to make room may still deliver a request that was read before.
    if (connection === undefined || !connections.delete(connection)) return;
    connections.add(connection);
    connection.underWay = [...connection.underWay.filter((one) => !one.res.writableFinished), { req, res }];
  });

  function closeLongestWaiting(): boolean {
    for (const connection of connections) {
      if (connection.underWay.some(({ req, res }) => req.complete && !res.writableFinished)) continue;
      connections.delete(connection);
      connection.socket.destroy();
      observer.dropped('waiting');
      observer.closed();
      return true;
    }
    return false;
  }
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
