/**
 * Sends one ClientHello and reads what comes back. The handshake is never finished, no TLS library takes part, and a probe that
 * could not be sent is told apart from every answer. Specification: TLS.
 */
import { connect, isIP, type LookupFunction } from 'node:net';
import { performance } from 'node:perf_hooks';
import { isPublicAuthority } from '../../certs/index.ts';
import type { OfferedTlsVersion, TlsVersion } from '../../contract/index.ts';
import type { HelloMatch, HelloOffer } from '../../scenarios/index.ts';
import type { Partner } from '../partner.ts';
import { classifyTransportError, endpointOf, type TransportError } from '../transport/index.ts';
import { allWeak, encodeClientHello, suiteName, suitesOf, VERSION_NUMBERS } from './client-hello.ts';
import { ServerFlight } from './server-flight.ts';
import { firstPhase, type LookLimits, type Supervision, superviseSocket } from './tls-handshake.ts';

export type ProbeOffer = HelloOffer & {
  /** Leaves out the server name. */
  readonly serverName?: false;
  /** Asks for a stapled OCSP answer. */
  readonly ocsp?: true;
};

/** Breaking a probe off makes the outcome a `connect-error` of kind `local`. */
export type ProbeLimits = LookLimits;

/** How the reading ended when the flight did not end by itself. */
type Ending = 'closed' | 'reset' | 'timeout';

/** Milliseconds for each address of a name but the last, as the sender has it. */
const ADDRESS_TIMEOUT_MS = 1_000;
/** What is kept of an answer that is not TLS. */
const EVIDENCE_BYTES = 40;
/** After the hello is out, these mean that the other side ended the connection. Any other failure is one of the way, or ours. */
const RESET_CODES: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED']);

/** @returns an outcome, always: it never rejects */
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
  const finish = (ending: Ending) => settle(outcomeOf(flight, suites, ending, head));
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
      // An answer that comes before the hello is one all the same: whoever greets first is no TLS server.
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

type Unmeasured = DistributiveOmit<HelloOutcome, 'bytesReceived' | 'ms'>;
type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

function outcomeOf(flight: ServerFlight, suites: readonly number[], ending: Ending, head: Uint8Array): Unmeasured {
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
      whole: flight.whole,
      ...(alert !== null && { alertAfter: alert.name }),
      ...(alpn !== null && { alpn }),
    };
  }
  if (alert !== null) return { kind: 'alert', alert: alert.name, level: alert.level };
  if (flight.broken) return { kind: 'not-tls', received: Uint8Array.from(head) };
  if (ending === 'timeout') return { kind: 'timeout' };
  // Whoever began to answer did not refuse: the rest may have been lost on the way.
  if (flight.unfinished) return { kind: 'not-tls', received: Uint8Array.from(head) };
  return warning === null ? { kind: ending } : { kind: 'alert', alert: warning.name, level: warning.level };
}

/** Promise.withResolvers, which Node 20 lacks. Resolving more than once does nothing. */
function withResolvers<T>() {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((take) => {
    resolve = take;
  });
  return { promise, resolve };
}

/** What an endpoint did with a ClientHello, and whether it took what was offered. Specification: TLS. */

interface Measured {
  readonly bytesReceived: number;
  /** Milliseconds from the start of the connection, with fractions. */
  readonly ms: number;
}

/** It goes on with the handshake. A HelloRetryRequest counts as the answer of TLS 1.3 that it is. */
export interface ServerHelloOutcome extends Measured {
  readonly kind: 'server-hello';
  readonly version: TlsVersion;
  readonly suite: { readonly id: number; readonly name: string };
  /** Whether the suite is one of the offered ones. */
  readonly suiteOffered: boolean;
  readonly compressed: boolean;
  /** DER, exactly as sent. Empty at TLS 1.3, which seals them, and when there is no readable Certificate message. */
  readonly certificates: readonly Uint8Array[];
  /** Whether an OCSP answer came along; only seen below TLS 1.3. */
  readonly stapled: boolean;
  readonly secureRenegotiation: boolean;
  /** The names (DER) of the authorities when it asks for a client certificate; only seen below TLS 1.3. */
  readonly certificateRequest: { readonly authorities: readonly Uint8Array[] } | null;
  /** Whether the flight came to its end, so that what was not seen (a certificate request) was not sent. */
  readonly whole: boolean;
  /** The name of a fatal alert that followed: it began the handshake and then gave it up, before the client had said more. */
  readonly alertAfter?: string;
  readonly alpn?: string;
}

