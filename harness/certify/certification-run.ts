/** A run that a certificate can be issued for: the endpoint's key and the clock are watched beside it. */

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
  /** As the run gives it: not redacted yet. */
  readonly document: ResultDocument;
  /** What the endpoint was before the run, at each tenth of it, and after it. Null where no handshake was had. */
  readonly looks: readonly (EndpointLook | null)[];
  readonly clock: ClockReading;
}

export interface ClockReading {
  readonly startedAt: Date;
  readonly endedAt: Date;
  /** Milliseconds of the monotonic clock between the two. */
  readonly elapsedMs: number;
}

const LOOK_TIMEOUT_MS = 5000;
/** How often the endpoint is looked at while the run goes on. */
const PARTS = 10;

/**
 * Runs as {@link run} does. `publicRoots` is for tests: it stands in for the public authorities, for the run and for the look at the
 * endpoint. The command line has no way to it.
 */
export async function certificationRun(
  given: RunOptions,
  { publicRoots }: { readonly publicRoots?: readonly string[] } = {},
): Promise<CertificationRun> {
  const options = await atOneAddress(given);
  const partner = publicRoots === undefined ? options.partner : trusting(options.partner, publicRoots);
  const look = partner.url.startsWith('https:')
    ? createLook(partner, LOOK_TIMEOUT_MS, publicRoots)
    : () => Promise.resolve(null);
  const startedAt = new Date();
  const started = performance.now();
  const looks: Promise<EndpointLook | null>[] = [look(options.signal)];
  await looks[0];
  let due = 1;
  const document = await run({
    ...options,
    partner,
    listener: (event) => {
      options.listener?.(event);
      if (event.type !== 'scenario-finished' || event.judged * PARTS < due * event.planned) return;
      due = Math.floor((event.judged * PARTS) / event.planned) + 1;
      if (due <= PARTS) looks.push(look(options.signal));
    },
  });
  looks.push(look(options.signal));
  const seen = await Promise.all(looks);
  const clock = { startedAt, endedAt: new Date(), elapsedMs: performance.now() - started };
  return { document, looks: seen, clock };
}

/** Who an endpoint is over TLS: the key of its certificate, and whether everybody would trust it. One handshake, and no request. */

export interface EndpointLook {
  /** SHA-256 of the SubjectPublicKeyInfo of the certificate, lower-case hexadecimal. */
  readonly leafKey: string;
  /** Whether chain and name hold under the public authorities alone. */
  readonly publiclyTrusted: boolean;
}

/**
 * Makes the function that looks; it gives null when there is no handshake, and never rejects. The client certificate of the partner is presented.
 * `publicRoots` stands in for the authorities that Node is built with, without those of the system, of NODE_EXTRA_CA_CERTS and of `ca`: in
 * tests, which have no certificate of a public authority.
 */
export function createLook(
  partner: Pick<Partner, 'url' | 'tls' | 'lookup'>,
  timeoutMs: number,
  publicRoots: readonly string[] = rootCertificates,
): (signal?: AbortSignal) => Promise<EndpointLook | null> {
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
    // Whoever it is is wanted, trusted or not: nothing is sent to it here.
    const options = { secureContext, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] };
    const limits = { timeoutMs, ...(signal && { signal }) };
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

/** The partner as it is when these authorities are public. For tests. */
export function trusting(partner: Partner, roots: readonly string[]): Partner {
  return { ...partner, tls: { ...partner.tls, ca: [partner.tls?.ca ?? '', ...roots].join('\n') } };
}

/** The run and the looks beside it go to one address, which is looked up once. */

const RESOLVER_TIMEOUT_MS = 10_000;

/** The options with the address pinned. Throws `HookproofError` ENDPOINT_ADDRESS_REFUSED when it is not allowed. */
export async function atOneAddress<
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
