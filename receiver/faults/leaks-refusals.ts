import type { StageFault } from './fault.ts';
import { refusingKey, refusingSignature } from './leaking-answer.ts';

// That refusals cannot be told apart is good practice: the specification asks for 401, and says nothing about the body.
const base = { area: 'leaks', severity: 'low', forbidden: false } as const;

const ONE_REFUSAL: StageFault['fix'] = {
  rule: 'Let every failed check end in one function that answers 401 with one text, and write the reason to the log.',
  express:
    "Write one `unauthorized(res)` that sends `{ error: 'unauthorized' }`, and call it from every check of a credential.",
  rails: 'End each `before_action` of the credentials in the same `head :unauthorized`.',
  go: 'Return one sentinel error from all checks, and translate it in one place.',
};

/** Refusals that tell which credential was wrong, or in which way. */
export const tellingRefusals: readonly StageFault[] = [
  {
    ...base,
    name: 'names-the-failed-check',
    title: 'The answer says whether the API key or the signature was wrong.',
    seen: 'Two checks with a message each: "Invalid API key" and "Invalid signature". Nearly every tutorial has it.',
    why: 'Whoever has tried keys sees when one is right, and can work on the other credential from there.',
    fix: ONE_REFUSAL,
    needs: ['hmac', 'api-key'],
    stage: 'checkApiKey',
    replace: refusingKey(() => ({ body: { error: 'Invalid API key' } })),
  },
  {
    ...base,
    name: 'numbers-refused-signatures',
    title: 'Missing, malformed and wrong signatures are refused with an error code each.',
    seen: 'Verifiers that throw three different errors, and lists of error codes in a house style for APIs.',
    why: 'Each code leads a forger one step closer to the right form, and people who compare answers overlook a digit.',
    fix: ONE_REFUSAL,
    needs: ['hmac'],
    stage: 'verifySignature',
    replace: refusingSignature(({ reason }) => ({
      body: { error: 'unauthorized', code: 1001 + ['missing', 'malformed', 'mismatch'].indexOf(reason) },
    })),
  },
  {
    ...base,
    name: 'says-that-signature-is-malformed',
    title: 'A signature of a wrong form is refused with a message of its own.',
    seen: 'Input validation by a schema before the check, and guards for comparisons that need equal lengths.',
    why: 'The answer tells when length and alphabet are right, so the form of the signature is found by trying.',
    fix: ONE_REFUSAL,
    needs: ['hmac'],
    stage: 'verifySignature',
    replace: refusingSignature(({ reason }) =>
      reason === 'malformed' ? { body: { error: 'The signature has the wrong length' } } : null,
    ),
  },
  {
    ...base,
    name: 'numbers-refused-keys',
    title: 'A missing API key and an unknown one are refused with an error code each.',
    seen: 'Authentication middleware and API gateways, which tell "no key" from "unknown key".',
    why: 'It confirms the name of the header to a scanner: the answer changes as soon as it is there.',
    fix: ONE_REFUSAL,
    needs: ['api-key'],
    stage: 'checkApiKey',
    replace: refusingKey(({ presented }) => ({
      body: { error: 'unauthorized', code: presented === undefined ? 2001 : 2002 },
    })),
  },
  {
    ...base,
    name: 'says-that-key-begins-rightly',
    title: 'An API key that begins like the right one is refused with a message of its own.',
    seen: 'Keys with a public prefix by which the record is found, and a second message for the rest that does not fit.',
    why: 'Guessing becomes searching: the answer tells for each beginning whether it is worth going on.',
    fix: { ...ONE_REFUSAL, rule: 'Look keys up by a digest of the whole key, and answer every mismatch alike.' },
    severity: 'medium',
    needs: ['api-key'],
    stage: 'checkApiKey',
    replace: refusingKey(({ presented, keys }) =>
      presented !== undefined && keys[0]?.startsWith(presented.slice(0, 8)) === true && presented.length >= 8
        ? { body: { error: 'This API key has been revoked' } }
        : null,
    ),
  },
];
