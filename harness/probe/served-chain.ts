/** Gathers what an endpoint serves: its certificates as they were sent, and what a right client makes of them. Specification: TLS. */
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
import { type LookLimits, type VisitTarget, visit } from './tls-handshake.ts';

export interface ServedChain {
  /** The certificates, DER, the server's own first; empty when none could be had. */
  readonly sent: readonly Uint8Array[];
  /** Whether they are there exactly as they were sent: order, duplicates and what belongs to no link of the chain included. */
  readonly exact: boolean;
  /** What the partner's sender and the endpoint agree on; null when their handshake fails. */
  readonly negotiated: {
    readonly version: string;
    readonly cipher: string;
    readonly alpn: string | null;
  } | null;
  /**
   * What Node makes of the chain and of the name, under the trust of the partner: `code` is null when it trusts. Null when the
   * handshake fails.
   */
  readonly oracle: { readonly code: string | null; readonly reason: string | null } | null;
  /** Whether a client certificate is asked for. Null when it cannot be told: over TLS 1.3 it is asked for in secret. */
  readonly clientCertificateRequested: boolean | null;
  /** The names of the authorities that the server lists then. */
  readonly authorities: readonly string[];
  /** Why the sender's handshake failed. The certificates may be there all the same. */
  readonly error: TransportError | null;
}

export interface ServedChainOptions extends LookLimits {
  /** Connects to this address in place of the one that the host name resolves to; the name stays the one of the URL. */
  readonly address?: string;
}

/** Every suite of TLS 1.2 that is not broken: the aim is an answer, whatever the server prefers. */
const OFFER: ProbeOffer = { version: 'TLSv1.2', suites: ['modern', 'cbc', 'legacy', 'static-rsa'] };
/** No honest chain is longer. */
const MOST_LINKS = 20;

/**
 * Connects two or three times, sends no request, and reads what the server shows. A server that requires a client certificate
 * which the partner does not have still shows its own.
 *
 * @param partner one with an https URL
 * @returns always something, also when nothing listens: then with an `error` and nothing sent
 * @throws HookproofError PARTNER_TLS when the TLS material of the partner cannot be used
 */
export async function fetchServedChain(partner: Partner, options: ServedChainOptions): Promise<ServedChain> {
  const { host: hostname, port, serverName, lookup } = helloEndpoint(partner);
  const target: VisitTarget = { host: options.address ?? hostname, port, hostname, lookup };
  const trust = { ...tlsOptionsFor(partner), rejectUnauthorized: false };
  const [hello, own] = await Promise.all([
    probeHello({ host: target.host, port, serverName, lookup }, OFFER, options),
    visit(target, trust, options, (socket) => look(socket, hostname)),
  ]);
  const plain = hello.kind === 'server-hello' ? hello : null;
  const shown = plain?.certificates ?? [];
  // Where nothing listens or nothing answers, a third connection would only take as long again.
  const speaksTls = own.error === null || own.error.kind === 'tls';
  const sealed = shown.length > 0 || !speaksTls ? null : await openSealed(target, partner, options);
  const sent = sealed?.seen ?? shown;
  return {
    sent,
    exact: sent.length > 0,
    negotiated: own.seen?.negotiated ?? null,
    oracle: own.seen?.oracle ?? null,
    clientCertificateRequested: requestSeen(plain),
    authorities: (plain?.certificateRequest?.authorities ?? []).map(distinguishedName),
    error: own.error ?? sealed?.error ?? null,
  };
}

function requestSeen(hello: ServerHelloOutcome | null): boolean | null {
  if (hello === null || hello.version === 'TLSv1.3') return null;
  if (hello.certificateRequest !== null) return true;
  return hello.whole ? false : null;
}

function look(socket: TLSSocket, hostname: string): Pick<ServedChain, 'negotiated' | 'oracle'> {
  // Typed as an error; what stands there is its code.
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
  // Of a name that does not match, the socket keeps the code alone; the names of the certificate are what helps.
  const mismatch: unknown =
    code === 'ERR_TLS_CERT_ALTNAME_INVALID' ? checkServerIdentity(hostname, socket.getPeerCertificate()) : undefined;
  const { kind, message } = classifyTransportError(mismatch ?? { code }, 'tls');
  return kind === 'tls-untrusted' ? message : `OpenSSL does not trust the certificates of the endpoint (${code}).`;
}

/** TLS 1.3 seals the certificates, so that only a client that finishes the handshake sees them. This one trusts nobody and takes anything. */
function openSealed(target: VisitTarget, { tls }: Partner, limits: LookLimits) {
  const secureContext = createSecureContext({
    ca: [],
    minVersion: LIMITS.minimumTlsVersion,
    ...(tls?.clientCert !== undefined && { cert: tls.clientCert }),
    ...(tls?.clientKey !== undefined && { key: tls.clientKey }),
    ...(tls?.passphrase !== undefined && { passphrase: tls.passphrase }),
  });
  return visit(target, { secureContext, rejectUnauthorized: false }, limits, certificatesSent);
}

/**
 * What Node calls the issuer of a certificate here is the one that was sent after it, whoever issued it: the list as it came. The older
 * `getPeerCertificate(true)` looks for issuers, and loses what is not in order, what is sent twice, and an issuer that is no authority.
 */
function certificatesSent(socket: TLSSocket): Uint8Array[] {
  const found: Uint8Array[] = [];
  let certificate = socket.getPeerX509Certificate();
  while (certificate !== undefined && found.length < MOST_LINKS) {
    found.push(Uint8Array.from(certificate.raw));
    certificate = certificate.issuerCertificate;
  }
  return found;
}

/** Looks at what an endpoint serves over TLS, once for everything that needs to know. Specification: TLS. */

export interface TlsInspection {
  readonly endpoint: HelloEndpoint;
  /** What became of the hello of a right sender, by version. */
  readonly hellos: Readonly<Record<OfferedTlsVersion, HelloOutcome>>;
  /** The versions in which the endpoint begins a handshake with a right sender. */
  readonly versions: readonly OfferedTlsVersion[];
  readonly served: ServedChain;
  /** Null when no certificate could be had; `served.error` says why. */
  readonly analysis: ChainAnalysis | null;
  /** Whether the chain ends at an authority that was given beside the system's. */
  readonly privateAuthority: boolean;
}

export interface InspectOptions {
  /** Milliseconds for each connection. */
  readonly timeoutMs: number;
  readonly now: Date;
  readonly signal?: AbortSignal;
}

/** Opens a few connections to the endpoint of the partner and sends no delivery. Never rejects because of the endpoint. */
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
    privateAuthority: hasChain && extra.length > 0 && analyse(extra, undefined).anchor !== null,
  };
}
