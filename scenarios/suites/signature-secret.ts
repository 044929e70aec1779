/** A delivery that is signed with a different secret. */
import {
  asHex,
  digest,
  headerText,
  joined,
  signatureUnder,
  signatureUnderBytes,
  signedWith,
  signedWithText,
} from '../changes/signing.ts';
import { refused } from '../expectations.ts';
import type { Delivery, Feature, Kit, Scenario, SignChange } from '../scenario.ts';

function otherSecret(
  slug: string,
  title: string,
  sign: SignChange,
  text: { readonly why: string; readonly fix: string },
  needs: readonly Feature[] = ['hmac'],
): Scenario {
  const requirements = ['hmac-secret-set', 'hmac-invalid'] as const;
  return {
    id: `signature/${slug}`,
    title,
    level: 'must',
    requirements,
    needs,
    change: { sign },
    expect: refused,
    ...text,
  };
}

const asciiUpper = (text: string) => text.replace(/[a-z]/g, (c) => c.toUpperCase());

/** A random secret, and values that replace a secret that is not set. */
const unsetSecrets: readonly Scenario[] = [
  otherSecret(
    'other-secret',
    'Rejects a delivery that is signed with a different secret',
    signedWith('signed with a different secret', (kit) => kit.nonce(40)),
    {
      why: 'This is a plain forgery: only the secret differs. A receiver that accepts it does not verify signatures.',
      fix: 'Make sure that this route runs the verification and uses its result (no missing await).',
    },
  ),
  otherSecret('secret-empty', 'Rejects a delivery that is signed with an empty secret', signedWithText(''), {
    why: 'When the environment variable is missing after a deployment, anyone can sign deliveries.',
    fix: 'Fail at start-up when the secret is unset or empty. Never write `process.env.SECRET ?? ""`.',
  }),
  otherSecret(
    'secret-undefined',
    'Rejects a delivery that is signed with the secret "undefined"',
    signedWithText('undefined'),
    {
      why:
        'String(undefined) and template strings turn a missing setting into this word, which then works as a ' +
        'secret.',
      fix: 'Check that the secret is set, and do not build it by concatenation or interpolation.',
    },
  ),
  otherSecret('secret-null', 'Rejects a delivery that is signed with the secret "null"', signedWithText('null'), {
    why: 'An empty entry in a configuration file can become this word, for example when YAML is turned into variables.',
    fix: 'Reject "null" and "None" when the configuration is read, and check what the deployment really sets.',
  }),
  otherSecret('secret-secret', 'Rejects a delivery that is signed with the secret "secret"', signedWithText('secret'), {
    why: 'It is the default in many examples, and the first value that an attacker tries.',
    fix: 'Remove the default behind `||` where the secret is read. A missing secret must be an error.',
  }),
  otherSecret(
    'secret-changeme',
    'Rejects a delivery that is signed with the secret "changeme"',
    signedWithText('changeme'),
    {
      why: 'A sample configuration that reached production has this value, and anyone can read it in the repository.',
      fix: 'Leave the secret out of sample configurations, so that a copy does not start without one.',
    },
  ),
  otherSecret(
    'secret-test-secret',
    'Rejects a delivery that is signed with the secret "test-secret"',
    signedWithText('test-secret'),
    {
      why: 'A secret from unit tests that works in production is known to everyone who can read the tests.',
      fix: 'Configure the secret of the tests separately, and search the code for a hard-coded one.',
    },
  ),
  otherSecret('secret-masked', 'Rejects a delivery that is signed with the secret "***"', signedWithText('***'), {
    why: 'A configuration that was saved from a form with masked fields contains asterisks instead of the secret.',
    fix: 'Do not write a masked value back. Keep the stored secret when the field was not changed.',
  }),
  otherSecret(
    'secret-password',
    'Rejects a delivery that is signed with the secret "password"',
    signedWithText('password'),
    {
      why: 'It is in every list of guessed passwords, and thousands of guesses take less than a second offline.',
      fix: 'Agree on a random secret of at least 32 characters with the operator, and verify with nothing else.',
    },
  ),
  otherSecret(
    'secret-your-secret',
    'Rejects a delivery that is signed with the secret "your-secret"',
    signedWithText('your-secret'),
    {
      why: 'The placeholder of a copied tutorial works until it is replaced.',
      fix: 'Replace the copied constant with a value from the environment or a secret store.',
    },
  ),
  otherSecret(
    'secret-whsec-test',
    'Rejects a delivery that is signed with the secret "whsec_test"',
    signedWithText('whsec_test'),
    {
      why: 'Test modes of webhook libraries use such values. A test mode left on accepts them in production.',
      fix: 'Turn off the test mode of the library, and remove its sample secrets.',
    },
  ),
  otherSecret(
    'secret-api-key',
    'Rejects a delivery that is signed with the API key',
    signedWith('signed with the API key as secret', (kit) => kit.apiKey, signatureUnder('"$HOOKPROOF_API_KEY"')),
    {
      why: 'The API key is sent in every request, so anyone who sees one delivery could sign the next one.',
      fix: 'Use separate settings for the two credentials, and check that the HMAC uses the secret.',
    },
    ['hmac', 'api-key'],
  ),
  otherSecret(
    'secret-header-name',
    'Rejects a delivery that is signed with the name of the signature header',
    signedWith('signed with the name of the signature header', (kit) => kit.signatureHeader),
    {
      why: 'When two arguments are swapped, the public header name becomes the key.',
      fix: 'Check the order of the arguments in the call that verifies: name, secret and body are all strings.',
    },
  ),
];

