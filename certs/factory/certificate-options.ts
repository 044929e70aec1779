/** The options of a test certificate, and its algorithms in Web Cryptography. */

export type ExtendedKeyUsage = 'serverAuth' | 'clientAuth';

export interface CertificateOptions {
  /** The distinguished name, for example `CN=localhost, O=Example`, or the DER of a name to copy exactly. */
  readonly subject: string | Uint8Array;
  /** The issuer. Absent: self-signed. */
  readonly issuer?: IssuedCertificate;
  /** Default: P-256. */
  readonly key?: KeyKind;
  /** Reuses the key pair of another certificate. */
  readonly keyOf?: IssuedCertificate;
  /** Whether it is a CA. `pathLength` is the number of CAs allowed below it. */
  readonly authority?: boolean;
  readonly pathLength?: number;
  /** Host names and IP addresses of the subject alternative name. Absent or empty: no such extension. */
  readonly hosts?: readonly string[];
  /** Absent: no extended key usage extension. */
  readonly usages?: readonly ExtendedKeyUsage[];
  /** Default: from yesterday for a year. */
  readonly notBefore?: Date;
  readonly notAfter?: Date;
  /** The hash of the signature. Default: SHA-256. */
  readonly hash?: Hash;
  /** The URL of the issuer's certificate (authority information access, caIssuers). */
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

export type KeyKind = 'rsa1024' | 'rsa2048' | 'rsa3072' | 'rsa4096' | 'p256' | 'p384' | 'p521' | 'ed25519';
export type Hash = 'SHA-1' | 'SHA-256' | 'SHA-384' | 'SHA-512';

const CURVES = { p256: 'P-256', p384: 'P-384', p521: 'P-521' } as const;

/** For `subtle.generateKey`. */
export function keyAlgorithm(kind: KeyKind) {
  switch (kind) {
    case 'ed25519':
      return { name: 'Ed25519' };
    case 'p256':
    case 'p384':
    case 'p521':
      return { name: 'ECDSA', namedCurve: CURVES[kind] };
    default:
      return {
        name: 'RSASSA-PKCS1-v1_5',
        modulusLength: Number(kind.slice('rsa'.length)),
        publicExponent: new Uint8Array([1, 0, 1]),
        hash: 'SHA-256',
      };
  }
}

/** For `subtle.sign`, by the kind of the signer's key. */
export function signingAlgorithm(kind: KeyKind, hash: Hash) {
  if (kind === 'ed25519') return { name: 'Ed25519' };
  return kind.startsWith('rsa') ? { name: 'RSASSA-PKCS1-v1_5', hash } : { name: 'ECDSA', hash };
}
