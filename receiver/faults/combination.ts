/** Mutants with two credentials that do not require both. */
import { checkApiKey } from '../check-api-key.ts';
import { requestHeader } from '../stages/request-header.ts';
import { refuseUnauthorized, required, type Stage } from '../stages/stage.ts';
import { verifySignature } from '../verify-signature.ts';
import type { FaultParts, StageFault } from './fault.ts';

type Finding = 'right' | 'wrong' | 'missing';

/** What the two right checks say of a delivery. */
interface Credentials {
  readonly key: Finding;
  readonly signature: Finding;
}

function finding(check: { readonly ok: true } | { readonly ok: false; readonly reason: string }): Finding {
  if (check.ok) return 'right';
  return check.reason === 'missing' ? 'missing' : 'wrong';
}

/** Everything that stands behind the check of the signature. */
function behindTheChecks({ checkContentType, parse, validate, store, reply }: FaultParts['right']): Stage {
  const [first, ...others] = [checkContentType, parse, validate, store, reply];
  return (req, res, next) => {
    const run = (stage: Stage | undefined, rest: readonly Stage[]): void | Promise<void> =>
      stage?.(req, res, (error?: unknown) =>
        error === undefined ? void Promise.resolve(run(rest[0], rest.slice(1))).catch(next) : next(error),
      );
    return run(first, others);
  };
}

/** One check of both credentials in the place of the first: it decides alone, and the second is passed by. */
function decidingTogether(accepts: (credentials: Credentials) => boolean): StageFault['replace'] {
  return ({ right, config }) => {
    const { signing, apiKey } = config;
    if (signing === undefined || apiKey === undefined) return right.checkApiKey;
    const goOn = behindTheChecks(right);
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
  stage: 'checkApiKey',
  severity: 'critical',
  forbidden: true,
  needs: ['hmac', 'api-key'],
} as const;

const AND =
  'With both configured, both are required: a delivery is accepted after the two checks have passed, and in no other way.';

const IN_TURN = 'Put the two checks into two middlewares on the same route, each of which answers 401 by itself.';

export const combinationFaults: readonly StageFault[] = [
  {
    ...COMBINATION,
    name: 'either-credential',
    title: 'A right key or a right signature is enough.',
    seen: 'The condition `if (keyOk || signatureOk)`, and lists of authenticators of which one has to succeed.',
    why: 'The key travels with each request. Whoever has seen it can forge any body.',
    fix: {
      rule: AND,
      express: IN_TURN,
      spring:
        'Two filters that each set the authentication are joined by "or"; require both in the authorisation rule.',
      django: 'Authentication classes of REST framework are alternatives: check one of the two in a permission class.',
    },
    replace: decidingTogether(({ key, signature }) => key === 'right' || signature === 'right'),
  },
  {
    ...COMBINATION,
    name: 'signature-only-without-key',
    title: 'The signature is checked only when there is no API key.',
    seen: 'Receivers that choose the kind of authentication by which header they find first, the key in this case.',
    why: 'Whoever knows the key can forge any body, and a signature without the key is enough, too.',
    fix: { rule: AND, express: IN_TURN },
    replace: decidingTogether(({ key, signature }) => (key === 'missing' ? signature : key) === 'right'),
  },
  {
    ...COMBINATION,
    name: 'key-only-without-signature',
    title: 'The API key is checked only when there is no signature.',
    seen: 'Receivers that choose the kind of authentication by which header they find first, the signature in this case.',
    why: 'A revoked key goes on working, and leaving the signature out makes the key alone suffice.',
    fix: { rule: AND, express: IN_TURN },
    replace: decidingTogether(({ key, signature }) => (signature === 'missing' ? key : signature) === 'right'),
  },
  {
    ...COMBINATION,
    name: 'key-skipped-for-signed',
    equivalentTo: {
      name: 'api-key-not-checked',
      reason: 'It looks at the key only where the signature is wrong, and such a delivery is refused in any case.',
    },
    title: 'The API key is not asked for when the signature is right.',
    seen: 'A check of the key that was put into the branch for unsigned or test requests.',
    why: 'Rotating or revoking the key has no effect, and limits by key do not hold.',
    fix: { rule: AND, express: IN_TURN },
    severity: 'high',
    replace: decidingTogether(({ signature }) => signature === 'right'),
  },
  {
    ...COMBINATION,
    name: 'results-compared',
    title: 'The results of the two checks are compared with each other, so that two wrongs make a right.',
    seen: 'Conditions such as `if (keyOk !== signatureOk) refuse()`, or an exclusive or.',
    why: 'A delivery with nothing right at all is accepted.',
    fix: { rule: AND, express: 'Write `if (!keyOk || !signatureOk) return res.sendStatus(401)`.' },
    replace: decidingTogether(({ key, signature }) => (key === 'right') === (signature === 'right')),
  },
  {
    ...COMBINATION,
    name: 'nothing-presented-accepted',
    title: 'A delivery with neither key nor signature is accepted as one for an open endpoint.',
    seen: 'Receivers that check whatever is there, and take the absence of everything for "no authentication configured".',
    why: 'Leaving out one credential is refused, leaving out both is not: most tests never try that.',
    fix: { rule: 'Take what is required from your configuration, and never from the request.', express: IN_TURN },
    replace: decidingTogether(
      ({ key, signature }) =>
        (key === 'right' && signature === 'right') || (key === 'missing' && signature === 'missing'),
    ),
  },
  {
    ...COMBINATION,
    name: 'unsigned-with-any-key',
    title: 'Without a signature, any API key is accepted; with one, both are checked.',
    seen: 'A mode for senders without HMAC, in which the gateway is expected to have checked the key.',
    why: 'Leaving the signature out turns all checks off.',
    fix: { rule: 'Take what is required from your configuration, and never from the request.', express: IN_TURN },
    replace: decidingTogether(
      ({ key, signature }) =>
        (key === 'right' && signature === 'right') || (key !== 'missing' && signature === 'missing'),
    ),
  },
  {
    ...COMBINATION,
    name: 'keyless-with-any-signature',
    title: 'Without an API key, any signature is accepted; with one, both are checked.',
    seen: 'A trial mode "signature only" in which errors are logged, chosen by the absence of the key.',
    why: 'Leaving the key out turns all checks off.',
    fix: { rule: 'Take what is required from your configuration, and never from the request.', express: IN_TURN },
    replace: decidingTogether(
      ({ key, signature }) =>
        (key === 'right' && signature === 'right') || (key === 'missing' && signature !== 'missing'),
    ),
  },
];
