/** Mutants that read the signature from the wrong place, accept other spellings of it, or accept a missing one. */
import { refuse } from '../receiver/stages/stage.ts';
import type { StageFault } from './fault.ts';
import {
  alsoAccept,
  comparing,
  endProcessWhen,
  SIGNATURE,
  type Signed,
  signed,
  stageOf,
  throwWhen,
  unverified,
} from './lenient-verifier.ts';

const missing = ({ header }: Signed) => header === undefined || header === '';

const hexOf = (expected: string) => Buffer.from(expected, 'base64').toString('hex');

/** The result of a lenient decoder, in canonical spelling. */
const decoded = (text: string) => Buffer.from(text, 'base64').toString('base64');

export const signatureHeaderFaults: readonly StageFault[] = [
  // Signatures from other places than the agreed header.
  {
    ...SIGNATURE,
    name: 'other-signature-headers',
    title: 'Also takes the signature from X-Signature or X-Hub-Signature-256',
    seen: 'Generic receivers with a list of header names of several senders.',
    why: 'Each additional name bypasses whatever a gateway does with the agreed header.',
    fix: {
      rule: 'Read only the agreed header.',
      express: 'Replace the list of names with `req.get("X-Service-Signature")`.',
    },
    severity: 'medium',
    forbidden: true,
    replace: alsoAccept((delivery) =>
      ['X-Signature', 'X-Hub-Signature-256'].some((name) => delivery.expected.includes(delivery.req.get(name) ?? '')),
    ),
  },
  {
    ...SIGNATURE,
    name: 'signature-in-authorization',
    title: 'Also takes the signature from the Authorization header',
    seen: 'Authentication layers that look for every credential in one place.',
    why: 'Proxies rewrite and remove this header, and it contains user tokens.',
    fix: { rule: 'Read only the agreed header.', express: 'Remove `?? req.get("Authorization")`.' },
    severity: 'medium',
    forbidden: true,
    replace: alsoAccept(
      (delivery) => missing(delivery) && delivery.expected.includes(delivery.req.get('Authorization') ?? ''),
    ),
  },
  {
    ...SIGNATURE,
    name: 'signature-in-query',
    title: 'Also takes the signature from the query of the URL',
    seen: 'Leftovers of manual tests, and frameworks that look up a name in headers and parameters alike.',
    why: 'Access logs contain URLs, and therefore the signature.',
    fix: {
      rule: 'Read only the header.',
      express: 'Remove `?? req.query.signature`.',
      php: 'Use `$_SERVER["HTTP_X_SERVICE_SIGNATURE"]`, not `$_REQUEST`.',
      laravel: 'Use `$request->header(...)`, not `$request->input(...)`.',
    },
    severity: 'medium',
    forbidden: true,
    replace: alsoAccept(({ req, expected }) =>
      expected.includes(new URL(req.url, 'http://receiver').searchParams.get('signature') ?? ''),
    ),
  },
  {
    ...SIGNATURE,
    name: 'signature-in-cookie',
    title: 'Also takes the signature from a cookie',
    seen: 'Frameworks that look up a name in headers, cookies and parameters alike.',
    why: 'Browsers attach cookies automatically, also to requests that another site triggered.',
    fix: { rule: 'Read only the header.', express: 'Remove `?? req.cookies.signature`.' },
    severity: 'medium',
    forbidden: true,
    replace: alsoAccept(({ req, expected }) =>
      expected.some((one) => req.get('Cookie')?.split(/; */).includes(`signature=${one}`) === true),
    ),
  },
  {
    ...SIGNATURE,
    name: 'signature-in-body',
    title: 'Also takes the signature from a field of the body, which it removes before verification',
    seen: 'Receivers that also serve a sender with the signature inside the body.',
    why: 'The verification covers a reassembled body instead of the bytes that arrived.',
    fix: {
      rule: 'Read the header, and verify the raw body.',
      express: 'Remove `const { signature, ...rest } = req.body`.',
    },
    severity: 'medium',
    forbidden: true,
    replace: alsoAccept((delivery) => {
      const { signature, ...rest } = unverified(delivery);
      const body = Buffer.from(JSON.stringify(rest));
      return missing(delivery) && delivery.secrets.some((secret) => signature === signed(secret, body));
    }),
  },
  {
    ...SIGNATURE,
    name: 'refuses-signatures-with-some-characters',
    title: 'Decodes the signature header like a form, so that every valid signature with + is rejected',
    seen: '`urldecode` in PHP, `unquote_plus` in Python, and gateways that copy the header into a query parameter.',
    why: 'Half of all valid deliveries are rejected, apparently at random, because half of all signatures contain a +.',
    fix: {
      rule: 'Compare the header as it arrived. It is Base64 and not part of a URL.',
      express: 'Remove `decodeURIComponent` and `querystring.unescape` from the code that reads the header.',
      php: 'Do not use `urldecode()`, which turns + into a space.',
      python: 'Do not use `unquote_plus()`.',
    },
    severity: 'high',
    forbidden: true,
    replace: comparing((header, expected) => header.replaceAll('+', ' ') === expected),
  },
  // Other accepted spellings of the valid digest.
  {
    ...SIGNATURE,
    name: 'hex-accepted',
    title: 'Accepts the valid digest in hexadecimal in addition to Base64',
    seen: 'Receivers that were changed until something passed: most tutorials use hexadecimal.',
    why: 'Each signature has two accepted encodings, and it is unclear which one was agreed.',
    fix: {
      rule: 'Encode the digest in Base64, and accept no other encoding.',
      express: 'Use only `digest("base64")`.',
      go: 'Use `base64.StdEncoding`, and remove the branch with `hex`.',
    },
    severity: 'low',
    forbidden: true,
    replace: alsoAccept(({ header, expected }) => expected.some((one) => header === hexOf(one))),
  },
  {
    ...SIGNATURE,
    name: 'hex-by-length',
    title: 'Decodes a signature of 64 characters as hexadecimal, in any letter case',
    seen: 'Verifiers that guess the encoding from the length of the header.',
    why: 'Each signature has a very large number of accepted encodings.',
    fix: {
      rule: 'Do not guess: the only encoding is Base64.',
      express: 'Remove the branch on `signature.length === 64`.',
    },
    severity: 'low',
    forbidden: true,
    replace: alsoAccept(
      ({ header = '', expected }) =>
        header.length === 64 && expected.some((one) => header.toLowerCase() === hexOf(one)),
    ),
  },
  {
    ...SIGNATURE,
    name: 'prefixed-hex-accepted',
    title: 'Accepts the format of another well-known sender, "sha256=" and hexadecimal',
    seen: 'One receiver for several senders, whose rules were mixed.',
    why: 'A secret of this sender also works with the rules of another.',
    fix: {
      rule: 'Select the rule by the endpoint of the delivery, not by the format of its header.',
      express: 'Give each sender its own route.',
    },
    severity: 'low',
    forbidden: true,
    replace: alsoAccept(({ header, expected }) => expected.some((one) => header === `sha256=${hexOf(one)}`)),
  },
  {
    ...SIGNATURE,
    name: 'prefix-stripped',
    title: 'Removes a prefix such as "sha256=" or "v1," before the comparison',
    seen: 'Generic middleware that cuts the header at the first "=" or "," to serve many senders.',
    why: 'Any prefix passes, and later versions of such code often select the algorithm by it.',
    fix: { rule: 'Compare the complete value of the header.', express: 'Remove `signature.replace(/^\\w+[=,]/, "")`.' },
    severity: 'low',
    forbidden: true,
    replace: alsoAccept(({ header = '', expected }) => expected.includes(header.replace(/^(?:sha256=|v\d+,)/, ''))),
  },
  {
    ...SIGNATURE,
    name: 'signature-list-accepted',
    title: 'Splits the header at commas and accepts any list that contains the valid signature',
    seen: 'Libraries for senders that put the signatures of several secrets into one header.',
    why: 'An attacker can try many signatures per request, and a gateway may have checked another entry than you.',
    fix: {
      rule: 'The header contains one signature: compare the complete value.',
      express: 'Remove `signature.split(",").some(...)`.',
    },
    severity: 'low',
    forbidden: true,
    replace: alsoAccept(({ header = '', expected }) => header.split(/, ?/).some((part) => expected.includes(part))),
  },
  {
    ...SIGNATURE,
    name: 'base64-decoded-leniently',
    title: 'Decodes the signature leniently and ignores trailing text, whitespace and other alphabets',
    seen:
      'Comparisons of decoded bytes in Node and PHP, and with the MIME decoder of Java: their decoders skip unknown ' +
      'characters and stop at the padding.',
    why:
      'It allows no forgery, but countless headers count as the same signature, which defeats logs and caches that ' +
      'use the header.',
    fix: {
      rule: 'Compare the computed Base64 text with the text of the header.',
      express: 'Compare the lengths, then `Buffer.from(header)` with `Buffer.from(expectedBase64)`.',
      java: 'Use `Base64.getDecoder()` instead of `getMimeDecoder()`, and reject if it throws.',
      python: 'Use `base64.b64decode(value, validate=True)`, or compare texts.',
      php: 'Use `base64_decode($value, true)`, or compare texts.',
    },
    severity: 'low',
    forbidden: false,
    replace: comparing((header, expected) => decoded(header) === expected),
  },
  {
    ...SIGNATURE,
    name: 'base64url-accepted',
    title: 'Accepts the valid signature in the URL-safe alphabet, with or without padding',
    seen: 'Code that replaces "-" and "_" before decoding and adds the padding, as is correct for tokens.',
    why: 'Harmless alone, but it shows that the verification accepts more than was agreed.',
    fix: {
      rule: 'Compare texts; the header never contains "-" or "_".',
      express: 'Remove the replacement of "-" and "_".',
    },
    severity: 'low',
    forbidden: false,
    replace: alsoAccept(({ header = '', expected }) => {
      const standard = header.replaceAll('-', '+').replaceAll('_', '/');
      return expected.includes(standard.length === 43 ? `${standard}=` : standard);
    }),
  },
  {
    ...SIGNATURE,
    name: 'padding-optional',
    title: 'Accepts the valid signature without its padding',
    seen: 'Comparisons that remove "=" at the end of both sides.',
    why: 'Harmless alone: two encodings of each signature pass instead of one.',
    fix: {
      rule: 'Compare complete values.',
      express: 'Remove `.replace(/=+$/, "")`.',
      go: 'Use `StdEncoding`, not `RawStdEncoding`.',
    },
    severity: 'low',
    forbidden: false,
    replace: alsoAccept(({ header, expected }) => expected.some((one) => header === one.slice(0, -1))),
  },
  {
    ...SIGNATURE,
    name: 'spare-bits-ignored',
    title: 'Accepts four values of the last character, because it compares decoded bytes',
    seen:
      'Comparisons after a decoder that checks alphabet and padding but not the two unused bits, as in most ' +
      'standard libraries.',
    why: 'Harmless alone: deliveries with different headers count as equally signed.',
    fix: {
      rule: 'Compare the computed text with the text of the header.',
      express: 'Encode the expected digest instead of decoding the header.',
      go: 'Use `base64.StdEncoding.Strict()`.',
    },
    severity: 'low',
    forbidden: false,
    replace: comparing((header, expected) => /^[A-Za-z0-9+/]{43}=$/.test(header) && decoded(header) === expected),
  },
  {
    ...SIGNATURE,
    name: 'signature-url-decoded',
    title: 'Decodes percent-encoding in the signature header',
    seen: 'Frameworks and gateways that treat headers like parameters.',
    why: 'With some decoders, a "+" in a valid signature becomes a space, and about one delivery in two is rejected.',
    fix: { rule: 'Read the header unchanged.', express: 'Remove `decodeURIComponent` around the header.' },
    severity: 'low',
    forbidden: false,
    replace: alsoAccept(({ header = '', expected }) => {
      try {
        return expected.includes(decodeURIComponent(header));
      } catch {
        return false;
      }
    }),
  },
  {
    ...SIGNATURE,
    name: 'quotes-stripped',
    title: 'Removes double quotes around the signature',
    seen: 'Parsers for structured headers, and clean-up code for values from configuration files.',
    why: 'Harmless alone, but it shows that the verification accepts more than was agreed.',
    fix: { rule: 'Compare the value unchanged.', express: 'Remove the `replace` of quotes.' },
    severity: 'low',
    forbidden: false,
    replace: alsoAccept(({ header = '', expected }) => expected.some((one) => header === `"${one}"`)),
  },
  {
    ...SIGNATURE,
    name: 'base64-of-anything',
    title: 'Decodes the signature repeatedly until something matches',
    seen: 'Receivers behind a gateway that encodes values again, with a loop to undo it.',
    why: 'It accepts Base64 of Base64 and Base64 of hexadecimal, which the sender never sends.',
    fix: {
      rule: 'Decode at most once, and fix the gateway.',
      express: 'Remove the second `Buffer.from(value, "base64")`.',
      php: 'Pass `true` as the fourth argument of `hash_hmac` to get bytes, and encode those once.',
    },
    severity: 'low',
    forbidden: true,
    replace: alsoAccept(({ header = '', expected }) => {
      const inner = Buffer.from(header, 'base64').toString('latin1');
      return expected.some((one) => inner === one || inner === hexOf(one));
    }),
  },
  // Deliveries whose signature is missing or empty.
  {
    ...SIGNATURE,
    name: 'missing-signature-accepted',
    title: 'Accepts a delivery without the signature header',
    seen:
      'Handlers that verify only "if the header is present", often to let unsigned test requests pass; found in ' +
      'published integrations.',
    why: 'Anyone who finds the URL can report a completed sale by leaving out one header.',
    fix: {
      rule: 'Treat a missing signature like an invalid one, and answer 401.',
      express:
        'Start with `if (req.get("X-Service-Signature") === undefined) return res.sendStatus(401)`, and verify ' +
        'unconditionally.',
    },
    severity: 'critical',
    forbidden: true,
    replace: alsoAccept(({ header }) => header === undefined),
  },
  {
    ...SIGNATURE,
    name: 'falsy-signature-accepted',
    title: 'Accepts a delivery whose signature is missing or empty',
    seen:
      'JavaScript and PHP code with `if (signature && !valid)`, and verifiers that return true when the secret or ' +
      'the header is falsy.',
    why:
      'No secret is needed: an empty header passes like a missing one, even behind a gateway that requires the ' +
      'header.',
    fix: {
      rule: 'Decide only by the result of the check. A missing or empty value is an invalid one.',
      express: 'Write `if (!signature || !isValid(signature, req.body)) return res.sendStatus(401)`.',
      php: 'Write `if (!$signature || !hash_equals($expected, $signature))`, and answer 401.',
    },
    severity: 'critical',
    forbidden: true,
    replace: alsoAccept(({ header }) => header === undefined || header === ''),
  },
  {
    ...SIGNATURE,
    name: 'empty-signature-accepted',
    title: 'Accepts an empty signature header but rejects a missing one',
    seen: 'Code that checks whether the header is present and then compares as many bytes as it has, which is none.',
    why: 'Anyone can send an empty header. A test that only leaves out the header does not notice.',
    fix: {
      rule: 'Require the full length before the comparison.',
      express: 'Compare the lengths first, then call `timingSafeEqual`; an empty value has the wrong length.',
    },
    severity: 'critical',
    forbidden: true,
    replace: alsoAccept(({ header }) => header === ''),
  },
  {
    ...SIGNATURE,
    name: 'missing-signature-is-400',
    title: 'Answers 400 to a delivery without the signature header, and 401 to an invalid signature',
    seen: 'Frameworks in which the header is a required parameter, and samples that check for its presence first.',
    why: 'A 400 says that the delivery is malformed, so the sender looks for a fault in the body.',
    fix: {
      rule: 'Answer 401 when the signature is missing, as when it is invalid.',
      express: 'Answer 401 in the branch for a missing header too.',
      spring: 'Write `@RequestHeader(required = false)`: a required one answers 400.',
    },
    severity: 'medium',
    forbidden: true,
    replace: (parts) =>
      stageOf((delivery, req, res, next) => {
        if (delivery.header === undefined) refuse(res, 400, 'header-required');
        else parts.correct.requireSignature(req, res, next);
      }, parts),
  },
  {
    ...SIGNATURE,
    name: 'missing-signature-answers-500',
    title: 'Answers 500 to a delivery without the signature header',
    seen:
      '`signature.length` of undefined in JavaScript or of nil in Ruby, or a header read by index in Python, where ' +
      'the error page of the framework answers.',
    why: 'Anyone can fill your error log, and the sender takes the rejection for an outage and retries.',
    fix: {
      rule: 'Check that the header is present before you use it, and answer 401 otherwise.',
      express: 'Check `typeof signature !== "string"` before the comparison.',
      python: 'Use `headers.get("X-Service-Signature", "")`; without the default it is None.',
      php: 'Use `$_SERVER["HTTP_X_SERVICE_SIGNATURE"] ?? ""`.',
      flask: 'Use `request.headers.get("X-Service-Signature")` instead of the index, which raises.',
      rails: 'Use `request.headers["X-Service-Signature"].to_s` and require 44 characters.',
      go: '`r.Header.Get` returns an empty string; do not index the slice in `r.Header`.',
    },
    severity: 'medium',
    forbidden: true,
    replace: throwWhen(({ header }) => header === undefined),
  },
  {
    ...SIGNATURE,
    name: 'missing-signature-kills',
    title: 'Ends the process when a delivery has no signature header',
    seen:
      'An exception in an event callback or in an unawaited async function; at least one published webhook library ' +
      'exits this way.',
    why: 'One unauthenticated request stops the receiver, and every delivery until the restart is lost.',
    fix: {
      rule: 'Check that the header is present before you use it, and handle exceptions outside the framework.',
      express:
        'Verify inside the handler, not in a `data` or `end` callback; Express 5 turns a rejected handler into a ' +
        '500, Express 4 does not.',
    },
    severity: 'critical',
    forbidden: true,
    replace: endProcessWhen(({ header }) => header === undefined),
  },
];
