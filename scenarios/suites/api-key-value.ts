/** Values of the API key header: none, invalid keys, and values that resemble the key or that match any key. */
import { keyInstead, swapCase, withCharacterChanged, withoutHeader, wrongKey } from '../changes/addressing.ts';
import { headerLines } from '../changes/transmitting.ts';
import { refused, refusedUnusualHeader } from '../expectations.ts';
import type { Change, Delivery, Expectation, Kit, Scenario } from '../scenario.ts';
import { family } from './family.ts';

const shared = { suite: 'api-key', verb: 'Rejects', level: 'must', needs: ['api-key'] } as const;

/** Sends this value instead of the key. */
const sent =
  (value: (key: string, kit: Kit) => string) =>
  (label: string): Change => ({ address: keyInstead(label, value) });

const missing = family(
  { ...shared, requirements: ['key-missing', 'key-invalid'], expect: refused, mistake: 'unset-key' },
  {
    missing: [
      'a delivery without the API key',
      { address: withoutHeader('api-key', 'no API key header') },
      'optional-key',
      { requirements: ['key-missing'] },
    ],
    empty: ['an empty API key', sent(() => '')],
    blank: [
      'an API key of spaces',
      sent(() => '   '),
      { note: 'A gateway sees that the header is present, and the HTTP server then trims it to an empty string.' },
    ],
  },
);

const asciiUpper = (text: string) => text.replace(/[a-z]/g, (c) => c.toUpperCase());
const asciiLower = (text: string) => text.replace(/[A-Z]/g, (c) => c.toLowerCase());

/** Invalid keys, from a random one to one that differs in a single character. */
const invalid = family(
  { ...shared, requirements: ['key-exact', 'key-invalid'], expect: refused, mistake: 'partial-key-comparison' },
  {
    wrong: [
      'an invalid API key with 401',
      { address: wrongKey },
      'unchecked-key',
      { note: 'The sender expects 401 even from a gateway, not 403.' },
    ],
    'wrong-named-in-connection': [
      'an invalid API key that Connection names',
      {
        address: wrongKey,
        transmit: headerLines('a Connection header that names the API key', 'Connection', (line, { apiKeyHeader }) => [
          `${line}, ${apiKeyHeader}`,
        ]),
      },
      'optional-key',
      { note: 'A proxy removes the headers that Connection names.' },
    ],
    'first-half': ['the first half of the API key', sent((key) => key.slice(0, Math.floor(key.length / 2)))],
    'one-character-short': [
      'the API key without its last character',
      sent((key) => key.slice(0, -1)),
      { note: 'A column that is one character too short hides the difference until the key is rotated.' },
    ],
    'first-character-missing': ['the API key without its first character', sent((key) => key.slice(1))],
    'one-character-more': ['the API key followed by an x', sent((key) => `${key}x`)],
    prefixed: [
      'the API key preceded by an x',
      sent((key) => `x${key}`),
      { note: 'A check that the header contains the key accepts one header with a thousand guesses.' },
    ],
    'swapped-case': ['the API key with upper and lower case swapped', sent(swapCase), 'altered-key'],
    'upper-case': [
      'the API key in upper case',
      sent((key) => (asciiUpper(key) === key ? asciiLower(key) : asciiUpper(key))),
      'altered-key',
      { note: 'The key is normalised like an e-mail address.' },
    ],
    'first-character-changed': [
      'the API key with its first character changed',
      sent((key) => withCharacterChanged(key, 0)),
      { note: 'Code that skips a fixed-length prefix such as "pk_" ignores part of a key without one.' },
    ],
    'middle-character-changed': [
      'the API key with a character in the middle changed',
      sent((key) => withCharacterChanged(key, Math.floor(key.length / 2))),
      { note: 'A lookup by the start and end of the key confuses different customers.' },
    ],
    'last-character-changed': [
      'the API key with its last character changed',
      sent((key) => withCharacterChanged(key, -1)),
    ],
    'any-pattern': ['the API key ".*"', sent(() => '.*'), 'key-as-pattern'],
    percent: ['the API key "%"', sent(() => '%'), 'key-as-pattern'],
    asterisk: ['the API key "*"', sent(() => '*'), 'key-as-pattern'],
    'text-null': ['the API key "null"', sent(() => 'null'), 'unset-key'],
    'text-undefined': ['the API key "undefined"', sent(() => 'undefined'), 'unset-key'],
    '1-character': [
      'an API key of one character',
      sent((key) => (key.length > 1 ? key.charAt(Math.floor(key.length / 2)) : key === 'a' ? 'b' : 'a')),
      'key-check-throws',
    ],
    '5000-characters': [
      'an API key of 5,000 characters',
      sent(() => 'a'.repeat(5000)),
      'key-check-throws',
      {
        expect: refusedUnusualHeader,
        note: 'Reject by length before hashing, logging or a lookup; a server in front may answer 431.',
      },
    ],
    'non-ascii': [
      'a non-ASCII API key of the same length',
      sent((key) => '\u00e9'.repeat(key.length)),
      'key-check-throws',
      { expect: refusedUnusualHeader, note: 'Strings of equal length can have different numbers of bytes in UTF-8.' },
    ],
    'in-quotes': [
      'the API key in double quotes',
      sent((key) => `"${key}"`),
      'altered-key',
      { note: 'Remove the quotes from the env file with the key instead.' },
    ],
    'bearer-prefix': ['the API key with the prefix "Bearer"', sent((key) => `Bearer ${key}`), 'altered-key'],
    'in-base64': [
      'the API key in Base64',
      sent((key) => Buffer.from(key).toString('base64')),
      'altered-key',
      { note: 'A receiver that accepts the encoded key probably stores it encoded, which does not protect it.' },
    ],
    'blank-inside': [
      'the API key with a space in the middle',
      sent((key) => {
        const middle = Math.floor(key.length / 2);
        return `${key.slice(0, middle)} ${key.slice(middle)}`;
      }),
      'altered-key',
    ],
    'in-list': ['a list that contains the API key', sent((key, kit) => `${kit.nonce(16)}, ${key}`), 'key-as-list'],
    'percent-encoded': [
      'the API key in percent-encoding',
      sent((key) =>
        [...Buffer.from(key)].map((byte) => `%${byte.toString(16).padStart(2, '0').toUpperCase()}`).join(''),
      ),
      'altered-key',
      { note: 'A single % can throw as well.' },
    ],
  },
);

