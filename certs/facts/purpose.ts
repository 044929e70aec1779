/** What a certificate may be used for, by its key usage and its extended key usage. RFC 5280, 4.2.1.3 and 4.2.1.12. */
import type { CertificateExtensions } from './read-extensions.ts';

export type Purpose = 'client' | 'server';

/** The extended key usage that each needs, and who uses it. */
export const PURPOSES = {
  client: { usage: 'clientAuth', users: 'clients' },
  server: { usage: 'serverAuth', users: 'servers' },
} as const;

/**
 * Why OpenSSL refuses the purpose, or null when it does not; a certificate without the extensions is good for everything.
 *
 * - `other-purpose`: its usages name something else;
 * - `any-purpose`: its usages name "any", which does not stand for clients or servers with OpenSSL and with public authorities;
 * - `no-signing`: its key may not do what TLS needs. Only a leaf has to be able to.
 */
export function purposeFault(
  purpose: Purpose,
  { extendedKeyUsage, keyUsage }: Pick<CertificateExtensions, 'extendedKeyUsage' | 'keyUsage'>,
): 'other-purpose' | 'any-purpose' | 'no-signing' | null {
  if (extendedKeyUsage !== null && !extendedKeyUsage.includes(PURPOSES[purpose].usage)) {
    return extendedKeyUsage.includes('anyExtendedKeyUsage') ? 'any-purpose' : 'other-purpose';
  }
  return keyUsage === null || keyUsage[purpose] ? null : 'no-signing';
}
