/** Runs the catalogue for a certificate, and records the endpoint's identity and the clock during the run. */

import { isIP } from 'node:net';
import { performance } from 'node:perf_hooks';
import { createSecureContext, rootCertificates } from 'node:tls';
import { certificateFacts } from '../../certs/index.ts';
import { LIMITS } from '../../contract/index.ts';
import type { Partner } from '../partner.ts';
import { helloEndpoint, performHandshake } from '../probe/index.ts';
import type { ResultDocument } from '../report/result-document.ts';
import { type RunOptions, run } from '../run/index.ts';
import { pinEndpoint } from '../transport/index.ts';

export interface CertificationRun {
  /** The result document before redaction. */
  readonly document: ResultDocument;
  /** The endpoint's identity before the run and after each tenth of it; null if the handshake failed. */
  readonly identities: readonly (EndpointIdentity | null)[];
  readonly clock: ClockReading;
}

/** The identity of an endpoint over TLS, from one handshake without a request. */
export interface EndpointIdentity {
  /** SHA-256 of the SubjectPublicKeyInfo of the endpoint's certificate, in lower-case hexadecimal. */
  readonly leafKey: string;
  /** Whether the chain and the name are valid with the public CAs alone. */
  readonly publiclyTrusted: boolean;
}

export interface ClockReading {
  readonly startedAt: Date;
  readonly endedAt: Date;
  /** Milliseconds from `startedAt` to `endedAt`, by the monotonic clock. */
  readonly elapsedMs: number;
}

const IDENTITY_TIMEOUT_MS = 5000;
const RESOLVER_TIMEOUT_MS = 10_000;
/** The number of parts of the run; the identity is checked after each. */
const PARTS = 10;

/**
 * Like {@link run}, but also records the endpoint's identity and the clock. `publicRoots` replaces the public CAs in
 * tests; no command sets it.
 */
export async function certificationRun(
  given: RunOptions,
  { publicRoots }: { readonly publicRoots?: readonly string[] } = {},
): Promise<CertificationRun> {
  const options = await pinAddress(given);
  const partner = publicRoots === undefined ? options.partner : withExtraCas(options.partner, publicRoots);
  const probeIdentity = partner.url.startsWith('https:')
    ? createIdentityProbe(partner, publicRoots)
    : () => Promise.resolve(null);
  const startedAt = new Date();
  const started = performance.now();
  const identities: Promise<EndpointIdentity | null>[] = [probeIdentity(options.signal)];
  await identities[0];
  let nextPart = 1;
  const document = await run({
    ...options,
    partner,
    listener: (event) => {
      options.listener?.(event);
      if (event.type !== 'scenario-finished' || event.finished * PARTS < nextPart * event.planned) return;
      nextPart = Math.floor((event.finished * PARTS) / event.planned) + 1;
      if (nextPart <= PARTS) identities.push(probeIdentity(options.signal));
    },
  });
  identities.push(probeIdentity(options.signal));
  const settled = await Promise.all(identities);
  const clock = { startedAt, endedAt: new Date(), elapsedMs: performance.now() - started };
  return { document, identities: settled, clock };
}

/**
 * Creates a function that reads the endpoint's identity; it returns null if the handshake fails, and never rejects. It
 * presents the partner's client certificate. Public CAs are those built into Node, without the system's,
 * NODE_EXTRA_CA_CERTS and `ca`; tests replace them with `publicRoots`.
 */
export function createIdentityProbe(
  partner: Pick<Partner, 'url' | 'tls' | 'lookup'>,
  publicRoots: readonly string[] = rootCertificates,
): (signal?: AbortSignal) => Promise<EndpointIdentity | null> {
  const { host, port, lookup } = helloEndpoint(partner);
  const { clientCert, clientKey, passphrase } = partner.tls ?? {};
  const secureContext = createSecureContext({
    ca: [...publicRoots],
    minVersion: LIMITS.minimumTlsVersion,
    ...(clientCert !== undefined && { cert: clientCert }),
    ...(clientKey !== undefined && { key: clientKey }),
    ...(passphrase !== undefined && { passphrase }),
  });
  return async (signal) => {
    // Untrusted endpoints are identified, too. No request is sent on this connection.
    const options = { secureContext, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] };
    const limits = { timeoutMs: IDENTITY_TIMEOUT_MS, ...(signal && { signal }) };
    const { value } = await performHandshake({ host, port, hostname: host, lookup }, options, limits, (socket) => {
      const certificate = socket.getPeerX509Certificate();
      return { der: certificate?.raw, publiclyTrusted: socket.authorized };
    });
    if (value?.der === undefined) return null;
    try {
      return { leafKey: certificateFacts(value.der).keyFingerprint, publiclyTrusted: value.publiclyTrusted };
    } catch {
      return null;
    }
  };
}

/** Adds CAs to those that are trusted for the partner's endpoint. For tests. */
export function withExtraCas(partner: Partner, roots: readonly string[]): Partner {
  return { ...partner, tls: { ...partner.tls, ca: [partner.tls?.ca ?? '', ...roots].join('\n') } };
}

/**
 * Resolves the endpoint once, so that the run and the identity checks use the same address.
 *
 * @throws HookproofError ENDPOINT_ADDRESS_REFUSED if the address is not allowed
 */
export async function pinAddress<
  Given extends Pick<RunOptions, 'partner' | 'addresses' | 'resolve' | 'limits' | 'signal'>,
>(options: Given): Promise<Given> {
  const { partner, addresses, resolve, limits, signal } = options;
  const pin = await pinEndpoint(partner.url, {
    ...(addresses && { policy: addresses }),
    resolve,
    timeoutMs: limits?.timeoutMs ?? RESOLVER_TIMEOUT_MS,
    signal,
  });
  return {
    ...options,
    partner: { ...partner, lookup: pin.lookup },
    resolve: async () => {
      if (pin.address === null) throw pin.error;
      return [{ address: pin.address, family: isIP(pin.address) }];
    },
  };
}
