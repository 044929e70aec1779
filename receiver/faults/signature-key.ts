/** Mutants with another algorithm or another secret than the sender. */
import { createHash, getHashes } from 'node:crypto';
import { refuseUnauthorized } from '../stages/stage.ts';
import type { StageFault } from './fault.ts';
import { accepting, alsoAccepting, judging, lettingPass, SIGNATURE, signed, unverified } from './lenient-verifier.ts';

const sha256 = (...parts: (string | Uint8Array)[]) => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('base64');
};

const HASHES = new Set(getHashes());

/** A mutant that verifies with one more secret than the agreed one. */
function alsoVerifying(
  secrets: (agreed: readonly string[], apiKeys: readonly string[]) => readonly (string | Uint8Array)[],
  text: Parameters<typeof lettingPass>[1],
): StageFault {
  return lettingPass(
    ({ header, body, secrets: agreed, apiKeys }) =>
      secrets(agreed, apiKeys).some((secret) => header === signed(secret, body)),
    text,
  );
}

export const signatureKeyFaults: readonly StageFault[] = [
  // Digests that are made otherwise than agreed and are accepted beside the right one.
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
  // Secrets that verify beside the agreed one.
  alsoVerifying(() => [''], {
    name: 'empty-secret-accepted',
    title: 'A signature made with an empty secret is accepted.',
    seen: 'Settings with a default of "" for a second (rotated or per-tenant) secret that is not set; reported for several official webhook libraries.',
    why: 'Everybody can sign with nothing.',
    fix: {
      rule: 'Refuse to start with a secret that is unset or empty, and leave empty entries out of the list of secrets.',
      express: 'Write `if (!process.env.WEBHOOK_SECRET) throw new Error(...)` at start-up, and no `?? ""`.',
      go: '`os.Getenv` gives "" for what is not set: use `os.LookupEnv`, and stop when it is missing or empty.',
    },
  }),
  alsoVerifying(() => ['undefined'], {
    name: 'secret-undefined-accepted',
    title: 'A signature made with the word "undefined" as secret is accepted.',
    seen: 'JavaScript that puts a missing setting into a template text or through `String()`.',
    why: 'It is the first thing that a forger tries against JavaScript.',
    fix: {
      rule: 'Check that a secret is set before it is used as one.',
      express:
        'Do not build the secret from template text; a missing one then stays undefined, and createHmac throws at once.',
    },
  }),
  alsoVerifying(() => ['null', 'None'], {
    name: 'secret-null-accepted',
    title: 'A signature made with the word "null" as secret is accepted.',
    seen: 'Configuration that went through YAML, a template or a database and came back as a word.',
    why: 'The receiver starts without a complaint, and anybody who guesses the word can sign.',
    fix: {
      rule: 'Refuse the words null and None where configuration is read.',
      express: 'Look at what the deployment really sets, and validate it by length (32 characters or more).',
      django: 'Do not use `str(os.environ.get(...))`: it makes the word None of a missing variable.',
    },
  }),
  alsoVerifying(() => ['secret', 'password'], {
    name: 'default-secret-accepted',
    title: 'A signature made with a well-known default ("secret" or "password") is accepted.',
    seen: 'Code with `process.env.WEBHOOK_SECRET || "secret"`; hard-coded fallbacks are among the most reported faults of this kind.',
    why: 'The fallback stands in the source, often a public one, and in every list of guessed passwords.',
    fix: {
      rule: 'A missing secret is an error and has no default.',
      express: 'Remove what stands behind `||` where the secret is read.',
    },
  }),
  alsoVerifying(() => ['changeme', 'your-secret'], {
    name: 'sample-secret-accepted',
    title: 'A signature made with the placeholder of a sample configuration is accepted.',
    seen: 'Values such as "changeme" from an example file that reached production beside the real one.',
    why: 'The placeholder can be read in the repository or the tutorial that it came from.',
    fix: {
      rule: 'Ship samples with an empty secret, and refuse to start with it.',
      express: 'Search configuration and code for the placeholder, and take it out of the list of secrets.',
    },
  }),
  alsoVerifying(() => ['test-secret', 'whsec_test'], {
    name: 'test-secret-accepted',
    title: 'A signature made with the secret of the tests is accepted.',
    seen: 'Test modes of webhook libraries, and constants for unit tests that ended up in the list of valid secrets.',
    why: 'Everybody who reads the tests can sign.',
    fix: {
      rule: 'Give tests their secret through their own configuration.',
      express: 'Delete the constant from the code that runs in production, and turn the test mode off.',
    },
  }),
  alsoVerifying(() => ['***'], {
    name: 'masked-secret-accepted',
    title: 'A signature made with asterisks as secret is accepted.',
    seen: 'Configuration that was saved from a page on which the secret was masked; it was found in a released agent.',
    why: 'Three asterisks are as public as an empty secret.',
    fix: {
      rule: 'Never write a masked value back.',
      express:
        'In the route that saves settings, leave the secret out of the update when the form still holds the mask.',
    },
  }),
  alsoVerifying((_agreed, apiKeys) => apiKeys, {
    name: 'api-key-signs',
    title: 'A signature made with the API key as secret is accepted.',
    seen: 'One table of credentials for both purposes, or two settings that were mixed up once and then both allowed.',
    why: 'The key travels in every request: whoever sees one delivery can sign the next.',
    fix: {
      rule: 'Keep the two credentials apart, and verify with the secret alone.',
      express: 'Pass the secret to the verification by name, not a list of all credentials of the partner.',
    },
  }),
  alsoVerifying((agreed) => agreed.map((secret) => `${secret}\n`), {
    name: 'secret-with-line-end-accepted',
    title: 'A signature made with the secret and a line end is accepted beside the right one.',
    seen: 'Secrets from files, where a second try with the line end was added after a day of searching.',
    why: 'The check accepts what the sender never makes, and hides that two places hold different secrets.',
    fix: {
      rule: 'Trim the secret once where it is read, and verify with that.',
      express: 'Write `readFileSync(path, "utf8").trim()`, and delete the second attempt.',
    },
  }),
  alsoVerifying((agreed) => agreed.map((secret) => createHash('sha256').update(secret).digest('hex')), {
    name: 'hashed-secret-accepted',
    title: 'A signature made with the SHA-256 of the secret is accepted.',
    seen: 'Secrets that are stored hashed like passwords, while a migration allows both forms.',
    why: 'Reading the database is then enough to forge deliveries, which the hashing was to prevent.',
    fix: {
      rule: 'Keep the secret encrypted: an HMAC needs the secret itself.',
      express: 'Finish the migration, and drop the hashed form from the list.',
    },
  }),
  alsoVerifying((agreed) => agreed.map((secret) => secret.slice(0, Math.floor(secret.length / 2))), {
    name: 'half-secret-accepted',
    title: 'A signature made with the first half of the secret is accepted.',
    seen: 'A column or variable that was too short, and a list of secrets that still holds what was left.',
    why: 'Half a secret is far easier to guess, and its length tells nobody that something is missing.',
    fix: {
      rule: 'Verify with the whole secret only.',
      express: 'Compare the length of the stored secret with the agreed one at start-up.',
    },
  }),
  alsoVerifying((agreed) => agreed.map((secret) => Buffer.from(secret, 'base64')), {
    name: 'decoded-secret-accepted',
    title: 'A signature made with the Base64-decoded secret is accepted beside the right one.',
    seen: 'Libraries for schemes whose secrets are Base64, and receivers that try both forms.',
    why: 'Lenient decoding makes a few bytes, or none, of some secrets, and then anyone can sign.',
    fix: {
      rule: 'Key the HMAC with the UTF-8 bytes of the secret as it was agreed.',
      express: 'Pass the text to `createHmac`, without `Buffer.from(secret, "base64")`.',
    },
  }),
  // The secret itself where its signature belongs.
  {
    ...SIGNATURE,
    name: 'secret-as-token',
    title: 'The secret itself is accepted in the signature header.',
    seen: 'Receivers that were written for senders with a fixed token in a header, as some code hosting sites have it.',
    why: 'The body is not protected at all, and the secret would stand in every request.',
    fix: {
      rule: 'Compare the header with the HMAC of the body.',
      express: 'Remove `if (signature === secret)`.',
    },
    severity: 'high',
    forbidden: true,
    replace: alsoAccepting(({ header, secrets }) => secrets.includes(header ?? '')),
  },
  {
    ...SIGNATURE,
    name: 'encoded-secret-as-token',
    title: 'The secret in Base64, or as a bearer token, is accepted in the signature header.',
    seen: 'Middleware for Basic or bearer authentication that was pointed at this header.',
    why: 'The value is the same for every body, so one that was overheard works for ever.',
    fix: {
      rule: 'Compare the header with the HMAC of the body; encoding is only its last step.',
      express: 'Take the token middleware off this route.',
    },
    severity: 'high',
    forbidden: true,
    replace: alsoAccepting(({ header, secrets }) =>
      secrets.some((secret) => header === Buffer.from(secret).toString('base64') || header === `Bearer ${secret}`),
    ),
  },
  // Checks that were agreed otherwise than the sender's: they refuse right deliveries, mostly all of them.
  {
    ...SIGNATURE,
    name: 'expects-hex',
    title: 'The signature is expected in hexadecimal, so that every right delivery is refused.',
    seen: 'Code from tutorials and from receivers for other senders: hexadecimal is the most common form.',
    why: 'Not a single notification arrives.',
    fix: {
      rule: 'Encode the digest in Base64.',
      express: 'Use `digest("base64")` in place of `digest("hex")`.',
      django: 'Use `base64.b64encode(mac.digest()).decode()` in place of `mac.hexdigest()`.',
      flask: 'Use `base64.b64encode(mac.digest()).decode()` in place of `mac.hexdigest()`.',
      laravel: 'Use `base64_encode(hash_hmac("sha256", $body, $secret, true))`.',
      rails: 'Use `Base64.strict_encode64(OpenSSL::HMAC.digest("SHA256", secret, body))` in place of `hexdigest`.',
      go: 'Use `base64.StdEncoding.EncodeToString` in place of `hex.EncodeToString`.',
    },
    severity: 'high',
    forbidden: true,
    replace: accepting(({ header, right }) =>
      right.some((one) => header === Buffer.from(one, 'base64').toString('hex')),
    ),
  },
  {
    ...SIGNATURE,
    name: 'expects-prefixed-hex',
    title: 'The signature is expected as "sha256=" and hexadecimal, so that every right delivery is refused.',
    seen: 'Receivers that were made for a well-known code hosting site.',
    why: 'Not a single notification arrives.',
    fix: {
      rule: 'Expect the Base64 of the digest, without a prefix.',
      express: 'Use `digest("base64")`, and put nothing before it.',
    },
    severity: 'high',
    forbidden: true,
    replace: accepting(({ header, right }) =>
      right.some((one) => header === `sha256=${Buffer.from(one, 'base64').toString('hex')}`),
    ),
  },
  {
    ...SIGNATURE,
    name: 'expects-sha1',
    title: 'The signature is expected as HMAC with SHA-1, so that every right delivery is refused.',
    seen: 'Verification libraries whose default algorithm is an old one.',
    why: 'Not a single notification arrives.',
    fix: { rule: 'Name SHA-256 in the code.', express: 'Use `createHmac("sha256", secret)`.' },
    severity: 'high',
    forbidden: true,
    replace: accepting(({ header, body, secrets }) =>
      secrets.some((secret) => header === signed(secret, body, 'sha1')),
    ),
  },
  {
    ...SIGNATURE,
    name: 'secret-decoded-first',
    title: 'The secret is decoded from Base64 before it keys the HMAC, so that every right delivery is refused.',
    seen: 'Libraries for schemes whose secrets are Base64; the secret here looks like one and is a text.',
    why: 'Not a single notification arrives. With a secret that is no Base64, hardly any key is left.',
    fix: {
      rule: 'Key the HMAC with the UTF-8 bytes of the secret.',
      express: 'Pass the text to `createHmac`, without `Buffer.from(secret, "base64")`.',
    },
    severity: 'high',
    forbidden: true,
    replace: accepting(({ header, body, secrets }) =>
      secrets.some((secret) => header === signed(Buffer.from(secret, 'base64'), body)),
    ),
  },
  {
    ...SIGNATURE,
    name: 'secret-cut-at-32',
    title: 'The secret is cut at 32 characters, so that every right delivery is refused.',
    seen: 'A column, a form field or a cipher key of 32 characters that the longer secret went through.',
    why: 'Not a single notification arrives, and the stored secret looks right at first sight.',
    fix: {
      rule: 'Store the secret whole, and compare its length with the agreed one.',
      express: 'Widen the column, and remove `.slice(0, 32)`.',
    },
    severity: 'high',
    forbidden: true,
    replace: accepting(({ header, body, secrets }) =>
      secrets.some((secret) => header === signed(secret.slice(0, 32), body)),
    ),
  },
  {
    ...SIGNATURE,
    name: 'verifies-lower-case-body',
    title: 'The signature is verified over the body in lower case, so that right deliveries are refused.',
    seen: 'Normalising code for search or de-duplication that ran before the check.',
    why: 'Every notification has capital letters in its type, so none arrives.',
    fix: {
      rule: 'Verify the bytes as they arrived.',
      express: 'Verify `req.body` of `express.raw` before anything else touches it.',
    },
    severity: 'high',
    forbidden: true,
    replace: accepting(({ header, body, secrets }) =>
      secrets.some((secret) => header === signed(secret, Buffer.from(body.toString('utf8').toLowerCase()))),
    ),
  },
  {
    ...SIGNATURE,
    name: 'old-deliveries-refused',
    title: 'Deliveries whose time is more than a day ago are refused as replays.',
    seen: 'Libraries for schemes that sign the time of sending; here the time says when something happened.',
    why: 'Deliveries that were held up are refused again and again, until they are lost for good.',
    fix: {
      rule: 'Guard against replays by the id, which the signature covers, and not by the time.',
      express: 'Remove the tolerance on `at` from the verification.',
    },
    severity: 'medium',
    forbidden: false,
    replace: (parts) =>
      judging((delivery, req, res, next) => {
        const { at } = unverified(delivery);
        const seconds = typeof at === 'number' ? at : Date.parse(String(at)) / 1000;
        if (seconds < Date.now() / 1000 - 86_400) return refuseUnauthorized(res, 'signature-old');
        return parts.right.verifySignature(req, res, next);
      }, parts),
  },
];
