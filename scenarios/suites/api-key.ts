import { headerValues } from '../../contract/index.ts';
import { withoutHeader } from '../changes/addressing.ts';
import { having, plain } from '../changes/composing.ts';
import { keyInstead, wrongKey } from '../changes/keying.ts';
import { refused } from '../expectations.ts';
import { refusedLarge } from '../payload-expectations.ts';
import type { AddressChange, Scenario, Suite } from '../scenario.ts';
import { keyBypasses } from './api-key-bypass.ts';
import { guessedKeys } from './api-key-guesses.ts';
import { misplacedKeys } from './api-key-place.ts';
import { wrongKeys } from './api-key-value.ts';

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
