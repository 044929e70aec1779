import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls';
import type { Partner } from './partner.ts';

/** The oldest version that is ever offered. Specification: TLS. */
const OLDEST = 'TLSv1.2';

/**
 * The TLS side of a partner: system authorities plus the given ones, and the client certificate. Making a context reads every
 * authority, so it is made once for each sender and not for each delivery.
 */
export function tlsOptionsFor(partner: Pick<Partner, 'tls'>): { minVersion: typeof OLDEST; secureContext?: SecureContext } {
  const { ca, clientCert, clientKey, passphrase } = partner.tls ?? {};
  if (ca === undefined && clientCert === undefined) return { minVersion: OLDEST };
  const secureContext = createSecureContext({
    minVersion: OLDEST,
    ca: ca === undefined ? [...rootCertificates] : [...rootCertificates, ca],
    ...(clientCert === undefined ? {} : { cert: clientCert, key: clientKey, ...(passphrase === undefined ? {} : { passphrase }) }),
  });
  return { minVersion: OLDEST, secureContext };
}
