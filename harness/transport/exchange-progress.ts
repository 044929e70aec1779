/** How far an attempt has got, and when: read from the events of its socket. */
import type { ClientRequest } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { Timings, TransportPhase } from './attempt.ts';
import type { Endpoint } from './connections.ts';

let last = { ms: Number.NaN, iso: '' };

/** The time as ISO 8601. Many attempts start in the same millisecond, and the text takes longer to make than to compare. */
function isoNow(): string {
  const ms = Date.now();
  if (ms !== last.ms) last = { ms, iso: new Date(ms).toISOString() };
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

  /** Follows a request to an endpoint from now on. */
  follow(request: ClientRequest, { hostname }: Endpoint): void {
    this.#request = request;
    if (isIP(hostname) !== 0) this.#phase = 'connect';
  }

  /** The request has its connection, which may be one that is yet to be made. */
  connection(socket: Socket, { secure }: Endpoint): void {
    // request.reusedSocket is not enough: the agent does not set it for a request that waited for a connection.
    this.#reused = !socket.connecting;
    if (this.#reused) this.#phase = 'send';
    else this.#followConnection(socket, secure);
  }

  /** A byte of the answer is there. */
  firstByte(): void {
    this.#firstByteMs ??= this.#elapsed();
    this.#phase = 'answer';
  }

  phase(): TransportPhase {
    return this.#phase === 'send' && this.#request?.writableFinished === true ? 'answer' : this.#phase;
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

/** Who reads on a kept connection: one look at each piece that comes, whatever number of deliveries the connection lives for. */

/** An exchange, as far as the connection knows it. */
export interface Reader {
  /** A piece of this many bytes has come for it, and nobody has parsed it yet. */
  came(bytes: number): void;
}

/**
 * The watch over one connection. Listeners that come and go with each delivery are a tenth of what a delivery costs; this one stays.
 * What comes while nobody reads is no answer to the next request, which Node would take it for: the connection is closed.
 */
export class ConnectionWatch {
  #reader: Reader | undefined;

  private constructor(socket: Socket) {
    // Before Node's parser, which may have ended the answer when the next listener is called.
    socket.prependListener('data', (piece: Uint8Array) => {
      if (this.#reader === undefined) socket.destroy();
      else this.#reader.came(piece.length);
    });
  }

  static readonly #watches = new WeakMap<Socket, ConnectionWatch>();

  /** The watch over a connection, the same one for as long as it lives. */
  static over(socket: Socket): ConnectionWatch {
    let watch = ConnectionWatch.#watches.get(socket);
    if (watch === undefined) {
      watch = new ConnectionWatch(socket);
      ConnectionWatch.#watches.set(socket, watch);
    }
    return watch;
  }

  /** From now on what comes is for this one. */
  begin(reader: Reader): void {
    this.#reader = reader;
  }

  /** Nothing more is for this one; another one that has begun since is not disturbed. */
  end(reader: Reader): void {
    if (this.#reader === reader) this.#reader = undefined;
  }
}
