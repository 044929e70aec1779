/** Who an endpoint is over TLS: the key of its certificate, and whether everybody would trust it. One handshake, and no request. */
import { createSecureContext, rootCertificates } from 'node:tls';
import { certificateFacts } from '../../certs/index.ts';
import { LIMITS } from '../../contract/index.ts';
import type { Partner } from '../sender/index.ts';
import { helloEndpoint, visit } from '../tls/index.ts';

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
    const { seen } = await visit({ host, port, hostname: host, lookup }, options, limits, (socket) => {
      const certificate = socket.getPeerX509Certificate();
      return { der: certificate?.raw, publiclyTrusted: socket.authorized };
    });
    if (seen?.der === undefined) return null;
    try {
      return { leafKey: certificateFacts(seen.der).keyFingerprint, publiclyTrusted: seen.publiclyTrusted };
    } catch {
      return null;
    }
  };
}

/** The partner as it is when these authorities are public. For tests. */
export function trusting(partner: Partner, roots: readonly string[]): Partner {
  return { ...partner, tls: { ...partner.tls, ca: [partner.tls?.ca ?? '', ...roots].join('\n') } };
}
