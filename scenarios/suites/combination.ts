import { withoutHeader, wrongKey } from '../changes/addressing.ts';
import { signedWith, unsigned } from '../changes/signing.ts';
import { accepted, refused } from '../expectations.ts';
import type { Change, Suite } from '../scenario.ts';
import { family } from './family.ts';

const wrongSignature: Change = { sign: signedWith('signed with a different secret', (kit) => kit.nonce(40)) };
const noSignature: Change = { sign: unsigned };
const otherKey: Change = { address: wrongKey };
const noKey: Change = { address: withoutHeader('api-key', 'no API key header') };

const shared = { suite: 'combination', level: 'must', needs: ['hmac', 'api-key'] } as const;

/** Signature and API key, each valid, invalid or missing. Specification: Authentication. */
export const combinationSuite: Suite = {
  name: 'combination',
  title: 'Signature and API key are both required',
  scenarios: [
    ...family(
      { ...shared, verb: 'Accepts', requirements: ['features-independent', 'delivery-200'], expect: accepted },
      {
        'both-right': [
          'a valid signature with a valid API key',
          {},
          'body-consumed-twice',
          { note: 'Check the key without reading the body, and keep the raw bytes for the signature.' },
        ],
      },
    ),
    // For two invalid credentials, two stages are changed.
    ...family(
      {
        ...shared,
        verb: 'Rejects',
        requirements: ['features-independent'],
        expect: refused,
        mistake: 'one-credential-enough',
      },
      {
        'wrong-signature-right-key': ['an invalid signature with a valid API key', wrongSignature],
        'missing-signature-right-key': ['a missing signature with a valid API key', noSignature],
        'right-signature-wrong-key': ['an invalid API key with a valid signature', otherKey],
        'right-signature-missing-key': [
          'a missing API key with a valid signature',
          noKey,
          { note: 'Deliveries that bypass the gateway also bypass its limits and its log.' },
        ],
        'wrong-signature-wrong-key': [
          'an invalid signature with an invalid API key',
          { ...wrongSignature, ...otherKey },
          { note: 'A receiver that compares the two results accepts this, because both are false.' },
        ],
        'wrong-signature-missing-key': [
          'an invalid signature with a missing API key',
          { ...wrongSignature, ...noKey },
          'request-chooses-credentials',
        ],
        'missing-signature-wrong-key': [
          'a missing signature with an invalid API key',
          { ...noSignature, ...otherKey },
          'request-chooses-credentials',
        ],
        'missing-signature-missing-key': [
          'a delivery without a signature and without an API key',
          { ...noSignature, ...noKey },
          'request-chooses-credentials',
        ],
      },
    ),
  ],
};
