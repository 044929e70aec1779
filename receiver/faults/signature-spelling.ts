import type { StageFault } from './fault.ts';
import { alsoAccepting, comparing, SIGNATURE } from './lenient-verifier.ts';

const hexOf = (right: string) => Buffer.from(right, 'base64').toString('hex');
/** What a lenient decoder makes of a text, in canonical spelling. */
const decoded = (text: string) => Buffer.from(text, 'base64').toString('base64');

/** Other spellings of the right digest that are accepted. */
export const spellingFaults: readonly StageFault[] = [
  {
    ...SIGNATURE,
    name: 'hex-accepted',
    title: 'The right digest in hexadecimal is accepted beside Base64.',
    seen: 'Receivers that were patched until something passed: most tutorials show hexadecimal.',
    why: 'Two spellings of each signature are accepted, and nobody knows any more which one is agreed.',
    fix: {
      rule: 'Encode the digest in Base64, and accept no other encoding.',
      express: 'Use `digest("base64")` alone.',
      go: 'Use `base64.StdEncoding`, and remove the branch with `hex`.',
    },
    severity: 'low',
    forbidden: true,
    replace: alsoAccepting(({ header, right }) => right.some((one) => header === hexOf(one))),
  },
  {
    ...SIGNATURE,
    name: 'hex-by-length',
    title: 'A signature of 64 characters is decoded as hexadecimal, in either letter case.',
    seen: 'Verifiers that guess the encoding from the length of the header.',
    why: 'Very many spellings of each signature are accepted.',
    fix: {
      rule: 'Do not guess: the only encoding is Base64.',
      express: 'Remove the branch on `signature.length === 64`.',
    },
    severity: 'low',
    forbidden: true,
    replace: alsoAccepting(
      ({ header = '', right }) => header.length === 64 && right.some((one) => header.toLowerCase() === hexOf(one)),
    ),
  },
  {
    ...SIGNATURE,
    name: 'prefixed-hex-accepted',
    title: 'The form of another well-known sender, "sha256=" and hexadecimal, is accepted.',
    seen: 'One receiver for several senders, whose rules got mixed.',
    why: 'The secret of one sender and the rules of another open the same door.',
    fix: {
      rule: 'Choose the rule by the endpoint that a delivery came to, not by what its header looks like.',
      express: 'Give each sender a route of its own.',
    },
    severity: 'low',
    forbidden: true,
    replace: alsoAccepting(({ header, right }) => right.some((one) => header === `sha256=${hexOf(one)}`)),
  },
  {
    ...SIGNATURE,
    name: 'prefix-stripped',
    title: 'A prefix such as "sha256=" or "v1," is stripped before the comparison.',
    seen: 'Generic middleware that cuts the header at the first "=" or "," to serve many senders.',
    why: 'Any prefix passes. With the next version of such code, the prefix selects the algorithm.',
    fix: { rule: 'Compare the whole value of the header.', express: 'Remove `signature.replace(/^\\w+[=,]/, "")`.' },
    severity: 'low',
    forbidden: true,
    replace: alsoAccepting(({ header = '', right }) => right.includes(header.replace(/^(?:sha256=|v\d+,)/, ''))),
  },
  {
    ...SIGNATURE,
    name: 'signature-list-accepted',
    title: 'The header is split at commas, and one right signature in the list is enough.',
    seen: 'Libraries for senders that put the signatures of several secrets into one header.',
    why: 'A forger gets many guesses in each request, and what a gateway checked may be another entry than yours.',
    fix: {
      rule: 'The header holds one signature: compare it whole.',
      express: 'Remove `signature.split(",").some(...)`.',
    },
    severity: 'low',
    forbidden: true,
    replace: alsoAccepting(({ header = '', right }) => header.split(/, ?/).some((part) => right.includes(part))),
  },
  {
    ...SIGNATURE,
    name: 'base64-decoded-leniently',
    title: 'The signature is decoded leniently, so that endings, blanks and other alphabets are ignored.',
    seen: 'Comparisons of decoded bytes in Node and PHP, and with the MIME decoder of Java; their decoders skip what they do not know and stop at the padding.',
    why: 'No forger gets in by it, but endlessly many headers count as one signature, which defeats logs and caches that go by the header.',
    fix: {
      rule: 'Compare the Base64 text that you compute with the text of the header.',
      express: 'Compare `Buffer.from(header)` with `Buffer.from(expectedBase64)`, after their lengths.',
      spring: 'Use `Base64.getDecoder()`, not `getMimeDecoder()`, and refuse when it throws.',
      flask: 'Use `base64.b64decode(value, validate=True)`, or compare texts.',
      laravel: 'Use `base64_decode($value, true)`, or compare texts.',
    },
    severity: 'low',
    forbidden: false,
    replace: comparing((header, right) => decoded(header) === right),
  },
  {
    ...SIGNATURE,
    name: 'base64url-accepted',
    title: 'The right signature in the URL-safe alphabet is accepted, with padding or without.',
    seen: 'Code that translates "-" and "_" before it decodes, and adds the padding, as it is right for tokens.',
    why: 'It does no harm by itself, and shows a check that takes more than was agreed.',
    fix: {
      rule: 'Compare texts; the header never holds "-" or "_".',
      express: 'Remove the translation of "-" and "_".',
    },
    severity: 'low',
    forbidden: false,
    replace: alsoAccepting(({ header = '', right }) => {
      const standard = header.replaceAll('-', '+').replaceAll('_', '/');
      return right.includes(standard.length === 43 ? `${standard}=` : standard);
    }),
  },
  {
    ...SIGNATURE,
    name: 'padding-optional',
    title: 'The right signature is accepted without its padding.',
    seen: 'Comparisons in which both sides are stripped of "=" at their end.',
    why: 'It does no harm by itself: two spellings of one signature pass where one was agreed.',
    fix: {
      rule: 'Compare whole values.',
      express: 'Remove `.replace(/=+$/, "")`.',
      go: 'Use `StdEncoding`, not `RawStdEncoding`.',
    },
    severity: 'low',
    forbidden: false,
    replace: alsoAccepting(({ header, right }) => right.some((one) => header === one.slice(0, -1))),
  },
  {
    ...SIGNATURE,
    name: 'spare-bits-ignored',
    title: 'Four spellings of the last character are accepted, because only the decoded bytes are compared.',
    seen: 'Comparisons after a decoder that checks alphabet and padding and not the two unused bits; most standard libraries have such a one.',
    why: 'It does no harm by itself: two deliveries that look different count as signed alike.',
    fix: {
      rule: 'Compare the text that you compute with the text of the header.',
      express: 'Encode the expected digest, instead of decoding what came.',
      go: 'Use `base64.StdEncoding.Strict()`.',
    },
    severity: 'low',
    forbidden: false,
    replace: comparing((header, right) => /^[A-Za-z0-9+/]{43}=$/.test(header) && decoded(header) === right),
  },
  {
    ...SIGNATURE,
    name: 'signature-url-decoded',
    title: 'Percent-encoding in the signature header is decoded.',
    seen: 'Frameworks and gateways that treat headers like parameters.',
    why: 'Depending on the decoder, a "+" in a right signature becomes a blank, and one delivery in two is refused.',
    fix: { rule: 'Read the header as it came.', express: 'Remove `decodeURIComponent` around the header.' },
    severity: 'low',
    forbidden: false,
    replace: alsoAccepting(({ header = '', right }) => {
      try {
        return right.includes(decodeURIComponent(header));
      } catch {
        return false;
      }
    }),
  },
  {
    ...SIGNATURE,
    name: 'quotes-stripped',
    title: 'Double quotes around the signature are stripped.',
    seen: 'Parsers for structured headers, and clean-up code for values that came out of a configuration.',
    why: 'It does no harm by itself, and shows a check that takes more than was agreed.',
    fix: { rule: 'Hand the value to the comparison as it came.', express: 'Remove the `replace` of quotes.' },
    severity: 'low',
    forbidden: false,
    replace: alsoAccepting(({ header = '', right }) => right.some((one) => header === `"${one}"`)),
  },
  {
    ...SIGNATURE,
    name: 'base64-of-anything',
    title: 'The signature is decoded again and again until something fits.',
    seen: 'Receivers behind a gateway that encodes values once more, with a loop to undo it.',
    why: 'Base64 of Base64 and Base64 of hexadecimal are accepted, which the sender never makes.',
    fix: {
      rule: 'Decode at most once, and mend the gateway.',
      express: 'Remove the second `Buffer.from(value, "base64")`.',
      laravel: 'Pass `true` as the fourth argument of `hash_hmac`, so that it gives bytes, and encode those once.',
    },
    severity: 'low',
    forbidden: true,
    replace: alsoAccepting(({ header = '', right }) => {
      const inner = Buffer.from(header, 'base64').toString('latin1');
      return right.some((one) => inner === one || inner === hexOf(one));
    }),
  },
];
