/** Mutants that read the API key from other places, and mutants that answer an invalid key incorrectly. */
import type { Request } from 'express';
import { checkApiKey } from '../receiver/check-api-key.ts';
import { answer, refuse, refuseUnauthorized, required } from '../receiver/stages/stage.ts';
import { acceptWithoutCheck, handleSomeKeys, KEY, type KeyedDelivery } from './api-key-check.ts';
import { family } from './family.ts';
import type { FaultParts, StageFault } from './fault.ts';
import { goOn, unverified } from './lenient-verifier.ts';

type Reject = (delivery: KeyedDelivery, parts: FaultParts) => void;

/** Checks the key correctly, but sends another rejection. */
function rejectKeys(reject: Reject): StageFault['replace'] {
  return handleSomeKeys((delivery, parts) => {
    const { given, config } = delivery;
    return checkApiKey({ header: given, keys: config.keys }).ok ? goOn : () => reject(delivery, parts);
  });
}

/** Checks the key correctly, but sends another rejection if the key is missing. */
function rejectMissing(reject: Reject): StageFault['replace'] {
  return rejectKeys((delivery, parts) => {
    if (delivery.given === undefined) reject(delivery, parts);
    else refuseUnauthorized(delivery.res, 'api-key-wrong');
  });
}

/** Accepts the key in another place, whatever the header contains. */
function alsoTakenFrom(
  places: (req: Request, body: Buffer, header: string) => readonly unknown[],
): StageFault['replace'] {
  return acceptWithoutCheck(({ req, res, config }) =>
    places(req, required(res, 'rawBody'), config.header).some(
      (value) => typeof value === 'string' && config.keys.includes(value),
    ),
  );
}

function authorization(req: Request, scheme: string): string | undefined {
  const { authorization: value = '' } = req.headers;
  return value.toLowerCase().startsWith(`${scheme} `) ? value.slice(scheme.length + 1) : undefined;
}

export const apiKeyHeaderFaults = family<StageFault>(
  { ...KEY, mistake: 'key-from-other-place' },
  {
    // Mutants that accept the valid key in a place that was not agreed, or do not find it in every valid spelling.
    'api-key-taken-from-query': [
      'Also takes the API key from the query of the URL',
      alsoTakenFrom(({ query }) => [query.api_key, query.key]),
    ],
    'api-key-taken-from-any-parameter': [
      'Looks up the API key by its name in headers, query and body alike',
      alsoTakenFrom(({ query }, _body, header) =>
        Object.entries(query).flatMap(([name, value]) => (name.toLowerCase() === header ? [value] : [])),
      ),
    ],
    'api-key-taken-from-token-parameter': [
      'Also takes the API key from a query parameter such as token or access_token',
      alsoTakenFrom(({ query }) => [query.token, query.access_token, query.apikey]),
    ],
    'api-key-taken-from-body': [
      'Also takes the API key from a field of the body',
      alsoTakenFrom((_req, body) => {
        const { apiKey, api_key: underscored } = unverified({ body });
        return [apiKey, underscored];
      }),
    ],
    'api-key-taken-from-bearer': [
      'Accepts a bearer token in Authorization instead of the API key header',
      alsoTakenFrom((req) => [authorization(req, 'bearer')]),
    ],
    'api-key-taken-from-basic': [
      'Also takes the API key from Authorization as user name or password',
      alsoTakenFrom((req) =>
        Buffer.from(authorization(req, 'basic') ?? '', 'base64')
          .toString('utf8')
          .split(':'),
      ),
    ],
    'api-key-taken-from-cookie': [
      'Also takes the API key from a cookie',
      alsoTakenFrom((req) =>
        (req.headers.cookie ?? '').split('; ').map((pair) => decodeURIComponent(pair.slice(pair.indexOf('=') + 1))),
      ),
    ],
    'api-key-taken-from-other-header': [
      'Also takes the API key from a header called Api-Key',
      alsoTakenFrom((req) => [req.headers['api-key']]),
    ],
    'api-key-taken-from-token-header': [
      'Also takes the API key from X-Auth-Token, X-Access-Token or the bare Authorization header',
      alsoTakenFrom(({ headers }) => [headers['x-auth-token'], headers['x-access-token'], headers.authorization]),
    ],
    'api-key-header-in-exact-case': [
      'Finds the API key header only if its name is spelled X-API-Key',
      handleSomeKeys(({ req, config: { header } }) => {
        const exact = header === 'x-api-key' ? 'X-API-Key' : header;
        return req.rawHeaders.includes(exact) ? null : (_req, res) => refuseUnauthorized(res, 'api-key-missing');
      }),
      'key-header-spelling',
    ],
    'api-key-repeated-throws': [
      'Answers 500 to a delivery with two API key headers',
      handleSomeKeys(({ given }) =>
        Array.isArray(given) ? (_req, _res, next) => next(new TypeError('trim is not a function')) : null,
      ),
      'key-as-list',
      { forbidden: false },
    ],
    // Mutants whose key check decides correctly but answers incorrectly.
    'api-key-refused-with-403': [
      'Answers 403 instead of 401 to an invalid or missing API key',
      rejectKeys(({ res }) => refuse(res, 403, 'forbidden')),
      'key-refused-by-framework',
    ],
    'api-key-missing-is-400': [
      'Answers 400 to a missing API key',
      rejectMissing(({ res }) => refuse(res, 400, 'header-required')),
      'key-refused-by-framework',
    ],
    'api-key-missing-is-500': [
      'Answers 500 to a missing API key',
      rejectMissing(({ next }) => next(new TypeError("Cannot read properties of undefined (reading 'length')"))),
      'key-check-throws',
    ],
    'api-key-missing-ends-the-process': [
      'Ends the process when a delivery has no API key',
      rejectMissing((_delivery, { crash }) => crash(100)),
      'key-check-throws',
    ],
    'api-key-lengths-end-the-process': [
      'Ends the process when a key has another length',
      rejectKeys(({ res, given, config }, { crash }) => {
        if (typeof given === 'string' && given !== '' && config.keys.every((key) => key.length !== given.length))
          crash(100);
        else refuseUnauthorized(res, 'api-key-wrong');
      }),
      'key-check-throws',
    ],
    'api-key-refused-by-redirect': [
      'Redirects to a login page on an invalid or missing API key',
      rejectKeys(({ res }) => answer(res, 302, {}, { Location: '/login' })),
      'key-refused-by-framework',
    ],
    'api-key-refused-by-hanging-up': [
      'Closes the connection without an answer on an invalid or missing API key',
      rejectKeys(({ req }) => void req.socket.destroy()),
      'key-refusal-hangs-up',
    ],
    'api-key-refused-with-200': [
      'Answers 200 with an error in the body to an invalid or missing API key',
      rejectKeys(({ res }) => answer(res, 200, { error: 'unauthorized' })),
      'refused-with-success',
      { note: 'For the sender, 200 means accepted: the discarded delivery is never repeated.' },
    ],
  },
);
