import { createHash, getHashes } from 'node:crypto';
import type { StageFault } from './fault.ts';
import { alsoAccepting, SIGNATURE, signed } from './lenient-verifier.ts';

const sha256 = (...parts: (string | Uint8Array)[]) => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('base64');
};

const HASHES = new Set(getHashes());

/** Digests that are made otherwise than agreed and are accepted beside the right one. */
export const otherAlgorithmFaults: readonly StageFault[] = [
  {
    ...SIGNATURE,
    name: 'unkeyed-hash-accepted',
    title: 'A plain SHA-256 of the body, made without the secret, is accepted.',
    seen: 'A checksum header of an older integration that is still honoured, or a hash function in place of an HMAC function.',
    why: 'Everybody can compute it.',
    fix: {
      rule: 'Use HMAC with the secret, and nothing beside it.',
      express: 'Replace `createHash("sha256")` by `createHmac("sha256", secret)`.',
    },
    severity: 'critical',
    forbidden: true,
    replace: alsoAccepting(({ header, body }) => header === sha256(body)),
  },
  {
    ...SIGNATURE,
    name: 'hash-of-secret-and-body-accepted',
    title: 'A SHA-256 of the secret followed by the body is accepted.',
    seen: 'Home-made signing schemes and payment interfaces from the time before HMAC was in every library.',
    why: 'One known delivery yields valid values for longer bodies, without the secret.',
    fix: {
      rule: 'HMAC was made to close this gap: use it, and drop the concatenation.',
      express: 'Remove `createHash("sha256").update(secret + body)`.',
    },
    severity: 'high',
    forbidden: true,
    replace: alsoAccepting(({ header, body, secrets }) => secrets.some((secret) => header === sha256(secret, body))),
  },
  {
    ...SIGNATURE,
    name: 'hash-of-body-and-secret-accepted',
    title: 'A SHA-256 of the body followed by the secret is accepted.',
    seen: 'Checksums of older payment interfaces, where the secret is the last field of a joined text.',
    why: 'A second, home-made construction beside the agreed one doubles what has to be kept secure.',
    fix: { rule: 'Leave HMAC as the only check.', express: 'Remove `createHash("sha256").update(body + secret)`.' },
    severity: 'high',
    forbidden: true,
    replace: alsoAccepting(({ header, body, secrets }) => secrets.some((secret) => header === sha256(body, secret))),
  },
  {
    ...SIGNATURE,
    name: 'hmac-arguments-either-way',
    title: 'An HMAC with secret and body exchanged is accepted.',
    seen: 'Languages whose HMAC functions take key and message in different orders, and code that allows both to be safe.',
    why: 'It accepts what no sender makes, and hides a mistake that sits somewhere else.',
    fix: {
      rule: 'Look up the order of the arguments, and keep one call.',
      express: 'The secret goes to `createHmac`, the body to `update`.',
      flask: '`hmac.new(key, msg, sha256)`: the secret comes first.',
      laravel: '`hash_hmac("sha256", $body, $secret)`: the secret comes last.',
    },
    severity: 'low',
    forbidden: true,
    replace: alsoAccepting(({ header, body, secrets }) =>
      secrets.some((secret) => header === signed(body, Buffer.from(secret))),
    ),
  },
  {
    ...SIGNATURE,
    name: 'sha1-accepted',
    title: 'An HMAC with SHA-1 is accepted beside the one with SHA-256.',
    seen: 'Verifiers with a fallback for senders that signed with SHA-1 for years.',
    why: 'The weakest algorithm that passes is the one that an attacker works on.',
    fix: { rule: 'Accept SHA-256 only.', express: 'Remove the second `createHmac("sha1", ...)`.' },
    severity: 'high',
    forbidden: true,
    replace: alsoAccepting(({ header, body, secrets }) =>
      secrets.some((secret) => header === signed(secret, body, 'sha1')),
    ),
  },
  {
    ...SIGNATURE,
    name: 'algorithm-by-length',
    title: 'The length of the signature selects the algorithm, from MD5 to SHA-512.',
    seen: 'Generic verifiers that serve many senders and guess from what they get.',
    why: 'Whoever sends the request chooses how strictly it is checked.',
    fix: {
      rule: 'Name SHA-256 in the code, and refuse every other length.',
      express: 'Do not derive the first argument of `createHmac` from the header.',
    },
    severity: 'high',
    forbidden: true,
    replace: alsoAccepting(({ header = '', body, secrets }) => {
      const bytes = Buffer.from(header, 'base64').length;
      const algorithm = { 16: 'md5', 20: 'sha1', 48: 'sha384', 64: 'sha512' }[bytes];
      return algorithm !== undefined && secrets.some((secret) => header === signed(secret, body, algorithm));
    }),
  },
  {
    ...SIGNATURE,
    name: 'algorithm-by-prefix',
    title: 'A prefix of the signature ("sha1=", "sha512=") selects the algorithm.',
    seen: 'Code that was copied from a receiver for senders who write `algorithm=digest`, with the name passed on to the library.',
    why: 'The request chooses the algorithm, and the next one on the list of the library may be broken.',
    fix: {
      rule: 'Never take the name of an algorithm from a request.',
      express: 'Delete the parser for "algorithm=value".',
      laravel: 'Do not pass a piece of the header to `hash_hmac` as its first argument.',
      spring: 'Do not pass a piece of the header to `Mac.getInstance`.',
    },
    severity: 'high',
    forbidden: true,
    replace: alsoAccepting(({ header = '', body, secrets }) => {
      const [, algorithm = '', digest = ''] = /^([a-z0-9]+)=(.+)$/s.exec(header) ?? [];
      if (!HASHES.has(algorithm)) return false;
      return secrets.some((secret) => {
        const due = signed(secret, body, algorithm);
        return digest === due || digest === Buffer.from(due, 'base64').toString('hex');
      });
    }),
  },
  {
    ...SIGNATURE,
    name: 'half-digest-accepted',
    title: 'The right digest cut to its first 16 bytes is accepted.',
    seen: 'Protocols with truncated HMACs, and libraries with a setting for the output length.',
    why: 'It halves the work of guessing, and no sender makes it.',
    fix: { rule: 'Require all 32 bytes.', express: 'Compare whole values; remove `.subarray(0, 16)`.' },
    severity: 'medium',
    forbidden: true,
    replace: alsoAccepting(({ header, right }) =>
      right.some((one) => header === Buffer.from(one, 'base64').subarray(0, 16).toString('base64')),
    ),
  },
];
