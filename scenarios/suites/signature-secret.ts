/** A delivery that is signed as agreed, but not with the agreed secret. */
import { digest, signedWith, signedWithText } from '../changes/signing.ts';
import { asHex, joined, signatureUnder, signatureUnderBytes } from '../changes/signing-shell.ts';
import { refused } from '../expectations.ts';
import type { Feature, Kit, Scenario, SignChange } from '../scenario.ts';

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

/** A stranger's secret, and the values that stand in for a secret that nobody has set. */
const unsetSecrets: readonly Scenario[] = [
  otherSecret(
    'other-secret',
    'Refuses a delivery that is signed with another secret',
    signedWith('signed with a random secret', (kit) => kit.nonce(40)),
    {
      why: 'This is the plain forgery: everything is right but the secret. A receiver that takes it does not verify at all.',
      fix: 'Check that the route under test runs the verification, and that its result decides the answer (no missing await).',
    },
  ),
  otherSecret('secret-empty', 'Refuses a delivery that is signed with an empty secret', signedWithText(''), {
    why: 'When the variable with the secret is missing after a deployment, everybody can sign with nothing.',
    fix: 'Stop at start-up when the secret is unset or empty; never write `process.env.SECRET ?? ""`.',
  }),
  otherSecret(
    'secret-undefined',
    'Refuses a delivery that is signed with the word "undefined"',
    signedWithText('undefined'),
    {
      why: 'String(undefined) and template text make this word of a missing setting, and it works as a secret.',
      fix: 'Do not put the secret together from parts of text; check that it is set, then use it as it is.',
    },
  ),
  otherSecret('secret-null', 'Refuses a delivery that is signed with the word "null"', signedWithText('null'), {
    why: 'A configuration file with an empty entry can yield this word, for example from YAML turned into variables.',
    fix: 'Reject the words null and None when the configuration is read, and look at what the deployment really sets.',
  }),
  otherSecret('secret-secret', 'Refuses a delivery that is signed with the word "secret"', signedWithText('secret'), {
    why: 'It is the fallback of countless examples, and the first that anyone tries.',
    fix: 'Remove the default behind `||` where the secret is read; a missing secret has to be an error.',
  }),
  otherSecret(
    'secret-changeme',
    'Refuses a delivery that is signed with the word "changeme"',
    signedWithText('changeme'),
    {
      why: 'A sample configuration that reached production carries this value, and it can be read in the repository.',
      fix: 'Ship sample configurations with the secret left out, so that a copy does not start before one is set.',
    },
  ),
  otherSecret(
    'secret-test-secret',
    'Refuses a delivery that is signed with "test-secret"',
    signedWithText('test-secret'),
    {
      why: 'A secret for unit tests that also works outside of them is one that every reader of the tests knows.',
      fix: 'Give the tests their secret through their own configuration, and search the code for it written out.',
    },
  ),
  otherSecret('secret-masked', 'Refuses a delivery that is signed with "***"', signedWithText('***'), {
    why: 'A configuration that was saved from a screen with masked fields holds asterisks in place of the secret.',
    fix: 'Do not write a masked form back; keep the stored secret when the field was not changed.',
  }),
  otherSecret('secret-password', 'Refuses a delivery that is signed with "password"', signedWithText('password'), {
    why: 'It leads every list of guessed passwords. Trying a few thousand words offline takes less than a second.',
    fix: 'Agree on a random secret of at least 32 characters with the operator, and verify with nothing else.',
  }),
  otherSecret(
    'secret-your-secret',
    'Refuses a delivery that is signed with "your-secret"',
    signedWithText('your-secret'),
    {
      why: 'The placeholder of a copied tutorial keeps working as long as nobody replaces it.',
      fix: 'Replace the constant that came with the copied code by a value from the environment or a secret store.',
    },
  ),
  otherSecret(
    'secret-whsec-test',
    'Refuses a delivery that is signed with "whsec_test"',
    signedWithText('whsec_test'),
    {
      why: 'Test modes of webhook libraries use such values, and a test mode left on accepts them in production.',
      fix: 'Turn the test mode of the library off, and keep its sample secrets out of the list of those that verify.',
    },
  ),
  otherSecret(
    'secret-api-key',
    'Refuses a delivery that is signed with the API key',
    signedWith('signed with the API key as secret', (kit) => kit.apiKey, signatureUnder('"$HOOKPROOF_API_KEY"')),
    {
      why: 'The API key travels in every request, so whoever sees one delivery could sign the next.',
      fix: 'Keep two settings for the two credentials, and check that the code reads the right one for the HMAC.',
    },
    ['hmac', 'api-key'],
  ),
  otherSecret(
    'secret-header-name',
    'Refuses a delivery that is signed with the name of the signature header',
    signedWith('signed with the name of the signature header', (kit) => kit.signatureHeader),
    {
      why: 'Two arguments in the wrong order make the public header name the key.',
      fix: 'Look at the call that verifies: name, secret and body are easily exchanged when all three are text.',
    },
  ),
];

