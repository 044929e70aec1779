/** One TLS handshake with Node's own client, which never sends a request: what was negotiated, and what the server showed. */
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { type ConnectionOptions, checkServerIdentity, connect, type TLSSocket } from 'node:tls';
import { classifyTransportError, TIMEOUT_CODE, type TransportError, type TransportPhase } from '../transport/index.ts';

export interface VisitTarget {
  /** Where to connect: a name or an address. */
  readonly host: string;
  readonly port: number;
  /** The name in the URL, which the certificate has to be for. */
  readonly hostname: string;
  /** Where the name is, in place of the system's resolver. */
  readonly lookup?: LookupFunction | undefined;
}

/** @returns what `look` sees once the handshake is done, or why it was not; it never rejects */
export function visit<T>(
  { host, port, hostname, lookup }: VisitTarget,
  options: ConnectionOptions,
  limits: LookLimits,
  look: (socket: TLSSocket) => T,
): Promise<{ readonly seen: T; readonly error: null } | { readonly seen: null; readonly error: TransportError }> {
  return new Promise((resolve) => {
    let supervision: Supervision | undefined;
    const fail = (error: unknown) => {
      supervision?.end();
      resolve({ seen: null, error: classifyTransportError(error, supervision?.phase() ?? firstPhase(host)) });
    };
    try {
      limits.signal?.throwIfAborted();
      const socket = connect({
        host,
        port,
        ...(lookup !== undefined && { lookup }),
        // As https has it: names are said, addresses are not (RFC 6066, 3).
        servername: isIP(hostname) === 0 ? hostname : '',
        // The address that is connected to may be another than the name that is asked for.
        checkServerIdentity: (_host, certificate) => checkServerIdentity(hostname, certificate),
        ...options,
      });
      supervision = superviseSocket(socket, host, limits, { onTimeout: fail, onAbort: fail });
      socket.on('secureConnect', () => {
        try {
          const seen = look(socket);
          supervision?.end();
          resolve({ seen, error: null });
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

/** What every connection that only looks has in common: how far it has come, a limit of time, and an end from outside. */

export interface LookLimits {
  /** Milliseconds for everything, the connection included. */
  readonly timeoutMs: number;
  /** Breaks it off. */
  readonly signal?: AbortSignal | undefined;
}

/** Each gets what {@link classifyTransportError} takes for an error. */
interface Interruptions {
  onTimeout(error: object): void;
  onAbort(error: object): void;
}

export interface Supervision {
  /** How far the connection has come. */
  phase(): TransportPhase;
  /** Ends the connection, and the supervision. */
  end(): void;
}

/** Where a connection to this host begins: an address needs no DNS. */
export function firstPhase(host: string): TransportPhase {
  return isIP(host) === 0 ? 'dns' : 'connect';
}

/**
 * The limit is counted in steps, so that a time in which this process itself stood still is one step: what the endpoint sent meanwhile would
 * otherwise never be read, and its answer be taken for silence.
 */
const STEPS = 10;

export function superviseSocket(
  socket: Socket,
  host: string,
  { timeoutMs, signal }: LookLimits,
  { onTimeout, onAbort }: Interruptions,
): Supervision {
  let phase = firstPhase(host);
  const abort = () => onAbort({ code: 'ABORT_ERR' });
  let steps = 0;
  const timer = setInterval(() => {
    steps += 1;
    if (steps === STEPS) onTimeout({ code: TIMEOUT_CODE, hostname: host });
  }, timeoutMs / STEPS);
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
