/** Mutants that compare signatures incorrectly, and those whose check throws. */
import { timingSafeEqual } from 'node:crypto';
import { requestHeader } from '../stages/request-header.ts';
import type { StageFault } from './fault.ts';
import { comparing, dying, failing, SIGNATURE } from './lenient-verifier.ts';

const bytes = (text: string) => Buffer.from(text, 'base64');

const sorted = (text: string) => [...text].toSorted().join('');

/** A pattern with `*` and `?`, as a shell matches it. */
function matchesGlob(pattern: string, text: string): boolean {
  const source = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${source}$`).test(text);
}

const critical = { ...SIGNATURE, severity: 'critical', forbidden: true } as const;

const WHOLE =
  'Compare the whole values: equal lengths first, then every byte, with the constant-time function of your library.';

const EXPRESS = 'Use `a.length === b.length && timingSafeEqual(a, b)` on two buffers.';

const NOT_ASCII = /[^\x00-\x7f]/;

export const signatureComparisonFaults: readonly StageFault[] = [
  // Comparisons of a part of the signature, or of something that is like it.
  {
    ...critical,
    name: 'compares-shorter-length',
    title: 'Decoded bytes are compared only up to the shorter of the two.',
    seen: 'Loops and zip functions over two sequences of unequal length; a library for webhooks in Rust had an advisory for it (CVE-2024-21491).',
    why: 'One byte, or none at all, is a valid signature: a forgery takes 256 tries at most.',
    fix: {
      rule: WHOLE,
      express: EXPRESS,
      flask: 'Use `hmac.compare_digest`, not `all(x == y for x, y in zip(a, b))`.',
    },
    replace: comparing((header, right) => {
      const due = bytes(right);
      return bytes(header).every((byte, at) => at >= due.length || byte === due[at]);
    }),
  },
  {
    ...critical,
    name: 'accepts-beginning',
    title: 'Any beginning of the right signature is accepted.',
    seen: 'A startsWith or strncmp whose length comes from the request.',
    why: 'With one character a forger needs 64 tries.',
    fix: { rule: WHOLE, express: `Replace \`expected.startsWith(received)\`. ${EXPRESS}` },
    replace: comparing((header, right) => header !== '' && right.startsWith(header)),
  },
  {
    ...critical,
    name: 'accepts-any-part',
    title: 'Any part of the right signature is accepted, the empty one included.',
    seen: 'A search such as `expected.includes(received)`, with the two sides exchanged.',
    why: 'The empty text is a part of every text, so nothing at all is a valid signature.',
    fix: { rule: WHOLE, express: `Replace \`expected.includes(received)\`. ${EXPRESS}` },
    replace: comparing((header, right) => right.includes(header)),
  },
  {
    ...SIGNATURE,
    severity: 'low',
    forbidden: false,
    name: 'ignores-what-follows',
    title: 'What stands behind the right signature is ignored.',
    seen: 'A startsWith or strncmp with the length of the expected value.',
    why: 'It lets nobody in, but endlessly many headers count as one signature.',
    fix: { rule: WHOLE, express: `Replace \`received.startsWith(expected)\`. ${EXPRESS}` },
    replace: comparing((header, right) => header.startsWith(right)),
  },
  {
    ...SIGNATURE,
    severity: 'low',
    forbidden: true,
    name: 'ignores-what-precedes',
    title: 'What stands before the right signature is ignored.',
    seen: 'An endsWith, or a slice from the end, that was written for a prefix with the name of the algorithm.',
    why: 'Any prefix passes, the one that names another algorithm among them.',
    fix: { rule: WHOLE, express: `Replace \`received.endsWith(expected)\`. ${EXPRESS}` },
    replace: comparing((header, right) => header.endsWith(right)),
  },
  {
    ...SIGNATURE,
    severity: 'low',
    forbidden: true,
    name: 'contains-signature',
    title: 'A header that contains the right signature anywhere is accepted.',
    seen: 'A search such as `received.includes(expected)`, which deals with prefixes, lists and quotes in one go.',
    why: 'Lists of any length pass, so a forger gets many guesses in each request.',
    fix: { rule: WHOLE, express: `Replace \`received.includes(expected)\`. ${EXPRESS}` },
    replace: comparing((header, right) => header.includes(right)),
  },
  {
    ...critical,
    name: 'ignores-letter-case',
    title: 'Upper and lower case are not told apart in the signature.',
    seen: 'A habit from hexadecimal signatures: `.toLowerCase()` on both sides.',
    why: 'In Base64 the letter case carries data. Without it there are trillions of valid signatures for each body.',
    fix: {
      rule: 'Compare the text as it is.',
      express: 'Remove `.toLowerCase()` on both sides.',
      spring: 'Use `MessageDigest.isEqual`, not `equalsIgnoreCase`.',
      dotnet: 'Use `CryptographicOperations.FixedTimeEquals`, not `StringComparison.OrdinalIgnoreCase`.',
    },
    severity: 'high',
    replace: comparing((header, right) => header.toLowerCase() === right.toLowerCase()),
  },
  {
    ...critical,
    name: 'compares-first-8',
    title: 'Only the first 8 characters of the signature are compared.',
    seen: 'Short forms of digests, as people compare them by eye, that found their way into code.',
    why: 'Forty-eight bits can be searched, and the rest of the signature is free.',
    fix: { rule: WHOLE, express: EXPRESS },
    severity: 'high',
    replace: comparing((header, right) => header.slice(0, 8) === right.slice(0, 8)),
  },
  {
    ...critical,
    name: 'compares-first-32',
    title: 'Only the first 32 characters of the signature are compared.',
    seen: 'Code that takes 32 characters for the 32 bytes of the digest, and buffers of that size.',
    why: 'A quarter of the signature is unchecked, and what stands there is free.',
    fix: { rule: 'A digest of 32 bytes is 44 characters in Base64: compare all of them.', express: EXPRESS },
    severity: 'medium',
    replace: comparing((header, right) => header.slice(0, 32) === right.slice(0, 32)),
  },
  {
    ...critical,
    name: 'compares-last-8',
    title: 'Only the last 8 characters of the signature are compared.',
    seen: 'Short forms of digests, and comparisons from the end that were made for prefixes.',
    why: 'Forty-two bits can be searched, and the rest of the signature is free.',
    fix: { rule: WHOLE, express: EXPRESS },
    severity: 'high',
    replace: comparing((header, right) => header.slice(-8) === right.slice(-8)),
  },
  {
    ...critical,
    name: 'skips-first-7',
    title: 'The first 7 characters of the signature are skipped, as if "sha256=" stood there.',
    seen: 'A slice that cuts a prefix which this sender does not write.',
    why: 'Forty-two bits of the signature are not checked.',
    fix: { rule: 'Compare from the first character on.', express: 'Remove `.slice(7)` on both sides.' },
    severity: 'medium',
    replace: comparing((header, right) => header.slice(7) === right.slice(7)),
  },
  {
    ...critical,
    name: 'last-difference-decides',
    title: 'In a loop that compares, each result overwrites the one before, so that the last character decides.',
    seen: 'Hand-written constant-time comparisons with `diff = a ^ b` where `diff |= a ^ b` was meant.',
    why: 'The last character is "=" in every signature: each value of the right length passes.',
    fix: {
      rule: 'Use the constant-time comparison of your library, in place of a loop of your own.',
      express: EXPRESS,
    },
    replace: comparing((header, right) => {
      let difference = header.length ^ right.length;
      if (difference !== 0) return false;
      for (let at = 0; at < right.length; at++) difference = header.charCodeAt(at) ^ right.charCodeAt(at);
      return difference === 0;
    }),
  },
  {
    ...critical,
    name: 'compares-in-any-order',
    title: 'The characters of the signature are compared without their order.',
    seen: 'Comparisons of sets or sorted lists, and home-made constant-time loops whose differences add up and cancel out.',
    why: 'Each signature has very many valid arrangements, and a seen one yields others.',
    fix: { rule: 'Use the constant-time comparison of your library, in place of one of your own.', express: EXPRESS },
    severity: 'high',
    replace: comparing((header, right) => sorted(header) === sorted(right)),
  },
  {
    ...critical,
    name: 'signature-as-glob',
    title: 'The signature of the request is taken for a pattern with "*" that the right one has to match.',
    seen: 'Shell scripts behind a small hook server: in `[[ $expected == $received ]]` the right side is a pattern unless it is quoted. LIKE in a database does the same.',
    why: 'A single "*" is a valid signature for every body.',
    fix: {
      rule: 'Compare texts literally: quote the variable in the shell, and use "=" in a query.',
      express: 'Compare in the process, not in a script or query: use `timingSafeEqual`.',
    },
    replace: comparing((header, right) => header === right || matchesGlob(header, right)),
  },
  {
    ...critical,
    name: 'signature-as-regexp',
    title: 'The signature of the request is taken for a regular expression that the right one has to match.',
    seen: 'Code such as `expected.match(received)` in JavaScript or Ruby, and rule engines whose "matches" was taken for "equals".',
    why: 'The text ".*" is a valid signature for every body, and a broken pattern throws.',
    fix: { rule: 'Compare texts literally.', express: 'Replace `expected.match(received)`. Use `timingSafeEqual`.' },
    replace: comparing((header, right) => header === right || new RegExp(`^(?:${header})$`).test(right)),
  },
  // Signatures that no right sender makes, and at which the check throws.
  {
    ...SIGNATURE,
    name: 'other-length-answers-500',
    title: 'A signature of another length is answered 500, because the constant-time comparison throws.',
    seen: 'timingSafeEqual of Node, called without a look at the lengths; one of the most reported faults of webhook receivers.',
    why: 'The sender takes a refusal for a breakdown and tries again, and a stranger fills your error log.',
    fix: {
      rule: 'Compare the lengths before the constant-time comparison, and answer 401 when they differ.',
      express: 'Write `if (a.length !== b.length || !timingSafeEqual(a, b)) return res.sendStatus(401)`.',
      rails:
        'Use `ActiveSupport::SecurityUtils.secure_compare`, which takes any length; `fixed_length_secure_compare` raises.',
      dotnet: '`CryptographicOperations.FixedTimeEquals` gives false for other lengths and needs no guard.',
    },
    severity: 'medium',
    forbidden: true,
    replace: failing(({ header, right }) => {
      if (header !== undefined) for (const one of right) timingSafeEqual(Buffer.from(header), Buffer.from(one));
      return false;
    }),
  },
  {
    ...SIGNATURE,
    name: 'other-length-kills',
    title: 'A signature of another length ends the process.',
    seen: 'The same comparison in a callback or a promise that nobody awaits, where no framework catches what it throws.',
    why: 'One request that anybody can send switches the receiver off, and every delivery until the restart is lost.',
    fix: {
      rule: 'Compare the lengths before the constant-time comparison, and catch what is thrown outside of the framework.',
      express:
        'Write `if (a.length !== b.length || !timingSafeEqual(a, b)) return res.sendStatus(401)`, and verify inside the handler.',
    },
    severity: 'critical',
    forbidden: true,
    replace: dying(({ header, right }) => header !== undefined && Buffer.byteLength(header) !== right[0]?.length),
  },
  {
    ...SIGNATURE,
    name: 'other-byte-length-answers-500',
    title: 'A signature with the right number of characters and more bytes is answered 500.',
    seen: 'The guard for the lengths looks at the texts, and the comparison at their UTF-8 bytes; found in a review of a published receiver.',
    why: 'The guard was written against exactly this crash, and characters outside ASCII go round it.',
    fix: {
      rule: 'Check the lengths of the byte buffers that you compare, not of the texts.',
      express: 'Make the two buffers first, then compare `a.length` with `b.length`.',
    },
    severity: 'medium',
    forbidden: true,
    replace: failing(({ header, right }) =>
      right.some((one) => header?.length === one.length && Buffer.byteLength(header) !== one.length),
    ),
  },
  {
    ...SIGNATURE,
    name: 'non-ascii-answers-500',
    title: 'A signature with a character outside ASCII is answered 500.',
    seen: 'Python: hmac.compare_digest raises TypeError for texts that are not ASCII; found in several published receivers.',
    why: 'Anybody can make the receiver fail with one byte, and each failure stands in the log with a trace.',
    fix: {
      rule: 'Turn both sides into bytes before they are compared.',
      express: 'Refuse a header that does not match `/^[A-Za-z0-9+/]{43}=$/` before anything decodes it.',
      django: 'Call `hmac.compare_digest(received.encode("utf-8", "replace"), expected.encode())`.',
      flask: 'Call `hmac.compare_digest(received.encode("utf-8", "replace"), expected.encode())`.',
    },
    severity: 'medium',
    forbidden: true,
    replace: failing(({ header = '' }) => NOT_ASCII.test(header)),
  },
  {
    ...SIGNATURE,
    name: 'not-base64-answers-500',
    title: 'A signature that is no Base64 is answered 500, because the decoder throws.',
    seen: 'Strict decoders (Base64.getDecoder in Java, Convert.FromBase64String in .NET, atob in JavaScript) outside of any guard.',
    why: 'The sender takes a refusal for a breakdown and tries again, and a stranger fills your error log.',
    fix: {
      rule: 'Compare texts and decode nothing, or treat an error of the decoder as a wrong signature.',
      express: 'Compare `Buffer.from(header)` with `Buffer.from(expectedBase64)`.',
      spring: 'Catch IllegalArgumentException around `Base64.getDecoder().decode` and answer 401.',
      dotnet: 'Use `Convert.TryFromBase64String`.',
    },
    severity: 'medium',
    forbidden: true,
    replace: failing(({ header }) => {
      if (header !== undefined) atob(header);
      return false;
    }),
  },
  {
    ...SIGNATURE,
    name: 'repeated-signature-answers-500',
    title: 'Two signature headers in one request are answered 500.',
    seen: 'Code that gets a list of values where it expects a text: API gateways with multi-value headers, Fastify and Koa with raw headers.',
    why: 'Proxies can double a header. The sender then sees a breakdown that no new try will mend.',
    fix: {
      rule: 'Make sure that the header is a single text before you use it as one, and answer 401 when it is not.',
      express: 'Check `typeof header === "string"`; read `req.headersDistinct` if you want to see repetitions.',
    },
    severity: 'low',
    forbidden: false,
    replace: failing(({ req }) => Array.isArray(requestHeader(req, 'x-service-signature'))),
  },
];
