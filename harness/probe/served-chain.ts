/**
 * Inspects the TLS of an endpoint: its certificates exactly as sent, and how a correct client judges them.
 * Specification: TLS.
 */

import { checkServerIdentity, createSecureContext, type TLSSocket } from 'node:tls';
import { analyseChain, type ChainAnalysis, certificateBlocks, distinguishedName } from '../../certs/index.ts';
import { LIMITS, type OfferedTlsVersion, TLS_VERSIONS } from '../../contract/index.ts';
import type { Partner } from '../partner.ts';
import { classifyTransportError, type TransportError, tlsOptionsFor, trustedRoots } from '../transport/index.ts';
import {
  controlOffer,
  type HelloEndpoint,
  type HelloOutcome,
  helloEndpoint,
  matchHello,
  type ProbeOffer,
  probeHello,
  type ServerHelloOutcome,
} from './probe-hello.ts';
import { type HandshakeTarget, type ProbeLimits, performHandshake } from './tls-handshake.ts';

export interface ServedChain {
  /** The certificates in DER, the server's own first; empty if none were received. */
  readonly sent: readonly Uint8Array[];
  /** Whether `sent` is exactly what the server sent, including order, duplicates and unrelated certificates. */
  readonly exact: boolean;
  /** What the partner's sender and the endpoint negotiate; null if their handshake fails. */
  readonly negotiated: {
    readonly version: string;
    readonly cipher: string;
    readonly alpn: string | null;
  } | null;
  /**
   * How Node judges the chain and the name with the CAs that the partner trusts; `code` is null if it trusts them. Null
   * if the handshake fails.
   */
  readonly oracle: { readonly code: string | null; readonly reason: string | null } | null;
  /** Whether a client certificate is requested. Null if unknown: TLS 1.3 encrypts the request. */
  readonly clientCertificateRequested: boolean | null;
  /** The names of the CAs that the request lists. */
  readonly authorities: readonly string[];
  /** Why the sender's handshake failed. `sent` may contain certificates anyway. */
  readonly error: TransportError | null;
}

export interface ServedChainOptions extends ProbeLimits {
  /**
   * Connects to this address instead of resolving the host name. The certificate must still match the name in the URL.
   */
  readonly address?: string;
}

export interface TlsInspection {
  readonly endpoint: HelloEndpoint;
  /** The outcome of a correct sender's hello, by version. */
  readonly hellos: Readonly<Record<OfferedTlsVersion, HelloOutcome>>;
  /** The versions with which the endpoint starts a handshake with a correct sender. */
  readonly versions: readonly OfferedTlsVersion[];
  readonly served: ServedChain;
  /** Null if no certificate was received; see `served.error`. */
  readonly analysis: ChainAnalysis | null;
  /** Whether the chain ends at one of the partner's extra CAs. */
  readonly privateCa: boolean;
}

export interface InspectOptions {
  /** Milliseconds for each connection. */
  readonly timeoutMs: number;
  readonly now: Date;
  readonly signal?: AbortSignal;
}

/** Offers every TLS 1.2 suite that is not broken, to get an answer from any server. */
const OFFER: ProbeOffer = { version: 'TLSv1.2', suites: ['modern', 'cbc', 'legacy', 'static-rsa'] };
/** Maximum number of certificates to read; real chains are shorter. */
const MAX_CERTIFICATES = 20;

/**
 * Fetches the certificates of an endpoint with two or three connections that send no request. Works even if the server
 * requires a client certificate that the partner does not have.
 *
 * @param partner must have an https URL
 * @returns a result with `error` if the endpoint cannot be reached
 * @throws HookproofError PARTNER_TLS if the TLS material of the partner cannot be used
 */
export async function fetchServedChain(partner: Partner, options: ServedChainOptions): Promise<ServedChain> {
  const { host: hostname, port, serverName, lookup } = helloEndpoint(partner);
  const target: HandshakeTarget = { host: options.address ?? hostname, port, hostname, lookup };
  const trust = { ...tlsOptionsFor(partner), rejectUnauthorized: false };
  const [hello, own] = await Promise.all([
    probeHello({ host: target.host, port, serverName, lookup }, OFFER, options),
    performHandshake(target, trust, options, (socket) => negotiatedOn(socket, hostname)),
  ]);
  const serverHello = hello.kind === 'server-hello' ? hello : null;
  const unencrypted = serverHello?.certificates ?? [];
  // If the endpoint does not answer, a third connection would only wait again.
  const speaksTls = own.error === null || own.error.kind === 'tls';
  const encrypted = unencrypted.length > 0 || !speaksTls ? null : await fetchEncrypted(target, partner, options);
  const sent = encrypted?.value ?? unencrypted;
  return {
    sent,
    exact: sent.length > 0,
    negotiated: own.value?.negotiated ?? null,
    oracle: own.value?.oracle ?? null,
    clientCertificateRequested: isCertificateRequested(serverHello),
    authorities: (serverHello?.certificateRequest?.authorities ?? []).map(distinguishedName),
    error: own.error ?? encrypted?.error ?? null,
  };
}

