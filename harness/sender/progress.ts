/** How far an attempt has got, and when: read from the events of its socket. */
import type { ClientRequest } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { Timings, TransportPhase } from './attempt.ts';
import type { Endpoint } from './endpoint.ts';

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
