/** One delivery for each text, which stands in place of the key. */

import { headerValues } from '../../contract/index.ts';
import { withoutHeader } from '../changes/addressing.ts';
import { having, plain } from '../changes/composing.ts';
import { keyInstead, wrongKey } from '../changes/keying.ts';
import { refused, refusedLarge } from '../expectations.ts';
import type { AddressChange, Delivery, FlowScenario, Scenario, Suite } from '../scenario.ts';
import { keyBypasses } from './api-key-bypass.ts';
import { misplacedKeys } from './api-key-place.ts';
import { wrongKeys } from './api-key-value.ts';

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
const guessedKeys: readonly FlowScenario[] = [
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

const signatureAsKey: AddressChange = {
  label: 'the right signature as API key',
  make: (head, kit, body) =>
    keyInstead('', () => headerValues(head.headers, kit.signatureHeader)[0] ?? '').make(head, kit, body),
};

const missingKeys: readonly Scenario[] = [
  {
    id: 'api-key/missing',
    title: 'Refuses a delivery without the API key',
    level: 'must',
    requirements: ['key-missing'],
    needs: ['api-key'],
    change: { address: withoutHeader('api-key', 'no API key header') },
    expect: refused,
    why: 'A receiver that checks the key only when it is there lets everyone in who leaves it out.',
    fix: 'Treat an absent header like a wrong one: answer 401 before anything else is done with the delivery.',
  },
  {
    id: 'api-key/empty',
    title: 'Refuses an empty API key',
    level: 'must',
    requirements: ['key-missing', 'key-invalid'],
    needs: ['api-key'],
    change: { address: keyInstead('an empty API key', () => '') },
    expect: refused,
    why: 'If the stored key is missing, empty equals empty, and every request passes.',
    fix: 'Refuse to start without a key, and refuse an empty header before comparing.',
  },
  {
    id: 'api-key/blank',
    title: 'Refuses an API key of blanks',
    level: 'must',
    requirements: ['key-missing', 'key-invalid'],
    needs: ['api-key'],
    change: { address: keyInstead('three blanks as API key', () => '   ') },
    expect: refused,
    why: 'Blanks are trimmed on the way. What a gateway counts as a present header is an empty one for the receiver.',
    fix: 'Compare the trimmed value with the stored key; do not stop at "the header is present".',
  },
];

const otherCredentials: readonly Scenario[] = [
  {
    id: 'api-key/signature-as-key',
    title: 'Refuses the right signature in place of the API key',
    level: 'must',
    requirements: ['key-invalid', 'features-independent'],
    needs: ['hmac', 'api-key'],
    change: { address: signatureAsKey },
    expect: refused,
    why: 'One credential that fits in both places makes two checks into one.',
    fix: 'Compare the key header with the stored key alone, not with any credential of the request that was found right.',
  },
  {
    id: 'api-key/wrong-with-large-body',
    title: 'Refuses a wrong API key with a body of 1 MB',
    level: 'must',
    requirements: ['key-invalid', 'delivery-size'],
    needs: ['api-key'],
    change: {
      compose: having(plain, 'data.padding', () => 'x'.repeat(1_000_000)),
      address: wrongKey,
    },
    expect: refusedLarge,
    why: 'A refusal before the body is read can break the connection, and the sender sees a reset in place of the 401.',
    fix: 'Answer and then let the server drain or close the connection in order; do not destroy the socket.',
  },
];

/** The API key: missing, wrong, nearly right, and in the wrong place. Specification: API key header. */
export const apiKeySuite: Suite = {
  name: 'api-key',
  title: 'The API key is required, whole and exact',
  scenarios: [...missingKeys, ...wrongKeys, ...guessedKeys, ...misplacedKeys, ...keyBypasses, ...otherCredentials],
};
