import { respeltStrings, rewritten, spelt } from '../changes/bytes.ts';
import { accepted } from '../expectations.ts';
import { takenOrRejected } from '../payload-expectations.ts';
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
