import { crc32 } from 'node:zlib';
import { hmac } from '../../contract/signing/index.ts';
import {
  asHex,
  digest,
  encodedAs,
  headerText,
  joined,
  keyed,
  type SigningScheme,
  signatureUnder,
  written,
} from '../changes/signing.ts';
import type { Change, Kit, Scenario, SignChange } from '../scenario.ts';
import { family } from './family.ts';
import { oneByOne, rejected, sending } from './signature-family.ts';

/** Sends one delivery for each value of the signature header. */
const eachValue = (values: Readonly<Record<string, SignChange['make']>>) =>
  oneByOne(Object.entries(values).map(([label, make]) => ({ label, make })));

/** Writes a digest in base64. */
const inBase64 = (bytes: (body: Uint8Array, kit: Kit) => Buffer, shell?: string) =>
  sending((body, kit) => written(bytes(body, kit), kit), shell);

const SECRET = '"$HOOKPROOF_SECRET"';

const otherHmac = (algorithm: string) =>
  inBase64((body, kit) => keyed(body, kit, kit.secret, algorithm), signatureUnder(SECRET, algorithm));
const inHex = (algorithm: string) => (body: Uint8Array, kit: Kit) =>
  keyed(body, kit, kit.secret, algorithm).toString('hex');
const hashInHex = (algorithm: string) => (body: Uint8Array) => digest(algorithm, body).toString('hex');

const SHA256 = 'openssl dgst -sha256 -binary | openssl base64 -A';
const hashOfBody = inBase64((body) => digest('sha256', body), SHA256);
const hashOfSecretAndBody = inBase64(
  (body, kit) => digest('sha256', kit.secret, body),
  `${joined(`printf %s ${SECRET}`, 'cat')} | ${SHA256}`,
);
const hashOfBodyAndSecret = inBase64(
  (body, kit) => digest('sha256', body, kit.secret),
  `${joined('cat', `printf %s ${SECRET}`)} | ${SHA256}`,
);
const keyAndBodySwapped = inBase64((body, kit) => hmac(Buffer.from(kit.secret), body));

const sha1Prefix = sending(
  (body, kit) => `sha1=${inHex('sha1')(body, kit)}`,
  joined("printf %s 'sha1='", asHex(`openssl dgst -sha1 -hmac ${SECRET}`, 160)),
);
const sha512Prefix = sending(
  (body, kit) => `sha512=${keyed(body, kit, kit.secret, 'sha512').toString('base64')}`,
  joined("printf %s 'sha512='", signatureUnder(SECRET, 'sha512')),
);

/** The valid secret and body with other algorithms, checksums that need no secret, and the API key. */
export function otherAlgorithms(scheme: SigningScheme): Scenario[] {
  const halfDigest = (label: string): Change => ({
    sign: encodedAs(
      label,
      (bytes) => bytes.subarray(0, 16).toString('base64'),
      `${scheme.digestShell} -binary | head -c 16 | openssl base64 -A`,
    ),
  });
  return [
    ...family(rejected(scheme, 'algorithm', 'encoding'), {
      'other-digests-in-hex': [
        'an HMAC with MD5, SHA-1, SHA-224 or SHA-512 in hexadecimal',
        eachValue({
          'HMAC-MD5 in hexadecimal': inHex('md5'),
          'HMAC-SHA-1 in hexadecimal': inHex('sha1'),
          'HMAC-SHA-224 in hexadecimal': inHex('sha224'),
          'HMAC-SHA-512 in hexadecimal': inHex('sha512'),
        }),
        'other-hmac-hash',
      ],
    }),
    ...family(rejected(scheme, 'algorithm', 'invalid'), {
      checksums: [
        'checksums and unkeyed hashes of the body as the signature',
        eachValue({
          'the CRC-32 of the body': (body) => crc32(body).toString(16).padStart(8, '0'),
          'the CRC-32 of the body in decimal': (body) => String(crc32(body)),
          'the sum of the bytes': (body) => String(body.reduce((sum, byte) => sum + byte, 0)),
          'the MD5 of the body in hexadecimal': hashInHex('md5'),
          'the SHA-1 of the body in hexadecimal': hashInHex('sha1'),
          'the SHA-256 of the body in hexadecimal': hashInHex('sha256'),
        }),
        'hash-instead-of-hmac',
      ],
    }),
    ...family(rejected(scheme, 'invalid'), {
      'api-key-as-signature': [
        'the API key as the signature',
        eachValue({
          'the API key': (_body, kit) => headerText(kit.apiKey),
          'the API key in Base64': (_body, kit) => Buffer.from(kit.apiKey).toString('base64'),
          'Bearer and the API key': (_body, kit) => `Bearer ${headerText(kit.apiKey)}`,
        }),
        'confused-credentials',
        { requirements: [scheme.requirements.invalid, 'features-independent'], needs: [scheme.feature, 'api-key'] },
      ],
    }),
    ...family(
      { ...rejected(scheme, 'algorithm'), mistake: 'other-hmac-hash' },
      {
        'hmac-sha1': ['an HMAC with SHA-1', otherHmac('sha1')],
        'hmac-sha512': [
          'an HMAC with SHA-512',
          otherHmac('sha512'),
          { note: 'If the length of the value selects the hash function, the request selects it.' },
        ],
        'hmac-sha384': ['an HMAC with SHA-384', otherHmac('sha384')],
        'hmac-md5': ['an HMAC with MD5', otherHmac('md5')],
      },
    ),
    ...family(
      { ...rejected(scheme, 'algorithm', 'encoding'), mistake: 'algorithm-from-request' },
      {
        'sha1-prefix': ['an HMAC with SHA-1 in hexadecimal with the prefix "sha1="', sha1Prefix],
        'sha512-prefix': ['an HMAC with SHA-512 with the prefix "sha512="', sha512Prefix],
      },
    ),
    ...family(
      { ...rejected(scheme, 'algorithm'), mistake: 'hash-instead-of-hmac' },
      {
        'sha256-of-body': ['a SHA-256 of the body without a secret', hashOfBody],
        'sha256-secret-body': [
          'a SHA-256 of the secret followed by the body',
          hashOfSecretAndBody,
          { note: 'Length extension: one known delivery yields valid values for longer bodies.' },
        ],
        'sha256-body-secret': ['a SHA-256 of the body followed by the secret', hashOfBodyAndSecret],
        'key-and-body-swapped': ['an HMAC with body and secret swapped', keyAndBodySwapped, 'swapped-hmac-arguments'],
      },
    ),
    ...family(rejected(scheme, 'algorithm', 'encoding'), {
      'half-digest': [
        'the valid digest truncated to 16 bytes',
        halfDigest,
        'partial-comparison',
        { note: 'Truncated HMACs exist in other protocols; here all 32 bytes count.' },
      ],
    }),
  ];
}
