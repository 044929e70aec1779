/** The record of one attempt to deliver: an answer, or one classified transport error. */
import type { HeaderLine } from '../../contract/index.ts';

/** A request that is ready to send. */
export interface Prepared {
  readonly url: string;
  readonly method: string;
  /** Path and query, as in the request line. */
  readonly target: string;
  /** The headers in the order in which they are sent, including `Host` and `Content-Length`. */
  readonly headers: readonly HeaderLine[];
  readonly body: Uint8Array;
}

/** How far the attempt got before it failed. */
export type TransportPhase = 'dns' | 'connect' | 'tls' | 'send' | 'answer';

/**
 * Why there is no answer.
 *
 * - `dns`: the name does not resolve. `refused`: nothing is listening. `unreachable`: no route, or connecting timed
 *   out.
 * - `tls-untrusted`: the certificate is untrusted, has expired or is for another name. `tls`: any other handshake
 *   failure, including a rejected client certificate.
 * - `reset`: the connection was reset or closed before an answer arrived.
 * - `timeout`: the connection was made, but no complete answer arrived within the time limit.
 * - `invalid-http`: the bytes received are not an HTTP answer. `headers-too-large`: its headers exceed the limit.
 * - `local`: the request could not be sent for a local reason; never the endpoint's fault.
 */
export type TransportErrorKind =
  | 'dns'
  | 'refused'
  | 'unreachable'
  | 'tls-untrusted'
  | 'tls'
  | 'reset'
  | 'timeout'
  | 'invalid-http'
  | 'headers-too-large'
  | 'local';

export interface TransportError {
  readonly kind: TransportErrorKind;
  readonly phase: TransportPhase;
  /** Node's error code (`ECONNREFUSED`, `DEPTH_ZERO_SELF_SIGNED_CERT`, ...), or hookproof's own. */
  readonly code: string;
  /** One sentence for the user. */
  readonly message: string;
  /** The name of the TLS alert that ended the connection (RFC 8446, section 6), if the endpoint sent one. */
  readonly alert?: string;
}

/**
 * Milliseconds, with fractions, from the start of the attempt. Null for a step that did not happen, such as connecting
 * on a reused connection.
 */
export interface Timings {
  readonly connectMs: number | null;
  readonly tlsMs: number | null;
  readonly firstByteMs: number | null;
  readonly totalMs: number;
  /** Whether a kept-alive connection was used. */
  readonly reused: boolean;
}

/** The answer. `body` contains at most the configured number of bytes; `truncated` says whether there were more. */
export interface Answer {
  readonly status: number;
  /** The reason phrase after the status; may be empty. */
  readonly reasonPhrase: string;
  readonly headers: readonly HeaderLine[];
  readonly body: Uint8Array;
  readonly truncated: boolean;
}

export interface Attempt {
  /** Date and time in ISO 8601. */
  readonly startedAt: string;
  readonly timings: Timings;
  readonly answer: Answer | null;
  readonly error: TransportError | null;
  /**
   * Whether the request was sent again because the endpoint had closed the kept connection. It may have arrived twice.
   */
  readonly sentAgain?: true;
  /**
   * Whether the request was sent again, on a new connection, because the endpoint reset the kept one while it was in
   * use. Not set after a pause, when the endpoint may have closed an idle connection.
   */
  readonly resetInUse?: true;
}
