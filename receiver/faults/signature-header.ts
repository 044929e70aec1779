/** Mutants that read the signature from the wrong place, accept other spellings of it, or accept a missing one. */
import type { StageFault } from './fault.ts';
import {
  alsoAccepting,
  comparing,
  dying,
  failing,
  SIGNATURE,
  type Signed,
  signed,
  unverified,
} from './lenient-verifier.ts';

const missing = ({ header }: Signed) => header === undefined || header === '';

const hexOf = (right: string) => Buffer.from(right, 'base64').toString('hex');

/** What a lenient decoder makes of a text, in canonical spelling. */
const decoded = (text: string) => Buffer.from(text, 'base64').toString('base64');

export const signatureHeaderFaults: readonly StageFault[] = [
  // Signatures that are taken from other places than the agreed header.
  {
    ...SIGNATURE,
    name: 'other-signature-headers',
    title: 'The signature is also taken from X-Signature or X-Hub-Signature-256.',
    seen: 'Generic receivers with a list of header names from several senders.',
    why: 'Each further name is a way around whatever a gateway does with the agreed one.',
    fix: {
      rule: 'Read the header that was agreed, and no other.',
      express: 'Replace the list of names by `req.get("X-Service-Signature")`.',
    },
    severity: 'medium',
    forbidden: true,
    replace: alsoAccepting((delivery) =>
      ['X-Signature', 'X-Hub-Signature-256'].some((name) => delivery.right.includes(delivery.req.get(name) ?? '')),
    ),
  },
  {
    ...SIGNATURE,
    name: 'signature-in-authorization',
    title: 'The signature is also taken from the Authorization header.',
    seen: 'Authentication layers that look for every credential in one place.',
    why: 'Proxies rewrite and drop this header, and tokens of users stand in it.',
    fix: { rule: 'Read the agreed header only.', express: 'Remove `?? req.get("Authorization")`.' },
    severity: 'medium',
    forbidden: true,
    replace: alsoAccepting(
      (delivery) => missing(delivery) && delivery.right.includes(delivery.req.get('Authorization') ?? ''),
    ),
  },
  {
    ...SIGNATURE,
    name: 'signature-in-query',
    title: 'The signature is also taken from the query of the URL.',
    seen: 'Leftovers from tests by hand, and frameworks that look a name up in headers and parameters alike.',
    why: 'URLs stand in access logs, and the signature with them.',
    fix: {
      rule: 'Read the header only.',
      express: 'Remove `?? req.query.signature`.',
      laravel: 'Use `$request->header(...)`, not `$request->input(...)`.',
    },
    severity: 'medium',
    forbidden: true,
    replace: alsoAccepting(({ req, right }) =>
      right.includes(new URL(req.url, 'http://receiver').searchParams.get('signature') ?? ''),
    ),
  },
  {
    ...SIGNATURE,
    name: 'signature-in-cookie',
    title: 'The signature is also taken from a cookie.',
    seen: 'Frameworks that look a name up in headers, cookies and parameters alike.',
    why: 'Browsers send cookies on their own, whoever made them send the request.',
    fix: { rule: 'Read the header only.', express: 'Remove `?? req.cookies.signature`.' },
    severity: 'medium',
    forbidden: true,
    replace: alsoAccepting(({ req, right }) =>
      right.some((one) => req.get('Cookie')?.split(/; */).includes(`signature=${one}`) === true),
    ),
  },
  {
    ...SIGNATURE,
    name: 'signature-in-body',
    title: 'The signature is also taken from a field of the body, which is cut out before the check.',
    seen: 'Receivers that also serve a sender who signs inside of the body.',
    why: 'What is verified is a body that was put together again and not the bytes that arrived.',
    fix: {
      rule: 'Read the header, and verify the raw body.',
      express: 'Remove `const { signature, ...rest } = req.body`.',
    },
    severity: 'medium',
    forbidden: true,
    replace: alsoAccepting((delivery) => {
      const { signature, ...rest } = unverified(delivery);
      const body = Buffer.from(JSON.stringify(rest));
      return missing(delivery) && delivery.secrets.some((secret) => signature === signed(secret, body));
    }),
  },
  // Other spellings of the right digest that are accepted.
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
  // What becomes of a delivery whose signature is missing or empty.
  {
    ...SIGNATURE,
    name: 'missing-signature-accepted',
    title: 'A delivery without the signature header is accepted.',
    seen: 'Handlers in which the check stands behind "if the header is there", often so that unsigned test requests went through; found in published integrations.',
    why: 'Whoever finds the URL can report a completed sale: leaving one header out is all it takes.',
    fix: {
      rule: 'Treat a missing signature like a wrong one and answer 401.',
      express:
        'Begin with `if (req.get("X-Service-Signature") === undefined) return res.sendStatus(401)`, and put the check in no branch.',
    },
    severity: 'critical',
    forbidden: true,
    replace: alsoAccepting(({ header }) => header === undefined),
  },
  {
    ...SIGNATURE,
    name: 'falsy-signature-accepted',
    title: 'A delivery whose signature is missing or empty is accepted.',
    seen: 'JavaScript and PHP code with `if (signature && !valid)`, and verifiers that return true when the secret or the header is falsy.',
    why: 'Nobody needs the secret: an empty header passes just like none, also behind a gateway that insists on the header.',
    fix: {
      rule: 'Let the outcome of the check alone decide. A value that is absent or empty is a wrong one.',
      express: 'Write `if (!signature || !isValid(signature, req.body)) return res.sendStatus(401)`.',
      laravel: 'Write `if (! $signature || ! hash_equals($expected, $signature)) abort(401);`.',
    },
    severity: 'critical',
    forbidden: true,
    replace: alsoAccepting(({ header }) => header === undefined || header === ''),
  },
  {
    ...SIGNATURE,
    name: 'empty-signature-accepted',
    title: 'An empty signature header is accepted, while a missing one is refused.',
    seen: 'Code that checks whether the header is there and then compares as many bytes as came, which are none.',
    why: 'Anybody can send an empty header. A test that only leaves the header out does not notice.',
    fix: {
      rule: 'Require the full length before you compare.',
      express: 'Compare lengths first, then call `timingSafeEqual`; an empty value has the wrong length.',
    },
    severity: 'critical',
    forbidden: true,
    replace: alsoAccepting(({ header }) => header === ''),
  },
  {
    ...SIGNATURE,
    name: 'missing-signature-answers-500',
    title: 'A delivery without the signature header is answered 500, because its absence was not thought of.',
    seen: 'Reading `signature.length` of undefined in JavaScript, of nil in Ruby, or a header by index in Python, where the error page of the framework answers.',
    why: 'A stranger fills your error log, and the sender takes a refusal for a breakdown and tries again.',
    fix: {
      rule: 'Look whether the header is there before you use it, and answer 401 when it is not.',
      express: 'Check `typeof signature !== "string"` before the comparison.',
      flask: 'Use `request.headers.get("X-Service-Signature")`, not the index, which raises.',
      rails: 'Use `request.headers["X-Service-Signature"].to_s` and require 44 characters.',
      go: '`r.Header.Get` gives an empty string; do not index the slice in `r.Header`.',
    },
    severity: 'medium',
    forbidden: true,
    replace: failing(({ header }) => header === undefined),
  },
  {
    ...SIGNATURE,
    name: 'missing-signature-kills',
    title: 'A delivery without the signature header ends the process.',
    seen: 'An exception in an event callback or in an async function that nobody awaits; at least one published webhook library exits in this way.',
    why: 'One request that anybody can send switches the receiver off, and every delivery until the restart is lost.',
    fix: {
      rule: 'Look whether the header is there before you use it, and catch everything that runs outside of the framework.',
      express:
        'Verify inside the handler and not in a `data` or `end` callback; Express 5 turns a rejected handler into a 500, Express 4 does not.',
    },
    severity: 'critical',
    forbidden: true,
    replace: dying(({ header }) => header === undefined),
  },
];
