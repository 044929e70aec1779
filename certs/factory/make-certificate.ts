/**
 * Makes one certificate, right or wrong in exactly the way that is asked for. For tests, demos and probes: never for production.
 * Specification: TLS.
 */
import type { Hash, KeyKind } from './key-kinds.ts';

export type ExtendedKeyUsage = 'serverAuth' | 'clientAuth';

export interface CertificateOptions {
  /** The distinguished name, for example `CN=localhost, O=Example`, or the DER of a name to copy exactly. */
  readonly subject: string | Uint8Array;
  /** Who signs. Absent: self-signed. */
  readonly issuer?: IssuedCertificate;
  /** P-256 by default. */
  readonly key?: KeyKind;
  /** Reuses the key pair of another certificate. */
  readonly keyOf?: IssuedCertificate;
  /** An authority may sign others; `pathLength` is how many authorities may stand below it. */
  readonly authority?: boolean;
  readonly pathLength?: number;
  /** Host names and IP addresses of the subject alternative name. Absent or empty: no such extension. */
  readonly hosts?: readonly string[];
  /** Absent: no extended key usage extension. */
  readonly usages?: readonly ExtendedKeyUsage[];
  /** Valid from yesterday and for a year by default. */
  readonly notBefore?: Date;
  readonly notAfter?: Date;
  /** The hash of the signature; SHA-256 by default. */
  readonly hash?: Hash;
  /** Where the issuer's certificate can be had (authority information access, caIssuers). */
  readonly issuerUrl?: string;
}

/** A certificate with its private key. All PEM; `der` is the certificate's DER. */
export interface IssuedCertificate {
  readonly cert: string;
  /** PKCS#8. */
  readonly key: string;
  readonly der: Uint8Array;
  readonly keyKind: KeyKind;
  readonly issuer: IssuedCertificate | null;
}

/** Makes the certificate and, unless it is given, its key. An elliptic key takes a few milliseconds, RSA a tenth of a second and more. */
export async function makeCertificate(options: CertificateOptions): Promise<IssuedCertificate> {
  const { issueCertificate } = await import('./issue-certificate.ts');
  return issueCertificate(options);
}