/** Inspects the endpoint with a few connections that send no delivery. Never rejects because of the endpoint. */
export async function inspectTls(partner: Partner, { timeoutMs, now, signal }: InspectOptions): Promise<TlsInspection> {
  const endpoint = helloEndpoint(partner);
  const limits = { timeoutMs, ...(signal && { signal }) };
  const [tls12, tls13, served] = await Promise.all([
    probeHello(endpoint, controlOffer('TLSv1.2'), limits),
    probeHello(endpoint, controlOffer('TLSv1.3'), limits),
    fetchServedChain(partner, limits),
  ]);
  const hellos = { 'TLSv1.2': tls12, 'TLSv1.3': tls13 };
  const extra = certificateBlocks(partner.tls?.ca ?? '').map(({ text }) => text);
  const analyse = (trusted: readonly string[], oracle: string | null | undefined) =>
    analyseChain({
      sent: served.sent,
      exact: served.exact,
      host: endpoint.host,
      trusted,
      now,
      oracle,
    });
  const hasChain = served.sent.length > 0;
  return {
    endpoint,
    hellos,
    versions: TLS_VERSIONS.filter((version) => matchHello(hellos[version], controlOffer(version)) === 'granted'),
    served,
    analysis: hasChain ? analyse([...trustedRoots(), ...extra], served.oracle?.code) : null,
    privateCa: hasChain && extra.length > 0 && analyse(extra, undefined).anchor !== null,
  };
}

function isCertificateRequested(hello: ServerHelloOutcome | null): boolean | null {
  if (hello === null || hello.version === 'TLSv1.3') return null;
  if (hello.certificateRequest !== null) return true;
  return hello.complete ? false : null;
}

function negotiatedOn(socket: TLSSocket, hostname: string): Pick<ServedChain, 'negotiated' | 'oracle'> {
  // The type says Error, but the value is its code.
  const code: unknown = socket.authorized ? null : socket.authorizationError;
  return {
    negotiated: {
      version: socket.getProtocol() ?? 'unknown',
      cipher: socket.getCipher().standardName,
      alpn: socket.alpnProtocol || null,
    },
    oracle:
      typeof code === 'string' ? { code, reason: reasonFor(code, socket, hostname) } : { code: null, reason: null },
  };
}

function reasonFor(code: string, socket: TLSSocket, hostname: string): string {
  // For a name mismatch, the socket has only the code; the message of the check also lists the names in the
  // certificate.
  const mismatch: unknown =
    code === 'ERR_TLS_CERT_ALTNAME_INVALID' ? checkServerIdentity(hostname, socket.getPeerCertificate()) : undefined;
  const { kind, message } = classifyTransportError(mismatch ?? { code }, 'tls');
  return kind === 'tls-untrusted' ? message : `OpenSSL does not trust the endpoint's certificates (${code}).`;
}

/** Fetches certificates that TLS 1.3 encrypts, with a complete handshake that accepts any certificate. */
function fetchEncrypted(target: HandshakeTarget, { tls }: Partner, limits: ProbeLimits) {
  const secureContext = createSecureContext({
    ca: [],
    minVersion: LIMITS.minimumTlsVersion,
    ...(tls?.clientCert !== undefined && { cert: tls.clientCert }),
    ...(tls?.clientKey !== undefined && { key: tls.clientKey }),
    ...(tls?.passphrase !== undefined && { passphrase: tls.passphrase }),
  });
  return performHandshake(target, { secureContext, rejectUnauthorized: false }, limits, certificatesSent);
}

/**
 * Returns the certificates in the order in which they were sent: here, `issuerCertificate` is the next certificate in
 * the message. The older `getPeerCertificate(true)` searches for issuers, and loses duplicates, certificates out of
 * order and issuers that are not CAs.
 */
function certificatesSent(socket: TLSSocket): Uint8Array[] {
  const found: Uint8Array[] = [];
  let certificate = socket.getPeerX509Certificate();
  while (certificate !== undefined && found.length < MAX_CERTIFICATES) {
    found.push(Uint8Array.from(certificate.raw));
    certificate = certificate.issuerCertificate;
  }
  return found;
}
