/** Mutants that accept other values as a signature or as an API key: digests, checksums, patterns, similar bytes. */
import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { NOTIFICATION_TYPES } from '../contract/index.ts';
import { hmac } from '../contract/signing/index.ts';
import { requestHeader } from '../receiver/stages/stage.ts';
import { acceptWithoutCheck, KEY } from './api-key-check.ts';
import { family } from './family.ts';
import type { StageFault } from './fault.ts';
import {
  alsoAccept,
  bytesOf,
  computed,
  matchesWildcards,
  matching,
  SIGNATURE,
  signed,
  unverified,
} from './lenient-verifier.ts';

const HAVE_SECRETS: ReadonlySet<unknown> = new Set(NOTIFICATION_TYPES);

const OTHER_HEADERS = ['X-Webhook-Signature', 'Webhook-Signature', 'X-Shopify-Hmac-SHA256', 'Signature'];

const sorted = (unsorted: Buffer) => Buffer.from(unsorted).sort().toString('latin1');
const sevenBits = (text: string) => Buffer.from([...Buffer.from(text, 'latin1')].map((byte) => byte & 0x7f)).toString();

/** Returns the entries of a header that is read as a list. */
const entriesOf = (header: string) => header.split(/[,;|]/).flatMap((entry) => entry.trim() || []);

/** Returns the bytes of a digest before its first zero byte. */
const untilZero = (digest: string) => bytesOf(digest).toString('latin1').split('\0')[0];

