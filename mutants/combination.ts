/** Mutants for which both credentials are configured, but which do not require both. */
import { checkApiKey } from '../receiver/check-api-key.ts';
import { refuseUnauthorized, requestHeader, required, type Stage } from '../receiver/stages/stage.ts';
import { verifySignature } from '../receiver/verify-signature.ts';
import { family } from './family.ts';
import type { FaultParts, StageFault } from './fault.ts';

type CredentialState = 'valid' | 'invalid' | 'missing';

/** The results of the two correct checks. */
interface Credentials {
  readonly key: CredentialState;
  readonly signature: CredentialState;
}

function finding(check: { readonly ok: true } | { readonly ok: false; readonly reason: string }): CredentialState {
  if (check.ok) return 'valid';
  return check.reason === 'missing' ? 'missing' : 'invalid';
}

/** Runs all stages after the check of the signature. */
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

/** Replaces the first check with a decision about both credentials. The second check is skipped. */
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

const areValid = ({ key, signature }: Credentials) => key === 'valid' && signature === 'valid';

const COMBINATION = { area: 'combination', stage: 'requireApiKey', needs: ['hmac', 'api-key'] } as const;

export const combinationFaults = family<StageFault>(
  { ...COMBINATION, mistake: 'one-credential-enough' },
  {
    'either-credential': [
      'Accepts deliveries with only one valid credential, the key or the signature',
      decideTogether(({ key, signature }) => key === 'valid' || signature === 'valid'),
    ],
    'signature-only-without-key': [
      'Checks the signature only when there is no API key',
      decideTogether(({ key, signature }) => (key === 'missing' ? signature : key) === 'valid'),
      { note: 'The key is the first header that the receiver finds, and selects the method.' },
    ],
    'key-only-without-signature': [
      'Checks the API key only when there is no signature',
      decideTogether(({ key, signature }) => (signature === 'missing' ? key : signature) === 'valid'),
      { note: 'The signature is the first header that the receiver finds, and selects the method.' },
    ],
    'key-skipped-for-signed': [
      'Does not require the API key when the signature is valid',
      decideTogether(({ signature }) => signature === 'valid'),
      {
        note: 'Rotating or revoking the key has no effect, and rate limits per key do not work.',
        equivalentTo: {
          name: 'api-key-not-checked',
          reason: 'It checks the key only if the signature is invalid, and such a delivery is rejected in any case.',
        },
      },
    ],
    'results-compared': [
      'Compares the results of the two checks with each other, so two failed checks are accepted',
      decideTogether(({ key, signature }) => (key === 'valid') === (signature === 'valid')),
      { note: 'A delivery without any valid credential is accepted.' },
    ],
    'nothing-presented-accepted': [
      'Accepts a delivery with neither key nor signature, as if the endpoint were open',
      decideTogether((found) => areValid(found) || (found.key === 'missing' && found.signature === 'missing')),
      'request-chooses-credentials',
    ],
    'unsigned-with-any-key': [
      'Accepts any API key when there is no signature',
      decideTogether((found) => areValid(found) || (found.key !== 'missing' && found.signature === 'missing')),
      'request-chooses-credentials',
    ],
    'keyless-with-any-signature': [
      'Accepts any signature when there is no API key',
      decideTogether((found) => areValid(found) || (found.key === 'missing' && found.signature !== 'missing')),
      'request-chooses-credentials',
    ],
  },
);
