/** Mutants whose algorithm or secret differs from that of the sender. */
import { createHash, getHashes } from 'node:crypto';
import { refuseUnauthorized } from '../receiver/stages/stage.ts';
import { family } from './family.ts';
import type { StageFault } from './fault.ts';
import {
  acceptWhen,
  alsoAccept,
  bytesOf,
  computed,
  handleSome,
  hexOf,
  SIGNATURE,
  signed,
  spelled,
  unverified,
} from './lenient-verifier.ts';

const sha256 = (...parts: (string | Uint8Array)[]) => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('base64');
};

const HASHES = new Set(getHashes());

/** Runs the correct check, but also accepts signatures made with one of these secrets. */
const alsoSignedWith = (...secrets: readonly string[]) =>
  alsoAccept(({ header, body }) => secrets.some((secret) => header === signed(secret, body)));

export const signatureKeyFaults = family<StageFault>(
  { ...SIGNATURE, mistake: 'well-known-secret' },
  {
    // Mutants that also accept digests of another algorithm.
    'unkeyed-hash-accepted': [
      'Accepts a plain SHA-256 of the body, computed without the secret',
      alsoAccept(({ header, body }) => header === sha256(body)),
      'hash-instead-of-hmac',
    ],
    'hash-of-secret-and-body-accepted': [
      'Accepts a SHA-256 of the secret followed by the body',
      alsoAccept(computed((secret, body) => sha256(secret, body))),
      'hash-instead-of-hmac',
      { note: 'Length extension: one known delivery yields valid values for longer bodies.' },
    ],
    'hash-of-body-and-secret-accepted': [
      'Accepts a SHA-256 of the body followed by the secret',
      alsoAccept(computed((secret, body) => sha256(body, secret))),
      'hash-instead-of-hmac',
    ],
    'hmac-arguments-either-way': [
      'Also accepts an HMAC with secret and body swapped',
      alsoAccept(computed((secret, body) => signed(body, Buffer.from(secret)))),
      'swapped-hmac-arguments',
    ],
    'sha1-accepted': [
      'Accepts an HMAC with SHA-1 in addition to SHA-256',
      alsoAccept(computed((secret, body) => signed(secret, body, 'sha1'))),
      'other-hmac-hash',
    ],
    'algorithm-by-length': [
      'Selects the algorithm, from MD5 to SHA-512, by the length of the signature',
      alsoAccept(({ header = '', body, secrets }) => {
        const algorithm = { 16: 'md5', 20: 'sha1', 48: 'sha384', 64: 'sha512' }[bytesOf(header).length];
        return algorithm !== undefined && secrets.some((secret) => header === signed(secret, body, algorithm));
      }),
      'algorithm-from-request',
    ],
    'algorithm-by-prefix': [
      'Selects the algorithm by a prefix of the signature ("sha1=", "sha512=")',
      alsoAccept(({ header = '', body, secrets }) => {
        const [, algorithm = '', digest = ''] = /^([a-z0-9]+)=(.+)$/s.exec(header) ?? [];
        if (!HASHES.has(algorithm)) return false;
        return secrets.some((secret) => {
          const wanted = signed(secret, body, algorithm);
          return digest === wanted || digest === hexOf(wanted);
        });
      }),
      'algorithm-from-request',
    ],
    'half-digest-accepted': [
      'Accepts the valid digest truncated to its first 16 bytes',
      alsoAccept(spelled((one) => bytesOf(one).subarray(0, 16).toString('base64'))),
      'partial-comparison',
    ],
    // Mutants that also accept other secrets.
    'empty-secret-accepted': [
      'Accepts a signature made with an empty secret',
      alsoSignedWith(''),
      'unset-secret',
      { note: 'Typical of a second (rotated or per-tenant) secret that is not set.' },
    ],
    'secret-undefined-accepted': [
      'Accepts a signature made with the word "undefined" as the secret',
      alsoSignedWith('undefined'),
      'unset-secret',
    ],
    'secret-null-accepted': [
      'Accepts a signature made with the word "null" as the secret',
      alsoSignedWith('null', 'None'),
      'unset-secret',
      { note: 'The word comes from configuration that went through YAML, a template or a database.' },
    ],
    'default-secret-accepted': [
      'Accepts a signature made with a well-known default ("secret" or "password")',
      alsoSignedWith('secret', 'password'),
    ],
    'sample-secret-accepted': [
      'Accepts a signature made with the placeholder of a sample configuration',
      alsoSignedWith('changeme', 'your-secret'),
    ],
    'test-secret-accepted': [
      'Accepts a signature made with the secret that the tests use',
      alsoSignedWith('test-secret', 'whsec_test'),
    ],
    'masked-secret-accepted': ['Accepts a signature made with asterisks as the secret', alsoSignedWith('***')],
    'api-key-signs': [
      'Accepts a signature made with the API key as the secret',
      alsoAccept(({ header, body, apiKeys }) => apiKeys.some((key) => header === signed(key, body))),
      'confused-credentials',
      { note: 'Every request carries the API key: an attacker who sees one delivery can sign the next.' },
    ],
    'secret-with-line-end-accepted': [
      'Also accepts a signature made with the secret and a line ending',
      alsoAccept(computed((secret, body) => signed(`${secret}\n`, body))),
      'secret-with-extra-characters',
    ],
    'hashed-secret-accepted': [
      'Accepts a signature made with the SHA-256 of the secret',
      alsoAccept(computed((secret, body) => signed(hexOf(sha256(secret)), body))),
      'converted-secret',
      { note: 'Read access to the database is enough to forge deliveries.' },
    ],
    'half-secret-accepted': [
      'Accepts a signature made with the first half of the secret',
      alsoAccept(computed((secret, body) => signed(secret.slice(0, Math.floor(secret.length / 2)), body))),
      'shortened-secret',
    ],
    'decoded-secret-accepted': [
      'Also accepts a signature made with the Base64-decoded secret',
      alsoAccept(computed((secret, body) => signed(Buffer.from(secret, 'base64'), body))),
      'converted-secret',
      { note: 'Lenient decoding turns some secrets into a few bytes or none.' },
    ],
    'secret-from-request': [
      'Verifies with the secret that the request names in its query or body',
      alsoAccept((delivery) => {
        const inBody = unverified(delivery).secret;
        const named = [delivery.req.query.secret, inBody].filter((one) => typeof one === 'string');
        return named.some((secret) => delivery.header === signed(secret, delivery.body));
      }),
      'request-overwrites-state',
    ],
    // Mutants that accept the secret itself in the signature header.
    'secret-as-token': [
      'Accepts the secret itself in the signature header',
      alsoAccept(({ header, secrets }) => secrets.includes(header ?? '')),
      'confused-credentials',
    ],
    'encoded-secret-as-token': [
      'Accepts the secret in Base64, or as a bearer token, in the signature header',
      alsoAccept(({ header, secrets }) =>
        secrets.some((secret) => header === Buffer.from(secret).toString('base64') || header === `Bearer ${secret}`),
      ),
      'confused-credentials',
      { note: 'The value is the same for every body, so an intercepted one works forever.' },
    ],
    // Mutants that check with another algorithm or secret than agreed. They reject most or all valid deliveries.
    'expects-hex': [
      'Expects the signature in hexadecimal, so every valid delivery is rejected',
      acceptWhen(spelled(hexOf)),
      'wrong-digest-encoding',
    ],
    'expects-prefixed-hex': [
      'Expects the signature as "sha256=" and hexadecimal, so every valid delivery is rejected',
      acceptWhen(spelled((one) => `sha256=${hexOf(one)}`)),
      'foreign-signature-format',
    ],
    'expects-sha1': [
      'Expects an HMAC with SHA-1, so every valid delivery is rejected',
      acceptWhen(computed((secret, body) => signed(secret, body, 'sha1'))),
      'other-hmac-hash',
    ],
    'secret-decoded-first': [
      'Decodes the secret from Base64 before using it as the HMAC key, so every valid delivery is rejected',
      acceptWhen(computed((secret, body) => signed(Buffer.from(secret, 'base64'), body))),
      'converted-secret',
    ],
    'secret-cut-at-32': [
      'Truncates the secret to 32 characters, so every valid delivery is rejected',
      acceptWhen(computed((secret, body) => signed(secret.slice(0, 32), body))),
      'shortened-secret',
    ],
    'verifies-lower-case-body': [
      'Verifies the signature over the body in lower case, so valid deliveries are rejected',
      acceptWhen(computed((secret, body) => signed(secret, Buffer.from(body.toString('utf8').toLowerCase())))),
      'decoded-body',
    ],
    'old-deliveries-refused': [
      'Rejects deliveries whose time is more than a day ago as replays',
      handleSome((delivery) => {
        const { at } = unverified(delivery);
        const seconds = typeof at === 'number' ? at : Date.parse(String(at)) / 1000;
        const isOld = seconds < Date.now() / 1000 - 86_400;
        return isOld ? (_req, res) => refuseUnauthorized(res, 'signature-old') : null;
      }),
      'event-time-as-sending-time',
      { forbidden: false },
    ],
  },
);
