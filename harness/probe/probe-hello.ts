/**
 * Sends one ClientHello and reads the answer. The handshake is never finished and no TLS library is involved. The
 * outcome distinguishes a probe that could not be sent from every answer. Specification: TLS.
 */

import { connect, type LookupFunction } from 'node:net';
import { performance } from 'node:perf_hooks';
import { isPublicAuthority } from '../../certs/index.ts';
import type { OfferedTlsVersion, TlsVersion } from '../../contract/index.ts';
import type { HelloMatch, HelloOffer } from '../../scenarios/index.ts';
import type { Partner } from '../partner.ts';
import { classifyTransportError, endpointOf, type TransportError } from '../transport/index.ts';
import { areAllWeak, encodeClientHello, suiteName, suitesOf, VERSION_NUMBERS } from './client-hello.ts';
import { ServerFlight } from './server-flight.ts';
import { firstPhase, type ProbeLimits, type Supervision, serverNameFor, superviseSocket } from './tls-handshake.ts';

export interface HelloEndpoint {
  /** A host name or an IP address; an IPv6 address without brackets. */
  readonly host: string;
  readonly port: number;
  /** The SNI; null for an endpoint with an IP address. */
  readonly serverName: string | null;
  /** Replaces the system's resolver. */
  readonly lookup?: LookupFunction | undefined;
}

export type ProbeOffer = HelloOffer & {
  /** Sends no server name. */
  readonly serverName?: false;
  /** Requests a stapled OCSP response. */
  readonly ocsp?: true;
};

interface Measured {
  readonly bytesReceived: number;
  /** Milliseconds from the start of the connection, with fractions. */
  readonly ms: number;
}

/** The endpoint continues the handshake. A HelloRetryRequest counts as a TLS 1.3 ServerHello. */
export interface ServerHelloOutcome extends Measured {
  readonly kind: 'server-hello';
  readonly version: TlsVersion;
  readonly suite: { readonly id: number; readonly name: string };
  readonly suiteOffered: boolean;
  readonly compressed: boolean;
  /** DER, exactly as sent. Empty for TLS 1.3, which encrypts them, and if there is no readable Certificate message. */
  readonly certificates: readonly Uint8Array[];
  /** Whether an OCSP response was stapled; visible only below TLS 1.3. */
  readonly stapled: boolean;
  readonly secureRenegotiation: boolean;
  /** The names (DER) of the accepted CAs if a client certificate is requested; visible only below TLS 1.3. */
  readonly certificateRequest: { readonly authorities: readonly Uint8Array[] } | null;
  /** Whether the flight was read to its end. Only then does a missing certificate request show that none was sent. */
  readonly complete: boolean;
  /** The name of a fatal alert that followed: the endpoint started the handshake and then aborted it. */
  readonly alertAfter?: string;
  readonly alpn?: string;
}

/**
 * The answer to a ClientHello.
 *
 * - `alert`: a TLS alert; level `warning` if the connection was closed or reset after it.
 * - `closed`, `reset`: the connection ended before an answer started. `timeout`: no complete answer in time.
 * - `not-tls`: the answer is not TLS or is cut off; contains its first 40 bytes.
 * - `connect-error`: the hello could not be sent, which proves nothing about the endpoint.
 */
export type HelloOutcome =
  | ServerHelloOutcome
  | (Measured & { readonly kind: 'alert'; readonly alert: string; readonly level: 'warning' | 'fatal' })
  | (Measured & { readonly kind: 'closed' | 'reset' | 'timeout' })
  | (Measured & { readonly kind: 'not-tls'; readonly received: Uint8Array })
  | (Measured & { readonly kind: 'connect-error'; readonly error: TransportError });

/** How reading ended if the flight did not end by itself. */
type Ending = 'closed' | 'reset' | 'timeout';

/** Time limit for connecting to each address of a name except the last, in milliseconds. The sender uses the same. */
const ADDRESS_TIMEOUT_MS = 1_000;
/** Maximum number of bytes to keep of an answer that is not TLS. */
const EVIDENCE_BYTES = 40;
/**
 * After the hello has been sent, these codes mean that the endpoint ended the connection. Other failures are local or
 * on the network path.
 */
const RESET_CODES: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED']);

/** Sends one ClientHello. Never rejects: an aborted probe is a `connect-error` of kind `local`. */
export function probeHello(endpoint: HelloEndpoint, offer: ProbeOffer, limits: ProbeLimits): Promise<HelloOutcome> {
  const { promise, resolve } = withResolvers<HelloOutcome>();
  const { host, port, lookup } = endpoint;
  const suites = suitesOf(offer.suites);
  const flight = new ServerFlight();
  const start = performance.now();
  let head: Uint8Array = new Uint8Array(0);
  let bytesReceived = 0;
  let sent = false;
  let supervision: Supervision | undefined;

  const settle = (outcome: Unmeasured) => {
    supervision?.end();
    resolve({ ...outcome, bytesReceived, ms: performance.now() - start });
  };
  const finish = (ending: Ending) => settle(flightOutcomeOf(flight, suites, ending, head));
  const fail = (error: unknown) => {
    const phase = supervision?.phase() ?? firstPhase(host);
    settle({ kind: 'connect-error', error: classifyTransportError(error, phase) });
  };
  const finishOr = (ending: Ending, error: unknown) => (sent ? finish(ending) : fail(error));

  try {
    limits.signal?.throwIfAborted();
    const hello = encodeClientHello({
      ...offer,
      suites,
      serverName: offer.serverName === false ? null : endpoint.serverName,
    });
    const socket = connect({
      host,
      port,
      noDelay: true,
      autoSelectFamilyAttemptTimeout: ADDRESS_TIMEOUT_MS,
      ...(lookup !== undefined && { lookup }),
    });
    supervision = superviseSocket(socket, host, limits, {
      onTimeout: (error) => finishOr('timeout', error),
      onAbort: fail,
    });
    socket.on('connect', () => {
      socket.write(hello, (error) => {
        if (error === null || error === undefined) sent = true;
      });
    });
    socket.on('data', (piece: Buffer) => {
      // A server that sends data before the hello is not a TLS server, so this counts as an answer.
      sent = true;
      bytesReceived += piece.length;
      if (head.length < EVIDENCE_BYTES) head = Buffer.concat([head, piece]).subarray(0, EVIDENCE_BYTES);
      flight.read(piece);
      if (flight.done) finish('closed');
    });
    socket.on('end', () => finishOr('closed', { code: 'ECONNRESET' }));
    socket.on('close', () => finishOr('closed', { code: 'ECONNRESET' }));
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (sent && error.code === 'ETIMEDOUT') finish('timeout');
      else if (sent && (RESET_CODES.has(error.code) || flight.hello !== null)) finish('reset');
      else fail(error);
    });
  } catch (error) {
    fail(error);
  }
  return promise;
}

