import { crc32 } from 'node:zlib';
import { hmac } from '../../contract/signing/index.ts';
import { asHex, digest, encodedAs, headerText, joined, signatureUnder } from '../changes/signing.ts';
import { refused } from '../expectations.ts';
import type { Delivery, Kit, Scenario, SignChange } from '../scenario.ts';

/** Digests other than HMAC-SHA256 of the body with the secret. */
function made(label: string, bytes: (body: Uint8Array, kit: Kit) => Buffer, shell?: string): SignChange {
  return {
    label,
    make: (body, kit) => bytes(body, kit).toString('base64'),
    ...(shell === undefined ? {} : { shell }),
  };
}

function otherHmac(algorithm: string, name: string): SignChange {
  return made(
    `${name} in Base64`,
    (body, kit) => hmac(body, kit.secret, algorithm),
    signatureUnder('"$HOOKPROOF_SECRET"', algorithm),
  );
}

const SHA256 = 'openssl dgst -sha256 -binary | openssl base64 -A';

/** One delivery for each value of the signature header. */
function eachValue(values: Readonly<Record<string, SignChange['make']>>): () => readonly (readonly Delivery[])[] {
  return () =>
    Object.entries(values).map(([label, make]) => [{ label, change: { sign: { label, make } }, expect: refused }]);
}

const inHex = (algorithm: string) => (body: Uint8Array, kit: Kit) => hmac(body, kit.secret, algorithm).toString('hex');
const hashInHex = (algorithm: string) => (body: Uint8Array) => digest(algorithm, body).toString('hex');

const byteSum = (body: Uint8Array) => body.reduce((sum, byte) => sum + byte, 0);

/** Other digests in other encodings, and sums that need no secret. */
const otherDigests: readonly Scenario[] = [
  {
    id: 'signature/other-digests-in-hex',
    title: 'Rejects an HMAC with MD5, SHA-1, SHA-224 or SHA-512 in hexadecimal',
    level: 'must',
    requirements: ['hmac-algorithm', 'hmac-base64'],
    needs: ['hmac'],
    flow: eachValue({
      'HMAC-MD5 in hexadecimal': inHex('md5'),
      'HMAC-SHA-1 in hexadecimal': inHex('sha1'),
      'HMAC-SHA-224 in hexadecimal': inHex('sha224'),
      'HMAC-SHA-512 in hexadecimal': inHex('sha512'),
    }),
    why: 'Fallbacks for older senders often compare hexadecimal digests, which many libraries return by default.',
    fix: 'Compare with the HMAC-SHA256 in Base64 only. The report names the accepted digest.',
  },
  {
    id: 'signature/checksums',
    title: 'Rejects checksums and unkeyed hashes of the body as the signature',
    level: 'must',
    requirements: ['hmac-algorithm', 'hmac-invalid'],
    needs: ['hmac'],
    flow: eachValue({
      'the CRC-32 of the body': (body) => crc32(body).toString(16).padStart(8, '0'),
      'the CRC-32 of the body in decimal': (body) => String(crc32(body)),
      'the sum of the bytes': (body) => String(byteSum(body)),
      'the MD5 of the body in hexadecimal': hashInHex('md5'),
      'the SHA-1 of the body in hexadecimal': hashInHex('sha1'),
      'the SHA-256 of the body in hexadecimal': hashInHex('sha256'),
    }),
    why: 'Anyone can compute them. They show that the body is complete, but not who sent it.',
    fix: 'Do not accept Content-MD5 or another checksum instead of the HMAC: only the HMAC authenticates the sender.',
  },
  {
    id: 'signature/api-key-as-signature',
    title: 'Rejects the API key as the signature',
    level: 'must',
    requirements: ['hmac-invalid', 'features-independent'],
    needs: ['hmac', 'api-key'],
    flow: eachValue({
      'the API key': (_body, kit) => headerText(kit.apiKey),
      'the API key in Base64': (_body, kit) => Buffer.from(kit.apiKey).toString('base64'),
      'Bearer and the API key': (_body, kit) => `Bearer ${headerText(kit.apiKey)}`,
    }),
    why: 'If one credential is valid in both places, two checks become one, and the body is not protected.',
    fix: 'Compare the signature header with the HMAC of the body only.',
  },
];

