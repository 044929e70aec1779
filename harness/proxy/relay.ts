/**
 * Forwards TCP connections byte for byte: one upstream connection per client connection, with back-pressure,
 * half-closes and resets in both directions. Bytes are never parsed in transit; a tap sees them after they have been
 * forwarded.
 */
import { type AddressInfo, connect, createServer, type LookupFunction, type Server, type Socket } from 'node:net';
import { HookproofError } from '../../contract/hookproof-error.ts';
import { reportWriteErrorsLate } from '../transport/index.ts';

/** Observes the bytes of one connection. It cannot change or delay what is forwarded. */
export interface ConnectionTap {
  fromClient(piece: Buffer): void;
  fromServer(piece: Buffer): void;
  /** Called when the client has ended its side. */
  clientEnded(): void;
  /** Called when the upstream has ended its side. */
  serverEnded(): void;
  /** Called when both connections are closed. */
  closed(): void;
}

export interface RelayOptions {
  readonly host: string;
  /** The port to listen on; 0 chooses a free one. */
  readonly port: number;
  readonly upstream: { readonly host: string; readonly port: number; readonly lookup?: LookupFunction };
  /** Maximum number of client connections; further ones are closed at once. */
  readonly maxConnections: number;
  readonly tap?: (client: { readonly remoteAddress: string }) => ConnectionTap;
}

export interface Relay {
  readonly port: number;
  readonly openConnections: () => number;
  /** Returns the number of connections that were closed because there were too many. */
  readonly dropped: () => number;
  /** Stops listening and resets open connections. */
  close(): Promise<void>;
}

/** Milliseconds that the other side gets to read the remaining data after one side has closed or was reset. */
const LINGER_MS = 60_000;

/** Starts a relay. @throws HookproofError PROXY_LISTEN if it cannot listen on the address */
export async function startRelay({ host, port, upstream, maxConnections, tap }: RelayOptions): Promise<Relay> {
  const open = new Set<Socket>();
  let dropped = 0;
  const keep = (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  };
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    const { lookup } = upstream;
    const target = { host: upstream.host, port: upstream.port, ...(lookup && { lookup }) };
    const receiver = connect({ ...target, allowHalfOpen: true, noDelay: true });
    keep(client);
    keep(receiver);
    join(client, receiver, guarded(tap?.({ remoteAddress: client.remoteAddress ?? '' })));
  });
  server.maxConnections = maxConnections;
  server.on('drop', () => {
    dropped += 1;
  });
  await listen(server, host, port);
  return {
    port: (server.address() as AddressInfo).port,
    openConnections: () => open.size / 2,
    dropped: () => dropped,
    close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of open) reset(socket);
      return closed;
    },
  };
}

/** The sockets to which a write has failed. The data received from them is still forwarded. */
const unwritable = new WeakSet<Socket>();

function join(client: Socket, receiver: Socket, tap: ConnectionTap): void {
  forward(client, receiver, tap.fromClient, tap.clientEnded);
  forward(receiver, client, tap.fromServer, tap.serverEnded);
  let closed = 0;
  for (const socket of [client, receiver]) {
    socket.once('close', () => {
      closed += 1;
      if (closed === 2) tap.closed();
    });
  }
  // A receiver that closed its connection looks like one that only stopped sending. Operating systems end such a
  // connection after a minute without data, and so does the relay.
  receiver.once('end', () => client.setTimeout(LINGER_MS, () => reset(client)));
}

function forward(from: Socket, to: Socket, seen: (piece: Buffer) => void, ended: () => void): void {
  reportWriteErrorsLate(to, () => {
    unwritable.add(to);
    to.setTimeout(LINGER_MS, () => reset(to));
    // Read and drop the rest.
    from.resume();
  });
  from.on('data', (piece: Buffer) => {
    if (!to.destroyed && !unwritable.has(to) && !to.write(piece)) from.pause();
    seen(piece);
  });
  to.on('drain', () => from.resume());
  from.on('end', () => {
    // After a failed write, the end of the stream means a reset.
    if (unwritable.has(from)) resetAfterFlush(to);
    else to.end();
    ended();
  });
  from.on('error', () => resetAfterFlush(to));
  // A reset of the other side may have destroyed this socket without an error.
  from.on('close', () => {
    if (!from.readableEnded) resetAfterFlush(to);
  });
}

/**
 * Resets a connection at once. Where Node would first wait (until the socket is connected, or until the other side has
 * read the rest or the FIN), the connection is closed instead.
 */
function reset(socket: Socket): void {
  const isShuttingDown = socket.writableEnded && !socket.writableFinished;
  if (socket.connecting || socket.writableLength > 0 || isShuttingDown) socket.destroy();
  else socket.resetAndDestroy();
}

/** Resets a connection after the data forwarded before has been written. */
function resetAfterFlush(socket: Socket): void {
  if (socket.destroyed) return;
  if (socket.connecting || socket.writableLength === 0 || unwritable.has(socket)) {
    reset(socket);
    return;
  }
  socket.setTimeout(LINGER_MS, () => reset(socket));
  if (socket.writableEnded) socket.once('finish', () => reset(socket));
  else socket.write('', () => reset(socket));
}

const NO_TAP: ConnectionTap = { fromClient() {}, fromServer() {}, clientEnded() {}, serverEnded() {}, closed() {} };

/** Wraps a tap: after an error it is no longer called, and the connection continues. */
function guarded(tap: ConnectionTap | undefined): ConnectionTap {
  if (tap === undefined) return NO_TAP;
  let failed = false;
  const attempt = (act: () => void) => {
    if (failed) return;
    try {
      act();
    } catch {
      failed = true;
    }
  };
  return {
    fromClient: (piece) => attempt(() => tap.fromClient(piece)),
    fromServer: (piece) => attempt(() => tap.fromServer(piece)),
    clientEnded: () => attempt(() => tap.clientEnded()),
    serverEnded: () => attempt(() => tap.serverEnded()),
    closed: () => attempt(() => tap.closed()),
  };
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      reject(
        new HookproofError('PROXY_LISTEN', `The proxy cannot listen on ${host} port ${port} (${cause.code}).`, {
          hint: 'Choose another port with `--port` (0 for any free port). The address must belong to this machine.',
          cause,
        }),
      );
    });
    server.listen(port, host, resolve);
  });
}
