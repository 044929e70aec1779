/** How body and key become a digest. Specification: HMAC signature (SHA-256). */
import { createHash, createHmac } from 'node:crypto';
import type { Variant } from './variant.ts';

export interface AlgorithmVariant extends Variant {
  readonly digest: (body: Uint8Array, key: Uint8Array) => Buffer;
}

/** The right one. */
export function hmacSha256(body: Uint8Array, key: Uint8Array): Buffer {
  return createHmac('sha256', key).update(body).digest();
}

function otherHash(algorithm: string) {
  return (body: Uint8Array, key: Uint8Array): Buffer => createHmac(algorithm, key).update(body).digest();
}

function unkeyed(...parts: Uint8Array[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
}

const USE_SHA256 = 'Use HMAC with SHA-256.';
const USE_HMAC = "Use the platform's HMAC function with SHA-256; a plain hash with the secret glued on is not one.";

export const ALGORITHMS: readonly AlgorithmVariant[] = [
  {
    name: 'hmac-sha1',
    title: 'the HMAC is made with SHA-1',
    why: 'SHA-1 is the default or the example in older webhook code.',
    fix: USE_SHA256,
    common: true,
    digest: otherHash('sha1'),
  },
  {
    name: 'hmac-sha512',
    title: 'the HMAC is made with SHA-512',
    why: 'Several payment services use SHA-512, and code for them was reused.',
    fix: USE_SHA256,
    common: true,
    digest: otherHash('sha512'),
  },
  {
    name: 'hmac-sha384',
    title: 'the HMAC is made with SHA-384',
    why: 'Another member of the SHA-2 family was configured.',
    fix: USE_SHA256,
    digest: otherHash('sha384'),
  },
  {
    name: 'hmac-sha224',
    title: 'the HMAC is made with SHA-224',
    why: 'Another member of the SHA-2 family was configured.',
    fix: USE_SHA256,
    digest: otherHash('sha224'),
  },
  {
    name: 'hmac-sha3-256',
    title: 'the HMAC is made with SHA3-256',
    why: 'SHA-3 was taken for a newer SHA-256; it is another function.',
    fix: USE_SHA256,
    digest: otherHash('sha3-256'),
  },
  {
    name: 'hmac-md5',
    title: 'the HMAC is made with MD5',
    why: 'MD5 is the default digest of some older HMAC helpers (Python 2, some shells).',
    fix: USE_SHA256,
    digest: otherHash('md5'),
  },
  {
    name: 'unkeyed-sha256',
    title: 'it is the plain SHA-256 of the body, without the secret',
    why: 'A hash function was used where an HMAC is needed. Anyone can make such a value.',
    fix: USE_HMAC,
    common: true,
    digest: (body) => unkeyed(body),
  },
  {
    name: 'secret-then-body',
    title: 'it is the SHA-256 of the secret followed by the body, not an HMAC',
    why: 'The HMAC was imitated by concatenation, which is open to length extension.',
    fix: USE_HMAC,
    digest: (body, key) => unkeyed(key, body),
  },
  {
    name: 'body-then-secret',
    title: 'it is the SHA-256 of the body followed by the secret, not an HMAC',
    why: 'The HMAC was imitated by concatenation.',
    fix: USE_HMAC,
    digest: (body, key) => unkeyed(body, key),
  },
  {
    name: 'swapped-arguments',
    title: 'the body was used as the key and the secret as the message',
    why: 'HMAC helpers disagree on the order of their arguments.',
    fix: 'Give the secret as the key and the body as the message.',
    digest: (body, key) => hmacSha256(key, body),
  },
];
