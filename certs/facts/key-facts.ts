/** Public keys: their kind, their size, and whether they are strong enough for TLS. Specification: TLS. */
import type { KeyObject, X509Certificate } from 'node:crypto';
import { LIMITS } from '../../contract/index.ts';

export interface KeyFacts {
  readonly kind: 'rsa' | 'ec' | 'ed25519' | 'ed448' | 'dsa' | 'other';
  /** Of the modulus, or of the curve; null when it is not known. */
  readonly bits: number | null;
  /** `P-256`, or as OpenSSL calls it (`secp256k1`); null for a key that is not elliptic. */
  readonly curve: string | null;
}

/** `weak`: it is below what the specification asks for; `unusual`: strong enough, but many do not take it; `unknown`: TLS has no use for it here. */
export type KeyStrength = 'good' | 'unusual' | 'weak' | 'unknown';

const CURVES: Readonly<Record<string, string>> = { prime256v1: 'P-256', secp384r1: 'P-384', secp521r1: 'P-521' };
/** The curves that TLS 1.3 has for certificates. RFC 8446, 4.2.3. */
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
 * The bits of an elliptic key at the least. On paper 224 are as strong as RSA with 2048 (NIST SP 800-57, part 1, table 2), but TLS 1.3 has no
 * such curve and no client offers one over TLS 1.2, so whoever has one is refused everywhere.
 */
export const MINIMUM_CURVE_BITS = 256;

/** The key of a certificate, or undefined when this OpenSSL does not know its kind, or it is damaged. */
export function publicKeyOf(certificate: X509Certificate): KeyObject | undefined {
  try {
    return certificate.publicKey;
  } catch {
    return undefined;
  }
}

/** Kind and size of a key; `other` for none. */
export function keyFactsOf(key: KeyObject | undefined): KeyFacts {
  if (key === undefined) return UNKNOWN;
  const kind = KINDS[key.asymmetricKeyType ?? ''] ?? 'other';
  const { modulusLength, namedCurve } = key.asymmetricKeyDetails ?? {};
  // The size of a curve is in its name: prime256v1, secp384r1, brainpoolP224r1.
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
      // A curve without a name, or with one that does not say its size, is one that nobody knows to be strong.
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

/** A key in words: `RSA with 2048 bits`, `EC on P-256`, `Ed25519`. */
export function keyInWords(key: KeyObject): string {
  const { bits, curve } = keyFactsOf(key);
  if (curve !== null) return `EC on ${curve}`;
  const type = key.asymmetricKeyType ?? '';
  const name = TYPES[type] ?? type.toUpperCase();
  return bits === null ? name : `${name} with ${bits} bits`;
}
