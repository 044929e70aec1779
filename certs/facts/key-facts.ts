/**
 * Reads public keys and signature algorithms: type, size, and strength for TLS. Translates object identifiers to names.
 * Specification: TLS.
 */

import type { KeyObject, X509Certificate } from 'node:crypto';
import { LIMITS } from '../../contract/index.ts';
import { type DerElement, readElements, readObjectId, readParts, TAG } from '../der.ts';

export interface KeyFacts {
  readonly kind: 'rsa' | 'ec' | 'ed25519' | 'ed448' | 'dsa' | 'other';
  /** Size of the modulus or of the curve, in bits. Null when unknown. */
  readonly bits: number | null;
  /** Name of the curve: `P-256`, or the OpenSSL name (`secp256k1`). Null for other key types. */
  readonly curve: string | null;
}

/**
 * `weak` is below the minimum of the specification, `unusual` is strong but rarely supported, and `unknown` is not used
 * in TLS.
 */
type KeyStrength = 'good' | 'unusual' | 'weak' | 'unknown';

const CURVES: Readonly<Record<string, string>> = { prime256v1: 'P-256', secp384r1: 'P-384', secp521r1: 'P-521' };
/** Curves that TLS 1.3 supports in certificates (RFC 8446, 4.2.3). */
const TLS_CURVES: readonly (string | null)[] = Object.values(CURVES);

const KINDS: Readonly<Record<string, KeyFacts['kind']>> = {
  rsa: 'rsa',
  'rsa-pss': 'rsa',
  ec: 'ec',
  ed25519: 'ed25519',
  ed448: 'ed448',
  dsa: 'dsa',
};
const UNKNOWN: KeyFacts = { kind: 'other', bits: null, curve: null };

/**
 * Minimum size of an elliptic curve, in bits. A curve of 224 bits is as strong as RSA with 2048 bits (NIST SP 800-57,
 * part 1, table 2), but TLS 1.3 has no such curve, and no client offers one in TLS 1.2.
 */
export const MINIMUM_CURVE_BITS = 224;

/** Returns the key of a certificate. Returns undefined when OpenSSL does not support the key or the key is damaged. */
export function publicKeyOf(certificate: X509Certificate): KeyObject | undefined {
  try {
    return certificate.publicKey;
  } catch {
    return undefined;
  }
}

/** Returns the type and size of a key. If the key is undefined, the type is `other`. */
export function keyFactsOf(key: KeyObject | undefined): KeyFacts {
  if (key === undefined) return UNKNOWN;
  const kind = KINDS[key.asymmetricKeyType ?? ''] ?? 'other';
  const { modulusLength, namedCurve } = key.asymmetricKeyDetails ?? {};
  // The name of a curve contains its size: prime256v1, secp384r1, brainpoolP224r1.
  const size = modulusLength ?? /\d{3}/.exec(namedCurve ?? '')?.[0];
  const curve = namedCurve === undefined ? null : (CURVES[namedCurve] ?? namedCurve);
  return { kind, bits: size === undefined ? null : Number(size), curve };
}

export function keyStrength({ kind, bits, curve }: KeyFacts): KeyStrength {
  switch (kind) {
    case 'rsa':
      return (bits ?? 0) >= LIMITS.minimumRsaBits ? 'good' : 'weak';
    case 'ec':
      if (TLS_CURVES.includes(curve)) return 'good';
      // A curve without a known size counts as weak.
      return (bits ?? 0) >= MINIMUM_CURVE_BITS ? 'unusual' : 'weak';
    case 'ed25519':
    case 'ed448':
      return 'unusual';
    case 'dsa':
      return 'weak';
    case 'other':
      return 'unknown';
  }
}

const TYPES: Readonly<Record<string, string>> = { ed25519: 'Ed25519', ed448: 'Ed448' };

/** Describes a key: `RSA with 2048 bits`, `EC on P-256`, `Ed25519`. */
export function keyInWords(key: KeyObject): string {
  const { bits, curve } = keyFactsOf(key);
  if (curve !== null) return `EC on ${curve}`;
  const type = key.asymmetricKeyType ?? '';
  const name = TYPES[type] ?? type.toUpperCase();
  return bits === null ? name : `${name} with ${bits} bits`;
}

