/** Mutants that accept other values as a signature or as an API key: digests, checksums, patterns, similar bytes. */
import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { NOTIFICATION_TYPES } from '../contract/index.ts';
import { hmac } from '../contract/signing/index.ts';
import { requestHeader } from '../receiver/stages/stage.ts';
import { acceptWithoutCheck } from './api-key-check.ts';
import type { StageFault } from './fault.ts';
import { alsoAccept, lenientMutant, SIGNATURE, signed, unverified } from './lenient-verifier.ts';

const ONE_VALUE = {
  rule: 'Accept one value only: the Base64 of the HMAC-SHA256 of the body, compared as a whole in constant time.',
  express: 'Use `a.length === b.length && timingSafeEqual(a, b)` on two buffers, and delete every alternative.',
} as const;

const HAVE_SECRETS: ReadonlySet<unknown> = new Set(NOTIFICATION_TYPES);

const OTHER_HEADERS = ['X-Webhook-Signature', 'Webhook-Signature', 'X-Shopify-Hmac-SHA256', 'Signature'];

/** Whether a text matches a pattern of LIKE. */
function isLike(pattern: string, text: string): boolean {
  const source = pattern
    .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    .replaceAll('%', '.*')
    .replaceAll('_', '.');
  return new RegExp(`^${source}$`).test(text);
}

const sorted = (bytes: Buffer) => Buffer.from(bytes).sort().toString('latin1');
const sevenBits = (text: string) => Buffer.from([...Buffer.from(text, 'latin1')].map((byte) => byte & 0x7f)).toString();

/** The entries of a header that is read as a list. */
const entriesOf = (header: string) => header.split(/[,;|]/).flatMap((entry) => entry.trim() || []);

const ONE_OF_A_LIST = {
  rule: 'Compare the header as a whole. If a list is needed, require at least one valid entry.',
  express: 'Replace `entries.every(isValid)` with a comparison of the whole header.',
} as const;

/** The bytes of a digest before its first zero byte. */
const untilZero = (digest: string) => Buffer.from(digest, 'base64').toString('latin1').split('\0')[0];

