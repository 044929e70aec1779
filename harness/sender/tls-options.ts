/** Client side TLS of a partner. Specification: TLS. */
import { createSecureContext, type SecureContext } from 'node:tls';
import { HookproofError, LIMITS } from '../../contract/index.ts';
import { usableTls } from './check-tls.ts';
import type { Partner } from './partner.ts';
import { trustedRoots } from './trusted-roots.ts';

/** Options for `tls.connect` and `https.Agent`. */
export interface TlsOptions {
  readonly secureContext: SecureContext;
  readonly rejectUnauthorized: true;
  /** HTTP/1.1 and nothing else, which Node leaves unsaid: an endpoint that has HTTP/2 only then says so in the handshake. */
  readonly ALPNProtocols: string[];
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
  const options: TlsOptions = {
    secureContext: secureContextOf(tls),
    rejectUnauthorized: true,
    ALPNProtocols: ['http/1.1'],
  };
  MADE.set(tls, options);
  return options;
}

function secureContextOf(tls: TlsMaterial): SecureContext {
  const { cert, key, ca } = usableTls(tls);
  try {
    return createSecureContext({
      minVersion: LIMITS.minimumTlsVersion,
      ...(cert !== undefined && { cert }),
      ...(key !== undefined && { key }),
      // A given list replaces the roots that are trusted otherwise, so they have to be in it.
      ...(ca !== undefined && { ca: [...trustedRoots(), ca] }),
    });
  } catch (cause) {
    // What OpenSSL does not put up with although it can be read, such as a key of 512 bits.
    throw new HookproofError('PARTNER_TLS', 'OpenSSL does not take the client certificate or the extra authority.', {
      hint: 'Use certificates for RSA with 2048 bits or more, or ECDSA on P-256, signed with SHA-256.',
      cause,
    });
  }
}
