/** Keeps the number of connections below a limit, without letting those that only hold a place keep valid senders out. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionObserver } from './connection-observer.ts';

interface Connection {
  readonly socket: Socket;
  /** Requests whose head has come and whose answer has not gone out. */
  underWay: readonly { readonly req: IncomingMessage; readonly res: ServerResponse }[];
}

/**
 * When a connection comes in beyond `most`, the one that has kept us waiting longest for a whole request is closed for it: half-open
 * ones, idle ones, and those that send their header or body drop by drop. A connection with a whole request is never closed. When all
 * have one, the new connection is closed.
 *
 * A sender that sends at once needs milliseconds; a flood of half-open connections has to open `most` others in that time to be in its way.
 */
export function limitConnections(server: Server, most: number, observer: ConnectionObserver): void {
  /** In the order of their last sign of a request: the opening, or the head of one. */
  const connections = new Set<Connection>();
  const bySocket = new WeakMap<Socket, Connection>();
  /** Before the end of the TLS handshake, by both ends. */
  const shakingHands = new Map<string, Connection>();

  server.on('connection', (socket: Socket) => {
    if (connections.size >= most && !makePlace()) {
      observer.dropped('full');
      socket.destroy();
      return;
    }
    const connection: Connection = { socket, underWay: [] };
    const ends = bothEnds(socket);
    connections.add(connection);
    bySocket.set(socket, connection);
    shakingHands.set(ends, connection);
    observer.opened();
    socket.once('close', () => {
      if (shakingHands.get(ends) === connection) shakingHands.delete(ends);
      // Otherwise it was closed to make place, and has been counted.
      if (connections.delete(connection)) observer.closed();
    });
  });

  // With HTTPS requests come on another socket, around the first one.
  server.on('secureConnection', (socket: Socket) => {
    const connection = shakingHands.get(bothEnds(socket));
    if (connection !== undefined) bySocket.set(socket, connection);
  });

  server.prependListener('request', (req, res) => {
    const connection = bySocket.get(req.socket);
    // One that was closed to make place may still bring a request that had been read before.
    if (connection === undefined || !connections.delete(connection)) return;
    connections.add(connection);
    connection.underWay = [...connection.underWay.filter((one) => !one.res.writableFinished), { req, res }];
  });

  function makePlace(): boolean {
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

/** Tells connections to one server apart. */
function bothEnds({ remoteAddress, remotePort, localAddress }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress}`;
}
