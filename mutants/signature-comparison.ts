/** Mutants that compare signatures incorrectly, and those whose check throws. */
import { timingSafeEqual } from 'node:crypto';
import { refuseUnauthorized, requestHeader } from '../receiver/stages/stage.ts';
import type { StageFault } from './fault.ts';
import { comparing, endProcessWhen, SIGNATURE, stageOf, throwWhen } from './lenient-verifier.ts';

const bytes = (text: string) => Buffer.from(text, 'base64');

const sorted = (text: string) => [...text].toSorted().join('');

/** Matches a pattern with `*` and `?` like a shell. */
function matchesGlob(pattern: string, text: string): boolean {
  const source = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${source}$`).test(text);
}

const critical = { ...SIGNATURE, severity: 'critical', forbidden: true } as const;

const WHOLE =
  "Compare the complete values: equal lengths first, then every byte, with your library's constant-time " +
  'comparison function.';

const EXPRESS = 'Use `a.length === b.length && timingSafeEqual(a, b)` on two buffers.';

const NOT_ASCII = /[^\x00-\x7f]/;

export const signatureComparisonFaults: readonly StageFault[] = [
  // Comparisons of a part of the signature, or of something similar.
  {
    ...critical,
    name: 'compares-shorter-length',
    title: 'Compares decoded bytes only up to the shorter length',
    seen:
      'Loops and zip functions over sequences of unequal length; a Rust webhook library had an advisory for it ' +
      '(CVE-2024-21491).',
    why: 'One byte, or none at all, is a valid signature: a forgery takes at most 256 attempts.',
    fix: {
      rule: WHOLE,
      express: EXPRESS,
      python: 'Use `hmac.compare_digest`, not `all(x == y for x, y in zip(a, b))`.',
    },
    replace: comparing((header, expected) => {
      const wanted = bytes(expected);
      return bytes(header).every((byte, at) => at >= wanted.length || byte === wanted[at]);
    }),
  },
  {
    ...critical,
    name: 'accepts-beginning',
    title: 'Accepts any prefix of the valid signature',
    seen: 'A startsWith or strncmp whose length comes from the request.',
    why: 'With one character, a forgery takes at most 64 attempts.',
    fix: { rule: WHOLE, express: `Replace \`expected.startsWith(received)\`. ${EXPRESS}` },
    replace: comparing((header, expected) => header !== '' && expected.startsWith(header)),
  },
  {
    ...critical,
    name: 'accepts-any-part',
    title: 'Accepts parts of the valid signature, even an empty one',
    seen: 'A search such as `expected.includes(received)`, with the two sides swapped.',
    why: 'The empty string is part of every string, so an empty header is a valid signature.',
    fix: { rule: WHOLE, express: `Replace \`expected.includes(received)\`. ${EXPRESS}` },
    replace: comparing((header, expected) => expected.includes(header)),
  },
  {
    ...SIGNATURE,
    severity: 'low',
    forbidden: false,
    name: 'ignores-what-follows',
    title: 'Ignores text after the valid signature',
    seen: 'A startsWith or strncmp with the length of the expected value.',
    why: 'It allows no forgery, but countless headers count as the same signature.',
    fix: { rule: WHOLE, express: `Replace \`received.startsWith(expected)\`. ${EXPRESS}` },
    replace: comparing((header, expected) => header.startsWith(expected)),
  },
  {
    ...SIGNATURE,
    severity: 'low',
    forbidden: true,
    name: 'ignores-what-precedes',
    title: 'Ignores text before the valid signature',
    seen: 'An endsWith, or a slice from the end, that was written for a prefix with the name of the algorithm.',
    why: 'Any prefix passes, including one that names another algorithm.',
    fix: { rule: WHOLE, express: `Replace \`received.endsWith(expected)\`. ${EXPRESS}` },
    replace: comparing((header, expected) => header.endsWith(expected)),
  },
  {
    ...SIGNATURE,
    severity: 'low',
    forbidden: true,
    name: 'contains-signature',
    title: 'Accepts a header that contains the valid signature anywhere',
    seen: 'A search such as `received.includes(expected)`, which handles prefixes, lists and quotes at once.',
    why: 'Lists of any length pass, so an attacker can try many signatures in one request.',
    fix: { rule: WHOLE, express: `Replace \`received.includes(expected)\`. ${EXPRESS}` },
    replace: comparing((header, expected) => header.includes(expected)),
  },
  {
    ...critical,
    name: 'ignores-letter-case',
    title: 'Compares signatures without regard to letter case',
    seen: 'A habit from hexadecimal signatures: `.toLowerCase()` on both sides.',
    why: 'In Base64 the letter case carries data. Without it, each body has trillions of valid signatures.',
    fix: {
      rule: 'Compare the text as it is.',
      express: 'Remove `.toLowerCase()` on both sides.',
      java: 'Use `MessageDigest.isEqual`, not `equalsIgnoreCase`.',
      dotnet: 'Use `CryptographicOperations.FixedTimeEquals`, not `StringComparison.OrdinalIgnoreCase`.',
    },
    severity: 'high',
    replace: comparing((header, expected) => header.toLowerCase() === expected.toLowerCase()),
  },
  {
    ...critical,
    name: 'compares-first-8',
    title: 'Compares only the first 8 characters of the signature',
    seen: 'Shortened digests, meant for comparison by eye, that found their way into code.',
    why:
      'Eight Base64 characters are only 48 bits, which can be brute-forced; the rest of the signature is ' +
      'not checked.',
    fix: { rule: WHOLE, express: EXPRESS },
    severity: 'high',
    replace: comparing((header, expected) => header.slice(0, 8) === expected.slice(0, 8)),
  },
  {
    ...critical,
    name: 'compares-first-32',
    title: 'Compares only the first 32 characters of the signature',
    seen: 'Code that confuses the 32 bytes of the digest with 32 characters, and buffers of that size.',
    why: 'A quarter of the signature is not checked.',
    fix: { rule: 'A digest of 32 bytes has 44 characters in Base64: compare all of them.', express: EXPRESS },
    severity: 'medium',
    replace: comparing((header, expected) => header.slice(0, 32) === expected.slice(0, 32)),
  },
  {
    ...critical,
    name: 'compares-last-8',
    title: 'Compares only the last 8 characters of the signature',
    seen: 'Short forms of digests, and comparisons from the end that were written to skip prefixes.',
    why: '42 bits can be brute-forced, and the rest of the signature is not checked.',
    fix: { rule: WHOLE, express: EXPRESS },
    severity: 'high',
    replace: comparing((header, expected) => header.slice(-8) === expected.slice(-8)),
  },
  {
    ...critical,
    name: 'skips-first-7',
    title: 'Skips the first 7 characters of the signature, as if they were "sha256="',
    seen: 'A slice that removes a prefix which this sender does not write.',
    why: '42 bits of the signature are not checked.',
    fix: { rule: 'Compare from the first character on.', express: 'Remove `.slice(7)` on both sides.' },
    severity: 'medium',
    replace: comparing((header, expected) => header.slice(7) === expected.slice(7)),
  },
  {
    ...critical,
    name: 'last-difference-decides',
    title: 'Overwrites the result of each character comparison, so only the last character counts',
    seen: 'Hand-written constant-time comparisons with `diff = a ^ b` instead of `diff |= a ^ b`.',
    why: 'The last character of every signature is "=", so each value of the same length passes.',
    fix: {
      rule: "Use your library's constant-time comparison function instead of your own loop.",
      express: EXPRESS,
    },
    replace: comparing((header, expected) => {
      let difference = header.length ^ expected.length;
      if (difference !== 0) return false;
      for (let at = 0; at < expected.length; at++) difference = header.charCodeAt(at) ^ expected.charCodeAt(at);
      return difference === 0;
    }),
  },
  {
    ...critical,
    name: 'compares-in-any-order',
    title: 'Compares the characters of the signature without their order',
    seen: 'Comparisons of sets or sorted lists, and hand-written constant-time loops whose differences cancel out.',
    why: 'Each signature has many valid permutations, and an intercepted one reveals them.',
    fix: { rule: "Use your library's constant-time comparison function instead of your own.", express: EXPRESS },
    severity: 'high',
    replace: comparing((header, expected) => sorted(header) === sorted(expected)),
  },
  {
    ...critical,
    name: 'signature-as-glob',
    title: 'Treats the received signature as a glob pattern that the expected one must match',
    seen:
      'Shell scripts behind a small hook server: in `[[ $expected == $received ]]` an unquoted right side is a ' +
      'pattern. LIKE in a database has the same effect.',
    why: 'A single "*" is a valid signature for every body.',
    fix: {
      rule: 'Compare literally: quote the variable in the shell, and use "=" in a query.',
      express: 'Compare in the process with `timingSafeEqual`, not in a script or a query.',
    },
    replace: comparing((header, expected) => header === expected || matchesGlob(header, expected)),
  },
  {
    ...critical,
    name: 'signature-as-regexp',
    title: 'Treats the received signature as a regular expression that the expected one must match',
    seen:
      'Code such as `expected.match(received)` in JavaScript or Ruby, and rule engines where "matches" was mistaken ' +
      'for "equals".',
    why: 'The text ".*" is a valid signature for every body, and an invalid pattern throws.',
    fix: { rule: 'Compare literally.', express: 'Replace `expected.match(received)`. Use `timingSafeEqual`.' },
    replace: comparing((header, expected) => header === expected || new RegExp(`^(?:${header})$`).test(expected)),
  },
  {
    ...SIGNATURE,
    name: 'global-regexp-keeps-position',
    title: 'Rejects every second valid delivery, because a regular expression keeps its position',
    seen: 'The flag g on a pattern of the module that is used with `test()`, which continues where it stopped.',
    why: 'Half of all notifications are rejected with 401, and each of them is accepted when it is repeated.',
    fix: {
      rule: 'Keep no state between the checks of two deliveries.',
      express: 'Remove the flag g: `/^[A-Za-z0-9+/]{43}=$/.test(header)`.',
    },
    severity: 'high',
    forbidden: true,
    replace: (parts) => {
      const shape = /^[A-Za-z0-9+/]{43}=$/g;
      return stageOf(({ header = '' }, req, res, next) => {
        if (!shape.test(header)) return refuseUnauthorized(res, 'signature-malformed');
        return parts.correct.requireSignature(req, res, next);
      }, parts);
    },
  },
  // Malformed signatures at which the check throws.
  {
    ...SIGNATURE,
    name: 'other-length-answers-500',
    title: 'Answers 500 to a signature of another length, because the constant-time comparison throws',
    seen:
      'timingSafeEqual in Node, called without comparing the lengths; one of the most reported faults of webhook ' +
      'receivers.',
    why: 'The sender takes the rejection for an outage and retries, and anyone can fill your error log.',
    fix: {
      rule: 'Compare the lengths before the constant-time comparison, and answer 401 when they differ.',
      express: 'Write `if (a.length !== b.length || !timingSafeEqual(a, b)) return res.sendStatus(401)`.',
      ruby: 'Use `OpenSSL.secure_compare`, which takes any length; `OpenSSL.fixed_length_secure_compare` raises.',
      rails:
        'Use `ActiveSupport::SecurityUtils.secure_compare`, which takes any length; ' +
        '`fixed_length_secure_compare` raises.',
      dotnet: '`CryptographicOperations.FixedTimeEquals` returns false for unequal lengths and needs no guard.',
    },
    severity: 'medium',
    forbidden: true,
    replace: throwWhen(({ header, expected }) => {
      if (header !== undefined) for (const one of expected) timingSafeEqual(Buffer.from(header), Buffer.from(one));
      return false;
    }),
  },
  {
    ...SIGNATURE,
    name: 'other-length-kills',
    title: 'Ends the process when a signature has another length',
    seen: 'The same comparison in a callback or an unawaited promise, where no framework catches the exception.',
    why: 'One unauthenticated request stops the receiver, and every delivery until the restart is lost.',
    fix: {
      rule: 'Compare the lengths before the constant-time comparison, and handle exceptions outside the framework.',
      express:
        'Write `if (a.length !== b.length || !timingSafeEqual(a, b)) return res.sendStatus(401)`, and verify ' +
        'inside the handler.',
    },
    severity: 'critical',
    forbidden: true,
    replace: endProcessWhen(
      ({ header, expected }) => header !== undefined && Buffer.byteLength(header) !== expected[0]?.length,
    ),
  },
  {
    ...SIGNATURE,
    name: 'other-byte-length-answers-500',
    title: 'Answers 500 to a signature with the correct number of characters but more bytes',
    seen:
      'A guard that compares string lengths before a comparison of UTF-8 bytes; found in a review of a published ' +
      'receiver.',
    why: 'The guard was written against exactly this crash, and characters outside ASCII bypass it.',
    fix: {
      rule: 'Compare the lengths of the byte buffers, not of the strings.',
      express: 'Create both buffers first, then compare `a.length` with `b.length`.',
    },
    severity: 'medium',
    forbidden: true,
    replace: throwWhen(({ header, expected }) =>
      expected.some((one) => header?.length === one.length && Buffer.byteLength(header) !== one.length),
    ),
  },
  {
    ...SIGNATURE,
    name: 'non-ascii-answers-500',
    title: 'Answers 500 to a signature with a character outside ASCII',
    seen:
      'Python: hmac.compare_digest raises TypeError for strings that are not ASCII; found in several published ' +
      'receivers.',
    why: 'Anyone can cause an error with one byte, and each one fills the log with a stack trace.',
    fix: {
      rule: 'Encode both sides to bytes before the comparison.',
      express: 'Reject a header that does not match `/^[A-Za-z0-9+/]{43}=$/` before anything decodes it.',
      python: 'Call `hmac.compare_digest(received.encode("utf-8", "replace"), expected.encode())`.',
    },
    severity: 'medium',
    forbidden: true,
    replace: throwWhen(({ header = '' }) => NOT_ASCII.test(header)),
  },
  {
    ...SIGNATURE,
    name: 'not-base64-answers-500',
    title: 'Answers 500 to a signature that is not Base64, because the decoder throws',
    seen:
      'Strict decoders (Base64.getDecoder in Java, Convert.FromBase64String in .NET, atob in JavaScript) without a ' +
      'try block.',
    why: 'The sender takes the rejection for an outage and retries, and anyone can fill your error log.',
    fix: {
      rule: 'Compare texts without decoding, or treat a decoder error as an invalid signature.',
      express: 'Compare `Buffer.from(header)` with `Buffer.from(expectedBase64)`.',
      java: 'Catch IllegalArgumentException around `Base64.getDecoder().decode` and answer 401.',
      dotnet: 'Use `Convert.TryFromBase64String`.',
    },
    severity: 'medium',
    forbidden: true,
    replace: throwWhen(({ header }) => {
      if (header !== undefined) atob(header);
      return false;
    }),
  },
  {
    ...SIGNATURE,
    name: 'repeated-signature-answers-500',
    title: 'Answers 500 to two signature headers in one request',
    seen:
      'Code that gets a list of values but expects a string: API gateways with multi-value headers, Fastify and Koa ' +
      'with raw headers.',
    why: 'A proxy can duplicate a header. The sender then sees an outage that no retry resolves.',
    fix: {
      rule: 'Require the header to be a single string, and answer 401 otherwise.',
      express: 'Check `typeof header === "string"`; read `req.headersDistinct` to detect repeated headers.',
    },
    severity: 'low',
    forbidden: false,
    replace: throwWhen(({ req }) => Array.isArray(requestHeader(req, 'x-service-signature'))),
  },
  {
    ...SIGNATURE,
    name: 'compares-digests-as-text',
    title: 'Decodes both digests as UTF-8 text before it compares them, so many digests match',
    seen: 'atob and decode() before a comparison that works on strings.',
    why: 'Every byte that is not valid UTF-8 becomes the same replacement character, as does about half of a digest.',
    fix: {
      rule: 'Compare bytes with bytes, or the Base64 texts.',
      express: "Pass buffers to `crypto.timingSafeEqual`, not `.toString('utf8')`.",
    },
    severity: 'high',
    forbidden: true,
    replace: comparing(
      (header, expected) =>
        /^[A-Za-z0-9+/]{43}=$/.test(header) &&
        Buffer.from(header, 'base64').toString('utf8') === Buffer.from(expected, 'base64').toString('utf8'),
    ),
  },
];
