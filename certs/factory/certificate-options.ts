/** Options of a test certificate, and its algorithms in Web Cryptography. */
import type { webcrypto } from 'node:crypto';

export type ExtendedKeyUsage = 'serverAuth' | 'clientAuth';

export interface CertificateOptions {
  /** Subject: a distinguished name such as `CN=localhost, O=Example`, or the DER of a name, which is copied exactly. */
  readonly subject: string | Uint8Array;
  /** Issuer of the certificate. Default: the certificate is self-signed. */
  readonly issuer?: IssuedCertificate;
  /** Type of the key. Default: P-256. */
  readonly key?: KeyKind;
  /** Reuses the key pair of another certificate. */
  readonly keyOf?: IssuedCertificate;
  /** Makes the certificate a CA. `pathLength` is the maximum number of CAs below it. */
  readonly authority?: boolean;
  readonly pathLength?: number;
  /** Host names and IP addresses of the subject alternative name. Default: without this extension. */
  readonly hosts?: readonly string[];
  /** Extended key usages. Default: without this extension. */
  readonly usages?: readonly ExtendedKeyUsage[];
  /** Start of the validity. Default: yesterday; the certificate is valid for one year. */
  readonly notBefore?: Date;
  readonly notAfter?: Date;
  /** Hash of the signature. Default: SHA-256. */
  readonly hash?: Hash;
  /** URL of the issuer's certificate (caIssuers in the authority information access). */
  readonly issuerUrl?: string;
}

/** A certificate and its private key. `cert` and `key` are PEM, and `der` is the certificate as DER. */
export interface IssuedCertificate {
  readonly cert: string;
  /** The private key as PKCS#8. */
  readonly key: string;
  readonly der: Uint8Array;
  readonly keyKind: KeyKind;
  readonly issuer: IssuedCertificate | null;
}

export type KeyKind = 'rsa1024' | 'rsa2048' | 'rsa3072' | 'rsa4096' | 'p256' | 'p384' | 'p521' | 'ed25519';
export type Hash = 'SHA-1' | 'SHA-256' | 'SHA-384' | 'SHA-512';

const CURVES = { p256: 'P-256', p384: 'P-384', p521: 'P-521' } as const;

/** The parameters of `subtle.generateKey`. TypeScript before 5.7 does not read the inferred type. */
type KeyParameters = { name: string } | webcrypto.EcKeyGenParams | webcrypto.RsaHashedKeyGenParams;

/** Returns the algorithm for `subtle.generateKey`. */
export function keyAlgorithm(kind: KeyKind): KeyParameters {
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

/** Returns the algorithm for `subtle.sign`, given the type of the signer's key. */
export function signingAlgorithm(kind: KeyKind, hash: Hash) {
  if (kind === 'ed25519') return { name: 'Ed25519' };
  return kind.startsWith('rsa') ? { name: 'RSASSA-PKCS1-v1_5', hash } : { name: 'ECDSA', hash };
}
