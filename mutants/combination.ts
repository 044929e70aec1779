/** Mutants with two credentials that do not require both. */
import { checkApiKey } from '../receiver/check-api-key.ts';
import { refuseUnauthorized, requestHeader, required, type Stage } from '../receiver/stages/stage.ts';
import { verifySignature } from '../receiver/verify-signature.ts';
import type { FaultParts, StageFault } from './fault.ts';

type Finding = 'valid' | 'invalid' | 'missing';

/** The results of the two correct checks. */
interface Credentials {
  readonly key: Finding;
  readonly signature: Finding;
}

function finding(check: { readonly ok: true } | { readonly ok: false; readonly reason: string }): Finding {
  if (check.ok) return 'valid';
  return check.reason === 'missing' ? 'missing' : 'invalid';
}

/** All stages after the check of the signature. */
function stagesAfterChecks({ checkContentType, parse, validate, store, reply }: FaultParts['correct']): Stage {
  const [first, ...others] = [checkContentType, parse, validate, store, reply];
  return (req, res, next) => {
    const run = (stage: Stage | undefined, rest: readonly Stage[]): void | Promise<void> =>
      stage?.(req, res, (error?: unknown) =>
        error === undefined ? void Promise.resolve(run(rest[0], rest.slice(1))).catch(next) : next(error),
      );
    return run(first, others);
  };
}

/** Replaces the first check by one of both credentials, which skips the second. */
function decideTogether(accepts: (credentials: Credentials) => boolean): StageFault['replace'] {
  return ({ correct, config }) => {
    const { signing, apiKey } = config;
    if (signing === undefined || apiKey === undefined) return correct.requireApiKey;
    const goOn = stagesAfterChecks(correct);
    return (req, res, next) => {
      const key = checkApiKey({ header: requestHeader(req, apiKey.header), keys: apiKey.keys });
      const header = requestHeader(req, signing.header);
      const signature = verifySignature({ rawBody: required(res, 'rawBody'), header, secrets: signing.secrets });
      if (accepts({ key: finding(key), signature: finding(signature) })) return goOn(req, res, next);
      refuseUnauthorized(res, 'credentials-wrong');
    };
  };
}

const COMBINATION = {
  area: 'combination',
  stage: 'requireApiKey',
  severity: 'critical',
  forbidden: true,
  needs: ['hmac', 'api-key'],
} as const;

const AND = 'If both are configured, require both: accept a delivery only after both checks have passed.';

const IN_TURN = 'Use two middlewares on the same route, each of which answers 401 itself.';

export const combinationFaults: readonly StageFault[] = [
  {
    ...COMBINATION,
    name: 'either-credential',
    title: 'Accepts deliveries with only one valid credential, the key or the signature',
    seen: 'The condition `if (keyOk || signatureOk)`, and lists of authenticators of which one must succeed.',
    why: 'Every request carries the key. Anyone who has seen it can forge any body.',
    fix: {
      rule: AND,
      express: IN_TURN,
      spring:
        'Two filters that each set the authentication are combined with "or"; require both in the authorisation rule.',
      django:
        'REST framework treats authentication classes as alternatives: move one of the checks to a permission class.',
    },
    replace: decideTogether(({ key, signature }) => key === 'valid' || signature === 'valid'),
  },
  {
    ...COMBINATION,
    name: 'signature-only-without-key',
    title: 'Checks the signature only when there is no API key',
    seen: 'Receivers that select the authentication method by the first header they find, here the key.',
    why: 'Anyone who knows the key can forge any body, and a signature without the key is also accepted.',
    fix: { rule: AND, express: IN_TURN },
    replace: decideTogether(({ key, signature }) => (key === 'missing' ? signature : key) === 'valid'),
  },
  {
    ...COMBINATION,
    name: 'key-only-without-signature',
    title: 'Checks the API key only when there is no signature',
    seen: 'Receivers that select the authentication method by the first header they find, here the signature.',
    why: 'A revoked key still works, and without a signature the key alone is enough.',
    fix: { rule: AND, express: IN_TURN },
    replace: decideTogether(({ key, signature }) => (signature === 'missing' ? key : signature) === 'valid'),
  },
  {
    ...COMBINATION,
    name: 'key-skipped-for-signed',
    equivalentTo: {
      name: 'api-key-not-checked',
      reason: 'It checks the key only if the signature is invalid, and such a delivery is rejected in any case.',
    },
    title: 'Does not require the API key when the signature is valid',
    seen: 'A key check inside the branch for unsigned or test requests.',
    why: 'Rotating or revoking the key has no effect, and rate limits per key do not work.',
    fix: { rule: AND, express: IN_TURN },
    severity: 'high',
    replace: decideTogether(({ signature }) => signature === 'valid'),
  },
  {
    ...COMBINATION,
    name: 'results-compared',
    title: 'Compares the results of the two checks with each other, so two failed checks are accepted',
    seen: 'Conditions such as `if (keyOk !== signatureOk) refuse()`, or an exclusive or.',
    why: 'A delivery without any valid credential is accepted.',
    fix: { rule: AND, express: 'Write `if (!keyOk || !signatureOk) return res.sendStatus(401)`.' },
    replace: decideTogether(({ key, signature }) => (key === 'valid') === (signature === 'valid')),
  },
  {
    ...COMBINATION,
    name: 'nothing-presented-accepted',
    title: 'Accepts a delivery with neither key nor signature, as if the endpoint were open',
    seen: 'Receivers that check whatever is present and take the absence of both for "no authentication configured".',
    why: 'Leaving out one credential is rejected and leaving out both is accepted: most tests never try that.',
    fix: { rule: 'Read from your configuration what is required, never from the request.', express: IN_TURN },
    replace: decideTogether(
      ({ key, signature }) =>
        (key === 'valid' && signature === 'valid') || (key === 'missing' && signature === 'missing'),
    ),
  },
  {
    ...COMBINATION,
    name: 'unsigned-with-any-key',
    title: 'Accepts any API key when there is no signature',
    seen: 'A mode for senders without HMAC, in which a gateway is expected to have checked the key.',
    why: 'Leaving out the signature disables all checks.',
    fix: { rule: 'Read from your configuration what is required, never from the request.', express: IN_TURN },
    replace: decideTogether(
      ({ key, signature }) =>
        (key === 'valid' && signature === 'valid') || (key !== 'missing' && signature === 'missing'),
    ),
  },
  {
    ...COMBINATION,
    name: 'keyless-with-any-signature',
    title: 'Accepts any signature when there is no API key',
    seen: 'A trial mode "signature only", selected by the absence of the key, that only logs errors.',
    why: 'Leaving out the key disables all checks.',
    fix: { rule: 'Read from your configuration what is required, never from the request.', express: IN_TURN },
    replace: decideTogether(
      ({ key, signature }) =>
        (key === 'valid' && signature === 'valid') || (key === 'missing' && signature !== 'missing'),
    ),
  },
];
