/** Whether a public key is strong enough for TLS. Specification: TLS (RSA of at least 2048 bits, or ECDSA of equal strength). */
import type { KeyObject } from 'node:crypto';
import { LIMITS } from '../../contract/index.ts';

/** The curves that TLS 1.3 has for certificates. RFC 8446, 4.2.3. */
const CURVES: ReadonlySet<string> = new Set(['prime256v1', 'secp384r1', 'secp521r1']);

/** The order of an equally strong curve, in bits. NIST SP 800-57 part 1, table 2. */
const LEAST_CURVE_BITS = 224;

/** `weak`: it is below what the specification asks for; `unusual`: strong enough, but many servers do not take it; `none`: TLS has no use for it. */
export type KeyStrength = 'good' | 'unusual' | 'weak' | 'none';

export function keyStrength(key: KeyObject): KeyStrength {
  const { modulusLength = 0, namedCurve = '' } = key.asymmetricKeyDetails ?? {};
  switch (key.asymmetricKeyType) {
    case 'rsa':
    case 'rsa-pss':
      return modulusLength >= LIMITS.minimumRsaBits ? 'good' : 'weak';
    case 'ec':
      if (CURVES.has(namedCurve)) return 'good';
      return Number(/\d{3}/.exec(namedCurve)?.[0] ?? 0) < LEAST_CURVE_BITS ? 'weak' : 'unusual';
    case 'ed25519':
    case 'ed448':
      return 'unusual';
    default:
      return 'none';
  }
}
