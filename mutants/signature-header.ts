/** Mutants that read the signature from the wrong place, accept other spellings of it, or accept a missing one. */
import { refuse } from '../receiver/stages/stage.ts';
import { family } from './family.ts';
import type { StageFault } from './fault.ts';
import {
  alsoAccept,
  bytesOf,
  comparing,
  endProcessWhen,
  handleSome,
  hexOf,
  matching,
  SIGNATURE,
  type Signed,
  signed,
  spelled,
  throwWhen,
  unverified,
} from './lenient-verifier.ts';

const missing = ({ header }: Signed) => header === undefined || header === '';

/** Decodes text leniently, and encodes the result in canonical base64. */
const decoded = (text: string) => bytesOf(text).toString('base64');

export const signatureHeaderFaults = family<StageFault>(
  { ...SIGNATURE, mistake: 'other-signature-place' },
  {
    // Mutants that take signatures from places other than the agreed header.
    'other-signature-headers': [
      'Also takes the signature from X-Signature or X-Hub-Signature-256',
      alsoAccept((delivery) =>
        ['X-Signature', 'X-Hub-Signature-256'].some((name) => delivery.expected.includes(delivery.req.get(name) ?? '')),
      ),
    ],
    'signature-in-authorization': [
      'Also takes the signature from the Authorization header',
      alsoAccept(
        (delivery) => missing(delivery) && delivery.expected.includes(delivery.req.get('Authorization') ?? ''),
      ),
    ],
    'signature-in-query': [
      'Also takes the signature from the query of the URL',
      alsoAccept(({ req, expected }) =>
        expected.includes(new URL(req.url, 'http://receiver').searchParams.get('signature') ?? ''),
      ),
    ],
    'signature-in-cookie': [
      'Also takes the signature from a cookie',
      alsoAccept(({ req, expected }) =>
        expected.some((one) => req.get('Cookie')?.split(/; */).includes(`signature=${one}`) === true),
      ),
    ],
    'signature-in-body': [
      'Also takes the signature from a field of the body, which it removes before verification',
      alsoAccept((delivery) => {
        const { signature, ...rest } = unverified(delivery);
        const body = Buffer.from(JSON.stringify(rest));
        return missing(delivery) && delivery.secrets.some((secret) => signature === signed(secret, body));
      }),
    ],
    'refuses-signatures-with-some-characters': [
      'Decodes the signature header like a form, so that every valid signature with + is rejected',
      comparing((header, expected) => header.replaceAll('+', ' ') === expected),
      'signature-treated-as-url-text',
    ],
    // Mutants that accept other spellings of the valid digest.
    'hex-accepted': [
      'Accepts the valid digest in hexadecimal in addition to Base64',
      alsoAccept(spelled(hexOf)),
      'wrong-digest-encoding',
    ],
    'hex-by-length': [
      'Decodes a signature of 64 characters as hexadecimal, in any letter case',
      alsoAccept(matching((header, expected) => header.length === 64 && header.toLowerCase() === hexOf(expected))),
      'wrong-digest-encoding',
    ],
    'prefixed-hex-accepted': [
      'Accepts the format of another well-known sender, "sha256=" and hexadecimal',
      alsoAccept(spelled((one) => `sha256=${hexOf(one)}`)),
      'foreign-signature-format',
    ],
    'prefix-stripped': [
      'Removes a prefix such as "sha256=" or "v1," before the comparison',
      alsoAccept(matching((header, expected) => header.replace(/^(?:sha256=|v\d+,)/, '') === expected)),
      'foreign-signature-format',
    ],
    'signature-list-accepted': [
      'Splits the header at commas and accepts any list that contains the valid signature',
      alsoAccept(matching((header, expected) => header.split(/, ?/).includes(expected))),
      'several-signatures',
    ],
    'base64-decoded-leniently': [
      'Decodes the signature leniently and ignores trailing text, whitespace and other alphabets',
      comparing((header, expected) => decoded(header) === expected),
      'base64-variant',
      { forbidden: false },
    ],
    'base64url-accepted': [
      'Accepts the valid signature in the URL-safe alphabet, with or without padding',
      alsoAccept(({ header = '', expected }) => {
        const standard = header.replaceAll('-', '+').replaceAll('_', '/');
        return expected.includes(standard.length === 43 ? `${standard}=` : standard);
      }),
      'base64-variant',
      { forbidden: false },
    ],
    'padding-optional': [
      'Accepts the valid signature without its padding',
      alsoAccept(spelled((one) => one.slice(0, -1))),
      'base64-variant',
      { forbidden: false },
    ],
    'spare-bits-ignored': [
      'Accepts four values of the last character, because it compares decoded bytes',
      comparing((header, expected) => /^[A-Za-z0-9+/]{43}=$/.test(header) && decoded(header) === expected),
      'base64-variant',
      { note: 'Four values of the last character decode to the same digest.', forbidden: false },
    ],
    'signature-url-decoded': [
      'Decodes percent-encoding in the signature header',
      alsoAccept(({ header = '', expected }) => {
        try {
          return expected.includes(decodeURIComponent(header));
        } catch {
          return false;
        }
      }),
      'signature-treated-as-url-text',
      { forbidden: false },
    ],
    'quotes-stripped': [
      'Removes double quotes around the signature',
      alsoAccept(spelled((one) => `"${one}"`)),
      'base64-variant',
      { forbidden: false },
    ],
    'base64-of-anything': [
      'Decodes the signature repeatedly until something matches',
      alsoAccept(({ header = '', expected }) => {
        const inner = bytesOf(header).toString('latin1');
        return expected.some((one) => inner === one || inner === hexOf(one));
      }),
      'wrong-digest-encoding',
    ],
    // Mutants that accept a missing or empty signature.
    'missing-signature-accepted': [
      'Accepts a delivery without the signature header',
      alsoAccept(({ header }) => header === undefined),
      'absent-signature-passes',
    ],
    'falsy-signature-accepted': [
      'Accepts a delivery whose signature is missing or empty',
      alsoAccept(missing),
      'absent-signature-passes',
    ],
    'empty-signature-accepted': [
      'Accepts an empty signature header but rejects a missing one',
      alsoAccept(({ header }) => header === ''),
      'absent-signature-passes',
      { note: 'A test that only leaves out the header does not notice it.' },
    ],
    'missing-signature-is-400': [
      'Answers 400 to a delivery without the signature header, and 401 to an invalid signature',
      handleSome(({ header }) => (header === undefined ? (_req, res) => refuse(res, 400, 'header-required') : null)),
      'wrong-refusal-status',
    ],
    'missing-signature-answers-500': [
      'Answers 500 to a delivery without the signature header',
      throwWhen(({ header }) => header === undefined),
      'signature-check-throws',
    ],
    'missing-signature-kills': [
      'Ends the process when a delivery has no signature header',
      endProcessWhen(({ header }) => header === undefined),
      'verification-ends-process',
    ],
  },
);
