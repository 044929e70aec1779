/** Another function than HMAC-SHA256, or another encoding of its digest than standard base64. */
import { createHash } from 'node:crypto';
import type { AlgorithmMistake, EncodingMistake } from './mistake.ts';
import { hmac, toBase64 } from './sign.ts';

const USE_SHA256 = 'Use HMAC with SHA-256.';
const USE_HMAC =
  "Use the platform's HMAC function with SHA-256, the secret as its key and the body as its message. " +
  'A plain hash of secret and body is not an HMAC.';
const USE_BASE64 =
  "Write the raw digest in standard base64 with padding: digest('base64') in Node, " +
  'base64.b64encode(mac.digest()) in Python, base64_encode(hash_hmac(..., true)) in PHP, ' +
  'Base64.strict_encode64 in Ruby, Convert.ToBase64String in C#.';

/** By likelihood: where two mistakes give the same digest, the first one is reported. */
export const ALGORITHM_MISTAKES: readonly AlgorithmMistake[] = [
  {
    name: 'hmac-sha1',
    title: 'the HMAC was made with SHA-1',
    why: 'SHA-1 is the default or the example in older webhook code.',
    fix: USE_SHA256,
    common: true,
    digest: hmacWith('sha1'),
  },
  {
    name: 'hmac-sha512',
    title: 'the HMAC was made with SHA-512',
    why: 'Several payment services use SHA-512, and code for them was reused.',
    fix: USE_SHA256,
    common: true,
    digest: hmacWith('sha512'),
  },
  {
    name: 'hmac-sha384',
    title: 'the HMAC was made with SHA-384',
    why: 'Another member of the SHA-2 family was configured.',
    fix: USE_SHA256,
    common: true,
    digest: hmacWith('sha384'),
  },
  {
    name: 'hmac-sha224',
    title: 'the HMAC was made with SHA-224',
    why: 'Another member of the SHA-2 family was configured.',
    fix: USE_SHA256,
    digest: hmacWith('sha224'),
  },
  {
    name: 'hmac-sha3-256',
    title: 'the HMAC was made with SHA3-256',
    why: 'SHA-3 was taken for a newer version of SHA-256; it is another function.',
    fix: USE_SHA256,
    digest: hmacWith('sha3-256'),
  },
  {
    name: 'hmac-md5',
    title: 'the HMAC was made with MD5',
    why: 'MD5 is the default digest of some older HMAC libraries (Python 2, some shells).',
    fix: USE_SHA256,
    common: true,
    digest: hmacWith('md5'),
  },
  {
    name: 'unkeyed-sha256',
    title: 'the value is the plain SHA-256 of the body, without the secret',
    why: 'A hash function was used instead of an HMAC. Anyone can make such a value.',
    fix: USE_HMAC,
    common: true,
    digest: (body) => sha256(body),
  },
  {
    name: 'secret-then-body',
    title: 'the value is the SHA-256 of the secret followed by the body, not an HMAC',
    why: 'The HMAC was imitated by concatenation, which is open to length extension.',
    fix: USE_HMAC,
    common: true,
    digest: (body, key) => sha256(key, body),
  },
  {
    name: 'body-then-secret',
    title: 'the value is the SHA-256 of the body followed by the secret, not an HMAC',
    why: 'The HMAC was imitated by concatenation.',
    fix: USE_HMAC,
    common: true,
    digest: (body, key) => sha256(body, key),
  },
  {
    name: 'swapped-arguments',
    title: 'the body was used as the key and the secret as the message',
    why: 'HMAC functions disagree on the order of their arguments.',
    fix: USE_HMAC,
    common: true,
    digest: (body, key) => hmac(key, body),
  },
];

