/** Client side TLS of a partner. Specification: TLS. */
import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls';
import { HookproofError, LIMITS } from '../../contract/index.ts';
import type { Partner } from './partner.ts';

/** Options for `tls.connect` and `https.Agent`. */
export interface TlsOptions {
  readonly secureContext: SecureContext;
  readonly rejectUnauthorized: true;
}

type TlsMaterial = NonNullable<Partner['tls']>;

const NONE: TlsMaterial = {};
const MADE = new WeakMap<TlsMaterial, TlsOptions>();

/**
 * TLS 1.2 or higher, with the client certificate of the partner when there is one, trusting the system's authorities and
 * the extra one. A context with an extra authority takes tens of milliseconds to make, so each is made once and remembered for
 * as long as the partner's `tls` object lives.
 *
 * @throws HookproofError PARTNER_TLS when the material cannot be used
 */
export function tlsOptionsFor({ tls = NONE }: Pick<Partner, 'tls'>): TlsOptions {
  const made = MADE.get(tls);
  if (made !== undefined) return made;
  // Said outright, because NODE_TLS_REJECT_UNAUTHORIZED in the environment would switch it off.
  const options: TlsOptions = { secureContext: secureContextOf(tls), rejectUnauthorized: true };
  MADE.set(tls, options);
  return options;
}

function secureContextOf({ clientCert, clientKey, passphrase, ca }: TlsMaterial): SecureContext {
  try {
    return createSecureContext({
      minVersion: LIMITS.minimumTlsVersion,
      ...(clientCert !== undefined && { cert: clientCert }),
      ...(clientKey !== undefined && { key: clientKey }),
      ...(passphrase !== undefined && { passphrase }),
      // A given list replaces the system's roots, so they have to be in it.
      ...(ca !== undefined && { ca: [...rootCertificates, ca] }),
    });
  } catch (cause) {
    throw new HookproofError('PARTNER_TLS', 'The client certificate, its key or the extra authority cannot be used.', {
      hint: 'Give them as PEM, the certificate and the key that were made together, and the passphrase of the key if it has one.',
      cause,
    });
  }
}
