/** Tracks, from socket events, the phase of an attempt and which exchange owns a reused connection. */
import { isIP, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { Timings, TransportPhase } from './attempt.ts';
import type { Endpoint } from './connections.ts';

let last: { readonly ms: number; readonly iso: string } | undefined;

/**
 * Returns the current time in ISO 8601. Cached within a millisecond, because formatting takes longer than comparing.
 */
function isoNow(): string {
  const ms = Date.now();
  if (last?.ms !== ms) last = { ms, iso: new Date(ms).toISOString() };
  return last.iso;
}

/** The clock and the phase of one attempt. */
export class Progress {
  readonly startedAt: string = isoNow();
  readonly #start: number = performance.now();
  #phase: TransportPhase = 'dns';
  #connectMs: number | null = null;
  #tlsMs: number | null = null;
  #firstByteMs: number | null = null;
  #reused = false;
  /** Whether the whole request has been written. */
  isSent: () => boolean = () => false;

  /** Starts the clock, in the phase `dns` unless the host is an address. */
  startAt({ hostname }: Endpoint): void {
    if (isIP(hostname) !== 0) this.#phase = 'connect';
  }

  /** Called when the request has its socket, which may still have to connect. */
  useSocket(socket: Socket, { secure }: Endpoint): void {
    this.#reused = !socket.connecting;
    if (this.#reused) this.#phase = 'send';
    else this.#followConnection(socket, secure);
  }

  /** Called when the first byte of the answer has been received. */
  firstByte(): void {
    this.#firstByteMs ??= this.elapsedMs();
    this.#phase = 'answer';
  }

  phase(): TransportPhase {
    return this.isSent() ? 'answer' : this.#phase;
  }

  timings(): Timings {
    return {
      connectMs: this.#connectMs,
      tlsMs: this.#tlsMs,
      firstByteMs: this.#firstByteMs,
      totalMs: this.elapsedMs(),
      reused: this.#reused,
    };
  }

  #followConnection(socket: Socket, secure: boolean): void {
    socket.once('lookup', (error: Error | null) => {
      if (error === null) this.#phase = 'connect';
    });
    socket.once('connect', () => {
      this.#connectMs = this.elapsedMs();
      this.#phase = secure ? 'tls' : 'send';
    });
    socket.once('secureConnect', () => {
      this.#tlsMs = this.elapsedMs();
      this.#phase = 'send';
    });
  }

  /** Milliseconds since the start. */
  elapsedMs(): number {
    return performance.now() - this.#start;
  }
}

/** The exchange that reads from a connection. */
export interface Reader {
  /** Called for each received piece, before Node parses it. */
  onBytes(bytes: number): void;
}

/**
 * Watches one connection of Node's agents during its whole life. Bytes received while no exchange is in progress are
 * not an answer to the next request, although Node would treat them as one, so the connection is closed.
 */
export class ConnectionWatch {
  #reader: Reader | undefined;

  private constructor(socket: Socket) {
    // The listener comes before Node's parser, which may already have ended the answer when the next listener is
    // called.
    socket.prependListener('data', (piece: Uint8Array) => {
      if (this.#reader === undefined) socket.destroy();
      else this.#reader.onBytes(piece.length);
    });
  }

  static readonly #watches = new WeakMap<Socket, ConnectionWatch>();

  /** Returns the watch of a connection, created on first use. */
  static of(socket: Socket): ConnectionWatch {
    let watch = ConnectionWatch.#watches.get(socket);
    if (watch === undefined) {
      watch = new ConnectionWatch(socket);
      ConnectionWatch.#watches.set(socket, watch);
    }
    return watch;
  }

  /** Assigns the bytes that are received from now on to this exchange. */
  begin(reader: Reader): void {
    this.#reader = reader;
  }

  /** Ends the exchange. Node reuses the connection only afterwards. */
  end(): void {
    this.#reader = undefined;
  }
}
