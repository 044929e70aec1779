/** One TLS handshake with Node's own client, which never sends a request: what was negotiated, and what the server showed. */
import { isIP, type LookupFunction } from 'node:net';
import { type ConnectionOptions, checkServerIdentity, connect, type TLSSocket } from 'node:tls';
import { classifyTransportError, type TransportError } from '../sender/index.ts';
import { firstPhase, type LookLimits, type Supervision, superviseSocket } from './supervise-socket.ts';

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