const HASHES: Readonly<Record<string, string>> = {
  '1.2.840.113549.2.5': 'md5',
  '1.3.14.3.2.26': 'sha1',
  '2.16.840.1.101.3.4.2.1': 'sha256',
  '2.16.840.1.101.3.4.2.2': 'sha384',
  '2.16.840.1.101.3.4.2.3': 'sha512',
  '2.16.840.1.101.3.4.2.4': 'sha224',
};

const RSA_PSS = '1.2.840.113549.1.1.10';

const SIGNATURES: Readonly<Record<string, string>> = {
  '1.2.840.113549.1.1.2': 'rsa-md2',
  '1.2.840.113549.1.1.3': 'rsa-md4',
  '1.2.840.113549.1.1.4': 'rsa-md5',
  '1.2.840.113549.1.1.5': 'rsa-sha1',
  '1.3.14.3.2.29': 'rsa-sha1',
  '1.2.840.113549.1.1.11': 'rsa-sha256',
  '1.2.840.113549.1.1.12': 'rsa-sha384',
  '1.2.840.113549.1.1.13': 'rsa-sha512',
  '1.2.840.113549.1.1.14': 'rsa-sha224',
  '1.2.840.10045.4.1': 'ecdsa-sha1',
  '1.2.840.10045.4.3.1': 'ecdsa-sha224',
  '1.2.840.10045.4.3.2': 'ecdsa-sha256',
  '1.2.840.10045.4.3.3': 'ecdsa-sha384',
  '1.2.840.10045.4.3.4': 'ecdsa-sha512',
  '1.2.840.10040.4.3': 'dsa-sha1',
  '2.16.840.1.101.3.4.3.1': 'dsa-sha224',
  '2.16.840.1.101.3.4.3.2': 'dsa-sha256',
  '1.3.101.112': 'ed25519',
  '1.3.101.113': 'ed448',
};

/**
 * Returns the name of a signature algorithm, such as `ecdsa-sha256`, `rsa-sha1`, `rsa-pss-sha256` or `ed25519`. Returns
 * the object identifier of an unknown one.
 */
export function readSignatureAlgorithm(element: DerElement | undefined): string {
  const [id, parameters] = readParts(element, TAG.sequence, 'its signature algorithm');
  const algorithm = readObjectId(id, 'its signature algorithm');
  if (algorithm !== RSA_PSS) return SIGNATURES[algorithm] ?? algorithm;
  // The hash is in the parameter [0]. Without it, the hash is SHA-1 (RFC 4055, 3.1).
  const hash =
    parameters?.tag === TAG.sequence ? readElements(parameters.content).find(({ tag }) => tag === 0xa0) : null;
  if (hash === undefined || hash === null) return 'rsa-pss-sha1';
  const [hashId] = readParts(readElements(hash.content)[0], TAG.sequence, 'the hash of its signature');
  const name = readObjectId(hashId, 'the hash of its signature');
  return `rsa-pss-${HASHES[name] ?? name}`;
}

/** Returns true for known algorithms. Signatures with unknown algorithms cannot be verified. */
export function isKnownSignature(signature: string): boolean {
  return /^[a-z]/.test(signature);
}

/**
 * Returns the name of the hash in a signature algorithm if the hash is broken, such as `SHA-1`. Returns null otherwise.
 */
export function weakHashOf(signature: string): string | null {
  const hash = /-(md2|md4|md5|sha1)$/.exec(signature)?.[1];
  if (hash === undefined) return null;
  return hash === 'sha1' ? 'SHA-1' : hash.toUpperCase();
}

/** Object identifiers of extended key usages. */
export const USAGE_IDS = {
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
  codeSigning: '1.3.6.1.5.5.7.3.3',
  emailProtection: '1.3.6.1.5.5.7.3.4',
  timeStamping: '1.3.6.1.5.5.7.3.8',
  OCSPSigning: '1.3.6.1.5.5.7.3.9',
  anyExtendedKeyUsage: '2.5.29.37.0',
} as const;

const USAGES: ReadonlyMap<string, string> = new Map(Object.entries(USAGE_IDS).map(([name, id]) => [id, name]));

/** Returns the name of an extended key usage, or its identifier. */
export function usageName(id: string): string {
  return USAGES.get(id) ?? id;
}
