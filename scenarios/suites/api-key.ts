/** One delivery for each text, sent instead of the key. */

import { headerValues } from '../../contract/index.ts';
import { keyInstead, withoutHeader } from '../changes/addressing.ts';
import { refused, refusedOddHeader } from '../expectations.ts';
import { scenarioOf } from '../forgery.ts';
import type { AddressChange, Delivery, Expectation, FlowScenario, Scenario, Suite } from '../scenario.ts';
import { keyCrossings } from './api-key-bypass.ts';
import { misplacedKeys } from './api-key-place.ts';
import { wrongKeys } from './api-key-value.ts';
import { statusOfRejections } from './rejection-status.ts';

function eachAsKey(texts: readonly string[]): readonly (readonly Delivery[])[] {
  return texts.map((text) => [
    {
      label: `the key ${JSON.stringify(text)}`,
      change: { address: keyInstead(`the text ${JSON.stringify(text)}`, () => text) },
      expect: refused,
    },
  ]);
}

function nearly(label: string, value: (key: string) => string, expect: Expectation = refused): Delivery {
  return { label, change: { address: keyInstead(label, value) }, expect };
}

const ends = (key: string) => `${key.slice(-1)}${key.slice(1, -1)}${key.slice(0, 1)}`;

/** Two neighbours are replaced by others with the same sum of 31 times the first and the second. */
function sameHashCode(key: string): string {
  // Letters and digits, if the key allows it: a point or a bracket would make a pattern of the key.
  const plain = key.search(/[0-8A-Ya-y][a-y]|[1-9B-Zb-z]\d/);
  const pair = plain === -1 ? key.search(/[a-z\d]{2}/i) : plain;
  if (pair === -1) return `${key}x`;
  const [first, second] = [key.charCodeAt(pair), key.charCodeAt(pair + 1)];
  const step = second >= 64 ? 1 : -1;
  return key.slice(0, pair) + String.fromCharCode(first + step, second - 31 * step) + key.slice(pair + 2);
}

/** Each character with its highest bit set, in Latin-1. */
const withHighBit = (key: string) =>
  Buffer.from([...Buffer.from(key, 'latin1')].map((byte) => byte | 0x80)).toString('latin1');

const base = { level: 'must', requirements: ['key-exact', 'key-invalid'], needs: ['api-key'] } as const;

/** Values that are valid keys when a common mistake was made. None of them is secret. */
const guessedKeys: readonly FlowScenario[] = [
  {
    ...base,
    id: 'api-key/placeholders',
    title: 'Rejects placeholder API keys from sample configurations',
    flow: () =>
      eachAsKey(['changeme', 'change-me', 'test', 'secret', 'password', 'admin', 'api-key', 'your-api-key', 'default']),
    why: 'A default that was copied from a sample is known to everyone who can read the sample.',
    fix: 'Have no default key in the code or the container image, and fail at start-up when none is set.',
  },
  {
    ...base,
    id: 'api-key/member-names',
    title: 'Rejects names of inherited object properties, such as "constructor", as the API key',
    flow: () => eachAsKey(['constructor', 'toString', '__proto__', 'hasOwnProperty', 'length', '__class__']),
    why: 'A key that is looked up as an object property matches inherited properties.',
    fix: 'Look keys up in a Map or dictionary that contains only keys, or use Object.hasOwn.',
  },
  {
    ...base,
    id: 'api-key/sql',
    title: 'Rejects SQL as the API key',
    flow: () => eachAsKey(["' OR '1'='1", "'", "' OR '1'='1' --", '" OR ""="', '\\']),
    why: 'A key that becomes part of a query can make every key valid, or break the query, which leads to a 500.',
    fix: 'Bind the key as a parameter of the query.',
  },
  {
    ...base,
    id: 'api-key/patterns',
    title: 'Rejects SQL LIKE patterns, globs and regular expressions as the API key',
    flow: (kit) => eachAsKey(['_'.repeat(kit.apiKey.length), '?'.repeat(kit.apiKey.length), '^', '%%']),
    why: 'A lookup by LIKE, glob or cache key pattern accepts a value that matches every key.',
    fix: 'Compare the strings literally; in a query, use "=" and a bound parameter.',
  },
  {
    ...base,
    id: 'api-key/lists-without-key',
    title: 'Rejects an empty list as the API key',
    flow: () => eachAsKey([',', ';', '|', '[]', '""']),
    why: '"Every entry is valid" is true for an empty list, and a header of only separators is an empty list.',
    fix: 'Compare the header as a whole, and do not split it.',
  },
  {
    ...base,
    id: 'api-key/same-characters',
    title:
      'Rejects the API key with its characters reordered, exchanged for others of the same sum, or their high bits set',
    flow: () => [
      [nearly('the key in reverse', (key) => [...key].toReversed().join(''))],
      [nearly('the key with its first and last character exchanged', ends)],
      [nearly('another key with the same hash code in Java', sameHashCode)],
      [nearly('the key, the highest bit of every character set', withHighBit, refusedOddHeader)],
    ],
    why: 'A comparison of sums, of sorted characters or of seven-bit text accepts many other keys.',
    fix: 'Compare digests of both sides, or the bytes in constant time.',
  },
];

