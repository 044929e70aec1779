import { derived, joined, literal, RIGHT_SIGNATURE } from '../changes/signing.ts';
import { refused, refusedOddHeader } from '../expectations.ts';
import type { Delivery, Scenario } from '../scenario.ts';

const printA = (count: number) => `head -c ${count} /dev/zero | tr '\\0' 'A'`;

/** Patterns that match every signature, in SQL, in LIKE, in globs and in regular expressions. */
const PATTERNS = [
  "' OR '1'='1",
  '%',
  '%=',
  '_'.repeat(44),
  '?'.repeat(44),
  '[A-Za-z0-9+/]*=',
  '^.*$',
  '.{44}',
  '^',
  '/.*/',
];

/** One delivery with each of these values as the signature. */
const eachAsSignature = (texts: readonly string[]): Delivery[][] =>
  texts.map((text) => [
    { label: `the text ${JSON.stringify(text)}`, change: { sign: literal(text) }, expect: refused },
  ]);

/** Values that are not signatures: random, of other lengths, non-ASCII, or the result of a programming mistake. */
export const junkSignatures: readonly Scenario[] = [
  {
    id: 'signature/random-bytes',
    title: 'Rejects 32 random bytes in Base64 as the signature',
    level: 'must',
    requirements: ['hmac-invalid'],
    needs: ['hmac'],
    change: { sign: { label: '32 random bytes in Base64', make: (_body, kit) => kit.bytes(32).toString('base64') } },
    expect: refused,
    why: 'A receiver that accepts them checks only the format of the header.',
    fix: 'Compute the HMAC of the body and compare it. Checking presence or length is not enough.',
  },
  {
    id: 'signature/zero-bytes',
    title: 'Rejects 32 zero bytes in Base64 as the signature',
    level: 'must',
    requirements: ['hmac-invalid'],
    needs: ['hmac'],
    change: {
      sign: literal(
        Buffer.alloc(32).toString('base64'),
        '32 zero bytes in Base64',
        joined(printA(43), "printf %s '='"),
      ),
    },
    expect: refused,
    why: 'A buffer that was never filled is all zeros. When the HMAC fails silently, the header is compared with it.',
    fix: 'Stop on an error of the HMAC function, and never compare with an empty buffer.',
  },
  {
    id: 'signature/1-character',
    title: 'Rejects a signature of one character',
    level: 'must',
    requirements: ['hmac-invalid'],
    needs: ['hmac'],
    change: { sign: literal('A') },
    expect: refused,
    why:
      'It decodes to zero bytes. In several languages, comparing values of unequal length throws and leads to a ' +
      '500.',
    fix:
      'Compare the lengths before a constant-time comparison such as timingSafeEqual, and answer 401 when they ' +
      'differ.',
  },
  {
    id: 'signature/43-characters',
    title: 'Rejects 43 times the letter A as the signature, without padding',
    level: 'must',
    requirements: ['hmac-invalid'],
    needs: ['hmac'],
    change: { sign: literal('A'.repeat(43), '43 times the letter A', printA(43)) },
    expect: refused,
    why: 'It still decodes to 32 bytes, so it passes a check of the decoded length.',
    fix: 'Answer 401 to a signature of any other length, without an exception.',
  },
  {
    id: 'signature/45-characters',
    title: 'Rejects a signature of 45 characters',
    level: 'must',
    requirements: ['hmac-invalid'],
    needs: ['hmac'],
    change: { sign: literal('A'.repeat(45), '45 times the letter A', printA(45)) },
    expect: refused,
    why:
      'One character too many is not Base64 of any length. A strict decoder throws, and unguarded code answers 500 ' +
      'or exits.',
    fix: 'Put the decoding inside the guard whose failure means 401, or compare texts and decode nothing.',
  },
  {
    id: 'signature/88-characters',
    title: 'Rejects a signature of double length',
    level: 'must',
    requirements: ['hmac-invalid'],
    needs: ['hmac'],
    change: { sign: literal('A'.repeat(88), '88 times the letter A', printA(88)) },
    expect: refused,
    why: 'Code that expects 32 bytes reads past the end of the value or throws on 66.',
    fix: 'Do not copy the decoded value into a buffer of fixed size. Reject every length other than 44 characters.',
  },
  {
    id: 'signature/4000-characters',
    title: 'Rejects a signature of 4,000 characters',
    level: 'must',
    requirements: ['hmac-invalid'],
    needs: ['hmac'],
    change: { sign: literal('A'.repeat(4000), '4000 times the letter A', printA(4000)) },
    expect: refusedOddHeader,
    why: 'Anyone can send a long header, and it must not slow down or stop the process.',
    fix: 'Reject by length before decoding or logging. A header limit in front of the receiver may answer 431 instead.',
  },
  {
    id: 'signature/non-ascii-same-length',
    title: 'Rejects a signature of 44 non-ASCII characters',
    level: 'must',
    requirements: ['hmac-invalid'],
    needs: ['hmac'],
    change: {
      sign: literal('\u00e9'.repeat(44), '44 bytes of value E9', "head -c 44 /dev/zero | tr '\\0' '\\351'"),
    },
    expect: refusedOddHeader,
    why:
      'The string has the expected number of characters but twice the bytes in UTF-8, so the byte comparison ' +
      'throws.',
    fix: 'Compare the lengths of the two byte buffers, not of the two strings.',
  },
  {
    id: 'signature/non-ascii-start',
    title: 'Rejects a signature that starts with an accented letter in UTF-8',
    level: 'must',
    requirements: ['hmac-invalid'],
    needs: ['hmac'],
    change: {
      sign: literal(
        `\u00c3\u00a9${'A'.repeat(42)}`,
        'the bytes C3 A9 and 42 times the letter A',
        joined("printf '\\303\\251'", printA(42)),
      ),
    },
    expect: refusedOddHeader,
    why: "Some comparisons, such as Python's hmac.compare_digest, throw on non-ASCII strings, which leads to a 500.",
    fix: 'Convert both sides to bytes before you compare them, or catch the exception and answer 401.',
  },
  {
    id: 'signature/non-ascii-behind',
    title: 'Rejects the valid signature followed by the byte 0xFF',
    level: 'should',
    requirements: ['hmac-base64'],
    needs: ['hmac'],
    change: {
      sign: derived(
        'the valid signature followed by the byte 0xFF',
        (valid) => `${valid}\u00ff`,
        joined(RIGHT_SIGNATURE, "printf '\\377'"),
      ),
    },
    expect: refusedOddHeader,
    why:
      'A lenient decoder drops this byte, which is never valid in Base64, so the receiver accepts a header ' +
      'that differs from the signature.',
    fix: 'Decode strictly (in Java getDecoder instead of getMimeDecoder, in Python validate=True), or compare strings.',
  },
  {
    id: 'signature/text-undefined',
    title: 'Rejects the signature "undefined"',
    level: 'must',
    requirements: ['hmac-invalid'],
    needs: ['hmac'],
    change: { sign: literal('undefined') },
    expect: refused,
    why: 'A missing value that is converted to a string equals this word, so two missing values match.',
    fix: 'Check that the computed signature exists before you compare, and never convert it with String().',
  },
  {
    id: 'signature/text-null',
    title: 'Rejects the signature "null"',
    level: 'must',
    requirements: ['hmac-invalid'],
    needs: ['hmac'],
    change: { sign: literal('null') },
    expect: refused,
    why: 'A template or log formatter writes an absent header as this word, and later code treats it as a value.',
    fix: 'Handle an absent header where it is read, and do not pass a placeholder to the check.',
  },
  {
    id: 'signature/text-none',
    title: 'Rejects the signatures "none", "true", "test" and "skip"',
    level: 'must',
    requirements: ['hmac-algorithm', 'hmac-invalid'],
    needs: ['hmac'],
    flow: () => eachAsSignature(['none', 'true', 'test', 'skip']),
    why:
      'Token libraries have an algorithm "none" that means no signature, and the other words are common in tests. ' +
      'The sender must not be able to choose that nothing is verified.',
    fix: 'Use HMAC-SHA256 only, and compare every value of the header. The report names the accepted word.',
  },
  {
    id: 'signature/pattern-star',
    title: 'Rejects the signature "*"',
    level: 'must',
    requirements: ['hmac-invalid'],
    needs: ['hmac'],
    change: { sign: literal('*') },
    expect: refused,
    why: 'A shell or a database may read it as a pattern, and "*" matches every signature.',
    fix: 'Compare the strings literally and in the process: quoted in a shell, with "=" in a query.',
  },
  {
    id: 'signature/pattern-any',
    title: 'Rejects the signature ".*"',
    level: 'must',
    requirements: ['hmac-invalid'],
    needs: ['hmac'],
    change: { sign: literal('.*') },
    expect: refused,
    why: 'Where the header is used as a regular expression, this value matches every signature.',
    fix: 'Replace expected.match(received) with a constant-time comparison of the two strings.',
  },
  {
    id: 'signature/patterns',
    title: 'Rejects SQL, LIKE patterns, globs and regular expressions as the signature',
    level: 'must',
    requirements: ['hmac-invalid'],
    needs: ['hmac'],
    flow: () =>
      PATTERNS.map((pattern) => [
        { label: `the text ${JSON.stringify(pattern)}`, change: { sign: literal(pattern) }, expect: refused },
      ]),
    why: 'A lookup by SQL text, LIKE, glob or cache key pattern accepts a value that matches every signature.',
    fix: 'Compare the strings literally, in your own code. The report names the accepted pattern.',
  },
  {
    id: 'signature/lists-without-signature',
    title: 'Rejects an empty list as the signature',
    level: 'must',
    requirements: ['hmac-missing', 'hmac-invalid'],
    needs: ['hmac'],
    flow: () => eachAsSignature([',', ';', '|', '[]', '""']),
    why: '"Every entry is valid" is true for an empty list, and a header of only separators is an empty list.',
    fix: 'Compare the header as a whole. If a list is needed, require at least one valid entry.',
  },
  {
    id: 'signature/prefixes-without-signature',
    title: 'Rejects the prefix of a signature with nothing after it',
    level: 'must',
    requirements: ['hmac-missing', 'hmac-invalid'],
    needs: ['hmac'],
    flow: () => eachAsSignature(['sha256=', 'v1,']),
    why: 'Code that removes a prefix may treat what is left as a missing, optional signature.',
    fix: 'Compare the header as a whole. This service sends no prefix.',
  },
];