/** Returns how the endpoint responded to the offer. Null if the outcome proves nothing about the endpoint. */
export function matchHello(outcome: HelloOutcome, offer: HelloOffer): HelloMatch | null {
  switch (outcome.kind) {
    case 'server-hello':
      return matchServerHello(outcome, offer);
    case 'alert':
      return 'alert';
    case 'closed':
    case 'reset':
      return 'closed';
    case 'timeout':
      return 'none';
    case 'not-tls':
    case 'connect-error':
      return null;
  }
}

/** Returns the endpoint of a partner, as {@link probeHello} needs it. */
export function helloEndpoint({ url, lookup }: Pick<Partner, 'url' | 'lookup'>): HelloEndpoint {
  const { hostname, port } = endpointOf(url);
  return { host: hostname, port, serverName: serverNameFor(hostname) || null, lookup };
}

/** Returns the offer of a correct sender for one version: the control of every handshake probe. */
export function controlOffer(version: OfferedTlsVersion): HelloOffer {
  return { version, suites: version === 'TLSv1.3' ? ['tls13'] : ['modern', 'cbc'] };
}

type Unmeasured = DistributiveOmit<HelloOutcome, 'bytesReceived' | 'ms'>;
type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

function flightOutcomeOf(
  flight: ServerFlight,
  suites: readonly number[],
  ending: Ending,
  head: Uint8Array,
): Unmeasured {
  const { hello, alert, warning } = flight;
  if (hello !== null) {
    const { version, suite, compressed, secureRenegotiation, alpn } = hello;
    return {
      kind: 'server-hello',
      version,
      suite: { id: suite, name: suiteName(suite) },
      suiteOffered: suites.includes(suite),
      compressed,
      certificates: flight.certificates,
      stapled: flight.stapled,
      secureRenegotiation,
      certificateRequest: flight.certificateRequest,
      complete: flight.complete,
      ...(alert !== null && { alertAfter: alert.name }),
      ...(alpn !== null && { alpn }),
    };
  }
  if (alert !== null) return { kind: 'alert', alert: alert.name, level: alert.level };
  if (flight.broken) return { kind: 'not-tls', received: Uint8Array.from(head) };
  if (ending === 'timeout') return { kind: 'timeout' };
  // An unfinished answer is not a rejection: the rest may have been lost.
  if (flight.unfinished) return { kind: 'not-tls', received: Uint8Array.from(head) };
  return warning === null ? { kind: ending } : { kind: 'alert', alert: warning.name, level: warning.level };
}

/** Replaces Promise.withResolvers, which Node 20 lacks. Resolving more than once does nothing. */
function withResolvers<T>() {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((take) => {
    resolve = take;
  });
  return { promise, resolve };
}

function matchServerHello(outcome: ServerHelloOutcome, offer: HelloOffer): HelloMatch | null {
  const { version, suiteOffered, compressed, alertAfter } = outcome;
  // The endpoint accepted the offer and then aborted, perhaps because the hello lacked something: neither declined nor
  // granted.
  if (alertAfter !== undefined) return null;
  if (offer.clientCertificate === true) return matchCertificateRequest(outcome);
  if (offer.clientCertificate === 'of-private-authority') return matchRequestedCas(outcome);
  if (offer.compression === true) {
    if (!compressed) return 'declined';
  } else if (!suiteOffered) return 'declined';
  else if (version !== offer.version) {
    // A weak suite also counts at a lower version.
    const lower = VERSION_NUMBERS[version] < VERSION_NUMBERS[offer.version];
    if (!lower || !areAllWeak(offer.suites)) return 'declined';
  }
  return 'granted';
}

/**
 * Returns `granted` if a client certificate is requested, otherwise `declined`. Null if unknown: TLS 1.3 encrypts the
 * request.
 */
function matchCertificateRequest({ certificateRequest, complete, version }: ServerHelloOutcome): HelloMatch | null {
  if (certificateRequest !== null) return 'granted';
  return complete && version !== 'TLSv1.3' ? 'declined' : null;
}

/**
 * Returns `declined` if the endpoint accepts client certificates from a public CA, otherwise `granted`. Null if
 * unknown.
 */
function matchRequestedCas({ certificateRequest, complete, version }: ServerHelloOutcome): HelloMatch | null {
  if (certificateRequest === null) return complete && version !== 'TLSv1.3' ? 'granted' : null;
  return certificateRequest.authorities.some(isPublicAuthority) ? 'declined' : 'granted';
}
