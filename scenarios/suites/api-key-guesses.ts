import { keyInstead } from '../changes/keying.ts';
import { refused } from '../expectations.ts';
import type { Delivery, FlowScenario } from '../scenario.ts';

/** One delivery for each text, which stands in place of the key. */
function eachAsKey(texts: readonly string[]): readonly (readonly Delivery[])[] {
  return texts.map((text) => [
    {
      label: `the key ${JSON.stringify(text)}`,
      change: { address: keyInstead(`the text ${JSON.stringify(text)}`, () => text) },
      expect: refused,
    },
  ]);
}

const base = { level: 'must', requirements: ['key-exact', 'key-invalid'], needs: ['api-key'] } as const;

/** Texts that are keys wherever the same mistake was made, because nothing secret is in them. */
export const guessedKeys: readonly FlowScenario[] = [
  {
    ...base,
    id: 'api-key/placeholders',
    title: 'Refuses the placeholders that stand for keys in sample configurations',
    flow: () =>
      eachAsKey(['changeme', 'change-me', 'test', 'secret', 'password', 'admin', 'api-key', 'your-api-key', 'default']),
    why: 'A default that was taken over from a sample is known to everybody who can read the sample.',
    fix: 'Have no default for the key, neither in the code nor in the container image: stop at start-up when none is set.',
  },
  {
    ...base,
    id: 'api-key/member-names',
    title: 'Refuses names that every object has, such as "constructor", as API key',
    flow: () => eachAsKey(['constructor', 'toString', '__proto__', 'hasOwnProperty', 'length', '__class__']),
    why: 'A key that is looked up as the property of an object is found when it is the name of an inherited one.',
    fix: 'Look keys up in a Map or a dictionary that holds nothing but keys, or ask Object.hasOwn.',
  },
  {
    ...base,
    id: 'api-key/sql',
    title: 'Refuses SQL as API key, and stays up',
    flow: () => eachAsKey(["' OR '1'='1", "'", "' OR '1'='1' --", '" OR ""="', '\\']),
    why: 'A key that becomes part of a query can say that every key is right, or break the query, which is a 500.',
    fix: 'Bind the key as a parameter of the query.',
  },
];
