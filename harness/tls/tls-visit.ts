/** One TLS handshake with Node's own client, which never sends a request: what was negotiated, and what the server showed. */
import { isIP } from 'node:net';
import { type ConnectionOptions, checkServerIdentity, connect, type TLSSocket } from 'node:tls';
import { classifyTransportError, TIMEOUT_CODE, type TransportError, type TransportPhase } from '../sender/index.ts';

export interface VisitTarget {
  /** Where to connect: a name or an address. */
  readonly host: string;
  readonly port: number;
  /** The name in the URL, which the certificate has to be for. */
  readonly hostname: string;
}

export interface VisitLimits {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** @returns what `look` sees once the handshake is done, or why it was not; it never rejects */
export function visit<T>(
  { host, port, hostname }: VisitTarget,
  options: ConnectionOptions,
  { timeoutMs, signal }: VisitLimits,
  look: (socket: TLSSocket) => T,
): Promise<{ readonly seen: T; readonly error: null } | { readonly seen: null; readonly error: TransportError }> {
  return new Promise((resolve) => {
    let phase: TransportPhase = isIP(host) === 0 ? 'dns' : 'connect';
    let end: () => void = () => undefined;
    const fail = (error: unknown) => {
      end();
      resolve({ seen: null, error: classifyTransportError(error, phase) });
    };
    const onAbort = () => fail({ code: 'ABORT_ERR' });
    try {
      signal?.throwIfAborted();
      const socket = connect({
        host,
        port,
        // As https has it: names are said, addresses are not (RFC 6066, 3).
        servername: isIP(hostname) === 0 ? hostname : '',
        // The address that is connected to may be another than the name that is asked for.
        checkServerIdentity: (_host, certificate) => checkServerIdentity(hostname, certificate),
        ...options,
      });
      const timer = setTimeout(() => fail({ code: TIMEOUT_CODE, hostname: host }), timeoutMs);
      signal?.addEventListener('abort', onAbort, { once: true });
      end = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        socket.destroy();
      };
      socket.on('lookup', (error) => {
        if (error === null) phase = 'connect';
      });
      socket.on('connect', () => {
        phase = 'tls';
      });
      socket.on('secureConnect', () => {
        try {
          const seen = look(socket);
          end();
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
