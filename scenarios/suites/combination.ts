import { withoutHeader, wrongKey } from '../changes/addressing.ts';
import { signedWith, unsigned } from '../changes/signing.ts';
import { accepted, refused } from '../expectations.ts';
import type { Change, ProbeScenario, Suite } from '../scenario.ts';

const wrongSignature: Change = { sign: signedWith('signed with a different secret', (kit) => kit.nonce(40)) };
const noSignature: Change = { sign: unsigned };
const otherKey: Change = { address: wrongKey };
const noKey: Change = { address: withoutHeader('api-key', 'no API key header') };

/** One combination in which a credential is invalid. With two invalid credentials, two stages are changed. */
function cell(slug: string, title: string, change: Change, why: string, fix: string): ProbeScenario {
  return {
    id: `combination/${slug}`,
    title,
    level: 'must',
    requirements: ['features-independent'],
    needs: ['hmac', 'api-key'],
    change,
    expect: refused,
    why,
    fix,
  };
}

/** Signature and key, each valid, invalid or missing. Specification: Authentication. */
export const combinationSuite: Suite = {
  name: 'combination',
  title: 'Signature and API key are both required',
  scenarios: [
    {
      id: 'combination/both-right',
      title: 'Accepts a valid signature with a valid API key',
      level: 'must',
      requirements: ['features-independent', 'delivery-200'],
      needs: ['hmac', 'api-key'],
      change: {},
      expect: accepted,
      why: 'Two checks in a row can interfere, for example when the first one consumes the body.',
      fix: 'Check the key without reading the body, and keep the raw bytes for the signature.',
    },
    cell(
      'wrong-signature-right-key',
      'Rejects an invalid signature with a valid API key',
      wrongSignature,
      'The key is sent with each request. An attacker who has seen it could change amounts and addresses.',
      'Combine the two checks with "and": `if (keyOk || signatureOk)` is the usual cause.',
    ),
    cell(
      'missing-signature-right-key',
      'Rejects a missing signature with a valid API key',
      noSignature,
      'The key identifies the sender, but does not protect the body.',
      'Do not fall back to the key when the signature is absent: with HMAC on, the signature is required.',
    ),
    cell(
      'right-signature-wrong-key',
      'Rejects an invalid API key with a valid signature',
      otherKey,
      'A revoked key still works, so rotating it has no effect.',
      'Check the key on every delivery, even when the signature is valid.',
    ),
    cell(
      'right-signature-missing-key',
      'Rejects a missing API key with a valid signature',
      noKey,
      'Deliveries that bypass the gateway are accepted, and bypass its limits and its log.',
      'Check the key in the receiver itself: a check in the gateway covers only what passes through it.',
    ),
    cell(
      'wrong-signature-wrong-key',
      'Rejects an invalid signature with an invalid API key',
      { ...wrongSignature, ...otherKey },
      'A receiver that compares the two results accepts this, because both are false.',
      'Require each result to be true, and do not compare them with each other.',
    ),
    cell(
      'wrong-signature-missing-key',
      'Rejects an invalid signature with a missing API key',
      { ...wrongSignature, ...noKey },
      'In some receivers, a missing key selects the mode "signature only", which may just log errors.',
      'Take what is required from your configuration, never from the request.',
    ),
    cell(
      'missing-signature-wrong-key',
      'Rejects a missing signature with an invalid API key',
      { ...noSignature, ...otherKey },
      'A missing signature selects the mode "key only", in which any key may pass.',
      'Decide at start-up that both are required, and answer 401 unless both are valid.',
    ),
    cell(
      'missing-signature-missing-key',
      'Rejects a delivery without a signature and without an API key',
      { ...noSignature, ...noKey },
      'A receiver that checks only what is present has nothing to check.',
      'Reject by default: accept a delivery only after both checks have passed.',
    ),
  ],
};
