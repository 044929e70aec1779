/** Deliveries that are signed with a different secret. */
import {
  asHex,
  digest,
  headerText,
  joined,
  type SigningScheme,
  signatureUnder,
  signedWith,
  signedWithText,
} from '../changes/signing.ts';
import type { Change, Kit, Scenario } from '../scenario.ts';
import { family } from './family.ts';
import { oneByOne, rejected, sending } from './signature-family.ts';

const text = (secret: string): Change => ({ sign: signedWithText(secret) });
const made =
  (secret: (kit: Kit) => string | Uint8Array, shell?: string) =>
  (label: string): Change => ({ sign: signedWith(label, secret, shell) });

const random = made((kit) => kit.nonce(40));
const apiKey = made((kit) => kit.apiKey, signatureUnder('"$HOOKPROOF_API_KEY"'));

/** Prints the secret and a line end in hexadecimal. The shell's `$( )` would remove the line end itself. */
const NEWLINE_HEX = `printf '%s\\n' "$HOOKPROOF_SECRET" | od -An -v -tx1 | tr -d ' \\n'`;
const withNewline = made(
  (kit) => `${kit.secret}\n`,
  `openssl dgst -sha256 -mac HMAC -macopt "hexkey:$(${NEWLINE_HEX})" -binary | openssl base64 -A`,
);
const quoted = made((kit) => `"${kit.secret}"`, signatureUnder('"\\"$HOOKPROOF_SECRET\\""'));
const firstHalf = made((kit) => kit.secret.slice(0, Math.floor(kit.secret.length / 2)));
const upperCase = made((kit) => kit.secret.replace(/[a-z]/g, (c) => c.toUpperCase()));
const base64Decoded = made((kit) => Buffer.from(kit.secret, 'base64'));
const hashed = made(
  (kit) => digest('sha256', kit.secret).toString('hex'),
  signatureUnder(`"$(printf %s "$HOOKPROOF_SECRET" | ${asHex('openssl dgst -sha256')})"`),
);
const prefixed = made((kit) => `whsec_${kit.secret}`, signatureUnder('"whsec_$HOOKPROOF_SECRET"'));

/** Lengths to which columns, cipher keys and fields truncate a secret. */
const CUTS = [8, 16, 20, 24, 32];
const eachCut = oneByOne(
  CUTS.map((length) =>
    signedWith(`signed with the first ${length} characters of the secret`, (kit) => kit.secret.slice(0, length)),
  ),
);

/** Placeholders, and the text forms of missing values. */
const WORDS = ['webhook-secret', 'your-webhook-secret', 'example', 'None', 'false', '$' + '{WEBHOOK_SECRET}'];

/**
 * Signatures with a secret other than the agreed one: a value that is used if no secret is set, or a changed form of
 * the secret.
 */
export function otherSecrets(scheme: SigningScheme): Scenario[] {
  const otherSecret = rejected(scheme, 'secret', 'invalid');
  return [
    ...family(
      { ...otherSecret, of: 'a delivery that is signed with', mistake: 'well-known-secret' },
      {
        'other-secret': [
          'a different secret',
          random,
          'no-signature-verification',
          { note: 'Only the secret differs: a receiver that accepts this does not verify signatures.' },
        ],
        'secret-empty': ['an empty secret', text(''), 'unset-secret'],
        'secret-undefined': ['the secret "undefined"', text('undefined'), 'unset-secret'],
        'secret-null': ['the secret "null"', text('null'), 'unset-secret'],
        'secret-secret': ['the secret "secret"', text('secret')],
        'secret-changeme': ['the secret "changeme"', text('changeme')],
        'secret-test-secret': ['the secret "test-secret"', text('test-secret')],
        'secret-masked': [
          'the secret "***"',
          text('***'),
          { note: 'Settings that are saved from a form with masked fields contain asterisks instead of the secret.' },
        ],
        'secret-password': ['the secret "password"', text('password')],
        'secret-your-secret': ['the secret "your-secret"', text('your-secret')],
        'secret-whsec-test': [
          'the secret "whsec_test"',
          text('whsec_test'),
          { note: 'Test modes of webhook libraries use such values.' },
        ],
        'secret-api-key': [
          'the API key',
          apiKey,
          'confused-credentials',
          {
            needs: [scheme.feature, 'api-key'],
            note: 'Every request carries the API key: an attacker who sees one delivery can sign the next.',
          },
        ],
        'secret-header-name': [
          'the name of the signature header',
          made((kit) => kit.signatureHeader),
          'swapped-hmac-arguments',
          { note: 'With two swapped arguments, the public name of the header becomes the key.' },
        ],
        'secret-newline': ['the secret and a newline', withNewline, 'secret-with-extra-characters'],
        'secret-quoted': ['the secret in quotes', quoted, 'secret-with-extra-characters'],
        'secret-half': ['the first half of the secret', firstHalf, 'shortened-secret'],
        'secret-upper-case': ['the secret in upper case', upperCase, 'converted-secret'],
        'secret-base64-decoded': [
          'the Base64-decoded secret',
          base64Decoded,
          'converted-secret',
          { note: 'Lenient decoding turns some secrets into a few bytes or none.' },
        ],
        'secret-hashed': [
          'the hexadecimal SHA-256 of the secret',
          hashed,
          'converted-secret',
          { note: 'Read access to the database is then enough to forge deliveries.' },
        ],
        'secret-prefixed': [
          '"whsec_" and the secret',
          prefixed,
          'converted-secret',
          { note: 'Libraries for another scheme add or remove the prefix "whsec_".' },
        ],
      },
    ),
    ...family(
      { ...otherSecret, of: 'deliveries signed with' },
      {
        'secret-cut': ['only the first 8, 16, 20, 24 or 32 characters of the secret', eachCut, 'shortened-secret'],
        'secret-placeholders': ['common placeholder secrets', oneByOne(WORDS.map(signedWithText)), 'well-known-secret'],
      },
    ),
  ];
}

const PRINT_SECRET = 'printf %s "$HOOKPROOF_SECRET"';
const secretItself = sending((_body, kit) => headerText(kit.secret), PRINT_SECRET);
const secretInBase64 = sending(
  (_body, kit) => Buffer.from(kit.secret).toString('base64'),
  `${PRINT_SECRET} | openssl base64 -A`,
);
const bearerSecret = sending(
  (_body, kit) => `Bearer ${headerText(kit.secret)}`,
  joined("printf %s 'Bearer '", PRINT_SECRET),
);

/** The secret itself instead of a signature. A receiver that treats the header as a password accepts it. */
export function secretsAsSignature(scheme: SigningScheme): Scenario[] {
  return family(
    { ...rejected(scheme, 'algorithm', 'invalid'), sendsSecret: true, mistake: 'confused-credentials' },
    {
      'secret-itself': ['the secret itself as the signature', secretItself],
      'secret-in-base64': ['the Base64 of the secret as the signature', secretInBase64],
      'secret-as-bearer': ['the secret as a bearer token in the signature header', bearerSecret],
    },
  );
}
