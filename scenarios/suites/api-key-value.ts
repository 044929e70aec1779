import { keyInstead, withCharacterChanged, wrongKey } from '../changes/addressing.ts';
import { headerLines } from '../changes/transmitting.ts';
import { refused, refusedOddHeader } from '../expectations.ts';
import type { AddressChange, Expectation, Scenario } from '../scenario.ts';

/** A delivery with a key that resembles the valid one, or that matches any key. */
function nearKey(
  slug: string,
  title: string,
  address: AddressChange,
  text: { readonly why: string; readonly fix: string },
  expect: Expectation = refused,
): Scenario {
  return {
    id: `api-key/${slug}`,
    title,
    level: 'must',
    requirements: ['key-exact', 'key-invalid'],
    needs: ['api-key'],
    change: { address },
    expect,
    ...text,
  };
}

const swapCase = (text: string) =>
  text.replace(/[a-z]/gi, (c) => (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase()));
const asciiUpper = (text: string) => text.replace(/[a-z]/g, (c) => c.toUpperCase());
const asciiLower = (text: string) => text.replace(/[A-Z]/g, (c) => c.toLowerCase());

/** Invalid keys, from a random one to one that differs in a single character. */
export const wrongKeys: readonly Scenario[] = [
  nearKey('wrong', 'Rejects an invalid API key with 401', wrongKey, {
    why:
      'A key that is not compared does not protect the endpoint. The sender also expects 401, not 403 from a ' +
      'gateway.',
    fix: 'Compare the header with the stored key. If a gateway checks it, configure its status as 401.',
  }),
  {
    ...nearKey('wrong-named-in-connection', 'Rejects an invalid API key that Connection names', wrongKey, {
      why:
        'A proxy removes the headers that Connection names. If it checks that there is a key, and the receiver reads ' +
        'the key when there is one, the key is never compared.',
      fix: 'Treat an absent header like an invalid key, in every place that checks it.',
    }),
    change: {
      address: wrongKey,
      transmit: headerLines('a Connection header that names the API key', 'Connection', (line, { apiKeyHeader }) => [
        `${line}, ${apiKeyHeader}`,
      ]),
    },
  },
  nearKey(
    'first-half',
    'Rejects the first half of the API key',
    keyInstead('the first half of the key', (key) => key.slice(0, Math.floor(key.length / 2))),
    {
      why: 'If a prefix is enough, an attacker can guess the key character by character.',
      fix: 'Replace stored.startsWith(received) with a comparison of the complete values.',
    },
  ),
  nearKey(
    'one-character-short',
    'Rejects the API key without its last character',
    keyInstead('the key without its last character', (key) => key.slice(0, -1)),
    {
      why: 'A column that is one character too short hides the difference until the key is rotated.',
      fix: 'Compare lengths as well as characters, and check that the stored key was not truncated.',
    },
  ),
  nearKey(
    'first-character-missing',
    'Rejects the API key without its first character',
    keyInstead('the key without its first character', (key) => key.slice(1)),
    {
      why: 'A comparison of endings accepts this. Logs and screens often show the end of a key.',
      fix: 'Replace endsWith, or a lookup by the last characters, with a comparison of the whole key.',
    },
  ),
  nearKey(
    'one-character-more',
    'Rejects the API key followed by an x',
    keyInstead('the key and an x', (key) => `${key}x`),
    {
      why: 'The comparison stops where the stored key ends.',
      fix: 'Replace received.startsWith(stored), or strncmp with the length of the stored key.',
    },
  ),
  nearKey(
    'prefixed',
    'Rejects the API key preceded by an x',
    keyInstead('an x and the key', (key) => `x${key}`),
    {
      why: 'A check whether the header contains the key also accepts a header with a thousand guesses.',
      fix: 'Replace received.includes(stored), or a LIKE query, with equality.',
    },
  ),
  nearKey(
    'swapped-case',
    'Rejects the API key with upper and lower case swapped',
    keyInstead('the key with upper and lower case swapped (with an x behind it when it has no letters)', swapCase),
    {
      why: 'Ignoring case makes a key much easier to guess.',
      fix: 'Do not compare with equalsIgnoreCase, or in a column with a case-insensitive collation.',
    },
  ),
  nearKey(
    'upper-case',
    'Rejects the API key in upper case',
    keyInstead(
      'the key in upper case (in lower case when it is upper already; with an x behind it when it has no letters)',
      (key) => (asciiUpper(key) === key ? asciiLower(key) : asciiUpper(key)),
    ),
    {
      why: 'A key that is normalised like an e-mail address is no longer the agreed key.',
      fix: 'Store and compare the key as agreed, and remove the normalisation.',
    },
  ),
  nearKey(
    'first-character-changed',
    'Rejects the API key with its first character changed',
    keyInstead('the key, first character changed', (key) => withCharacterChanged(key, 0)),
    {
      why: 'Code that skips a fixed-length prefix such as "pk_" ignores part of a key without one.',
      fix: 'Compare from the first character, and do not assume a prefix.',
    },
  ),
  nearKey(
    'middle-character-changed',
    'Rejects the API key with a character in the middle changed',
    keyInstead('the key, middle character changed', (key) => withCharacterChanged(key, Math.floor(key.length / 2))),
    {
      why: 'A receiver that looks up a key by its start and end confuses different customers.',
      fix: 'After a lookup by part of the key, compare the whole key.',
    },
  ),
  nearKey(
    'last-character-changed',
    'Rejects the API key with its last character changed',
    keyInstead('the key, last character changed', (key) => withCharacterChanged(key, -1)),
    {
      why: 'A comparison that ignores the last character has an off-by-one error.',
      fix: 'Use the comparison function of your language instead of a loop.',
    },
  ),
  nearKey(
    'any-pattern',
    'Rejects the API key ".*"',
    keyInstead('the text ".*"', () => '.*'),
    {
      why: 'As a regular expression it matches every key, so an attacker needs none.',
      fix: 'Never build a regular expression from the header or from the stored key: compare strings.',
    },
  ),
  nearKey(
    'percent',
    'Rejects the API key "%"',
    keyInstead('the text "%"', () => '%'),
    {
      why: 'In a LIKE query it matches every key in the table.',
      fix: 'Look the key up with = and a bound parameter, not with LIKE.',
    },
  ),
  nearKey(
    'asterisk',
    'Rejects the API key "*"',
    keyInstead('the text "*"', () => '*'),
    {
      why: 'A configuration that allows any key with an asterisk, or a glob match, accepts it.',
      fix: 'Remove the wildcard from the list of allowed keys, and globs from the comparison.',
    },
  ),
  nearKey(
    'text-null',
    'Rejects the API key "null"',
    keyInstead('the text "null"', () => 'null'),
    {
      why: 'When no key is stored, the missing value may be compared as this word.',
      fix: 'Fail at start-up when the key is not set, and do not convert it to a string before that.',
    },
  ),
  nearKey(
    'text-undefined',
    'Rejects the API key "undefined"',
    keyInstead('the text "undefined"', () => 'undefined'),
    {
      why: 'A string with a missing variable becomes this word, for example after a deployment without the key.',
      fix: 'Read the key once, check that it is set, and compare with that value.',
    },
  ),
  nearKey(
    '1-character',
    'Rejects an API key of one character',
    keyInstead('one character from the middle of the key', (key) =>
      key.length > 1 ? key.charAt(Math.floor(key.length / 2)) : key === 'a' ? 'b' : 'a',
    ),
    {
      why: 'In some languages, a constant-time comparison of unequal lengths throws, which leads to a 500.',
      fix: 'Compare the lengths first, or compare digests of both sides, and answer 401 when they differ.',
    },
  ),
  nearKey(
    '5000-characters',
    'Rejects an API key of 5,000 characters',
    keyInstead('a key of 5000 characters', () => 'a'.repeat(5000)),
    {
      why: 'Hashing, logging or looking up keys of any length lets an attacker keep the receiver busy.',
      fix: 'Reject by length before anything else. A server in front may answer 431.',
    },
    refusedOddHeader,
  ),
  nearKey(
    'non-ascii',
    'Rejects a non-ASCII API key of the same length',
    keyInstead('as many bytes of value E9 as the key has characters', (key) => '\u00e9'.repeat(key.length)),
    {
      why: 'Strings of equal length can have different numbers of bytes in UTF-8, and the byte comparison throws.',
      fix: 'Compare the lengths of the byte buffers, not of the strings.',
    },
    refusedOddHeader,
  ),
  nearKey(
    'in-quotes',
    'Rejects the API key in double quotes',
    keyInstead('the key in double quotes', (key) => `"${key}"`),
    {
      why: 'If quotes are removed from the header, two values are valid instead of one.',
      fix: 'Remove the quotes from the env file with the key, and compare the header as received.',
    },
  ),
  nearKey(
    'bearer-prefix',
    'Rejects the API key with the prefix "Bearer"',
    keyInstead('Bearer and the key', (key) => `Bearer ${key}`),
    {
      why: 'A parser for bearer tokens accepts more values than agreed.',
      fix: 'Compare the complete value of the header, without removing a "Bearer" prefix.',
    },
  ),
  nearKey(
    'in-base64',
    'Rejects the API key in Base64',
    keyInstead('the key in Base64', (key) => Buffer.from(key).toString('base64')),
    {
      why: 'A receiver that also accepts the encoded key probably stores it encoded, which does not protect it.',
      fix: 'Remove the decoding: the key is sent as it is.',
    },
  ),
  nearKey(
    'blank-inside',
    'Rejects the API key with a space in the middle',
    keyInstead('the key with a blank in its middle', (key) => {
      const middle = Math.floor(key.length / 2);
      return `${key.slice(0, middle)} ${key.slice(middle)}`;
    }),
    {
      why: 'White space is removed from keys that users paste. On the wire, it makes a different key.',
      fix: 'Clean up a key where it is entered, and compare the header as received.',
    },
  ),
  nearKey(
    'in-list',
    'Rejects a list that contains the API key',
    keyInstead('a random key, a comma and the key', (key, kit) => `${kit.nonce(16)}, ${key}`),
    {
      why: 'With a list, one request can try thousands of keys, past every limit on failed attempts.',
      fix: 'Compare the header as a whole, and do not split it at commas.',
    },
  ),
  nearKey(
    'percent-encoded',
    'Rejects the API key in percent-encoding',
    keyInstead('the key with every byte percent-encoded', (key) =>
      [...Buffer.from(key)].map((byte) => `%${byte.toString(16).padStart(2, '0').toUpperCase()}`).join(''),
    ),
    {
      why: 'If the header is URL-decoded, several strings are valid keys, and a single % can throw.',
      fix: 'Do not apply decodeURIComponent to the header.',
    },
  ),
];
