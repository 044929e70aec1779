import { digest, encodedAs, hmac } from '../changes/signing.ts';
import { asHex, joined, signatureUnder } from '../changes/signing-shell.ts';
import { refused } from '../expectations.ts';
import type { Kit, Scenario, SignChange } from '../scenario.ts';

/** Digests that are made otherwise than by HMAC-SHA256 of the body under the secret. */
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
    (body, kit) => hmac(kit.secret, body, algorithm),
    signatureUnder('"$HOOKPROOF_SECRET"', algorithm),
  );
}

const SHA256 = 'openssl dgst -sha256 -binary | openssl base64 -A';

/** The right secret and the right body with another algorithm. */
export const otherAlgorithms: readonly Scenario[] = [
  {
    id: 'signature/hmac-sha1',
    title: 'Refuses an HMAC with SHA-1',
    level: 'must',
    requirements: ['hmac-algorithm'],
    needs: ['hmac'],
    change: { sign: otherHmac('sha1', 'HMAC-SHA-1') },
    expect: refused,
    why: 'An old algorithm that still passes is the one an attacker will work on.',
    fix: 'Remove the fallback for older senders: this one has signed with SHA-256 from the start.',
  },
  {
    id: 'signature/hmac-sha512',
    title: 'Refuses an HMAC with SHA-512',
    level: 'must',
    requirements: ['hmac-algorithm'],
    needs: ['hmac'],
    change: { sign: otherHmac('sha512', 'HMAC-SHA-512') },
    expect: refused,
    why: 'If the length of the value selects the algorithm, then whoever sends the request selects it.',
    fix: 'Do not derive the algorithm from the length of the header; name SHA-256 in the code.',
  },
  {
    id: 'signature/hmac-sha384',
    title: 'Refuses an HMAC with SHA-384',
    level: 'must',
    requirements: ['hmac-algorithm'],
    needs: ['hmac'],
    change: { sign: otherHmac('sha384', 'HMAC-SHA-384') },
    expect: refused,
    why: 'A loop over every algorithm of the library gives a forger as many chances as there are names on the list.',
    fix: 'Replace the list of permitted algorithms by the single one that was agreed.',
  },
  {
    id: 'signature/hmac-md5',
    title: 'Refuses an HMAC with MD5',
    level: 'must',
    requirements: ['hmac-algorithm'],
    needs: ['hmac'],
    change: { sign: otherHmac('md5', 'HMAC-MD5') },
    expect: refused,
    why: 'MD5 is broken and forbidden by most security policies; one endpoint that takes it fails an audit.',
    fix: 'Look for a default algorithm in the verification library and set it to SHA-256 explicitly.',
  },
  {
    id: 'signature/sha1-prefix',
    title: 'Refuses an HMAC with SHA-1 in hexadecimal behind "sha1="',
    level: 'must',
    requirements: ['hmac-algorithm', 'hmac-base64'],
    needs: ['hmac'],
    change: {
      sign: {
        label: 'sha1= and the HMAC-SHA-1 in hexadecimal',
        make: (body, kit) => `sha1=${hmac(kit.secret, body, 'sha1').toString('hex')}`,
        shell: joined("printf %s 'sha1='", asHex('openssl dgst -sha1 -hmac "$HOOKPROOF_SECRET"', 160)),
      },
    },
    expect: refused,
    why: 'Honouring a prefix from the header means that the request decides how strictly it is checked.',
    fix: 'Delete the parser for "algorithm=value". It came from an example for another sender.',
  },
  {
    id: 'signature/sha512-prefix',
    title: 'Refuses an HMAC with SHA-512 behind "sha512="',
    level: 'must',
    requirements: ['hmac-algorithm', 'hmac-base64'],
    needs: ['hmac'],
    change: {
      sign: {
        label: 'sha512= and the HMAC-SHA-512 in Base64',
        make: (body, kit) => `sha512=${hmac(kit.secret, body, 'sha512').toString('base64')}`,
        shell: joined("printf %s 'sha512='", signatureUnder('"$HOOKPROOF_SECRET"', 'sha512')),
      },
    },
    expect: refused,
    why: 'A stronger algorithm by the choice of the sender is still a choice; the next name in the prefix may be a weak one.',
    fix: 'Never pass text from the header to createHmac, hash_hmac or getInstance as the name of an algorithm.',
  },
  {
    id: 'signature/sha256-of-body',
    title: 'Refuses a plain SHA-256 of the body, made without any secret',
    level: 'must',
    requirements: ['hmac-algorithm'],
    needs: ['hmac'],
    change: { sign: made('SHA-256 of the body, no key, in Base64', (body) => digest('sha256', body), SHA256) },
    expect: refused,
    why: 'Everybody can compute it: it shows that the body is whole, and nothing about who sent it.',
    fix: 'Use an HMAC function with the secret; a hash function has no key.',
  },
  {
    id: 'signature/sha256-secret-body',
    title: 'Refuses a SHA-256 of the secret followed by the body',
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
    why: 'Such a value can be extended: one known delivery yields valid values for longer bodies, without the secret.',
    fix: 'Replace the concatenation by HMAC, which was made to close exactly this gap.',
  },
  {
    id: 'signature/sha256-body-secret',
    title: 'Refuses a SHA-256 of the body followed by the secret',
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
    why: 'A home-made construction beside the agreed one doubles what has to be kept secure.',
    fix: 'Take out the second check that was kept for an older integration, and leave HMAC as the only one.',
  },
  {
    id: 'signature/key-and-body-swapped',
    title: 'Refuses an HMAC with body and secret exchanged',
    level: 'must',
    requirements: ['hmac-algorithm'],
    needs: ['hmac'],
    change: {
      sign: made('HMAC-SHA256 of the secret, keyed with the body, in Base64', (body, kit) =>
        hmac(body, Buffer.from(kit.secret)),
      ),
    },
    expect: refused,
    why: 'The order of the arguments differs from library to library. Taking both orders hides a mistake and accepts what no sender makes.',
    fix: 'Look up the order in the library that you use (hmac_new, hash_hmac, HMAC.digest all differ) and keep one call.',
  },
  {
    id: 'signature/half-digest',
    title: 'Refuses the right digest cut to its first 16 bytes',
    level: 'must',
    requirements: ['hmac-algorithm', 'hmac-base64'],
    needs: ['hmac'],
    change: {
      sign: encodedAs(
        'the first 16 bytes of the right digest in Base64',
        (bytes) => bytes.subarray(0, 16).toString('base64'),
        'openssl dgst -sha256 -hmac "$HOOKPROOF_SECRET" -binary | head -c 16 | openssl base64 -A',
      ),
    },
    expect: refused,
    why: 'Truncated HMACs exist in other protocols. Here half a digest is no digest, and it halves the work of guessing.',
    fix: 'Require all 32 bytes; remove any setting for a truncated output length.',
  },
];
