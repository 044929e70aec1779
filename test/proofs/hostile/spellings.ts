/**
 * The ways in which the proof of redaction spells a secret, with separate encoders, because the proof shares no code
 * with redaction. A spelling is found if it occurs literally in an output, or in an output that a reader has unwrapped.
 */

type Spell = (value: string) => string;

const bytesOf = (value: string): number[] => [...Buffer.from(value)];
const each = (value: string, spell: (byte: number) => string, between = ''): string =>
  bytesOf(value).map(spell).join(between);
const digits = (byte: number, base: number, width: number): string => byte.toString(base).padStart(width, '0');
const hex: Spell = (value) => each(value, (byte) => digits(byte, 16, 2));
const base64: Spell = (value) => btoa(String.fromCharCode(...bytesOf(value)));
const percent: Spell = (value) => each(value, (byte) => `%${digits(byte, 16, 2).toUpperCase()}`);
const reversed: Spell = (value) => [...value].reverse().join('');
const utf16 = (value: string): string => [...value].map((character) => `${character}\0`).join('');
const escapedJson: Spell = (value) => JSON.stringify(value).slice(1, -1);
const entities: Spell = (value) => [...value].map((character) => `&#${character.codePointAt(0)};`).join('');
const pieces = (text: string, length: number): string[] =>
  Array.from({ length: Math.ceil(text.length / length) }, (_, at) => text.slice(at * length, (at + 1) * length));

function base32(value: string, alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'): string {
  const bits = each(value, (byte) => digits(byte, 2, 8));
  const text = pieces(bits, 5)
    .map((group) => alphabet[Number.parseInt(group.padEnd(5, '0'), 2)])
    .join('');
  return text.padEnd(Math.ceil(text.length / 8) * 8, '=');
}

const NAMED: Readonly<Record<string, string>> = {
  '&': 'amp',
  '<': 'lt',
  '>': 'gt',
  '"': 'quot',
  "'": 'apos',
  '+': 'plus',
  '/': 'sol',
  '=': 'equals',
  '-': 'hyphen',
  _: 'lowbar',
  '.': 'period',
  ':': 'colon',
  '%': 'percnt',
  $: 'dollar',
  '!': 'excl',
};