/**
 * What came back.
 *
 * - `alert`: a TLS alert; of level `warning` when the connection was closed or reset behind it.
 * - `closed`, `reset`: the connection ended with no answer begun. `timeout`: no answer, or no whole one, in time.
 * - `not-tls`: something else than TLS came, or an answer that breaks off; its first 40 bytes.
 * - `connect-error`: the hello could not be sent. Nothing can be said about the endpoint.
 */
export type HelloOutcome =
  | ServerHelloOutcome
  | (Measured & { readonly kind: 'alert'; readonly alert: string; readonly level: 'warning' | 'fatal' })
  | (Measured & { readonly kind: 'closed' | 'reset' | 'timeout' })
  | (Measured & { readonly kind: 'not-tls'; readonly received: Uint8Array })
  | (Measured & { readonly kind: 'connect-error'; readonly error: TransportError });

/** @returns what the outcome means for the offer; null when nothing can be said about the endpoint */
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

function matchServerHello(outcome: ServerHelloOutcome, offer: HelloOffer): HelloMatch | null {
  const { version, suiteOffered, compressed, alertAfter } = outcome;
  // It took the offer and could not keep to it, perhaps for want of something else in the hello: neither a refusal nor a grant.
  if (alertAfter !== undefined) return null;
  if (offer.clientCertificate === true) return matchRequest(outcome);
  if (offer.clientCertificate === 'of-private-authority') return matchAuthorities(outcome);
  if (offer.compression === true) {
    if (!compressed) return 'declined';
  } else if (!suiteOffered) return 'declined';
  else if (version !== offer.version) {
    // A weak suite is taken at whatever version it is taken.
    const lower = VERSION_NUMBERS[version] < VERSION_NUMBERS[offer.version];
    if (!lower || !allWeak(offer.suites)) return 'declined';
  }
  return 'granted';
}

/** TLS 1.3 seals the request: nothing can be said. */
function matchRequest({ certificateRequest, whole, version }: ServerHelloOutcome): HelloMatch | null {
  if (certificateRequest !== null) return 'granted';
  return whole && version !== 'TLSv1.3' ? 'declined' : null;
}

/** A request of TLS 1.3 is sealed, and one that never came names nobody. */
function matchAuthorities({ certificateRequest, whole, version }: ServerHelloOutcome): HelloMatch | null {
  if (certificateRequest === null) return whole && version !== 'TLSv1.3' ? 'granted' : null;
  return certificateRequest.authorities.some(isPublicAuthority) ? 'declined' : 'granted';
}

export interface HelloEndpoint {
  /** A name or an address; IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
  /** What to send as SNI; null for an endpoint that is known by its address. */
  readonly serverName: string | null;
  /** Where the host is, in place of the system's resolver. */
  readonly lookup?: LookupFunction | undefined;
}

/** The endpoint of a partner, as a ClientHello needs it: names are said, addresses are not (RFC 6066, 3). */
export function helloEndpoint({ url, lookup }: Pick<Partner, 'url' | 'lookup'>): HelloEndpoint {
  const { hostname, port } = endpointOf(url);
  return { host: hostname, port, serverName: isIP(hostname) === 0 ? hostname : null, lookup };
}

/** The offer of a right sender, for one version: the control of every handshake that is probed. */
export function controlOffer(version: OfferedTlsVersion): HelloOffer {
  return { version, suites: version === 'TLSv1.3' ? ['tls13'] : ['modern', 'cbc'] };
}