export const signatureValuesFaults = family<StageFault>(
  { ...SIGNATURE, mistake: 'several-signatures' },
  {
    'every-signature-of-an-empty-list': [
      'Reads the signature as a list, and accepts an empty list',
      alsoAccept(({ header = '' }) => header !== '' && entriesOf(header).length === 0),
      { note: 'A comma as the signature is enough.' },
    ],
    'empty-secret-for-other-types': [
      'Accepts a signature made with an empty secret if the type is not one that it knows',
      alsoAccept(
        (delivery) => delivery.header === signed('', delivery.body) && !HAVE_SECRETS.has(unverified(delivery).type),
      ),
      'unset-secret',
    ],
    'prefix-without-signature-accepted': [
      'Accepts a signature prefix with nothing after it',
      alsoAccept(({ header = '' }) => /^(?:sha256=|v1,)$/.test(header)),
      'foreign-signature-format',
      { note: 'After the prefix is removed, an empty rest counts as a missing, optional signature.' },
    ],
    'md5-in-hex-accepted': [
      'Also accepts an HMAC-MD5 in hexadecimal',
      alsoAccept(computed((secret, body) => hmac(body, secret, 'md5').toString('hex'))),
      'other-hmac-hash',
    ],
    'checksum-accepted': [
      'Accepts an unkeyed checksum of the body as the signature',
      alsoAccept(
        ({ header, body }) =>
          header === crc32(body).toString(16).padStart(8, '0') ||
          header === createHash('md5').update(body).digest('base64'),
      ),
      'hash-instead-of-hmac',
    ],
    'repeated-signature-not-compared': [
      'Does not compare a signature header that occurs twice',
      alsoAccept(({ header = '' }) => /^\S{44}, ?\S{44}$/.test(header)),
      { note: 'A check for strings only does not look at an array, so sending the header twice is enough.' },
    ],
    'word-instead-of-signature': [
      'Accepts a word such as "test" or "skip" as the signature',
      alsoAccept(({ header = '' }) => header === 'test' || header === 'skip'),
      'test-mode-from-request',
    ],
    'signature-put-into-sql': [
      'Inserts the signature into the text of an SQL query',
      alsoAccept(({ header = '' }) => /'\s*or\s*'1'='1/i.test(header)),
      'signature-used-as-pattern',
      {
        equivalentTo: {
          name: 'signature-looked-up-with-like',
          reason: 'Both accept a text that a query reads as a pattern; the report names the text.',
        },
      },
    ],
    'digests-compared-as-c-strings': [
      'Compares the digests up to their first zero byte',
      alsoAccept(matching((header, expected) => header.length === 44 && untilZero(header) === untilZero(expected))),
      'digest-handled-as-text',
      { note: 'One digest in 256 begins with a zero byte.', comesAndGoes: true },
    ],
    'api-key-as-signature': [
      'Accepts the API key as the signature',
      alsoAccept(({ header = '', apiKeys }) => apiKeys.includes(header)),
      'confused-credentials',
      { needs: ['hmac', 'api-key'] },
    ],
    'signature-looked-up-with-like': [
      'Uses the signature in a database query, where another text matches as well',
      alsoAccept(matching((header, expected) => header !== '' && matchesWildcards(expected, header, '%', '_'))),
      'signature-used-as-pattern',
    ],
    'folded-body-verified': [
      'Also verifies the body in lower case',
      alsoAccept(computed((secret, body) => signed(secret, Buffer.from(body.toString('utf8').toLowerCase())))),
      'raw-body-fallback',
    ],
    'ignores-byte-order': [
      'Compares the bytes of the two digests regardless of their order',
      alsoAccept(
        matching((header, expected) => header.length === 44 && sorted(bytesOf(header)) === sorted(bytesOf(expected))),
      ),
      'hand-written-comparison',
    ],
    'compares-seven-bits': [
      'Ignores the highest bit of each character of the signature',
      alsoAccept(matching((header, expected) => header !== '' && sevenBits(header) === expected)),
      'digest-handled-as-text',
    ],
    'secret-cut-accepted': [
      'Also accepts signatures with the first 16 characters of the secret',
      alsoAccept(computed((secret, body) => signed(secret.slice(0, 16), body))),
      'shortened-secret',
    ],
    'placeholder-secret-accepted': [
      'Also accepts signatures with the secret "webhook-secret"',
      alsoAccept(({ header, body }) => header === signed('webhook-secret', body)),
      'well-known-secret',
    ],
    'signature-in-sender-headers': [
      'Also takes the signature from the headers of other senders',
      alsoAccept(({ req, expected }) => OTHER_HEADERS.some((name) => expected.includes(req.get(name) ?? ''))),
      'other-signature-place',
    ],
    'signature-in-underscore-name': [
      'Also takes the signature from a header with underscores',
      alsoAccept(({ req, expected }) => expected.includes(String(requestHeader(req, 'x_service_signature')))),
      'other-signature-place',
      { needs: ['hmac', 'api-key'] },
    ],
  },
);

export const keyValuesFaults = family<StageFault>(KEY, {
  'every-key-of-an-empty-list': [
    'Reads the API key as a list, and accepts an empty list',
    acceptWithoutCheck(({ given }) => typeof given === 'string' && given !== '' && entriesOf(given).length === 0),
    'key-as-list',
  ],
  'api-key-matched-as-glob': [
    'Reads the API key as a glob pattern',
    acceptWithoutCheck(({ given, config }) => {
      if (typeof given !== 'string' || !/^\?+$/.test(given)) return false;
      return config.keys.some((key) => key.length === given.length);
    }),
    'key-as-pattern',
  ],
  'api-key-order-ignored': [
    'Compares the characters of the API key regardless of their order',
    acceptWithoutCheck(({ given, config }) => {
      if (typeof given !== 'string') return false;
      return config.keys.some((key) => sorted(Buffer.from(key)) === sorted(Buffer.from(given)));
    }),
    'derived-key-comparison',
  ],
  'api-key-in-underscore-name': [
    'Also takes the API key from a header with underscores',
    acceptWithoutCheck(({ req, config }) => config.keys.includes(String(requestHeader(req, 'x_api_key')))),
    'key-from-other-place',
    { needs: ['hmac', 'api-key'] },
  ],
});
