import { respeltStrings, rewritten, spelt } from '../changes/bytes.ts';
import { accepted, acceptedUnlessStrict, takenOrRejected } from '../expectations.ts';
import type { ProbeScenario } from '../scenario.ts';

const base = { level: 'must', requirements: ['hmac-raw-body'], needs: ['hmac'], expect: accepted } as const;

/** The memo of the transfer, spelt by hand: free text that is in every order. */
const memo = (token: string) => ({ serialise: spelt('data.metadata.blockchainData.blockchainMemo', token) });

/** Strings that have several spellings in JSON, or that another character set would change. */
export const rawBodyText: readonly ProbeScenario[] = [
  {
    ...base,
    id: 'raw-body/escaped-slash',
    title: 'Accepts a signed body in which slashes are escaped',
    change: memo('"memo\\/1\\/2"'),
    why: 'PHP senders write \\/ and nobody else writes it back. Such a check works with one sender and fails with the next.',
    fix: 'Hash the body as received; do not try to imitate how the sender escapes.',
  },
  {
    ...base,
    id: 'raw-body/plain-slash',
    title: 'Accepts a signed body in which slashes are not escaped',
    change: memo('"memo/1/2"'),
    why: 'json_encode escapes slashes unless it is told not to, so a PHP receiver that re-encodes fails on every link or path.',
    fix: 'Use file_get_contents("php://input") instead of json_encode(json_decode(...)).',
  },
  {
    ...base,
    id: 'raw-body/escaped-letter',
    title: 'Accepts a signed body in which a plain letter is escaped',
    change: {
      serialise: rewritten((json) => respeltStrings(json, (token) => (token === '"CAAS"' ? '"\\u0043AAS"' : token))),
    },
    why: 'Any character may be written as an escape. A firewall or router that looks for the text "CAAS" in the raw body overlooks this one.',
    fix: 'Route by the parsed value of type, after the signature of the raw body is verified.',
  },
  {
    ...base,
    id: 'raw-body/escape-lower',
    title: 'Accepts a signed body with the escape \\u00e9',
    change: memo('"caf\\u00e9"'),
    why: 'Parsing turns the escape into a letter, and most serialisers write the letter back.',
    fix: 'Keep the body undecoded and unparsed until it is verified; escapes do not survive a parser.',
  },
  {
    ...base,
    id: 'raw-body/escape-upper',
    title: 'Accepts a signed body with the escape \\u00E9 in capital digits',
    change: memo('"caf\\u00E9"'),
    why: 'Serialisers that escape use small digits, so that even the ones that keep escapes change this body.',
    fix: 'Do not rebuild escapes with a regular expression, as some have done to match a sender: hash what came.',
  },
  {
    ...base,
    id: 'raw-body/raw-accent',
    title: 'Accepts a signed body with an accented letter in UTF-8',
    change: memo('"caf\u00e9"'),
    why: 'A body that was read as ASCII or Latin-1 has other bytes here. The receiver works until the first name with an accent.',
    fix: 'Read the body as bytes; where your HMAC function wants text, give it UTF-8 (and not Encoding.ASCII).',
  },
  {
    ...base,
    id: 'raw-body/raw-emoji',
    title: 'Accepts a signed body with an emoji in UTF-8',
    change: memo('"paid \u{1f600}"'),
    why: 'Four-byte characters break code that counts characters as bytes, and text types that hold three bytes at most.',
    fix: 'Measure the body in bytes, and keep it out of text columns until it is verified.',
  },
  {
    ...base,
    id: 'raw-body/escaped-emoji',
    title: 'Accepts a signed body with an emoji as two escapes',
    change: memo('"paid \\ud83d\\ude00"'),
    why: 'A pair of escapes is one character; written back raw it has 4 bytes in place of 12.',
    fix: 'Hash the 12 bytes of the two escapes as they came, and let the parser join them afterwards.',
  },
  {
    ...base,
    id: 'raw-body/combining-accent',
    title: 'Accepts a signed body with a letter and a combining accent',
    change: memo('"cafe\u0301"'),
    why: 'Unicode normalisation, which some databases and frameworks apply to input, merges the two into one character.',
    fix: 'Do not normalise the body (NFC or other) before the check.',
  },
  {
    ...base,
    id: 'raw-body/line-separator',
    title: 'Accepts a signed body with U+2028 in a string',
    change: memo('"line\u2028break"'),
    why: 'Serialisers that are made for scripts in pages escape this character, and the signature is then over other bytes.',
    fix: 'Hash the bytes as they came; escape U+2028 where you put text into a page and nowhere else.',
  },
  {
    ...base,
    id: 'raw-body/escaped-html',
    title: 'Accepts a signed body with <, > and & as escapes',
    change: memo('"\\u003cb\\u003e\\u0026"'),
    why: 'Go and .NET escape these three by default; a receiver in another language writes them back plain.',
    fix: 'Hash the raw body; do not switch HTML escaping on or off until it matches.',
  },
  {
    ...base,
    id: 'raw-body/plain-html',
    title: 'Accepts a signed body with <, > and & as they are',
    change: memo('"<b>&"'),
    why: 'Input filters against script injection rewrite such text, and a Go receiver that marshals again escapes it.',
    fix: 'Exempt the endpoint from input sanitising, and encode text when you show it instead.',
  },
  {
    ...base,
    id: 'raw-body/percent-escapes',
    title: 'Accepts a signed body with percent escapes in a string',
    change: memo('"100%25 of a%20b"'),
    why: 'Helpers that decode every input of a request turn %20 into a space, and the first link with an escape in it is refused.',
    fix: 'Do not URL-decode the body: only form data is percent-encoded, and this is JSON.',
  },
  {
    ...base,
    id: 'raw-body/format-characters',
    title: 'Accepts a signed body with %s, $& and $1 in a string',
    change: memo('"50% of %s, $& and $1"'),
    why: 'These mean something to functions that format or replace text: a body that is put through printf or replace() comes out changed.',
    fix: 'Hand the body to the HMAC function by itself, not through a format string or a template.',
  },
  {
    ...base,
    id: 'raw-body/delete-character',
    title: 'Accepts a signed body with the control character DEL in a string',
    change: memo('"a\u007fb"'),
    why: 'DEL is allowed unescaped in JSON, and clean-up of "non-printable" characters removes it.',
    fix: 'Do not filter control characters out of the body before the check.',
  },
  {
    ...base,
    id: 'raw-body/null-character',
    title: 'Takes or rejects a signed body with \\u0000 in a string, and does not call its signature wrong',
    change: memo('"a\\u0000b"'),
    expect: takenOrRejected,
    why: 'PostgreSQL refuses the character in text, and the database error comes out as a 500.',
    fix: 'Remove or refuse U+0000 in strings when you validate, before you store.',
  },
  {
    ...base,
    id: 'raw-body/lone-surrogate',
    title: 'Takes or rejects a signed body with half of an emoji as an escape, and does not call its signature wrong',
    change: memo('"half \\ud83d"'),
    expect: takenOrRejected,
    why: 'Half a pair cannot be encoded in UTF-8: Python and PHP throw when they write it to a log, a database or a new JSON text.',
    fix: 'Check the signature on the bytes, then treat text that cannot be encoded as a bad payload.',
  },
];

