/** The kinds of keys that test certificates can have, in the words of Web Cryptography. */
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
