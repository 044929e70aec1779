import { respeltStrings, rewritten, spelt } from '../changes/bodies.ts';
import { accepted, acceptedUnlessStrict, takenOrRejected } from '../expectations.ts';
import type { ProbeScenario } from '../scenario.ts';

const base = { level: 'must', requirements: ['hmac-raw-body'], needs: ['hmac'], expect: accepted } as const;

/** A value and a name, each with an escaped letter. */
const ESCAPED: ReadonlyMap<string, string> = new Map([
  ['"CAAS"', '"\\u0043AAS"'],
  ['"type"', '"t\\u0079pe"'],
]);

/** The memo of the transfer, written by hand: free text that every order has. */
const memo = (token: string) => ({ serialise: spelt('data.metadata.blockchainData.blockchainMemo', token) });

/** Strings that have several spellings in JSON, or that another charset changes. */
export const rawBodyText: readonly ProbeScenario[] = [
  {
    ...base,
    id: 'raw-body/escaped-slash',
    title: 'Accepts a signed body with escaped slashes',
    change: memo('"memo\\/1\\/2"'),
    why: 'PHP writes \\/ and other languages do not, so the check works with one sender and fails with the next.',
    fix: 'Verify the body as received: do not imitate how the sender escapes.',
  },
  {
    ...base,
    id: 'raw-body/plain-slash',
    title: 'Accepts a signed body with unescaped slashes',
    change: memo('"memo/1/2"'),
    why: 'json_encode escapes slashes by default, so a PHP receiver that re-encodes fails on every URL or path.',
    fix: 'Use file_get_contents("php://input") instead of json_encode(json_decode(...)).',
  },
  {
    ...base,
    id: 'raw-body/escaped-letter',
    title: 'Accepts a signed body with escaped plain letters in a value and in a name',
    change: {
      serialise: rewritten((json) => respeltStrings(json, (token) => ESCAPED.get(token) ?? token)),
    },
    why: 'Any character may be escaped. A firewall or router that searches the raw body does not find it.',
    fix: 'Route by the parsed type, after the signature of the raw body was verified.',
  },
  {
    ...base,
    id: 'raw-body/escape-lower',
    title: 'Accepts a signed body with the escape \\u00e9',
    change: memo('"caf\\u00e9"'),
    why: 'Parsing turns the escape into a letter, and most serialisers write the letter.',
    fix: 'Keep the body unparsed until it is verified: escapes do not survive a parser.',
  },
  {
    ...base,
    id: 'raw-body/escape-upper',
    title: 'Accepts a signed body with the escape \\u00E9 in upper case',
    change: memo('"caf\\u00E9"'),
    why: 'Serialisers that escape use lower-case digits, so they change this body.',
    fix: 'Do not rebuild escapes with a regular expression: verify the raw bytes.',
  },
  {
    ...base,
    id: 'raw-body/raw-accent',
    title: 'Accepts a signed body with an accented letter in UTF-8',
    change: memo('"caf\u00e9"'),
    why: 'A body that is read as ASCII or Latin-1 has other bytes. The receiver works until the first accented name.',
    fix: 'Read the body as bytes. If your HMAC function needs a string, use UTF-8 (not Encoding.ASCII).',
  },
  {
    ...base,
    id: 'raw-body/raw-emoji',
    title: 'Accepts a signed body with an emoji in UTF-8',
    change: memo('"paid \u{1f600}"'),
    why:
      'Four-byte characters break code that counts characters as bytes, and text types with three bytes per ' +
      'character.',
    fix: 'Measure the body in bytes, and keep it out of text columns until it is verified.',
  },
  {
    ...base,
    id: 'raw-body/escaped-emoji',
    title: 'Accepts a signed body with an emoji as two escapes',
    change: memo('"paid \\ud83d\\ude00"'),
    why: 'The two escapes are one character, which is written back as 4 bytes instead of 12.',
    fix: 'Verify the escapes as received, and let the parser combine them afterwards.',
  },
  {
    ...base,
    id: 'raw-body/combining-accent',
    title: 'Accepts a signed body with a letter and a combining accent',
    change: memo('"cafe\u0301"'),
    why: 'Unicode normalisation in databases and frameworks merges the two into one character.',
    fix: 'Do not normalise the body (NFC or other) before the verification.',
  },
  {
    ...base,
    id: 'raw-body/line-separator',
    title: 'Accepts a signed body with U+2028 in a string',
    change: memo('"line\u2028break"'),
    why: 'Serialisers for scripts in web pages escape this character, which changes the bytes.',
    fix: 'Verify the bytes as received, and escape U+2028 only when you write text into a page.',
  },
  {
    ...base,
    id: 'raw-body/escaped-html',
    title: 'Accepts a signed body with <, > and & as escapes',
    change: memo('"\\u003cb\\u003e\\u0026"'),
    why: 'Go and .NET escape these characters by default, and other languages write them plain.',
    fix: 'Verify the raw body instead of changing the HTML escaping until it matches.',
  },
  {
    ...base,
    id: 'raw-body/plain-html',
    title: 'Accepts a signed body with plain <, > and &',
    change: memo('"<b>&"'),
    why: 'Filters against script injection rewrite such text, and a Go receiver that re-serialises escapes it.',
    fix: 'Exempt the endpoint from input sanitising, and encode text when you display it.',
  },
  {
    ...base,
    id: 'raw-body/percent-escapes',
    title: 'Accepts a signed body with percent escapes in a string',
    change: memo('"100%25 of a%20b"'),
    why: 'Code that URL-decodes all input turns %20 into a space, so the first URL with an escape is rejected.',
    fix: 'Do not URL-decode the body: only form data is percent-encoded.',
  },
  {
    ...base,
    id: 'raw-body/format-characters',
    title: 'Accepts a signed body with %s, $& and $1 in a string',
    change: memo('"50% of %s, $& and $1"'),
    why: 'A body that is passed to printf or replace() as a format changes.',
    fix: 'Pass the body to the HMAC function directly, not through a format string or a template.',
  },
  {
    ...base,
    id: 'raw-body/delete-character',
    title: 'Accepts a signed body with the control character DEL in a string',
    change: memo('"a\u007fb"'),
    why: 'JSON allows DEL unescaped, and code that removes non-printable characters changes the body.',
    fix: 'Do not remove control characters before the verification.',
  },
  {
    ...base,
    id: 'raw-body/null-character',
    title: 'Handles a signed body with \\u0000 in a string',
    change: memo('"a\\u0000b"'),
    expect: takenOrRejected,
    why: 'PostgreSQL rejects the character in text, and the database error becomes a 500.',
    fix: 'Remove or reject U+0000 in strings during validation, before you store them.',
  },
  {
    ...base,
    id: 'raw-body/lone-surrogate',
    title: 'Handles a signed body with a lone surrogate escape',
    change: memo('"half \\ud83d"'),
    expect: takenOrRejected,
    why: 'A lone surrogate cannot be encoded in UTF-8: Python and PHP fail when they write it to a log or a database.',
    fix: 'Verify the bytes, and reject text that cannot be encoded as a malformed payload.',
  },
];

