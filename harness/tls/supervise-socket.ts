/** What every connection that only looks has in common: how far it has come, a limit of time, and an end from outside. */
import { isIP, type Socket } from 'node:net';
import { TIMEOUT_CODE, type TransportPhase } from '../sender/index.ts';

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