/** The agreed secret after a change on its way from the secret store. None of these forms may be valid. */
const bentSecrets: readonly Scenario[] = [
  otherSecret(
    'secret-newline',
    'Rejects a delivery that is signed with the secret and a newline',
    signedWith(
      'signed with the secret and a line end',
      (kit) => `${kit.secret}\n`,
      signatureUnderBytes(`printf '%s\\n' "$HOOKPROOF_SECRET" | od -An -v -tx1 | tr -d ' \\n'`),
    ),
    {
      why:
        'Secrets that are read from files often end in a newline. Trying both forms accepts signatures that the ' +
        'sender never makes.',
      fix: 'Trim the secret once, when it is read, and verify with that value only.',
    },
  ),
  otherSecret(
    'secret-quoted',
    'Rejects a delivery that is signed with the secret in quotes',
    signedWith(
      'signed with the secret in double quotes',
      (kit) => `"${kit.secret}"`,
      signatureUnder('"\\"$HOOKPROOF_SECRET\\""'),
    ),
    {
      why: 'Some tools keep the quotes in an env file and others remove them, so the secret differs between machines.',
      fix: 'Write the secret without quotes in the env file, and remove code that tries both forms.',
    },
  ),
  otherSecret(
    'secret-half',
    'Rejects a delivery that is signed with the first half of the secret',
    signedWith('signed with the first half of the secret', (kit) =>
      kit.secret.slice(0, Math.floor(kit.secret.length / 2)),
    ),
    {
      why: 'A column that is too short truncates the secret, and the rest is much easier to guess.',
      fix: 'Enlarge the column or variable, and compare the length of the stored secret with the agreed one.',
    },
  ),
  otherSecret(
    'secret-upper-case',
    'Rejects a delivery that is signed with the secret in upper case',
    signedWith('signed with the secret in upper case, or with an x behind it when it has no small letters', (kit) =>
      asciiUpper(kit.secret),
    ),
    {
      why: 'Changing the case of the secret removes almost one bit for every letter.',
      fix: 'Remove the case conversion between the secret store and the HMAC.',
    },
  ),
  otherSecret(
    'secret-base64-decoded',
    'Rejects a delivery that is signed with the Base64-decoded secret',
    signedWith('signed with the bytes that Base64 decoding makes of the secret', (kit) =>
      Buffer.from(kit.secret, 'base64'),
    ),
    {
      why: 'Lenient decoding turns some secrets into a few bytes or none, and then anyone can sign.',
      fix: 'Use the UTF-8 bytes of the secret as the HMAC key, even if the secret looks like Base64.',
    },
  ),
  otherSecret(
    'secret-hashed',
    'Rejects a delivery that is signed with the hexadecimal SHA-256 of the secret',
    signedWith(
      'signed with the SHA-256 of the secret in hexadecimal',
      (kit) => digest('sha256', kit.secret).toString('hex'),
      signatureUnder(`"$(printf %s "$HOOKPROOF_SECRET" | ${asHex('openssl dgst -sha256')})"`),
    ),
    {
      why: 'If a stored hash also works as a secret, an attacker who reads the database can forge deliveries.',
      fix: 'Store the secret encrypted, not hashed: an HMAC needs the secret itself.',
    },
  ),
  otherSecret(
    'secret-prefixed',
    'Rejects a delivery that is signed with "whsec_" and the secret',
    signedWith(
      'signed with whsec_ and the secret',
      (kit) => `whsec_${kit.secret}`,
      signatureUnder('"whsec_$HOOKPROOF_SECRET"'),
    ),
    {
      why: 'A library for another scheme adds or removes this prefix, so two secrets are valid instead of one.',
      fix: 'Use a plain HMAC function, or turn off the prefix handling of the library.',
    },
  ),
];

