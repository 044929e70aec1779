/**
 * Signing mistakes that use a function other than HMAC-SHA256, or that encode its digest in a way other than standard
 * base64.
 */
import { createHash } from 'node:crypto';
import { type AlgorithmMistake, type EncodingMistake, type Row, rowsOf } from './mistake.ts';
import { hmac, toBase64 } from './sign.ts';

/** Sorted by likelihood. Where two mistakes give the same digest, the first one is reported. */
export const ALGORITHM_MISTAKES: readonly AlgorithmMistake[] = [
  ...rowsOf<Row<AlgorithmMistake>>('other-hmac-hash', 'computes the HMAC with', {
    'hmac-sha1': { what: 'SHA-1', common: true, digest: hmacWith('sha1') },
    'hmac-sha512': { what: 'SHA-512', common: true, digest: hmacWith('sha512') },
    'hmac-sha384': { what: 'SHA-384', common: true, digest: hmacWith('sha384') },
    'hmac-sha224': { what: 'SHA-224', digest: hmacWith('sha224') },
    'hmac-sha3-256': {
      what: 'SHA3-256',
      note: 'SHA-3 is another function, not a newer version of SHA-256.',
      digest: hmacWith('sha3-256'),
    },
    'hmac-md5': {
      what: 'MD5',
      note: 'MD5 is the default of some older HMAC libraries (Python 2, some shells).',
      common: true,
      digest: hmacWith('md5'),
    },
  }),
  {
    name: 'unkeyed-sha256',
    title: 'computes the plain SHA-256 of the body, without the secret',
    mistake: 'hash-instead-of-hmac',
    common: true,
    digest: (body) => sha256(body),
  },
  {
    name: 'secret-then-body',
    title: 'computes the SHA-256 of the secret followed by the body, not an HMAC',
    mistake: 'hash-instead-of-hmac',
    common: true,
    digest: (body, key) => sha256(key, body),
  },
  {
    name: 'body-then-secret',
    title: 'computes the SHA-256 of the body followed by the secret, not an HMAC',
    mistake: 'hash-instead-of-hmac',
    common: true,
    digest: (body, key) => sha256(body, key),
  },
  {
    name: 'swapped-arguments',
    title: 'uses the body as the key and the secret as the message',
    mistake: 'swapped-hmac-arguments',
    common: true,
    digest: (body, key) => hmac(key, body),
  },
];

/** Sorted by likelihood. Where two encodings give the same text, the first one is reported. */
export const ENCODING_MISTAKES: readonly EncodingMistake[] = [
  {
    name: 'hex',
    title: 'writes the digest as hexadecimal, not as base64',
    mistake: 'wrong-digest-encoding',
    common: true,
    encode: hex,
  },
  {
    name: 'prefixed-hex',
    title: 'writes the digest as "sha256=" and hexadecimal, not as base64',
    mistake: 'foreign-signature-format',
    common: true,
    encode: (digest) => `sha256=${hex(digest)}`,
  },
  {
    name: 'unpadded-base64',
    title: 'drops the "=" padding of the base64',
    mistake: 'base64-variant',
    note: 'The header may have been split or trimmed at "=".',
    common: true,
    encode: (digest) => toBase64(digest).replace(/={1,2}$/, ''),
  },
  {
    name: 'base64url',
    title: 'writes the digest in the URL-safe base64 alphabet without padding',
    mistake: 'base64-variant',
    common: true,
    encode: (digest) => digest.toString('base64url'),
  },
  {
    name: 'padded-base64url',
    title: 'writes the digest in the URL-safe base64 alphabet',
    mistake: 'base64-variant',
    common: true,
    encode: (digest) => toBase64(digest).replaceAll('+', '-').replaceAll('/', '_'),
  },
  {
    name: 'base64-of-hex',
    title: 'encodes the hexadecimal text in base64, not the raw digest',
    mistake: 'wrong-digest-encoding',
    note: 'The HMAC function returned hexadecimal (PHP, Ruby), and its text was encoded once more.',
    common: true,
    encode: (digest) => base64OfText(hex(digest)),
  },
  {
    name: 'upper-hex',
    title: 'writes the digest as upper-case hexadecimal, not as base64',
    mistake: 'wrong-digest-encoding',
    encode: (digest) => hex(digest).toUpperCase(),
  },
  {
    name: 'prefixed-base64',
    title: 'writes "sha256=" before the base64',
    mistake: 'foreign-signature-format',
    encode: (digest) => `sha256=${toBase64(digest)}`,
  },
  {
    name: 'double-base64',
    title: 'encodes the digest in base64 twice',
    mistake: 'wrong-digest-encoding',
    note: 'The HMAC function already returned Base64.',
    encode: (digest) => base64OfText(toBase64(digest)),
  },
  {
    name: 'percent-encoded',
    title: 'percent-encodes the base64 as for a URL',
    mistake: 'signature-treated-as-url-text',
    encode: (digest) => encodeURIComponent(toBase64(digest)),
  },
  {
    name: 'plus-as-space',
    title: 'turns each "+" of the base64 into a space',
    mistake: 'signature-treated-as-url-text',
    encode: (digest) => toBase64(digest).replaceAll('+', ' '),
  },
  {
    name: 'lower-case-base64',
    title: 'writes the base64 in lower case',
    mistake: 'signature-letter-case',
    encode: (digest) => toBase64(digest).toLowerCase(),
  },
  {
    name: 'base64-of-text',
    title: 'turns the raw digest into text before encoding it',
    mistake: 'digest-handled-as-text',
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