/** By likelihood: where two encodings of a digest are the same text, the first one is reported. */
export const ENCODING_MISTAKES: readonly EncodingMistake[] = [
  {
    name: 'hex',
    title: 'the digest is written as hexadecimal, not as base64',
    why: 'Several well-known services use hexadecimal, and so do most tutorials and hexdigest functions.',
    fix: USE_BASE64,
    common: true,
    encode: hex,
  },
  {
    name: 'prefixed-hex',
    title: 'the digest is written as "sha256=" and hexadecimal, not as base64',
    why: 'This is the form of X-Hub-Signature-256; code written for it was reused.',
    fix: USE_BASE64,
    common: true,
    encode: (digest) => `sha256=${hex(digest)}`,
  },
  {
    name: 'unpadded-base64',
    title: 'the base64 has lost its "=" padding',
    why: 'A base64 variant without padding was used, or the header was split or trimmed at "=".',
    fix: USE_BASE64,
    common: true,
    encode: (digest) => toBase64(digest).replace(/={1,2}$/, ''),
  },
  {
    name: 'base64url',
    title: 'the digest is written in the URL-safe base64 alphabet without padding',
    why: 'The base64 of web tokens has - and _ where the standard has + and /, and no padding.',
    fix: USE_BASE64,
    common: true,
    encode: (digest) => digest.toString('base64url'),
  },
  {
    name: 'padded-base64url',
    title: 'the digest is written in the URL-safe base64 alphabet',
    why: 'Functions such as urlsafe_b64encode write - and _ where the standard has + and /.',
    fix: USE_BASE64,
    common: true,
    encode: (digest) => toBase64(digest).replaceAll('+', '-').replaceAll('/', '_'),
  },
  {
    name: 'base64-of-hex',
    title: 'the base64 was made from the hexadecimal text, not from the raw digest',
    why: 'The HMAC function returns hexadecimal by default (PHP, Ruby), and its text was encoded once more.',
    fix: `Ask the HMAC function for raw bytes first. ${USE_BASE64}`,
    common: true,
    encode: (digest) => base64OfText(hex(digest)),
  },
  {
    name: 'upper-hex',
    title: 'the digest is written as upper-case hexadecimal, not as base64',
    why: 'Functions such as Convert.ToHexString write upper-case hexadecimal.',
    fix: USE_BASE64,
    encode: (digest) => hex(digest).toUpperCase(),
  },
  {
    name: 'prefixed-base64',
    title: 'the base64 has "sha256=" before it',
    why: 'The prefix of X-Hub-Signature-256 was kept, and only its encoding was changed.',
    fix: 'Remove the prefix: the header holds the base64 text and nothing else.',
    encode: (digest) => `sha256=${toBase64(digest)}`,
  },
  {
    name: 'double-base64',
    title: 'the digest was encoded in base64 twice',
    why: 'The HMAC function already returned base64, and its text was encoded once more.',
    fix: 'Encode once.',
    encode: (digest) => base64OfText(toBase64(digest)),
  },
  {
    name: 'percent-encoded',
    title: 'the base64 is percent-encoded as for a URL',
    why: 'The value went through a URL or form encoder before it was put into the header.',
    fix: 'Put the base64 text into the header as it is.',
    encode: (digest) => encodeURIComponent(toBase64(digest)),
  },
  {
    name: 'plus-as-space',
    title: 'the "+" characters of the base64 have become spaces',
    why: 'The value went through a form or query decoder, which reads "+" as a space.',
    fix: 'Use the header value as it is, without any URL decoding.',
    encode: (digest) => toBase64(digest).replaceAll('+', ' '),
  },
  {
    name: 'lower-case-base64',
    title: 'the base64 is in lower case',
    why: 'The signature was converted to lower case, as is usual for hexadecimal. In base64 the letter case is data.',
    fix: 'Keep the letter case of the header value, and compare it exactly.',
    encode: (digest) => toBase64(digest).toLowerCase(),
  },
  {
    name: 'base64-of-text',
    title: 'the raw digest was turned into text before it was encoded',
    why: 'The bytes of the digest were decoded as UTF-8 text, which replaces most of them.',
    fix: `Keep the digest as bytes until it is encoded. ${USE_BASE64}`,
    encode: (digest) => base64OfText(digest.toString('utf8')),
  },
];

function hmacWith(algorithm: string): AlgorithmMistake['digest'] {
  return (body, key) => hmac(body, key, algorithm);
}

function sha256(...parts: Uint8Array[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
}

function hex(digest: Buffer): string {
  return digest.toString('hex');
}

function base64OfText(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}
