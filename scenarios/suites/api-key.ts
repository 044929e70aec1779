import { headerValues } from '../../contract/index.ts';
import { keyInstead } from '../changes/addressing.ts';
import { refused } from '../expectations.ts';
import { scenarioOf } from '../forgery.ts';
import type { ProbeScenario, Suite } from '../scenario.ts';
import { keyCrossings } from './api-key-bypass.ts';
import { misplacedKeys } from './api-key-place.ts';
import { keyValues } from './api-key-value.ts';
import { statusOfRejections } from './rejection-status.ts';

const signatureAsKey: ProbeScenario = {
  id: 'api-key/signature-as-key',
  title: 'Rejects the valid signature as the API key',
  level: 'must',
  requirements: ['key-invalid', 'features-independent'],
  needs: ['hmac', 'api-key'],
  change: {
    address: {
      label: 'the valid signature as API key',
      make: (head, kit, body) =>
        keyInstead('', () => headerValues(head.headers, kit.signatureHeader)[0] ?? '').make(head, kit, body),
    },
  },
  expect: refused,
  mistake: 'one-credential-enough',
  note: 'Compare the key header with the stored key only, not with any valid credential of the request.',
};

/** The API key: missing, invalid, nearly valid, and in another place. Specification: API key header. */
export const apiKeySuite: Suite = {
  name: 'api-key',
  title: 'The API key is required and compared exactly',
  scenarios: [
    ...keyValues,
    ...misplacedKeys,
    ...keyCrossings.map(scenarioOf),
    signatureAsKey,
    statusOfRejections('api-key', 'key-invalid', 'api-key'),
  ],
};
