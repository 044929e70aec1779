/** Signed bodies in every spelling that JSON allows. The signature covers the bytes that are sent. */
import {
  compact,
  keysReversed,
  respelt,
  respeltStrings,
  rewritten,
  spacedOut,
  spelt,
  utf8,
  withMember,
} from '../changes/bodies.ts';
import { accepted, acceptedUnlessStrict, contentAcceptedOrRejected } from '../expectations.ts';
import type { Change, Scenario } from '../scenario.ts';
import { family } from './family.ts';

const signed = {
  suite: 'raw-body',
  verb: 'Accepts',
  of: 'a signed body',
  level: 'must',
  requirements: ['hmac-raw-body'],
  needs: ['hmac'],
} as const;

const indented = (by: string | number): Change => ({ serialise: (value) => utf8(JSON.stringify(value, null, by)) });

/** Ends the lines of the indented body with this text. */
export const lines = (end: string): Change => ({
  serialise: (value) => utf8(JSON.stringify(value, null, 1).replaceAll('\n', end)),
});

/** Whitespace between, before and after tokens. It is valid JSON, but re-serialising removes it. */
const spacing = family(
  { ...signed, expect: accepted, mistake: 'decoded-body' },
  {
    spaces: ['with spaces around every token', { serialise: rewritten(spacedOut) }, 'reserialised-body'],
    'indent-2': ['that is indented by two spaces', indented(2), 'reserialised-body'],
    'indent-4': ['that is indented by four spaces', indented(4), 'reserialised-body'],
    tabs: [
      'that is indented with tabs',
      indented('\t'),
      'reserialised-body',
      { note: 'Gateways that replace tabs with spaces, and templates that embed the body, fail this as well.' },
    ],
    'python-separators': [
      'with a space after each comma and colon',
      {
        serialise: rewritten((json) =>
          respelt(json, (token) => (token === ',' || token === ':' ? `${token} ` : token)),
        ),
      },
      'reserialised-body',
      { note: "Python's `json.dumps` writes JSON like this by default." },
    ],
    'trailing-lf': ['that ends in a line feed', { serialise: rewritten((json) => `${json}\n`) }],
    'trailing-crlf': [
      'that ends in a carriage return and a line feed',
      { serialise: rewritten((json) => `${json}\r\n`) },
    ],
    'trailing-space': [
      'that ends in spaces',
      { serialise: rewritten((json) => `${json}  `) },
      { note: 'Input clean-up (trim middleware) removes trailing spaces.' },
    ],
    'leading-space': [
      'that starts with spaces',
      { serialise: rewritten((json) => `  ${json}`) },
      { note: 'Code that reads from the first brace loses the bytes before it.' },
    ],
    'leading-lf': [
      'that starts with a line feed',
      { serialise: rewritten((json) => `\n${json}`) },
      { note: 'Custom HTTP parsers skip empty lines after the headers, and with them the start of the body.' },
    ],
    'crlf-lines': ['with CRLF line endings', lines('\r\n')],
    'cr-lines': ['with CR line endings', lines('\r')],
    'mixed-space': [
      'with every kind of JSON whitespace',
      {
        serialise: rewritten((json) =>
          respelt(json, (token) => (token === ',' ? ' ,\t\r\n' : token === ':' ? '\t: ' : token)),
        ),
      },
      'reserialised-body',
      { note: 'CDNs and firewalls that minify bodies fail this as well.' },
    ],
  },
);

const number = (token: string): Change => ({ serialise: spelt('data.metadata.testNumber', token) });

/**
 * Numbers that change when they are parsed and re-serialised. No listed field contains a fraction, so the numbers are
 * in an additional field. If a strict schema rejects this field, the check only warns.
 */
const numbers = family(
  { ...signed, expect: acceptedUnlessStrict, mistake: 'reserialised-body' },
  {
    'float-1-0': ['with the number 1.0', number('1.0')],
    exponent: ['with the number 1e3', number('1e3')],
    'exponent-plus': ['with the number 1E+2', number('1E+2')],
    'exponent-21': [
      'with the number 1e+21',
      number('1e+21'),
      { note: 'JavaScript writes it like this; PHP and Ruby write 1.0e+21.' },
    ],
    'negative-zero': [
      'with the number -0',
      number('-0'),
      { note: 'JavaScript and every integer type lose the sign of zero.' },
    ],
    'negative-zero-float': ['with the number -0.0', number('-0.0')],
    'trailing-zero': [
      'with the number 0.10',
      number('0.10'),
      { note: 'Prices are written with two decimals; a decimal type for prices does not keep the signature valid.' },
    ],
    'integer-20-digits': [
      'with an integer of 20 digits',
      number('12345678901234567890'),
      { note: 'JavaScript rounds integers above 2^53: read them as strings or BigInt after verification.' },
    ],
    'integer-2-53-plus-1': [
      'with the integer 9007199254740993',
      number('9007199254740993'),
      { note: 'It is the first integer that JavaScript cannot represent.' },
    ],
    'long-decimal': ['with a fraction of 22 digits', number('0.1234567890123456789012')],
    'exponent-400': [
      'with the number 1e400',
      number('1e400'),
      {
        title: 'Handles a signed body with the number 1e400',
        expect: contentAcceptedOrRejected,
        note: 'It becomes infinity in most languages; answer 400 or 200 after verification.',
      },
    ],
  },
);

