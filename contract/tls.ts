/** TLS terms shared by sender and receiver. Specification: TLS. */

/** TLS versions by their node:tls names, and SSLv3, for which node:tls has no name. */
export type TlsVersion = 'SSLv3' | 'TLSv1' | 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3';

/** TLS versions that a sender offers. */
export const TLS_VERSIONS = ['TLSv1.2', 'TLSv1.3'] as const satisfies readonly TlsVersion[];
export type OfferedTlsVersion = (typeof TLS_VERSIONS)[number];

/** Formats "TLSv1.2" as "TLS 1.2". */
export function tlsVersionName(version: TlsVersion): string {
  switch (version) {
    case 'SSLv3':
      return 'SSL 3.0';
    case 'TLSv1':
      return 'TLS 1.0';
    default:
      return version.replace('v', ' ');
  }
}

/** Faults of the certificates that a server sends. */
export const CHAIN_FAULTS = {
  unreadable: 'something in the chain is not a certificate',
  expired: 'a certificate has expired',
  'not-yet-valid': 'a certificate is not valid yet',
  'expires-soon': 'a certificate expires within 30 days',
  'host-mismatch': 'the certificate is for a name other than the one in the URL',
  'no-alternative-name': 'the certificate has no subject alternative name',
  'self-signed': 'the certificate is self-signed',
  'unknown-authority': 'the chain ends at a CA that is not trusted',
  'missing-intermediate': 'an intermediate certificate is missing',
  'forged-issuer': 'a certificate names a CA that did not sign it',
  misordered: 'the certificates are not in order',
  duplicate: 'a certificate is sent twice',
  unrelated: 'a certificate that does not belong to the chain is sent',
  'root-sent': 'the root is sent, which is unnecessary',
  'weak-key': 'a key is weaker than RSA with 2048 bits',
  'weak-signature': 'a certificate is signed with SHA-1 or MD5',
  'issuer-not-authority': 'a certificate is signed by one that is not a CA',
  'path-too-long': 'the chain is longer than one of its CAs allows',
  'wrong-purpose': 'the certificate is not valid for a server',
  unexplained: 'OpenSSL rejects the chain for another reason',
} as const;

export type ChainFaultCode = keyof typeof CHAIN_FAULTS;

/** Number of days before expiry from which a certificate causes a warning. */
export const EXPIRY_WARNING_DAYS = 30;