const numberBase = {
  level: 'must',
  requirements: ['hmac-raw-body'],
  needs: ['hmac'],
  expect: acceptedUnlessStrict,
} as const;

/**
 * Numbers that come out differently when they are parsed and written again. No listed field holds a fraction, so they stand in a
 * field of their own, and a receiver with a strict schema only warns.
 */
const number = (token: string) => ({ serialise: spelt('data.metadata.testNumber', token) });

export const rawBodyNumbers: readonly ProbeScenario[] = [
  {
    ...numberBase,
    id: 'raw-body/float-1-0',
    title: 'Accepts a signed body with the number 1.0',
    change: number('1.0'),
    why: 'JavaScript and PHP write it back as 1. Receivers have lost half of their deliveries to this one spelling.',
    fix: 'Verify the raw bytes. Patching the text with a regular expression for .0, as some have done, breaks on the next spelling.',
  },
  {
    ...numberBase,
    id: 'raw-body/exponent',
    title: 'Accepts a signed body with the number 1e3',
    change: number('1e3'),
    why: 'Every serialiser that was tried writes 1000 or 1000.0 instead.',
    fix: 'Take the body before a parser turns the exponent into plain digits.',
  },
  {
    ...numberBase,
    id: 'raw-body/exponent-plus',
    title: 'Accepts a signed body with the number 1E+2',
    change: number('1E+2'),
    why: 'Java and .NET write exponents with a capital E and a sign; others never give that back.',
    fix: 'Do not try to imitate how the sender writes exponents: hash what it wrote.',
  },
  {
    ...numberBase,
    id: 'raw-body/exponent-21',
    title: 'Accepts a signed body with the number 1e+21',
    change: number('1e+21'),
    why: 'JavaScript writes it just so, while PHP and Ruby write 1.0e+21: the check fails only with amounts of that size.',
    fix: 'Do not rely on tests with small numbers: only the raw bytes are right at every size.',
  },
  {
    ...numberBase,
    id: 'raw-body/negative-zero',
    title: 'Accepts a signed body with the number -0',
    change: number('-0'),
    why: 'The sign of zero is lost by JavaScript and by every integer type.',
    fix: 'Keep the bytes that came; a parsed zero has lost its sign for good.',
  },
  {
    ...numberBase,
    id: 'raw-body/negative-zero-float',
    title: 'Accepts a signed body with the number -0.0',
    change: number('-0.0'),
    why: 'Python keeps it and JavaScript does not, so the failure depends on which service does the check.',
    fix: 'Let the service that receives the bytes verify them, before it hands JSON on to another one.',
  },
  {
    ...numberBase,
    id: 'raw-body/trailing-zero',
    title: 'Accepts a signed body with the number 0.10',
    change: number('0.10'),
    why: 'Prices are written with two decimals, and no parser keeps the last zero.',
    fix: 'Hash the raw body; a decimal type for prices helps later on, and not with the signature.',
  },
  {
    ...numberBase,
    id: 'raw-body/integer-20-digits',
    title: 'Accepts a signed body with an integer of 20 digits',
    change: number('12345678901234567890'),
    why: 'Beyond 2^53 JavaScript rounds, so the text that it signs holds another number than the one that was sent.',
    fix: 'Verify before JSON.parse, and read large integers as text or BigInt afterwards.',
  },
  {
    ...numberBase,
    id: 'raw-body/integer-2-53-plus-1',
    title: 'Accepts a signed body with the integer 9007199254740993',
    change: number('9007199254740993'),
    why: 'The first integer that JavaScript cannot hold is off by one after a round trip, and nothing warns about it.',
    fix: 'Verify before parsing; afterwards treat integers beyond 2^53 as text.',
  },
  {
    ...numberBase,
    id: 'raw-body/long-decimal',
    title: 'Accepts a signed body with a fraction of 22 digits',
    change: number('0.1234567890123456789012'),
    why: 'Floating point keeps 17 digits; a signature over the rest fails for a few amounts and not for most.',
    fix: 'Verify the bytes that came, and use a decimal type where the digits matter.',
  },
  {
    ...numberBase,
    id: 'raw-body/exponent-400',
    title: 'Takes or rejects a signed body with the number 1e400, and does not call its signature wrong',
    change: number('1e400'),
    expect: takenOrRejected,
    why: 'It is legal JSON and becomes infinity in most languages: some serialisers throw on that while they compute the signature.',
    fix: 'Check the signature on the bytes first; then a number that is out of range is a bad payload (400) or harmless (200).',
  },
];
