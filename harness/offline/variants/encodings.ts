/** How the digest is written into the header. Specification: HMAC signature (Base64, standard). */
import type { Variant } from './variant.ts';

export interface EncodingVariant extends Variant {
  readonly encode: (digest: Buffer) => string;
}

/** The right one: the standard alphabet, with padding. */
export const BASE64 = (digest: Buffer): string => digest.toString('base64');

const hex = (digest: Buffer): string => digest.toString('hex');
const unpadded = (text: string): string => text.replace(/=+$/, '');
const again = (text: string): string => Buffer.from(text).toString('base64');

const USE_BASE64 =
  "Write the raw digest in standard base64 with padding: digest('base64') in Node, base64.b64encode(mac.digest()) in Python, " +
  'base64_encode(hash_hmac(..., true)) in PHP, Base64.strict_encode64 in Ruby, Convert.ToBase64String in C#.';

export const ENCODINGS: readonly EncodingVariant[] = [
  {
    name: 'hex',
    title: 'the digest is written as hexadecimal, not as base64',
    why: 'Hexadecimal is what several well-known services use and what most tutorials and hexdigest helpers give.',
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
    encode: (digest) => unpadded(BASE64(digest)),
  },
  {
    name: 'base64url',
    title: 'the digest is written in the URL-safe base64 alphabet without padding',
    why: 'The base64 of web tokens has - and _ where the standard has + and /, and drops the padding.',
    fix: USE_BASE64,
    common: true,
    encode: (digest) => digest.toString('base64url'),
  },
  {
    name: 'padded-base64url',
    title: 'the digest is written in the URL-safe base64 alphabet',
    why: 'Helpers such as urlsafe_b64encode have - and _ where the standard has + and /.',
    fix: USE_BASE64,
    common: true,
    encode: (digest) => `${digest.toString('base64url')}${'='.repeat((3 - (digest.length % 3)) % 3)}`,
  },
  {
    name: 'base64-of-hex',
    title: 'the base64 is made from the hexadecimal text, not from the raw digest',
    why: 'The HMAC helper returns hexadecimal by default (PHP, Ruby, many libraries) and its text was encoded once more.',
    fix: `Ask the HMAC helper for raw bytes first. ${USE_BASE64}`,
    common: true,
    encode: (digest) => again(hex(digest)),
  },
  {
    name: 'upper-hex',
    title: 'the digest is written as upper-case hexadecimal, not as base64',
    why: 'Helpers such as Convert.ToHexString write upper-case hexadecimal.',
    fix: USE_BASE64,
    encode: (digest) => hex(digest).toUpperCase(),
  },
  {
    name: 'prefixed-base64',
    title: 'the base64 has "sha256=" in front of it',
    why: 'The prefix of X-Hub-Signature-256 was kept and only its encoding was changed.',
    fix: 'Leave the prefix out: the header holds the base64 text and nothing else.',
    encode: (digest) => `sha256=${BASE64(digest)}`,
  },
  {
    name: 'double-base64',
    title: 'the digest is encoded in base64 twice',
    why: 'The helper already returned base64, and its text was encoded once more.',
    fix: 'Encode once.',
    encode: (digest) => again(BASE64(digest)),
  },
  {
    name: 'percent-encoded',
    title: 'the base64 is percent-encoded as for a URL',
    why: 'The value went through a URL or form encoder on its way into the header.',
    fix: 'Put the base64 text into the header as it is.',
    encode: (digest) => encodeURIComponent(BASE64(digest)),
  },
  {
    name: 'plus-as-space',
    title: 'the "+" characters of the base64 have become spaces',
    why: 'The value went through a form or query decoder, which reads "+" as a space.',
    fix: 'Take the header value as it is, without any URL decoding.',
    encode: (digest) => BASE64(digest).replaceAll('+', ' '),
  },
  {
    name: 'lower-case-base64',
    title: 'the base64 is in lower case',
    why: 'Headers or signatures are lower-cased on the way, a habit from hexadecimal. In base64 letter case is data.',
    fix: 'Keep the letter case of the header value, and compare with regard to it.',
    encode: (digest) => BASE64(digest).toLowerCase(),
  },
  {
    name: 'base64-of-text',
    title: 'the raw digest was turned into text before it was encoded',
    why: 'The digest bytes were decoded as UTF-8 text, which replaces most of them.',
    fix: `Keep the digest as bytes until it is encoded. ${USE_BASE64}`,
    encode: (digest) => again(digest.toString('utf8')),
  },
];