const numberBase = {
  level: 'must',
  requirements: ['hmac-raw-body'],
  needs: ['hmac'],
  expect: acceptedUnlessStrict,
} as const;

/**
 * Numbers that change when they are parsed and re-serialised. No listed field contains a fraction, so they are in an
 * additional field, and a receiver with a strict schema only warns.
 */
const number = (token: string) => ({ serialise: spelt('data.metadata.testNumber', token) });

export const rawBodyNumbers: readonly ProbeScenario[] = [
  {
    ...numberBase,
    id: 'raw-body/float-1-0',
    title: 'Accepts a signed body with the number 1.0',
    change: number('1.0'),
    why: 'JavaScript and PHP re-serialise it as 1, so the signature no longer matches.',
    fix: 'Verify the raw bytes. A regular expression that restores .0 fails on the next number format.',
  },
  {
    ...numberBase,
    id: 'raw-body/exponent',
    title: 'Accepts a signed body with the number 1e3',
    change: number('1e3'),
    why: 'Common serialisers write 1000 or 1000.0 instead.',
    fix: 'Take the body before a parser converts the exponent.',
  },
  {
    ...numberBase,
    id: 'raw-body/exponent-plus',
    title: 'Accepts a signed body with the number 1E+2',
    change: number('1E+2'),
    why: 'Java and .NET write exponents with an upper-case E and a sign, and other languages do not.',
    fix: 'Do not imitate how the sender writes exponents: verify the raw bytes.',
  },
  {
    ...numberBase,
    id: 'raw-body/exponent-21',
    title: 'Accepts a signed body with the number 1e+21',
    change: number('1e+21'),
    why: 'JavaScript writes it like this, PHP and Ruby write 1.0e+21, so the check fails only for very large numbers.',
    fix: 'Verify the raw bytes: a test with small numbers does not find this fault.',
  },
  {
    ...numberBase,
    id: 'raw-body/negative-zero',
    title: 'Accepts a signed body with the number -0',
    change: number('-0'),
    why: 'JavaScript and every integer type lose the sign of zero.',
    fix: 'Verify the bytes as received: a parsed zero has no sign.',
  },
  {
    ...numberBase,
    id: 'raw-body/negative-zero-float',
    title: 'Accepts a signed body with the number -0.0',
    change: number('-0.0'),
    why: 'Python keeps it and JavaScript does not, so the result depends on the service that verifies.',
    fix: 'Verify in the service that receives the bytes, before it passes JSON to another one.',
  },
  {
    ...numberBase,
    id: 'raw-body/trailing-zero',
    title: 'Accepts a signed body with the number 0.10',
    change: number('0.10'),
    why: 'Prices are written with two decimals, and no parser keeps the trailing zero.',
    fix: 'Verify the raw body. A decimal type for prices does not help with the signature.',
  },
  {
    ...numberBase,
    id: 'raw-body/integer-20-digits',
    title: 'Accepts a signed body with an integer of 20 digits',
    change: number('12345678901234567890'),
    why: 'JavaScript rounds integers above 2^53, so the re-serialised text contains another number.',
    fix: 'Verify before JSON.parse, and read large integers as strings or BigInt afterwards.',
  },
  {
    ...numberBase,
    id: 'raw-body/integer-2-53-plus-1',
    title: 'Accepts a signed body with the integer 9007199254740993',
    change: number('9007199254740993'),
    why: 'It is the first integer that JavaScript cannot represent, so it changes in a round trip without a warning.',
    fix: 'Verify before parsing, and treat integers above 2^53 as strings afterwards.',
  },
  {
    ...numberBase,
    id: 'raw-body/long-decimal',
    title: 'Accepts a signed body with a fraction of 22 digits',
    change: number('0.1234567890123456789012'),
    why: 'Doubles keep 17 digits, so the signature fails only for a few amounts.',
    fix: 'Verify the bytes as received, and use a decimal type where the digits matter.',
  },
  {
    ...numberBase,
    id: 'raw-body/exponent-400',
    title: 'Handles a signed body with the number 1e400',
    change: number('1e400'),
    expect: takenOrRejected,
    why:
      'It is valid JSON but becomes infinity in most languages, and some serialisers fail on that while they ' +
      'verify.',
    fix: 'Verify the bytes first. After that, answer 400 or 200 to a number that is out of range.',
  },
];