/** Sends one delivery for each text. The text replaces the key. */
const oneByOne = (texts: readonly string[]): Delivery[][] =>
  texts.map((text) => [nearly(`the key ${JSON.stringify(text)}`, () => text)]);
const eachAsKey = (texts: readonly string[]) => ({ flow: () => oneByOne(texts) });

function nearly(label: string, value: (key: string) => string, expect: Expectation = refused): Delivery {
  return { label, change: { address: keyInstead(label, value) }, expect };
}

const ends = (key: string) => `${key.slice(-1)}${key.slice(1, -1)}${key.slice(0, 1)}`;

/**
 * Replaces two neighbouring characters such that 31 times the first plus the second stays the same. Java's `hashCode`
 * of the key then stays the same.
 */
function sameHashCode(key: string): string {
  // Letters and digits are preferred, because a dot or a bracket would turn the key into a pattern.
  const plain = key.search(/[0-8A-Ya-y][a-y]|[1-9B-Zb-z]\d/);
  const pair = plain === -1 ? key.search(/[a-z\d]{2}/i) : plain;
  if (pair === -1) return `${key}x`;
  const [first, second] = [key.charCodeAt(pair), key.charCodeAt(pair + 1)];
  const step = second >= 64 ? 1 : -1;
  return key.slice(0, pair) + String.fromCharCode(first + step, second - 31 * step) + key.slice(pair + 2);
}

/** Sets the highest bit of each Latin-1 character. */
const withHighBit = (key: string) =>
  Buffer.from([...Buffer.from(key, 'latin1')].map((byte) => byte | 0x80)).toString('latin1');

/** Values that receivers with a common mistake accept as keys. None of them is secret. */
const guessed = family(
  { ...shared, requirements: ['key-exact', 'key-invalid'] },
  {
    placeholders: [
      'placeholder API keys from sample configurations',
      eachAsKey(['changeme', 'change-me', 'test', 'secret', 'password', 'admin', 'api-key', 'your-api-key', 'default']),
      'unset-key',
    ],
    'member-names': [
      'names of inherited object properties, such as "constructor", as the API key',
      eachAsKey(['constructor', 'toString', '__proto__', 'hasOwnProperty', 'length', '__class__']),
      'key-as-property',
    ],
    sql: ['SQL as the API key', eachAsKey(["' OR '1'='1", "'", "' OR '1'='1' --", '" OR ""="', '\\']), 'key-in-sql'],
    patterns: [
      'SQL LIKE patterns, globs and regular expressions as the API key',
      { flow: (kit) => oneByOne(['_'.repeat(kit.apiKey.length), '?'.repeat(kit.apiKey.length), '^', '%%']) },
      'key-as-pattern',
    ],
    'lists-without-key': [
      'an empty list as the API key',
      eachAsKey([',', ';', '|', '[]', '""']),
      'key-as-list',
      { note: '"Every entry is valid" is true for an empty list.' },
    ],
    'same-characters': [
      'the API key with its characters reordered, replaced by others with the same sum, or with their high bits set',
      {
        flow: () => [
          [nearly('the key in reverse', (key) => [...key].toReversed().join(''))],
          [nearly('the key with its first and last character exchanged', ends)],
          [nearly('another key with the same hash code in Java', sameHashCode)],
          [nearly('the key with the highest bit of every character set', withHighBit, refusedUnusualHeader)],
        ],
      },
      'derived-key-comparison',
    ],
  },
);

export const keyValues: readonly Scenario[] = [...missing, ...invalid, ...guessed];