export const signatureValuesFaults: readonly StageFault[] = [
  lenientMutant(({ header = '' }) => header !== '' && entriesOf(header).length === 0, {
    name: 'every-signature-of-an-empty-list',
    title: 'Reads the signature as a list, and accepts an empty list',
    seen: '`header.split(",").filter(Boolean).every(isValid)`, written for a rotation of the secret.',
    why: 'A comma as the signature is enough.',
    fix: ONE_OF_A_LIST,
  }),
  lenientMutant(
    (delivery) =>
      delivery.header === hmac(delivery.body, '').toString('base64') && !HAVE_SECRETS.has(unverified(delivery).type),
    {
      name: 'empty-secret-for-other-types',
      title: 'Accepts a signature made with an empty secret if the type is not one that it knows',
      seen: 'Secrets in a table by type or tenant, with "" where the table has no entry.',
      why: 'Anyone can sign with an empty secret, and the handler may accept types that it does not know.',
      fix: {
        rule: 'Choose the secret before the body is read, and reject a delivery without one.',
        express: 'Read one secret from the environment at start-up, and stop if it is missing or empty.',
      },
    },
  ),
  lenientMutant(({ header = '' }) => /^(?:sha256=|v1,)$/.test(header), {
    name: 'prefix-without-signature-accepted',
    title: 'Accepts a signature prefix with nothing after it',
    seen: 'Code that removes "sha256=" and treats an empty remainder as a missing, optional signature.',
    why: 'The prefix is publicly documented, and an attacker needs nothing else.',
    fix: ONE_VALUE,
  }),
  lenientMutant(
    ({ header, body, secrets }) => secrets.some((secret) => hmac(body, secret, 'md5').toString('hex') === header),
    {
      name: 'md5-in-hex-accepted',
      title: 'Also accepts an HMAC-MD5 in hexadecimal',
      seen: 'Fallbacks for older senders.',
      why: 'An attacker attacks the weakest algorithm that is accepted.',
      fix: ONE_VALUE,
    },
  ),
  lenientMutant(
    ({ header, body }) =>
      header === crc32(body).toString(16).padStart(8, '0') ||
      header === createHash('md5').update(body).digest('base64'),
    {
      name: 'checksum-accepted',
      title: 'Accepts an unkeyed checksum of the body as the signature',
      seen: 'Integrity checks (CRC-32, Content-MD5) that count as a signature.',
      why: 'Anyone can compute a checksum.',
      fix: ONE_VALUE,
    },
  ),
  lenientMutant(({ header = '' }) => /^\S{44}, ?\S{44}$/.test(header), {
    name: 'repeated-signature-not-compared',
    title: 'Does not compare a signature header that occurs twice',
    seen: '`if (typeof signature === "string" && !isValid(signature))` in frameworks that return a list of lines.',
    why: 'An attacker sends the header twice.',
    fix: {
      rule: 'Reject whatever is not a single valid signature.',
      express: 'Write the check so that only `isValid(signature)` being true continues.',
    },
  }),
  lenientMutant(({ header = '' }) => header === 'test' || header === 'skip', {
    name: 'word-instead-of-signature',
    title: 'Accepts a word such as "test" or "skip" as the signature',
    seen: 'Backdoors for end-to-end tests, which have no access to the secret.',
    why: 'An attacker guesses the word, or reads it in the tests.',
    fix: {
      rule: 'Delete the exception, and sign test deliveries with the secret of the test environment.',
      express: 'Remove the comparison of the header with a constant.',
    },
  }),
  lenientMutant(({ header = '' }) => /'\s*or\s*'1'='1/i.test(header), {
    name: 'signature-put-into-sql',
    title: 'Inserts the signature into the text of an SQL query',
    seen: "Receivers in low-code platforms and in the database, with `encode(hmac(...)) = '$signature'`.",
    why: "The signature `' OR '1'='1` is valid for every body.",
    fix: { rule: 'Use bound parameters.', express: 'Compare the strings in your own code.' },
    equivalentTo: {
      name: 'signature-looked-up-with-like',
      reason: 'Both accept a text that a query reads as a pattern; the report names the text.',
    },
  }),
  lenientMutant(
    ({ header = '', expected }) => header.length === 44 && expected.some((one) => untilZero(header) === untilZero(one)),
    {
      name: 'digests-compared-as-c-strings',
      title: 'Compares the digests up to their first zero byte',
      seen: 'strcmp and strncmp on binary digests in C extensions, as in the signature check of a game console.',
      why: 'One digest in 256 begins with a zero byte, and any signature that begins with one is valid for its body.',
      fix: ONE_VALUE,
      comesAndGoes: true,
    },
  ),
  {
    ...lenientMutant(({ header = '', apiKeys }) => apiKeys.includes(header), {
      name: 'api-key-as-signature',
      title: 'Accepts the API key as the signature',
      seen: 'One list of valid credentials for all headers.',
      why: 'The key is sent with every delivery and does not protect the body.',
      fix: { rule: 'Compare each header with its own credential.', express: 'Keep the two checks apart.' },
    }),
    needs: ['hmac', 'api-key'],
  },
  lenientMutant(({ header = '', expected }) => header !== '' && expected.some((one) => isLike(header, one)), {
    name: 'signature-looked-up-with-like',
    title: 'Uses the signature in a database query, where another text matches as well',
    seen: 'A table of expected signatures that is queried with the value of the header.',
    why: 'The signature "%" matches every row.',
    fix: { rule: 'Compare the strings in your own code.', express: 'Use `=` with a bound parameter, or no query.' },
  }),
  lenientMutant(
    ({ header, body, secrets }) => secrets.some((secret) => signed(secret, Buffer.from(fold(body))) === header),
    {
      name: 'folded-body-verified',
      title: 'Also verifies the body in lower case',
      seen: 'A second attempt with a normalised body, added for a proxy that changed it.',
      why: 'Bodies that differ in letter case share a signature, and many addresses are case-sensitive.',
      fix: { rule: 'Verify the bytes as received, once.', express: 'Remove the second attempt.' },
    },
  ),
  lenientMutant(
    ({ header = '', expected }) =>
      header.length === 44 &&
      expected.some((one) => sorted(Buffer.from(header, 'base64')) === sorted(Buffer.from(one, 'base64'))),
    {
      name: 'ignores-byte-order',
      title: 'Compares the bytes of the two digests regardless of their order',
      seen: 'A hand-written comparison that adds up, or counts, the bytes of both sides.',
      why: 'Every permutation of the digest is accepted.',
      fix: ONE_VALUE,
    },
  ),
  lenientMutant(({ header = '', expected }) => header !== '' && expected.includes(sevenBits(header)), {
    name: 'compares-seven-bits',
    title: 'Ignores the highest bit of each character of the signature',
    seen: 'Conversions of a header to ASCII that clear the bit.',
    why: 'Values that differ from the signature are accepted, which can bypass gateway rules.',
    fix: ONE_VALUE,
  }),
  lenientMutant(({ header, body, secrets }) => secrets.some((secret) => signed(secret.slice(0, 16), body) === header), {
    name: 'secret-cut-accepted',
    title: 'Also accepts signatures with the first 16 characters of the secret',
    seen: 'Columns of 16 characters, and keys that were cut for a cipher.',
    why: 'The rest of the secret protects nothing.',
    fix: { rule: 'Store the whole secret, and use it as it is.', express: 'Remove `secret.slice(0, 16)`.' },
  }),
  lenientMutant(({ header, body }) => header === signed('webhook-secret', body), {
    name: 'placeholder-secret-accepted',
    title: 'Also accepts signatures with the secret "webhook-secret"',
    seen: 'A default from a sample that stays in the list of secrets.',
    why: 'Everyone who reads the sample can sign deliveries.',
    fix: { rule: 'Have no default secret.', express: 'Fail at start-up when `process.env.WEBHOOK_SECRET` is unset.' },
  }),
  {
    ...SIGNATURE,
    name: 'signature-in-sender-headers',
    title: 'Also takes the signature from the headers of other senders',
    seen: 'Libraries for many senders that try each header.',
    why: 'Each additional name bypasses whatever a gateway does with the agreed header.',
    fix: { rule: 'Read only the agreed header.', express: 'Configure the library with one header name.' },
    severity: 'medium',
    forbidden: true,
    replace: alsoAccept(({ req, expected }) => OTHER_HEADERS.some((name) => expected.includes(req.get(name) ?? ''))),
  },
  {
    ...SIGNATURE,
    name: 'signature-in-underscore-name',
    title: 'Also takes the signature from a header with underscores',
    seen: 'Code that was moved from CGI or WSGI and looks up both spellings.',
    why: 'Rules of a gateway for the agreed header do not see the other spelling.',
    fix: {
      rule: 'Drop headers with underscores in the server, as nginx does by default.',
      express: 'Read the header by its exact name.',
    },
    severity: 'medium',
    forbidden: true,
    needs: ['hmac', 'api-key'],
    replace: alsoAccept(({ req, expected }) => expected.includes(String(requestHeader(req, 'x_service_signature')))),
  },
];

