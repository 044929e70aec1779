import { withoutHeader } from '../changes/addressing.ts';
import { wrongKey } from '../changes/keying.ts';
import { signedWith, unsigned } from '../changes/signing.ts';
import { accepted, refused } from '../expectations.ts';
import type { Change, ProbeScenario, Suite } from '../scenario.ts';

const wrongSignature: Change = { sign: signedWith('signed with a random secret', (kit) => kit.nonce(40)) };
const noSignature: Change = { sign: unsigned };
const otherKey: Change = { address: wrongKey };
const noKey: Change = { address: withoutHeader('api-key', 'no API key header') };

/** One cell of the table of signature and key, in which something is wrong. Where both are, two stages are changed. */
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

/** Signature and key, each right, wrong or missing: only right and right is accepted. Specification: Authentication. */
export const combinationSuite: Suite = {
  name: 'combination',
  title: 'Signature and API key are both required',
  scenarios: [
    {
      id: 'combination/both-right',
      title: 'Accepts a right signature together with a right API key',
      level: 'must',
      requirements: ['features-independent', 'delivery-200'],
      needs: ['hmac', 'api-key'],
      change: {},
      expect: accepted,
      why: "Two checks in a row may get in each other's way, for example when the first one consumes the body.",
      fix: 'Check the key without reading the body, and keep the raw bytes for the signature.',
    },
    cell(
      'wrong-signature-right-key',
      'Refuses a wrong signature although the API key is right',
      wrongSignature,
      'The key travels with each request. Whoever has seen it could then change amounts and addresses at will.',
      'Join the two checks with "and": `if (keyOk || signatureOk)` is the usual cause.',
    ),
    cell(
      'missing-signature-right-key',
      'Refuses a missing signature although the API key is right',
      noSignature,
      'The key alone says who sends, and nothing about whether the body is what was sent.',
      'Do not fall back to the key when the signature is absent: with HMAC on, it is required on its own.',
    ),
    cell(
      'right-signature-wrong-key',
      'Refuses a wrong API key although the signature is right',
      otherKey,
      'A revoked key goes on working, so that rotating it has no effect.',
      'Check the key on every delivery, also when the signature was verified before.',
    ),
    cell(
      'right-signature-missing-key',
      'Refuses a missing API key although the signature is right',
      noKey,
      'Deliveries that bypass the gateway are accepted, and with them its limits and its log are bypassed.',
      'Make the receiver itself ask for the key; a check in the gateway binds only what passes through it.',
    ),
    cell(
      'wrong-signature-wrong-key',
      'Refuses a wrong signature together with a wrong API key',
      { ...wrongSignature, ...otherKey },
      'Two wrongs that cancel out are the mark of a comparison of two results: both false counts as equal.',
      'Require each result to be true; do not compare them with each other.',
    ),
    cell(
      'wrong-signature-missing-key',
      'Refuses a wrong signature together with a missing API key',
      { ...wrongSignature, ...noKey },
      'A missing key selects the mode "signature only" in some receivers, and in that mode errors may be logged only.',
      'Choose what is required from your configuration, never from what the request brings along.',
    ),
    cell(
      'missing-signature-wrong-key',
      'Refuses a missing signature together with a wrong API key',
      { ...noSignature, ...otherKey },
      'A missing signature selects the mode "key only", and a key that is merely present may pass there.',
      'Decide at start-up that both are required, and answer 401 as soon as one of them is not right.',
    ),
    cell(
      'missing-signature-missing-key',
      'Refuses a delivery without signature and without API key',
      { ...noSignature, ...noKey },
      'With nothing to check, a receiver that only checks what is there has no reason to refuse.',
      'Make refusal the default: a delivery is accepted after both checks have passed, and in no other way.',
    ),
  ],
};
