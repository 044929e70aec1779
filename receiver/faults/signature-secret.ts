import { createHash } from 'node:crypto';
import type { StageFault } from './fault.ts';
import { alsoAccepting, lettingPass, SIGNATURE, signed } from './lenient-verifier.ts';

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

/** Secrets that verify beside the agreed one. */
export const extraSecrets: readonly StageFault[] = [
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
];

/** The secret itself where its signature belongs. */
export const secretsInHeader: readonly StageFault[] = [
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
];
