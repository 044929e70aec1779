/**
 * Performs a TLS handshake with Node's own client without a request, and supervises connections used only for probing.
 */

import { isIP, type LookupFunction, type Socket } from 'node:net';
import { type ConnectionOptions, checkServerIdentity, connect, type TLSSocket } from 'node:tls';
import { classifyTransportError, TIMEOUT_CODE, type TransportError, type TransportPhase } from '../transport/index.ts';

export interface HandshakeTarget {
  /** The name or address to connect to. */
  readonly host: string;
  readonly port: number;
  /** The name in the URL, which the certificate must match. */
  readonly hostname: string;
  /** Replaces the system's resolver. */
  readonly lookup?: LookupFunction | undefined;
}

export interface ProbeLimits {
  /** Time limit for the whole probe, including connecting, in milliseconds. */
  readonly timeoutMs: number;
  /** Cancels the probe, which then ends with an error of kind `local`. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Performs a TLS handshake. Never rejects.
 *
 * @returns what `inspect` returns after the handshake, or why the handshake failed
 */
export function performHandshake<T>(
  { host, port, hostname, lookup }: HandshakeTarget,
  options: ConnectionOptions,
  limits: ProbeLimits,
  inspect: (socket: TLSSocket) => T,
): Promise<{ readonly value: T; readonly error: null } | { readonly value: null; readonly error: TransportError }> {
  return new Promise((resolve) => {
    let supervision: Supervision | undefined;
    const fail = (error: unknown) => {
      supervision?.end();
      resolve({ value: null, error: classifyTransportError(error, supervision?.phase() ?? firstPhase(host)) });
    };
    try {
      limits.signal?.throwIfAborted();
      const socket = connect({
        host,
        port,
        ...(lookup !== undefined && { lookup }),
        servername: serverNameFor(hostname),
        // The socket may connect to an address, but the certificate must match the name in the URL.
        checkServerIdentity: (_host, certificate) => checkServerIdentity(hostname, certificate),
        ...options,
      });
      supervision = superviseSocket(socket, host, limits, { onTimeout: fail, onAbort: fail });
      socket.on('secureConnect', () => {
        try {
          const value = inspect(socket);
          supervision?.end();
          resolve({ value, error: null });
        } catch (error) {
          fail(error);
        }
      });
      socket.on('error', fail);
      socket.on('close', () => fail({ code: 'ECONNRESET' }));
    } catch (error) {
      fail(error);
    }
  });
}

/** The argument is an error for {@link classifyTransportError}. */
interface Interruptions {
  onTimeout(error: object): void;
  onAbort(error: object): void;
}

export interface Supervision {
  /** Returns the phase that the connection has reached. */
  phase(): TransportPhase;
  /** Closes the connection and ends the supervision. */
  end(): void;
}

/** Returns the server name (SNI) for a host: empty for an IP address, which has none (RFC 6066, 3). */
export function serverNameFor(host: string): string {
  return isIP(host) === 0 ? host : '';
}

/** Returns the first phase of a connection to this host: an address needs no DNS. */
export function firstPhase(host: string): TransportPhase {
  return isIP(host) === 0 ? 'dns' : 'connect';
}

/**
 * The time limit is counted in steps, so that a pause of this process counts as one step. Otherwise, an answer that
 * arrives during the pause would never be read.
 */
const TIMEOUT_STEPS = 10;

/** Enforces the time limit and the signal on a socket, and tracks its phase. */
export function superviseSocket(
  socket: Socket,
  host: string,
  { timeoutMs, signal }: ProbeLimits,
  { onTimeout, onAbort }: Interruptions,
): Supervision {
  let phase = firstPhase(host);
  const abort = () => onAbort({ code: 'ABORT_ERR' });
  let steps = 0;
  const timer = setInterval(() => {
    steps += 1;
    if (steps === TIMEOUT_STEPS) onTimeout({ code: TIMEOUT_CODE, hostname: host });
  }, timeoutMs / TIMEOUT_STEPS);
  signal?.addEventListener('abort', abort, { once: true });
  socket.on('lookup', (error) => {
    if (error === null) phase = 'connect';
  });
  socket.on('connect', () => {
    phase = 'tls';
  });
  return {
    phase: () => phase,
    end() {
      clearInterval(timer);
      signal?.removeEventListener('abort', abort);
      socket.destroy();
    },
  };
}