/** The spellings, by their names in reports of the proof. */
export const SPELLINGS: Readonly<Record<string, Spell>> = {
  plain: (value) => value,
  'upper case': (value) => value.toUpperCase(),
  'lower case': (value) => value.toLowerCase(),
  reversed,
  'reversed base64': (value) => reversed(base64(value)),
  'base64 of reversed': (value) => base64(reversed(value)),
  'reversed hex': (value) => reversed(hex(value)),
  base64,
  'base64 without padding': (value) => base64(value).replace(/=+$/, ''),
  base64url: (value) => base64(value).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, ''),
  'base64 after one byte': (value) => base64(`:${value}`),
  'base64 after two bytes': (value) => base64(`u:${value}`),
  'base64 of JSON': (value) => base64(JSON.stringify({ user: 'a', value })),
  'double base64': (value) => base64(base64(value)),
  'triple base64': (value) => base64(base64(base64(value))),
  'double base64 in a word': (value) => `key_${base64(base64(value))}`,
  'base64 of hex': (value) => base64(hex(value)),
  'base64 of percent-encoding': (value) => base64(percent(value)),
  'base64 of entities': (value) => base64(entities(value)),
  'base64 of UTF-16': (value) => base64(utf16(value)),
  'base64 in lines': (value) => pieces(base64(value), 16).join('\r\n'),
  'double base64 in lines': (value) => pieces(base64(base64(value)), 36).join('\n'),
  'base64, percent-encoded': (value) => percent(base64(value)),
  'base64 in JSON for HTML': (value) => base64(value).replaceAll('+', '\\u002b').replaceAll('=', '\\u003d'),
  base32,
  'base32 in lower case': (value) => base32(value).toLowerCase().replace(/=+$/, ''),
  'base32 with the hexadecimal alphabet': (value) => base32(value, '0123456789ABCDEFGHIJKLMNOPQRSTUV'),
  'base32 of base64': (value) => base32(base64(value)),
  'base64 of base32': (value) => base64(base32(value)),
  hex,
  'upper-case hex': (value) => hex(value).toUpperCase(),
  'hex aa:bb': (value) => each(value, (byte) => digits(byte, 16, 2), ':'),
  'hex AA-BB': (value) => each(value, (byte) => digits(byte, 16, 2).toUpperCase(), '-'),
  'hex aa bb': (value) => each(value, (byte) => digits(byte, 16, 2), ' '),
  'hex 0xaa, 0xbb': (value) => each(value, (byte) => `0x${digits(byte, 16, 2)}`, ', '),
  'hex in groups of four': (value) => pieces(hex(value), 4).join(' '),
  'hex of base64': (value) => hex(base64(value)),
  'hex aa:bb of base64': (value) => each(base64(value), (byte) => digits(byte, 16, 2), ':'),
  'double hex': (value) => hex(hex(value)),
  'hex of UTF-16': (value) => hex(utf16(value)),
  '\\xNN': (value) => each(value, (byte) => `\\x${digits(byte, 16, 2)}`),
  '\\xNN in upper case': (value) => each(value, (byte) => `\\x${digits(byte, 16, 2).toUpperCase()}`),
  '\\u00NN': (value) => [...value].map((one) => `\\u${digits(one.charCodeAt(0), 16, 4)}`).join(''),
  '\\u00NN in upper case': (value) =>
    [...value].map((one) => `\\u${digits(one.charCodeAt(0), 16, 4).toUpperCase()}`).join(''),
  '\\u{NN}': (value) => [...value].map((one) => `\\u{${one.charCodeAt(0).toString(16)}}`).join(''),
  'octal \\NNN': (value) => each(value, (byte) => `\\${digits(byte, 8, 3)}`),
  'octal \\NNN in JSON': (value) => each(value, (byte) => `\\\\${digits(byte, 8, 3)}`),
  'decimal bytes': (value) => each(value, String, ','),
  'decimal bytes with spaces': (value) => `[${each(value, String, ' ')}]`,
  'decimal bytes in lines': (value) => each(value, String, ',\n    '),
  'binary bytes': (value) => each(value, (byte) => digits(byte, 2, 8), ' '),
  'percent-encoding': (value) => encodeURIComponent(value),
  'percent-encoding of every byte': percent,
  'percent-encoding in lower case': (value) => percent(value).toLowerCase(),
  'double percent-encoding': (value) => encodeURIComponent(percent(value)),
  'triple percent-encoding': (value) => encodeURIComponent(encodeURIComponent(percent(value))),
  'form data': (value) => new URLSearchParams({ a: value }).toString().slice(2),
  'named entities': (value) => [...value].map((one) => (NAMED[one] ? `&${NAMED[one]};` : one)).join(''),
  'decimal entities': entities,
  'decimal entities without semicolons': (value) => entities(value).replaceAll(';', ''),
  'hexadecimal entities': (value) => [...value].map((one) => `&#x${one.charCodeAt(0).toString(16)};`).join(''),
  'hexadecimal entities with zeros': (value) =>
    [...value].map((one) => `&#X${digits(one.charCodeAt(0), 16, 6).toUpperCase()};`).join(''),
  'double entities': (value) => entities(value).replaceAll('&', '&amp;'),
  'percent-encoded entities': (value) => encodeURIComponent(entities(value)),
  JSON: escapedJson,
  'JSON in JSON': (value) => escapedJson(escapedJson(value)),
  'JSON with escaped slashes': (value) => escapedJson(value).replaceAll('/', '\\/'),
  'quoted for a shell': (value) => value.replaceAll("'", "'\\''"),
  'quoted-printable': (value) => each(value, (byte) => `=${digits(byte, 16, 2).toUpperCase()}`),
  'MIME encoded word': (value) => `=?utf-8?B?${base64(value)}?=`,
  'with a blank in the middle': (value) => `${value.slice(0, value.length / 2)} ${value.slice(value.length / 2)}`,
  'letters apart': (value) => [...value].join(' '),
  'letters with dots': (value) => [...value].join('.'),
  'letters with zero-width spaces': (value) => [...value].join('\u200b'),
  'letters with soft hyphens as entities': (value) => [...value].join('&shy;'),
  'joined strings': (value) =>
    pieces(value, 5)
      .map((piece) => JSON.stringify(piece))
      .join(' + '),
};