const secrets = {
  level: 'must',
  requirements: ['hmac-secret-set', 'hmac-invalid'],
  needs: ['hmac'],
} as const;

/** One delivery for each secret. */
function eachSecret(changes: readonly SignChange[]): readonly (readonly Delivery[])[] {
  return changes.map((sign) => [{ label: sign.label, change: { sign }, expect: refused }]);
}

/** Sizes of columns, cipher keys and fields that truncate a secret. */
const CUTS = [8, 16, 20, 24, 32];

/** Placeholders, and the text forms of missing values. */
const WORDS = ['webhook-secret', 'your-webhook-secret', 'example', 'None', 'false', '$' + '{WEBHOOK_SECRET}'];

const manySecrets: readonly Scenario[] = [
  {
    ...secrets,
    id: 'signature/secret-cut',
    title: 'Rejects deliveries signed with only the first 8, 16, 20, 24 or 32 characters of the secret',
    flow: () =>
      eachSecret(
        CUTS.map((length) =>
          signedWith(`signed with the first ${length} characters of the secret`, (kit) => kit.secret.slice(0, length)),
        ),
      ),
    why: 'A column or key of fixed size truncates the secret silently, and a shorter secret is easier to guess.',
    fix: 'Store the whole secret, and do not pad or truncate it for the HMAC. The report names the length.',
  },
  {
    ...secrets,
    id: 'signature/secret-placeholders',
    title: 'Rejects deliveries signed with common placeholder secrets',
    flow: () => eachSecret(WORDS.map(signedWithText)),
    why: 'Defaults from samples and the text forms of missing values are the first secrets that an attacker tries.',
    fix: 'Fail at start-up when the secret is unset, and have no default. The report names the accepted secret.',
  },
];

/** Signatures with any other secret than the agreed one. */
export const otherSecrets: readonly Scenario[] = [...unsetSecrets, ...bentSecrets, ...manySecrets];

/** The secret itself instead of a signature. A receiver that treats the header as a password accepts it. */
export const secretsAsSignature: readonly Scenario[] = [
  {
    id: 'signature/secret-itself',
    title: 'Rejects the secret itself as the signature',
    level: 'must',
    requirements: ['hmac-algorithm', 'hmac-invalid'],
    needs: ['hmac'],
    sendsSecret: true,
    change: {
      sign: {
        label: 'the secret itself',
        make: (_body: Uint8Array, kit: Kit) => headerText(kit.secret),
        shell: 'printf %s "$HOOKPROOF_SECRET"',
      },
    },
    expect: refused,
    why: 'A secret that is compared like a token does not protect the body, and is sent with every request.',
    fix: 'Compare the header with the HMAC of the body, not with the secret.',
  },
  {
    id: 'signature/secret-in-base64',
    title: 'Rejects the Base64 of the secret as the signature',
    level: 'must',
    requirements: ['hmac-algorithm', 'hmac-invalid'],
    needs: ['hmac'],
    sendsSecret: true,
    change: {
      sign: {
        label: 'the secret in Base64',
        make: (_body: Uint8Array, kit: Kit) => Buffer.from(kit.secret).toString('base64'),
        shell: 'printf %s "$HOOKPROOF_SECRET" | openssl base64 -A',
      },
    },
    expect: refused,
    why: 'This value is the same for every body, so an attacker who has seen one delivery can sign any other.',
    fix: 'Key the HMAC with the secret and feed it with the body. Encoding to Base64 is only the last step.',
  },
  {
    id: 'signature/secret-as-bearer',
    title: 'Rejects the secret as a bearer token in the signature header',
    level: 'must',
    requirements: ['hmac-algorithm', 'hmac-invalid'],
    needs: ['hmac'],
    sendsSecret: true,
    change: {
      sign: {
        label: 'Bearer and the secret',
        make: (_body: Uint8Array, kit: Kit) => `Bearer ${headerText(kit.secret)}`,
        shell: joined("printf %s 'Bearer '", 'printf %s "$HOOKPROOF_SECRET"'),
      },
    },
    expect: refused,
    why:
      'A middleware for bearer tokens in front of the route can accept the delivery before its signature is ' +
      'verified.',
    fix: 'Remove the token middleware from this route, or run it in addition to the verification.',
  },
];
