import { keyInstead, withCharacterChanged, wrongKey } from '../changes/keying.ts';
import { refused, refusedOddHeader } from '../expectations.ts';
import type { AddressChange, Expectation, Scenario } from '../scenario.ts';

/** A delivery with a key that resembles the right one, or stands for anything. */
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

/** Keys that are wrong, from a stranger's to one that differs in a single character. */
export const wrongKeys: readonly Scenario[] = [
  nearKey('wrong', 'Refuses a wrong API key with exactly 401', wrongKey, {
    why: 'A key that is not compared is no protection. A 403 from a gateway is not the answer that the sender expects either.',
    fix: 'Compare the header with the stored key; if a gateway checks it, set the status of its refusal to 401.',
  }),
  nearKey(
    'first-half',
    'Refuses the first half of the API key',
    keyInstead('the first half of the key', (key) => key.slice(0, Math.floor(key.length / 2))),
    {
      why: 'If a beginning is enough, the key can be guessed character by character.',
      fix: 'Replace stored.startsWith(received) by a comparison of the whole values.',
    },
  ),
  nearKey(
    'one-character-short',
    'Refuses the API key without its last character',
    keyInstead('the key without its last character', (key) => key.slice(0, -1)),
    {
      why: 'A column or variable that is one character too short for the key hides the difference, until the key is rotated.',
      fix: 'Compare lengths as well as characters, and check that the stored key was not cut.',
    },
  ),
  nearKey(
    'first-character-missing',
    'Refuses the API key without its first character',
    keyInstead('the key without its first character', (key) => key.slice(1)),
    {
      why: 'A comparison of endings passes it. Shown keys are often abbreviated to their endings, in logs and on screens.',
      fix: 'Replace endsWith, or a lookup by the last characters, by a comparison of the whole key.',
    },
  ),
  nearKey(
    'one-character-more',
    'Refuses the API key with an x behind it',
    keyInstead('the key and an x', (key) => `${key}x`),
    {
      why: 'It shows a comparison that stops where the stored key ends.',
      fix: 'Replace received.startsWith(stored), or strncmp with the length of the stored key.',
    },
  ),
  nearKey(
    'prefixed',
    'Refuses the API key with an x before it',
    keyInstead('an x and the key', (key) => `x${key}`),
    {
      why: 'A check whether the key occurs somewhere in the header also passes headers that hold a thousand guesses.',
      fix: 'Replace received.includes(stored), or a LIKE query, by equality.',
    },
  ),
  nearKey(
    'swapped-case',
    'Refuses the API key with upper and lower case swapped',
    keyInstead('the key with upper and lower case swapped (with an x behind it when it has no letters)', swapCase),
    {
      why: 'Ignoring case makes a key of letters far easier to guess.',
      fix: 'Do not compare with equalsIgnoreCase or in a column whose collation ignores case.',
    },
  ),
  nearKey(
    'upper-case',
    'Refuses the API key in upper case',
    keyInstead(
      'the key in upper case (in lower case when it is upper already; with an x behind it when it has no letters)',
      (key) => (asciiUpper(key) === key ? asciiLower(key) : asciiUpper(key)),
    ),
    {
      why: 'A key that is normalised on one side, like an e-mail address, is no longer the agreed key.',
      fix: 'Store and compare the key as it was agreed, and take the normalisation out of the import that stores it.',
    },
  ),
  nearKey(
    'first-character-changed',
    'Refuses the API key with its first character changed',
    keyInstead('the key, first character changed', (key) => withCharacterChanged(key, 0)),
    {
      why: 'Code that skips a prefix such as "pk_" by counting characters skips part of any key without one.',
      fix: 'Compare from the first character on, and do not assume a prefix.',
    },
  ),
  nearKey(
    'middle-character-changed',
    'Refuses the API key with one character in the middle changed',
    keyInstead('the key, middle character changed', (key) => withCharacterChanged(key, Math.floor(key.length / 2))),
    {
      why: 'A receiver that looks a key up by its beginning and its end mistakes one customer for another.',
      fix: 'After the lookup by a part of the key, compare all of it.',
    },
  ),
  nearKey(
    'last-character-changed',
    'Refuses the API key with its last character changed',
    keyInstead('the key, last character changed', (key) => withCharacterChanged(key, -1)),
    {
      why: 'The last character counts like the others; passing it by is a comparison that is off by one.',
      fix: 'Use the comparison function of your language in place of a loop of your own.',
    },
  ),
  nearKey(
    'any-pattern',
    'Refuses the text ".*" as API key',
    keyInstead('the text ".*"', () => '.*'),
    {
      why: 'As a regular expression it matches every key, so no key has to be known.',
      fix: 'Never build a regular expression from the header, nor from the stored key: compare text.',
    },
  ),
  nearKey(
    'percent',
    'Refuses the text "%" as API key',
    keyInstead('the text "%"', () => '%'),
    {
      why: 'In a LIKE query it matches every key in the table.',
      fix: 'Look the key up with = and a bound parameter, not with LIKE.',
    },
  ),
  nearKey(
    'asterisk',
    'Refuses the text "*" as API key',
    keyInstead('the text "*"', () => '*'),
    {
      why: 'A configuration that permits any key with an asterisk, or a glob match, lets everybody in who sends one.',
      fix: 'Remove the wildcard from the list of permitted keys, and the matching of globs from the comparison.',
    },
  ),
  nearKey(
    'text-null',
    'Refuses the text "null" as API key',
    keyInstead('the text "null"', () => 'null'),
    {
      why: 'When no key is stored, the missing one may be compared as this word.',
      fix: 'Stop at start-up when the key is not set, and do not convert it to text before that.',
    },
  ),
  nearKey(
    'text-undefined',
    'Refuses the text "undefined" as API key',
    keyInstead('the text "undefined"', () => 'undefined'),
    {
      why: 'Text with a missing variable in it yields this word, for example after a deployment without the key.',
      fix: 'Read the key once into a constant, check that it is there, and compare with that constant.',
    },
  ),
  nearKey(
    '1-character',
    'Refuses an API key of one character',
    keyInstead('a key of one character', (key) => (key === 'a' ? 'b' : 'a')),
    {
      why: 'Constant-time comparisons throw on texts of unequal length in some languages, and the answer becomes a 500.',
      fix: 'Compare the lengths first, or compare digests of both sides, and answer 401 when they differ.',
    },
  ),
  nearKey(
    '5000-characters',
    'Refuses an API key of 5000 characters',
    keyInstead('a key of 5000 characters', () => 'a'.repeat(5000)),
    {
      why: 'A key that is hashed, logged or looked up at any length is a cheap way to keep a receiver busy.',
      fix: 'Refuse by length before anything else is done with the key; a server in front may answer 431.',
    },
    refusedOddHeader,
  ),
  nearKey(
    'non-ascii',
    'Refuses a key of the same length that is not ASCII',
    keyInstead('as many bytes of value E9 as the key has characters', (key) => '\u00e9'.repeat(key.length)),
    {
      why: 'Equal numbers of characters are unequal numbers of bytes in UTF-8, and the comparison of the bytes throws.',
      fix: 'Take the lengths of the byte buffers that are compared, and not those of the texts.',
    },
    refusedOddHeader,
  ),
  nearKey(
    'in-quotes',
    'Refuses the API key in double quotes',
    keyInstead('the key in double quotes', (key) => `"${key}"`),
    {
      why: 'Stripping quotes from what arrives means that the stored key has them, or once had: two forms now count as the key.',
      fix: 'Take the quotes out of the env file that holds the key, and compare the header as it came.',
    },
  ),
  nearKey(
    'bearer-prefix',
    'Refuses the API key behind "Bearer"',
    keyInstead('Bearer and the key', (key) => `Bearer ${key}`),
    {
      why: 'A parser for bearer tokens works on a header that holds no such token, and so reads more than was agreed.',
      fix: 'Compare the whole value of the header; the word Bearer is not sent and must not be cut off.',
    },
  ),
  nearKey(
    'in-base64',
    'Refuses the API key in Base64',
    keyInstead('the key in Base64', (key) => Buffer.from(key).toString('base64')),
    {
      why: 'Taking the encoded form too suggests that keys are kept encoded, which protects nothing.',
      fix: 'Remove the decoding: the key is sent as it is.',
    },
  ),
  nearKey(
    'blank-inside',
    'Refuses the API key with a blank in its middle',
    keyInstead('the key with a blank in its middle', (key) => {
      const middle = Math.floor(key.length / 2);
      return `${key.slice(0, middle)} ${key.slice(middle)}`;
    }),
    {
      why: 'White space inside is removed from keys that people paste; on the wire it makes another key of it.',
      fix: 'Clean a key up where it is entered, and compare the header as it came.',
    },
  ),
  nearKey(
    'in-list',
    'Refuses a list with the API key in it',
    keyInstead('a random key, a comma and the key', (key, kit) => `${kit.nonce(16)}, ${key}`),
    {
      why: 'A list lets one request try thousands of keys, past every limit on failed attempts.',
      fix: 'Compare the header as a whole; do not split it at commas.',
    },
  ),
  nearKey(
    'percent-encoded',
    'Refuses the API key percent-encoded',
    keyInstead('the key with every byte percent-encoded', (key) =>
      [...Buffer.from(key)].map((byte) => `%${byte.toString(16).padStart(2, '0').toUpperCase()}`).join(''),
    ),
    {
      why: 'The header is decoded like a part of a URL, so that several texts are the key and a lone % is an exception.',
      fix: 'Take decodeURIComponent out of the path of the header; it belongs to URLs.',
    },
  ),
];