const signatureAsKey: AddressChange = {
  label: 'the valid signature as API key',
  make: (head, kit, body) =>
    keyInstead('', () => headerValues(head.headers, kit.signatureHeader)[0] ?? '').make(head, kit, body),
};

const missingKeys: readonly Scenario[] = [
  {
    id: 'api-key/missing',
    title: 'Rejects a delivery without the API key',
    level: 'must',
    requirements: ['key-missing'],
    needs: ['api-key'],
    change: { address: withoutHeader('api-key', 'no API key header') },
    expect: refused,
    why: 'A receiver that checks the key only when it is present accepts every request without one.',
    fix: 'Treat an absent header like an invalid key: answer 401 before anything else.',
  },
  {
    id: 'api-key/empty',
    title: 'Rejects an empty API key',
    level: 'must',
    requirements: ['key-missing', 'key-invalid'],
    needs: ['api-key'],
    change: { address: keyInstead('an empty API key', () => '') },
    expect: refused,
    why: 'If the stored key is missing, an empty key equals it, and every request passes.',
    fix: 'Fail at start-up when no key is configured, and reject an empty header before comparing.',
  },
  {
    id: 'api-key/blank',
    title: 'Rejects an API key of spaces',
    level: 'must',
    requirements: ['key-missing', 'key-invalid'],
    needs: ['api-key'],
    change: { address: keyInstead('three spaces as API key', () => '   ') },
    expect: refused,
    why: 'A gateway sees that the header is present, and the HTTP server then trims it to an empty string.',
    fix: 'Compare the trimmed value with the stored key. Checking that the header is present is not enough.',
  },
];

const otherCredentials: readonly Scenario[] = [
  {
    id: 'api-key/signature-as-key',
    title: 'Rejects the valid signature as the API key',
    level: 'must',
    requirements: ['key-invalid', 'features-independent'],
    needs: ['hmac', 'api-key'],
    change: { address: signatureAsKey },
    expect: refused,
    why: 'If one credential is valid in both places, two checks become one.',
    fix: 'Compare the key header with the stored key only, not with any valid credential of the request.',
  },
];

/** The API key: missing, invalid, nearly valid, and in another place. Specification: API key header. */
export const apiKeySuite: Suite = {
  name: 'api-key',
  title: 'The API key is required and compared exactly',
  scenarios: [
    ...missingKeys,
    ...wrongKeys,
    ...guessedKeys,
    ...misplacedKeys,
    ...keyCrossings.map(scenarioOf),
    ...otherCredentials,
    statusOfRejections('api-key', 'key-invalid', 'api-key'),
  ],
};