/** The valid secret and body with another algorithm. */
export const otherAlgorithms: readonly Scenario[] = [
  ...otherDigests,
  {
    id: 'signature/hmac-sha1',
    title: 'Rejects an HMAC with SHA-1',
    level: 'must',
    requirements: ['hmac-algorithm'],
    needs: ['hmac'],
    change: { sign: otherHmac('sha1', 'HMAC-SHA-1') },
    expect: refused,
    why: 'An attacker attacks the weakest algorithm that is accepted.',
    fix: 'Remove the fallback for older senders: this sender has always used SHA-256.',
  },
  {
    id: 'signature/hmac-sha512',
    title: 'Rejects an HMAC with SHA-512',
    level: 'must',
    requirements: ['hmac-algorithm'],
    needs: ['hmac'],
    change: { sign: otherHmac('sha512', 'HMAC-SHA-512') },
    expect: refused,
    why: 'If the length of the value selects the algorithm, the request selects it.',
    fix: 'Use SHA-256 only, and do not derive the algorithm from the length of the header.',
  },
  {
    id: 'signature/hmac-sha384',
    title: 'Rejects an HMAC with SHA-384',
    level: 'must',
    requirements: ['hmac-algorithm'],
    needs: ['hmac'],
    change: { sign: otherHmac('sha384', 'HMAC-SHA-384') },
    expect: refused,
    why: 'A loop over all algorithms of the library gives an attacker a choice of algorithms.',
    fix: 'Replace the list of allowed algorithms with the agreed one.',
  },
  {
    id: 'signature/hmac-md5',
    title: 'Rejects an HMAC with MD5',
    level: 'must',
    requirements: ['hmac-algorithm'],
    needs: ['hmac'],
    change: { sign: otherHmac('md5', 'HMAC-MD5') },
    expect: refused,
    why: 'MD5 is broken and forbidden by most security policies.',
    fix: 'Set the algorithm of the verification library to SHA-256 instead of using its default.',
  },
  {
    id: 'signature/sha1-prefix',
    title: 'Rejects an HMAC with SHA-1 in hexadecimal with the prefix "sha1="',
    level: 'must',
    requirements: ['hmac-algorithm', 'hmac-base64'],
    needs: ['hmac'],
    change: {
      sign: {
        label: 'sha1= and the HMAC-SHA-1 in hexadecimal',
        make: (body, kit) => `sha1=${hmac(body, kit.secret, 'sha1').toString('hex')}`,
        shell: joined("printf %s 'sha1='", asHex('openssl dgst -sha1 -hmac "$HOOKPROOF_SECRET"', 160)),
      },
    },
    expect: refused,
    why: 'A receiver that reads the algorithm from the header lets the request decide how strictly it is verified.',
    fix: 'Remove the parser for "algorithm=value", which was written for another sender.',
  },
  {
    id: 'signature/sha512-prefix',
    title: 'Rejects an HMAC with SHA-512 with the prefix "sha512="',
    level: 'must',
    requirements: ['hmac-algorithm', 'hmac-base64'],
    needs: ['hmac'],
    change: {
      sign: {
        label: 'sha512= and the HMAC-SHA-512 in Base64',
        make: (body, kit) => `sha512=${hmac(body, kit.secret, 'sha512').toString('base64')}`,
        shell: joined("printf %s 'sha512='", signatureUnder('"$HOOKPROOF_SECRET"', 'sha512')),
      },
    },
    expect: refused,
    why: 'If the sender can choose a stronger algorithm, an attacker can choose a weaker one.',
    fix: 'Never pass text from the header to createHmac, hash_hmac or getInstance as the algorithm.',
  },
  {
    id: 'signature/sha256-of-body',
    title: 'Rejects a SHA-256 of the body without a secret',
    level: 'must',
    requirements: ['hmac-algorithm'],
    needs: ['hmac'],
    change: { sign: made('SHA-256 of the body, no key, in Base64', (body) => digest('sha256', body), SHA256) },
    expect: refused,
    why: 'Anyone can compute it. It shows that the body is complete, but not who sent it.',
    fix: 'Use an HMAC function with the secret: a hash function has no key.',
  },
  {
    id: 'signature/sha256-secret-body',
    title: 'Rejects a SHA-256 of the secret followed by the body',
    level: 'must',
    requirements: ['hmac-algorithm'],
    needs: ['hmac'],
    change: {
      sign: made(
        'SHA-256 of secret and body, in Base64',
        (body, kit) => digest('sha256', kit.secret, body),
        `${joined('printf %s "$HOOKPROOF_SECRET"', 'cat')} | ${SHA256}`,
      ),
    },
    expect: refused,
    why: 'This construction allows length extension: one known delivery yields valid values for longer bodies.',
    fix: 'Use HMAC instead of concatenation: it prevents length extension.',
  },
  {
    id: 'signature/sha256-body-secret',
    title: 'Rejects a SHA-256 of the body followed by the secret',
    level: 'must',
    requirements: ['hmac-algorithm'],
    needs: ['hmac'],
    change: {
      sign: made(
        'SHA-256 of body and secret, in Base64',
        (body, kit) => digest('sha256', body, kit.secret),
        `${joined('cat', 'printf %s "$HOOKPROOF_SECRET"')} | ${SHA256}`,
      ),
    },
    expect: refused,
    why: 'A custom construction in addition to HMAC doubles what has to be kept secure.',
    fix: 'Remove the second check that was kept for an older integration.',
  },
  {
    id: 'signature/key-and-body-swapped',
    title: 'Rejects an HMAC with body and secret swapped',
    level: 'must',
    requirements: ['hmac-algorithm'],
    needs: ['hmac'],
    change: {
      sign: made('HMAC-SHA256 of the secret, keyed with the body, in Base64', (body, kit) =>
        hmac(Buffer.from(kit.secret), body),
      ),
    },
    expect: refused,
    why:
      'The order of arguments differs between libraries. Accepting both hides a mistake and accepts values that ' +
      'no sender makes.',
    fix: 'Check the order in your library (hmac_new, hash_hmac and HMAC.digest all differ), and keep one call.',
  },
  {
    id: 'signature/half-digest',
    title: 'Rejects the valid digest truncated to 16 bytes',
    level: 'must',
    requirements: ['hmac-algorithm', 'hmac-base64'],
    needs: ['hmac'],
    change: {
      sign: encodedAs(
        'the first 16 bytes of the valid digest in Base64',
        (bytes) => bytes.subarray(0, 16).toString('base64'),
        'openssl dgst -sha256 -hmac "$HOOKPROOF_SECRET" -binary | head -c 16 | openssl base64 -A',
      ),
    },
    expect: refused,
    why: 'Truncated HMACs exist in other protocols. Here they halve the length that an attacker has to guess.',
    fix: 'Require all 32 bytes, and remove any setting for a truncated output length.',
  },
];