/** The agreed secret, bent on its way from the place where it is kept. Each bent form must not verify beside the true one. */
const bentSecrets: readonly Scenario[] = [
  otherSecret(
    'secret-newline',
    'Refuses a delivery that is signed with the secret and a line end',
    signedWith(
      'signed with the secret and a line end',
      (kit) => `${kit.secret}\n`,
      signatureUnderBytes(`printf '%s\\n' "$HOOKPROOF_SECRET" | od -An -v -tx1 | tr -d ' \\n'`),
    ),
    {
      why: 'Secrets read from files often end in a line end. Trying both forms accepts signatures that the sender never makes.',
      fix: 'Trim the secret once, when it is read, and verify with that one form.',
    },
  ),
  otherSecret(
    'secret-quoted',
    'Refuses a delivery that is signed with the secret in quotes',
    signedWith(
      'signed with the secret in double quotes',
      (kit) => `"${kit.secret}"`,
      signatureUnder('"\\"$HOOKPROOF_SECRET\\""'),
    ),
    {
      why: 'Some tools keep the quotes of an env file and others drop them, so machines disagree about the secret.',
      fix: 'Write the secret without quotes in the env file, and take out code that tries it with and without them.',
    },
  ),
  otherSecret(
    'secret-half',
    'Refuses a delivery that is signed with the first half of the secret',
    signedWith('signed with the first half of the secret', (kit) =>
      kit.secret.slice(0, Math.floor(kit.secret.length / 2)),
    ),
    {
      why: 'A field that is too short cuts the secret, and what is left is far easier to guess.',
      fix: 'Widen the column or variable that holds the secret, and compare its length with the one that was agreed.',
    },
  ),
  otherSecret(
    'secret-upper-case',
    'Refuses a delivery that is signed with the secret in upper case',
    signedWith('signed with the secret in upper case, or with an x behind it when it has no small letters', (kit) =>
      asciiUpper(kit.secret),
    ),
    {
      why: 'A secret is data, not a word. Folding its case throws away almost one bit for every letter.',
      fix: 'Remove the case conversion between the secret store and the HMAC; it was meant for identifiers.',
    },
  ),
  otherSecret(
    'secret-base64-decoded',
    'Refuses a delivery that is signed with the Base64-decoded secret',
    signedWith('signed with the bytes that Base64 decoding makes of the secret', (kit) =>
      Buffer.from(kit.secret, 'base64'),
    ),
    {
      why: 'Lenient decoding turns some secrets into very few bytes, or none, and then anyone can sign.',
      fix: 'Key the HMAC with the UTF-8 bytes of the secret as it was agreed, even if it looks like Base64.',
    },
  ),
  otherSecret(
    'secret-hashed',
    'Refuses a delivery that is signed with the SHA-256 of the secret in hexadecimal',
    signedWith(
      'signed with the SHA-256 of the secret in hexadecimal',
      (kit) => digest('sha256', kit.secret).toString('hex'),
      signatureUnder(`"$(printf %s "$HOOKPROOF_SECRET" | ${asHex('openssl dgst -sha256')})"`),
    ),
    {
      why: 'If a hash kept in a database verifies as well, then reading the database is enough to forge deliveries.',
      fix: 'Keep the secret encrypted, not hashed: an HMAC needs the secret itself, and a hash must not take its place.',
    },
  ),
  otherSecret(
    'secret-prefixed',
    'Refuses a delivery that is signed with "whsec_" and the secret',
    signedWith(
      'signed with whsec_ and the secret',
      (kit) => `whsec_${kit.secret}`,
      signatureUnder('"whsec_$HOOKPROOF_SECRET"'),
    ),
    {
      why: 'A library for another scheme adds or strips this prefix on its own, and two secrets verify in place of one.',
      fix: 'Use a plain HMAC function, or switch the prefix handling of the library off.',
    },
  ),
];

/** A signature under any other secret than the agreed one. */
export const otherSecrets: readonly Scenario[] = [...unsetSecrets, ...bentSecrets];

/** Text as a header value: its UTF-8 bytes, without the control characters that a header cannot hold. */
function headerText(text: string): string {
  return Buffer.from(text)
    .toString('latin1')
    .replace(/[\x00-\x1f\x7f]/g, '');
}

/** The secret itself where its signature belongs: what a receiver takes that treats the header as a password. */
export const secretsAsSignature: readonly Scenario[] = [
  {
    id: 'signature/secret-itself',
    title: 'Refuses the secret itself in place of the signature',
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
    why: 'A secret that is compared with the header like a token does not protect the body, and stands in every request.',
    fix: 'Replace the comparison of header and secret by one of the header with the HMAC of the body.',
  },
  {
    id: 'signature/secret-in-base64',
    title: 'Refuses the secret in Base64 in place of the signature',
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
    why: 'Base64 is no protection: this value is the same for every body, so one that was overheard works for ever.',
    fix: 'Check that the HMAC is keyed with the secret and fed with the body, and that encoding is the last step only.',
  },
  {
    id: 'signature/secret-as-bearer',
    title: 'Refuses the secret as a bearer token in place of the signature',
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
    why: 'A middleware for bearer tokens in front of the route can let the delivery through before its signature is looked at.',
    fix: 'Take the token middleware off this route, or make it run in addition to the signature and not in its place.',
  },
];