function fold(body: Buffer): string {
  return body.toString('utf8').toLowerCase();
}

const KEY = { area: 'api-key', stage: 'requireApiKey', severity: 'high', forbidden: true } as const;

export const keyValuesFaults: readonly StageFault[] = [
  {
    ...KEY,
    name: 'every-key-of-an-empty-list',
    title: 'Reads the API key as a list, and accepts an empty list',
    seen: '`header.split(",").filter(Boolean).every(isKnown)`, written for proxies that join header lines.',
    why: 'A comma as the key is enough.',
    fix: ONE_OF_A_LIST,
    severity: 'critical',
    replace: acceptWithoutCheck(
      ({ given }) => typeof given === 'string' && given !== '' && entriesOf(given).length === 0,
    ),
  },
  {
    ...KEY,
    name: 'api-key-matched-as-glob',
    title: 'Reads the API key as a glob pattern',
    seen: 'Key lookups in caches and file systems that take patterns (`KEYS`, `glob`).',
    why: 'A row of question marks matches every key of the same length.',
    fix: { rule: 'Look the key up literally.', express: 'Use `Map.get(key)` or `GET`, not `KEYS`.' },
    replace: acceptWithoutCheck(({ given, config }) => {
      if (typeof given !== 'string' || !/^\?+$/.test(given)) return false;
      return config.keys.some((key) => key.length === given.length);
    }),
  },
  {
    ...KEY,
    name: 'api-key-order-ignored',
    title: 'Compares the characters of the API key regardless of their order',
    seen: 'A hand-written comparison that adds up, or counts, the bytes of both sides.',
    why: 'Every permutation of the key is accepted.',
    fix: {
      rule: 'Compare digests of both sides in constant time.',
      express: 'Hash both sides with SHA-256 and compare the digests with `crypto.timingSafeEqual`.',
    },
    replace: acceptWithoutCheck(({ given, config }) => {
      if (typeof given !== 'string') return false;
      return config.keys.some((key) => sorted(Buffer.from(key)) === sorted(Buffer.from(given)));
    }),
  },
  {
    ...KEY,
    name: 'api-key-in-underscore-name',
    title: 'Also takes the API key from a header with underscores',
    seen: 'Code that was moved from CGI or WSGI and looks up both spellings.',
    why: 'Rules of a gateway for the agreed header do not see the other spelling.',
    fix: { rule: 'Read only the agreed header.', express: 'Use only `req.get("X-API-Key")`.' },
    severity: 'medium',
    needs: ['hmac', 'api-key'],
    replace: acceptWithoutCheck(({ req, config }) => config.keys.includes(String(requestHeader(req, 'x_api_key')))),
  },
];