/** Writes the memo of the transfer as this JSON token. The memo is free text that every order has. */
export const memo = (token: string | Uint8Array): Change => ({
  serialise: spelt('data.metadata.blockchainData.blockchainMemo', token),
});

/** A memo with two bytes that are not UTF-8. */
export const invalidUtf8 = memo(Buffer.of(0x22, 0x61, 0xff, 0xfe, 0x62, 0x22));

/** Spellings of a value and a name, each with an escaped letter. */
const ESCAPED: ReadonlyMap<string, string> = new Map([
  ['"CAAS"', '"\\u0043AAS"'],
  ['"type"', '"t\\u0079pe"'],
]);

/** Strings that have several spellings in JSON, or that another charset changes. */
const strings = family(
  { ...signed, expect: accepted, mistake: 'reserialised-body' },
  {
    'escaped-slash': [
      'with escaped slashes',
      memo('"memo\\/1\\/2"'),
      { note: 'PHP writes `\\/`, other languages do not.' },
    ],
    'plain-slash': [
      'with unescaped slashes',
      memo('"memo/1/2"'),
      { note: '`json_encode` escapes slashes by default, so every URL or path fails.' },
    ],
    'escaped-letter': [
      'with escaped plain letters in a value and in a name',
      {
        serialise: rewritten((json) => respeltStrings(json, (token) => ESCAPED.get(token) ?? token)),
      },
      { note: 'A firewall or router that searches the raw body does not find an escaped word.' },
    ],
    'escape-lower': ['with the escape \\u00e9', memo('"caf\\u00e9"')],
    'escape-upper': ['with the escape \\u00E9 in upper case', memo('"caf\\u00E9"')],
    'raw-accent': ['with an accented letter in UTF-8', memo('"caf\u00e9"'), 'decoded-body'],
    'raw-emoji': [
      'with an emoji in UTF-8',
      memo('"paid \u{1f600}"'),
      'decoded-body',
      { note: 'Text columns with three bytes per character fail this as well.' },
    ],
    'escaped-emoji': ['with an emoji as two escapes', memo('"paid \\ud83d\\ude00"')],
    'combining-accent': ['with a letter and a combining accent', memo('"cafe\u0301"'), 'decoded-body'],
    'line-separator': [
      'with U+2028 in a string',
      memo('"line\u2028break"'),
      { note: 'Serialisers for scripts in web pages escape this character.' },
    ],
    'escaped-html': [
      'with <, > and & as escapes',
      memo('"\\u003cb\\u003e\\u0026"'),
      { note: 'Go and .NET escape these characters by default, other languages write them plain.' },
    ],
    'plain-html': [
      'with plain <, > and &',
      memo('"<b>&"'),
      'sanitised-body',
      { note: 'A Go receiver that re-serialises the body escapes these characters and fails as well.' },
    ],
    'percent-escapes': ['with percent escapes in a string', memo('"100%25 of a%20b"'), 'sanitised-body'],
    'format-characters': ['with %s, $& and $1 in a string', memo('"50% of %s, $& and $1"'), 'body-as-template'],
    'delete-character': ['with the control character DEL in a string', memo('"a\u007fb"'), 'sanitised-body'],
  },
);

/** Strings that are valid JSON, but that some databases and languages cannot store. */
const unstorable = family(
  { ...signed, verb: 'Handles', expect: contentAcceptedOrRejected, mistake: 'unstorable-body-text' },
  {
    'null-character': ['with \\u0000 in a string', memo('"a\\u0000b"')],
    'lone-surrogate': ['with a lone surrogate escape', memo('"half \\ud83d"')],
  },
);

/** The order of keys, duplicate keys, and empty containers. */
const structure = family(
  { ...signed, expect: acceptedUnlessStrict, mistake: 'reserialised-body' },
  {
    'keys-reversed': [
      'with all keys in reverse order',
      { serialise: (value) => utf8(compact(keysReversed(value))) },
      { expect: accepted },
    ],
    'keys-like-integers': [
      'with keys that look like integers',
      { serialise: spelt('data.metadata.testKeys', '{"10":"a","9":"b","x":"c"}') },
      { note: 'JavaScript moves such keys to the front, in ascending order.' },
    ],
    'keys-repeated': [
      'with a duplicate key',
      { serialise: withMember('', '"type":"CAAS"') },
      {
        title: 'Handles a signed body with a duplicate key',
        expect: contentAcceptedOrRejected,
        note: 'Parsers keep one of two members; decide after verification whether to answer 400.',
      },
    ],
    'empty-object': [
      'with an empty object',
      { serialise: spelt('data.metadata.testObject', '{}') },
      { note: 'PHP parses an empty object into an empty array, and writes [].' },
    ],
    'empty-array': [
      'with an empty array',
      { serialise: spelt('data.metadata.testArray', '[ ]') },
      { note: 'Mappers that omit empty collections write a shorter body.' },
    ],
  },
);

export const rawBodySpellings: readonly Scenario[] = [...spacing, ...numbers, ...strings, ...unstorable, ...structure];
