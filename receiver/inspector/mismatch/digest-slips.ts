/** Other digests, and other spellings of a digest, than HMAC-SHA256 in standard base64. */
import { createHash, createHmac } from 'node:crypto';
import type { Slip } from './slip.ts';

type Bytes = string | Buffer;

export interface AlgorithmSlip extends Slip {
  readonly digest: (body: Bytes, key: Bytes) => Buffer;
}

export interface SpellingSlip extends Slip {
  readonly spell: (digest: Buffer) => string;
}

/** The right one. */
export function hmacSha256(body: Bytes, key: Bytes): Buffer {
  return createHmac('sha256', key).update(body).digest();
}

const other = (algorithm: string, title: string): AlgorithmSlip => ({
  name: `hmac-${algorithm}`,
  title: `The sender made the HMAC with ${title}.`,
  fix: 'Use HMAC with SHA-256.',
  digest: (body, key) => createHmac(algorithm, key).update(body).digest(),
});

const USE_HMAC = "Use the platform's HMAC function, with the secret as its key.";

export const ALGORITHM_SLIPS: readonly AlgorithmSlip[] = [
  other('sha1', 'SHA-1'),
  other('sha512', 'SHA-512'),
  other('sha384', 'SHA-384'),
  other('md5', 'MD5'),
  {
    name: 'plain-sha256',
    title: 'The sender sent the plain SHA-256 of the body, without the secret.',
    fix: `Anyone can make such a value. ${USE_HMAC}`,
    digest: (body) => createHash('sha256').update(body).digest(),
  },
  {
    name: 'secret-then-body',
    title: 'The sender hashed the secret followed by the body, which is no HMAC.',
    fix: USE_HMAC,
    digest: (body, key) => createHash('sha256').update(key).update(body).digest(),
  },
  {
    name: 'body-then-secret',
    title: 'The sender hashed the body followed by the secret, which is no HMAC.',
    fix: USE_HMAC,
    digest: (body, key) => createHash('sha256').update(body).update(key).digest(),
  },
  {
    name: 'swapped-arguments',
    title: 'The sender used the body as the key and the secret as the message.',
    fix: USE_HMAC,
    digest: (body, key) => hmacSha256(key, body),
  },
];

const USE_BASE64 = "Write the raw digest in standard base64 with padding, such as digest('base64') in Node.";
const again = (text: string): string => Buffer.from(text).toString('base64');

/** Each of them holds the whole digest. What holds a part of it would let a forger guess the rest. */
export const SPELLING_SLIPS: readonly SpellingSlip[] = [
  {
    name: 'hex',
    title: 'The sender wrote the digest as hexadecimal.',
    fix: USE_BASE64,
    spell: (digest) => digest.toString('hex'),
  },
  {
    name: 'upper-hex',
    title: 'The sender wrote the digest as hexadecimal, in upper case.',
    fix: USE_BASE64,
    spell: (digest) => digest.toString('hex').toUpperCase(),
  },
  {
    name: 'base64url',
    title: 'The sender wrote the digest in URL-safe base64 without padding.',
    fix: USE_BASE64,
    spell: (digest) => digest.toString('base64url'),
  },
  {
    name: 'padded-base64url',
    title: 'The sender wrote the digest in URL-safe base64.',
    fix: USE_BASE64,
    spell: (digest) => digest.toString('base64').replaceAll('+', '-').replaceAll('/', '_'),
  },
  {
    name: 'unpadded-base64',
    title: 'The sender wrote the digest in base64 without its "=" padding.',
    fix: USE_BASE64,
    spell: (digest) => digest.toString('base64').replace(/=+$/, ''),
  },
  {
    name: 'base64-of-hex',
    title: 'The sender encoded the hexadecimal text in base64, not the raw digest.',
    fix: USE_BASE64,
    spell: (digest) => again(digest.toString('hex')),
  },
  {
    name: 'double-base64',
    title: 'The sender encoded the digest in base64 twice.',
    fix: 'Encode once.',
    spell: (digest) => again(digest.toString('base64')),
  },
  {
    name: 'percent-encoded',
    title: 'The sender percent-encoded the base64 as for a URL.',
    fix: 'Put the base64 text into the header as it is.',
    spell: (digest) => encodeURIComponent(digest.toString('base64')),
  },
  {
    name: 'plus-as-space',
    title: 'The "+" characters of the base64 have become spaces.',
    fix: 'Leave URL decoding out: the header is no form field.',
    spell: (digest) => digest.toString('base64').replaceAll('+', ' '),
  },
];
