/** Mutants with another algorithm or another secret than the sender. */
import { createHash, getHashes } from 'node:crypto';
import { refuseUnauthorized } from '../receiver/stages/stage.ts';
import type { StageFault } from './fault.ts';
import { acceptWhen, alsoAccept, lenientMutant, SIGNATURE, signed, stageOf, unverified } from './lenient-verifier.ts';

const sha256 = (...parts: (string | Uint8Array)[]) => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('base64');
};

const HASHES = new Set(getHashes());

/** A mutant that verifies with an additional secret. */
function alsoVerifying(
  secrets: (agreed: readonly string[], apiKeys: readonly string[]) => readonly (string | Uint8Array)[],
  text: Parameters<typeof lenientMutant>[1],
): StageFault {
  return lenientMutant(
    ({ header, body, secrets: agreed, apiKeys }) =>
      secrets(agreed, apiKeys).some((secret) => header === signed(secret, body)),
    text,
  );
}

export const signatureKeyFaults: readonly StageFault[] = [
  // Digests of another algorithm that are accepted in addition to the valid one.
  {
    ...SIGNATURE,
    name: 'unkeyed-hash-accepted',
    title: 'Accepts a plain SHA-256 of the body, computed without the secret',
    seen:
      'A checksum header of an older integration that is still supported, or a hash function instead of an HMAC ' +
      'function.',
    why: 'Anyone can compute it.',
    fix: {
      rule: 'Use HMAC with the secret and nothing else.',
      express: 'Replace `createHash("sha256")` with `createHmac("sha256", secret)`.',
    },
    severity: 'critical',
    forbidden: true,
    replace: alsoAccept(({ header, body }) => header === sha256(body)),
  },
  {
    ...SIGNATURE,
    name: 'hash-of-secret-and-body-accepted',
    title: 'Accepts a SHA-256 of the secret followed by the body',
    seen: 'Custom signing schemes and payment interfaces from the time before HMAC was in every library.',
    why: 'Length extension: one known delivery yields valid values for longer bodies, without the secret.',
    fix: {
      rule: 'HMAC was designed against this attack: use it, and remove the concatenation.',
      express: 'Remove `createHash("sha256").update(secret + body)`.',
    },
    severity: 'high',
    forbidden: true,
    replace: alsoAccept(({ header, body, secrets }) => secrets.some((secret) => header === sha256(secret, body))),
  },
  {
    ...SIGNATURE,
    name: 'hash-of-body-and-secret-accepted',
    title: 'Accepts a SHA-256 of the body followed by the secret',
    seen: 'Checksums of older payment interfaces, where the secret is the last field of a concatenated text.',
    why: 'A second, custom construction next to the agreed one has to be kept secure as well.',
    fix: { rule: 'Make HMAC the only check.', express: 'Remove `createHash("sha256").update(body + secret)`.' },
    severity: 'high',
    forbidden: true,
    replace: alsoAccept(({ header, body, secrets }) => secrets.some((secret) => header === sha256(body, secret))),
  },
  {
    ...SIGNATURE,
    name: 'hmac-arguments-either-way',
    title: 'Also accepts an HMAC with secret and body swapped',
    seen:
      'Languages whose HMAC functions take key and message in different orders, and code that allows both to be ' +
      'safe.',
    why: 'It accepts what no sender sends, and hides a mistake elsewhere.',
    fix: {
      rule: 'Look up the order of the arguments, and keep one call.',
      express: 'Pass the secret to `createHmac` and the body to `update`.',
      python: '`hmac.new(key, msg, sha256)`: the secret comes first.',
      php: '`hash_hmac("sha256", $body, $secret)`: the secret comes last.',
    },
    severity: 'low',
    forbidden: true,
    replace: alsoAccept(({ header, body, secrets }) =>
      secrets.some((secret) => header === signed(body, Buffer.from(secret))),
    ),
  },
  {
    ...SIGNATURE,
    name: 'sha1-accepted',
    title: 'Accepts an HMAC with SHA-1 in addition to SHA-256',
    seen: 'Verifiers with a fallback for senders that signed with SHA-1 for years.',
    why: 'An attacker uses the weakest algorithm that is accepted.',
    fix: { rule: 'Accept SHA-256 only.', express: 'Remove the second `createHmac("sha1", ...)`.' },
    severity: 'high',
    forbidden: true,
    replace: alsoAccept(({ header, body, secrets }) =>
      secrets.some((secret) => header === signed(secret, body, 'sha1')),
    ),
  },
  {
    ...SIGNATURE,
    name: 'algorithm-by-length',
    title: 'Selects the algorithm, from MD5 to SHA-512, by the length of the signature',
    seen: 'Generic verifiers that serve many senders and guess from the request.',
    why: 'The sender of the request chooses how strictly it is checked.',
    fix: {
      rule: 'Name SHA-256 in the code, and reject every other length.',
      express: 'Do not derive the first argument of `createHmac` from the header.',
    },
    severity: 'high',
    forbidden: true,
    replace: alsoAccept(({ header = '', body, secrets }) => {
      const bytes = Buffer.from(header, 'base64').length;
      const algorithm = { 16: 'md5', 20: 'sha1', 48: 'sha384', 64: 'sha512' }[bytes];
      return algorithm !== undefined && secrets.some((secret) => header === signed(secret, body, algorithm));
    }),
  },
  {
    ...SIGNATURE,
    name: 'algorithm-by-prefix',
    title: 'Selects the algorithm by a prefix of the signature ("sha1=", "sha512=")',
    seen:
      'Code copied from a receiver for senders that write `algorithm=digest`, which passes the name on to the ' +
      'library.',
    why: 'The request chooses the algorithm, and another one that the library supports may be broken.',
    fix: {
      rule: 'Never take the name of an algorithm from a request.',
      express: 'Delete the parser for "algorithm=value".',
      php: 'Do not pass a part of the header to `hash_hmac` as its first argument.',
      java: 'Do not pass a part of the header to `Mac.getInstance`.',
    },
    severity: 'high',
    forbidden: true,
    replace: alsoAccept(({ header = '', body, secrets }) => {
      const [, algorithm = '', digest = ''] = /^([a-z0-9]+)=(.+)$/s.exec(header) ?? [];
      if (!HASHES.has(algorithm)) return false;
      return secrets.some((secret) => {
        const wanted = signed(secret, body, algorithm);
        return digest === wanted || digest === Buffer.from(wanted, 'base64').toString('hex');
      });
    }),
  },
  {
    ...SIGNATURE,
    name: 'half-digest-accepted',
    title: 'Accepts the valid digest truncated to its first 16 bytes',
    seen: 'Protocols with truncated HMACs, and libraries with a setting for the output length.',
    why: 'It reduces the strength of the signature, and no sender sends it.',
    fix: { rule: 'Require all 32 bytes.', express: 'Compare complete values; remove `.subarray(0, 16)`.' },
    severity: 'medium',
    forbidden: true,
    replace: alsoAccept(({ header, expected }) =>
      expected.some((one) => header === Buffer.from(one, 'base64').subarray(0, 16).toString('base64')),
    ),
  },
  // Secrets that are accepted in addition to the agreed one.
  alsoVerifying(() => [''], {
    name: 'empty-secret-accepted',
    title: 'Accepts a signature made with an empty secret',
    seen:
      'A default of "" for a second (rotated or per-tenant) secret that is not set; reported for several official ' +
      'webhook libraries.',
    why: 'Anyone can sign with an empty secret.',
    fix: {
      rule: 'Refuse to start if a secret is missing or empty, and leave empty entries out of the list of secrets.',
      express: 'Write `if (!process.env.WEBHOOK_SECRET) throw new Error(...)` at start-up, and no `?? ""`.',
      go: '`os.Getenv` returns "" for an unset variable: use `os.LookupEnv`, and stop if it is missing or empty.',
    },
  }),
  alsoVerifying(() => ['undefined'], {
    name: 'secret-undefined-accepted',
    title: 'Accepts a signature made with the word "undefined" as the secret',
    seen: 'JavaScript that puts a missing setting into a template literal or through `String()`.',
    why: 'It is the first value that an attacker tries against JavaScript.',
    fix: {
      rule: 'Check that a secret is set before you use it.',
      express:
        'Do not build the secret with a template literal: a missing one then stays undefined, and createHmac throws ' +
        'at once.',
    },
  }),
  alsoVerifying(() => ['null', 'None'], {
    name: 'secret-null-accepted',
    title: 'Accepts a signature made with the word "null" as the secret',
    seen: 'Configuration that went through YAML, a template or a database and came back as a word.',
    why: 'The receiver starts without an error, and anyone who guesses the word can sign.',
    fix: {
      rule: 'Reject the words null and None where the configuration is read.',
      express: 'Check what the deployment really sets, and validate its length (32 characters or more).',
      python: 'Do not use `str(os.environ.get(...))`: it turns a missing variable into the word None.',
    },
  }),
  alsoVerifying(() => ['secret', 'password'], {
    name: 'default-secret-accepted',
    title: 'Accepts a signature made with a well-known default ("secret" or "password")',
    seen:
      'Code with `process.env.WEBHOOK_SECRET || "secret"`; hard-coded fallbacks are among the most reported ' +
      'faults of this kind.',
    why: 'The fallback is in the source code, often in public, and in every list of common passwords.',
    fix: {
      rule: 'A missing secret is an error; it must not have a default.',
      express: 'Remove the default after `||` where the secret is read.',
    },
  }),
  alsoVerifying(() => ['changeme', 'your-secret'], {
    name: 'sample-secret-accepted',
    title: 'Accepts a signature made with the placeholder of a sample configuration',
    seen: 'Values such as "changeme" from an example file that reached production next to the real one.',
    why: 'The placeholder is public in the repository or the tutorial that it came from.',
    fix: {
      rule: 'Ship samples with an empty secret, and refuse to start with it.',
      express: 'Search configuration and code for the placeholder, and remove it from the list of secrets.',
    },
  }),
  alsoVerifying(() => ['test-secret', 'whsec_test'], {
    name: 'test-secret-accepted',
    title: 'Accepts a signature made with the secret of the tests',
    seen: 'Test modes of webhook libraries, and constants for unit tests that ended up in the list of valid secrets.',
    why: 'Anyone who reads the tests can sign.',
    fix: {
      rule: 'Give tests their secret through their own configuration.',
      express: 'Delete the constant from production code, and disable the test mode.',
    },
  }),
  alsoVerifying(() => ['***'], {
    name: 'masked-secret-accepted',
    title: 'Accepts a signature made with asterisks as the secret',
    seen: 'Configuration that was saved from a page with a masked secret; found in a released agent.',
    why: 'Three asterisks are as public as an empty secret.',
    fix: {
      rule: 'Never save a masked value.',
      express:
        'In the route that saves settings, leave the secret out of the update if the form still contains the mask.',
    },
  }),
  alsoVerifying((_agreed, apiKeys) => apiKeys, {
    name: 'api-key-signs',
    title: 'Accepts a signature made with the API key as the secret',
    seen: 'One table of credentials for both purposes, or two settings that were once swapped and then both allowed.',
    why: 'Every request carries the key: anyone who sees one delivery can sign the next.',
    fix: {
      rule: 'Keep the two credentials separate, and verify with the secret only.',
      express: 'Pass the secret to the verification by name instead of a list of all credentials of the partner.',
    },
  }),
  alsoVerifying((agreed) => agreed.map((secret) => `${secret}\n`), {
    name: 'secret-with-line-end-accepted',
    title: 'Also accepts a signature made with the secret and a line ending',
    seen: 'Secrets from files, where a second attempt with the line ending was added after a long search.',
    why: 'It accepts what the sender never sends, and hides that two places hold different secrets.',
    fix: {
      rule: 'Trim the secret once where it is read.',
      express: 'Write `readFileSync(path, "utf8").trim()`, and delete the second attempt.',
    },
  }),
  alsoVerifying((agreed) => agreed.map((secret) => createHash('sha256').update(secret).digest('hex')), {
    name: 'hashed-secret-accepted',
    title: 'Accepts a signature made with the SHA-256 of the secret',
    seen: 'Secrets that are stored hashed like passwords, while a migration allows both forms.',
    why: 'Read access to the database is enough to forge deliveries, which the hashing should prevent.',
    fix: {
      rule: 'Store the secret encrypted: an HMAC needs the secret itself.',
      express: 'Complete the migration, and remove the hashed form from the list.',
    },
  }),
  alsoVerifying((agreed) => agreed.map((secret) => secret.slice(0, Math.floor(secret.length / 2))), {
    name: 'half-secret-accepted',
    title: 'Accepts a signature made with the first half of the secret',
    seen: 'A column or variable that was too short, and a list of secrets that still contains the truncated value.',
    why: 'Half a secret is far easier to guess, and it does not look truncated.',
    fix: {
      rule: 'Verify with the whole secret only.',
      express: 'Compare the length of the stored secret with the agreed length at start-up.',
    },
  }),
  alsoVerifying((agreed) => agreed.map((secret) => Buffer.from(secret, 'base64')), {
    name: 'decoded-secret-accepted',
    title: 'Also accepts a signature made with the Base64-decoded secret',
    seen: 'Libraries for schemes with Base64 secrets, and receivers that try both forms.',
    why: 'Lenient decoding turns some secrets into a few bytes or none, and then anyone can sign.',
    fix: {
      rule: 'Use the UTF-8 bytes of the secret as the key of the HMAC.',
      express: 'Pass the string to `createHmac`, without `Buffer.from(secret, "base64")`.',
    },
  }),
  lenientMutant(
    (delivery) => {
      const inBody = unverified(delivery).secret;
      const named = [delivery.req.query.secret, inBody].filter((one) => typeof one === 'string');
      return named.some((secret) => delivery.header === signed(secret, delivery.body));
    },
    {
      name: 'secret-from-request',
      title: 'Verifies with the secret that the request names in its query or body',
      seen:
        '`extract($_GET)` and register_globals in PHP, and settings that are merged with `req.query` or `req.body` ' +
        '(`Object.assign(options, req.body)`).',
      why: 'An attacker chooses a secret, signs a forgery with it, and sends it along.',
      fix: {
        rule: 'Never merge request parameters into variables or settings. Read the secret from your configuration.',
        express: 'Read single fields of `req.query` and `req.body`, and do not spread or assign them.',
        php: 'Do not use `extract()` or `parse_str()` without a second argument.',
      },
    },
  ),
  // The secret itself in the signature header.
  {
    ...SIGNATURE,
    name: 'secret-as-token',
    title: 'Accepts the secret itself in the signature header',
    seen: 'Receivers written for senders with a fixed token in a header, as some code hosting services have it.',
    why: 'The body is not protected, and the secret would be in every request.',
    fix: {
      rule: 'Compare the header with the HMAC of the body.',
      express: 'Remove `if (signature === secret)`.',
    },
    severity: 'high',
    forbidden: true,
    replace: alsoAccept(({ header, secrets }) => secrets.includes(header ?? '')),
  },
  {
    ...SIGNATURE,
    name: 'encoded-secret-as-token',
    title: 'Accepts the secret in Base64, or as a bearer token, in the signature header',
    seen: 'Middleware for Basic or bearer authentication that was configured for this header.',
    why: 'The value is the same for every body, so an intercepted one works forever.',
    fix: {
      rule: 'Compare the header with the HMAC of the body; Base64 is only its encoding.',
      express: 'Remove the token middleware from this route.',
    },
    severity: 'high',
    forbidden: true,
    replace: alsoAccept(({ header, secrets }) =>
      secrets.some((secret) => header === Buffer.from(secret).toString('base64') || header === `Bearer ${secret}`),
    ),
  },
  // Checks with another algorithm or secret than agreed: they reject valid deliveries, mostly all of them.
  {
    ...SIGNATURE,
    name: 'expects-hex',
    title: 'Expects the signature in hexadecimal, so every valid delivery is rejected',
    seen: 'Code from tutorials and receivers for other senders: hexadecimal is the most common encoding.',
    why: 'No notification is received.',
    fix: {
      rule: 'Encode the digest in Base64.',
      express: 'Use `digest("base64")` instead of `digest("hex")`.',
      python: 'Use `base64.b64encode(mac.digest()).decode()` instead of `mac.hexdigest()`.',
      php: 'Use `base64_encode(hash_hmac("sha256", $body, $secret, true))`.',
      ruby: 'Use `Base64.strict_encode64(OpenSSL::HMAC.digest("SHA256", secret, body))` instead of `hexdigest`.',
      java: 'Use `Base64.getEncoder().encodeToString(mac.doFinal(body))`, not `HexFormat`.',
      go: 'Use `base64.StdEncoding.EncodeToString` instead of `hex.EncodeToString`.',
      rust: 'Use `STANDARD.encode(...)` of the crate `base64` instead of `hex::encode`.',
    },
    severity: 'high',
    forbidden: true,
    replace: acceptWhen(({ header, expected }) =>
      expected.some((one) => header === Buffer.from(one, 'base64').toString('hex')),
    ),
  },
  {
    ...SIGNATURE,
    name: 'expects-prefixed-hex',
    title: 'Expects the signature as "sha256=" and hexadecimal, so every valid delivery is rejected',
    seen: 'Receivers written for a well-known code hosting service.',
    why: 'No notification is received.',
    fix: {
      rule: 'Expect the Base64 of the digest, without a prefix.',
      express: 'Use `digest("base64")`, without a prefix.',
    },
    severity: 'high',
    forbidden: true,
    replace: acceptWhen(({ header, expected }) =>
      expected.some((one) => header === `sha256=${Buffer.from(one, 'base64').toString('hex')}`),
    ),
  },
  {
    ...SIGNATURE,
    name: 'expects-sha1',
    title: 'Expects an HMAC with SHA-1, so every valid delivery is rejected',
    seen: 'Verification libraries with an outdated default algorithm.',
    why: 'No notification is received.',
    fix: { rule: 'Name SHA-256 in the code.', express: 'Use `createHmac("sha256", secret)`.' },
    severity: 'high',
    forbidden: true,
    replace: acceptWhen(({ header, body, secrets }) =>
      secrets.some((secret) => header === signed(secret, body, 'sha1')),
    ),
  },
  {
    ...SIGNATURE,
    name: 'secret-decoded-first',
    title: 'Decodes the secret from Base64 before using it as the HMAC key, so every valid delivery is rejected',
    seen: 'Libraries for schemes with Base64 secrets; this secret looks like Base64 but is used as text.',
    why: 'No notification is received. If the secret is not Base64, hardly any key is left.',
    fix: {
      rule: 'Use the UTF-8 bytes of the secret as the key of the HMAC.',
      express: 'Pass the string to `createHmac`, without `Buffer.from(secret, "base64")`.',
    },
    severity: 'high',
    forbidden: true,
    replace: acceptWhen(({ header, body, secrets }) =>
      secrets.some((secret) => header === signed(Buffer.from(secret, 'base64'), body)),
    ),
  },
  {
    ...SIGNATURE,
    name: 'secret-cut-at-32',
    title: 'Truncates the secret to 32 characters, so every valid delivery is rejected',
    seen: 'A column, form field or cipher key of 32 characters that the longer secret passed through.',
    why: 'No notification is received, and the stored secret looks correct at first sight.',
    fix: {
      rule: 'Store the whole secret, and compare its length with the agreed one.',
      express: 'Widen the column, and remove `.slice(0, 32)`.',
    },
    severity: 'high',
    forbidden: true,
    replace: acceptWhen(({ header, body, secrets }) =>
      secrets.some((secret) => header === signed(secret.slice(0, 32), body)),
    ),
  },
  {
    ...SIGNATURE,
    name: 'verifies-lower-case-body',
    title: 'Verifies the signature over the body in lower case, so valid deliveries are rejected',
    seen: 'Code that normalises text for search or deduplication and runs before verification.',
    why: 'Every notification has capital letters in its type, so none is accepted.',
    fix: {
      rule: 'Verify the bytes as they arrived.',
      express: 'Verify `req.body` of `express.raw` before anything else changes it.',
    },
    severity: 'high',
    forbidden: true,
    replace: acceptWhen(({ header, body, secrets }) =>
      secrets.some((secret) => header === signed(secret, Buffer.from(body.toString('utf8').toLowerCase()))),
    ),
  },
  {
    ...SIGNATURE,
    name: 'old-deliveries-refused',
    title: 'Rejects deliveries whose time is more than a day ago as replays',
    seen: 'Libraries for schemes that sign the time of sending; this time is when the event happened.',
    why: 'Delayed deliveries are rejected on every retry, until they are lost.',
    fix: {
      rule: 'Prevent replays by the id, which the signature covers, not by the time.',
      express: 'Remove the tolerance on `at` from the verification.',
    },
    severity: 'medium',
    forbidden: false,
    replace: (parts) =>
      stageOf((delivery, req, res, next) => {
        const { at } = unverified(delivery);
        const seconds = typeof at === 'number' ? at : Date.parse(String(at)) / 1000;
        if (seconds < Date.now() / 1000 - 86_400) return refuseUnauthorized(res, 'signature-old');
        return parts.correct.requireSignature(req, res, next);
      }, parts),
  },
];
