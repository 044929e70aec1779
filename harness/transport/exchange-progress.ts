/** How far an attempt has got, and which exchange reads from a kept connection: both from the events of its socket. */
import type { ClientRequest } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { Timings, TransportPhase } from './attempt.ts';
import type { Endpoint } from './connections.ts';

let last: { readonly ms: number; readonly iso: string } | undefined;

/** The time as ISO 8601, cached for a millisecond: formatting takes longer than comparing. */
function isoNow(): string {
  const ms = Date.now();
  if (last?.ms !== ms) last = { ms, iso: new Date(ms).toISOString() };
  return last.iso;
}

/** The clock and the phase of one attempt. */
export class Progress {
  readonly startedAt: string = isoNow();
  readonly #start: number = performance.now();
  #request: ClientRequest | undefined;
  #phase: TransportPhase = 'dns';
  #connectMs: number | null = null;
  #tlsMs: number | null = null;
  #firstByteMs: number | null = null;
  #reused = false;

  /** Follows a request from now on. */
  follow(request: ClientRequest, { hostname }: Endpoint): void {
    this.#request = request;
    if (isIP(hostname) !== 0) this.#phase = 'connect';
  }

  /** The request has its socket, which may still have to connect. */
  useSocket(socket: Socket, { secure }: Endpoint): void {
    // request.reusedSocket is not enough: the agent does not set it for a request that waited for a connection.
    this.#reused = !socket.connecting;
    if (this.#reused) this.#phase = 'send';
    else this.#followConnection(socket, secure);
  }

  /** The first byte of the answer was received. */
  firstByte(): void {
    this.#firstByteMs ??= this.#elapsed();
    this.#phase = 'answer';
  }

  phase(): TransportPhase {
    return this.#request?.writableFinished === true ? 'answer' : this.#phase;
  }

  timings(): Timings {
    return {
      connectMs: this.#connectMs,
      tlsMs: this.#tlsMs,
      firstByteMs: this.#firstByteMs,
      totalMs: this.#elapsed(),
      reused: this.#reused,
    };
  }

  #followConnection(socket: Socket, secure: boolean): void {
    socket.once('lookup', (error: Error | null) => {
      if (error === null) this.#phase = 'connect';
    });
    socket.once('connect', () => {
      this.#connectMs = this.#elapsed();
      this.#phase = secure ? 'tls' : 'send';
    });
    socket.once('secureConnect', () => {
      this.#tlsMs = this.#elapsed();
      this.#phase = 'send';
    });
  }

  #elapsed(): number {
    return performance.now() - this.#start;
  }
}

/** An exchange, as far as its connection is concerned. */
export interface Reader {
  /** Called for each piece that was received, before Node parses it. */
  onBytes(bytes: number): void;
}

/**
 * Watches one connection for as long as it lives: adding and removing listeners with each delivery would be a tenth of
 * its cost. Bytes received while no exchange is under way are not an answer to the next request, although Node would
 * take them for one, so the connection is closed.
 */
export class ConnectionWatch {
  #reader: Reader | undefined;
  /** When the last exchange ended; before that, when the connection was made. */
  #endedAt = performance.now();

  private constructor(socket: Socket) {
    // Before Node's parser, which may already have ended the answer when the next listener is called.
    socket.prependListener('data', (piece: Uint8Array) => {
      if (this.#reader === undefined) socket.destroy();
      else this.#reader.onBytes(piece.length);
    });
  }

  static readonly #watches = new WeakMap<Socket, ConnectionWatch>();

  /** The watch of a connection, created at its first use. */
  static of(socket: Socket): ConnectionWatch {
    let watch = ConnectionWatch.#watches.get(socket);
    if (watch === undefined) {
      watch = new ConnectionWatch(socket);
      ConnectionWatch.#watches.set(socket, watch);
    }
    return watch;
  }

  /**
   * From now on the bytes received belong to this exchange.
   *
   * @returns milliseconds since the exchange before it ended
   */
  begin(reader: Reader): number {
    this.#reader = reader;
    return performance.now() - this.#endedAt;
  }

  /** Ends the exchange. Node gives the connection to the next one only afterwards. */
  end(): void {
    this.#reader = undefined;
    this.#endedAt = performance.now();
  }
}
