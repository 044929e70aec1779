/** Mutants that take the API key from other places, and those that reject a wrong key incorrectly. */
import type { Request } from 'express';
import { answer, refuse, refuseUnauthorized, requestHeader, required } from '../receiver/stages/stage.ts';
import { acceptWithoutCheck, rejectKeys } from './api-key-check.ts';
import type { StageFault } from './fault.ts';

const API_KEY = { area: 'api-key', severity: 'medium', forbidden: true, stage: 'requireApiKey' } as const;

const HEADER_ONLY = {
  rule: 'Read the key only from the configured header.',
  express: 'Use only `req.get("X-API-Key")`; delete every fallback after `??` or `||`.',
} as const;

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

export const apiKeyHeaderFaults: readonly StageFault[] = [
  // The valid key in a place that was not agreed, or looked up too narrowly.
  {
    ...API_KEY,
    name: 'api-key-taken-from-query',
    title: 'Also takes the API key from the query of the URL',
    seen:
      'Fallbacks such as `req.query.api_key ?? header`, made for tests in a browser; gateways that offer both ' +
      'places by default.',
    why: 'URLs, and the key with them, are written to access logs, caches and monitoring on the whole path.',
    fix: HEADER_ONLY,
    replace: alsoTakenFrom(({ query }) => [query.api_key, query.key]),
  },
  {
    ...API_KEY,
    name: 'api-key-taken-from-any-parameter',
    title: 'Looks up the API key by its name in headers, query and body alike',
    seen: 'Frameworks with one function for all kinds of parameters, used with the name of the header.',
    why: 'The key is also accepted in URLs, which are logged everywhere.',
    fix: {
      ...HEADER_ONLY,
      rails: 'Use `request.headers["X-API-Key"]`, not `params`.',
      php: 'Use `$_SERVER["HTTP_X_API_KEY"]`, not `$_REQUEST`.',
      laravel: 'Use `$request->header("X-API-Key")`, not `$request->input()` or `$request->get()`.',
      spring: 'Use `@RequestHeader`, not `getParameter`.',
    },
    replace: alsoTakenFrom(({ query }, _body, header) =>
      Object.entries(query).flatMap(([name, value]) => (name.toLowerCase() === header ? [value] : [])),
    ),
  },
  {
    ...API_KEY,
    name: 'api-key-taken-from-token-parameter',
    title: 'Also takes the API key from a query parameter such as token or access_token',
    seen: 'Libraries for bearer tokens, which according to an old standard also read the query.',
    why: 'A key in a URL is written to every log on the way. Such libraries read these names by default.',
    fix: HEADER_ONLY,
    replace: alsoTakenFrom(({ query }) => [query.token, query.access_token, query.apikey]),
  },
  {
    ...API_KEY,
    name: 'api-key-taken-from-body',
    title: 'Also takes the API key from a field of the body',
    seen: 'Endpoints that used to serve a form or a script with the key as one of its fields.',
    why: 'Bodies are stored and shown to people, and the key with them.',
    fix: HEADER_ONLY,
    replace: alsoTakenFrom((_req, body) => {
      try {
        const value = JSON.parse(body.toString('utf8')) as Record<string, unknown> | null;
        return [value?.apiKey, value?.api_key];
      } catch {
        return [];
      }
    }),
  },
  {
    ...API_KEY,
    name: 'api-key-taken-from-bearer',
    title: 'Accepts a bearer token in Authorization instead of the API key header',
    seen: 'An application-wide token check before the route, and gateways that map one header to the other.',
    why: 'User tokens arrive in this header: one kind of credential passes for another.',
    fix: HEADER_ONLY,
    replace: alsoTakenFrom((req) => [authorization(req, 'bearer')]),
  },
  {
    ...API_KEY,
    name: 'api-key-taken-from-basic',
    title: 'Also takes the API key from Authorization as user name or password',
    seen: 'Receivers that support Basic authentication next to the key, for tools that cannot send other headers.',
    why: 'Clients cache and resend Basic credentials automatically, and many tools log the URL that contains them.',
    fix: HEADER_ONLY,
    replace: alsoTakenFrom((req) =>
      Buffer.from(authorization(req, 'basic') ?? '', 'base64')
        .toString('utf8')
        .split(':'),
    ),
  },
  {
    ...API_KEY,
    name: 'api-key-taken-from-cookie',
    title: 'Also takes the API key from a cookie',
    seen:
      'Session middleware that merges cookies into the credentials of a request, and admin pages that share the ' +
      'route.',
    why: 'Browsers attach cookies automatically: another website can then deliver on behalf of a user.',
    fix: HEADER_ONLY,
    replace: alsoTakenFrom((req) =>
      (req.headers.cookie ?? '').split('; ').map((pair) => decodeURIComponent(pair.slice(pair.indexOf('=') + 1))),
    ),
  },
  {
    ...API_KEY,
    name: 'api-key-taken-from-other-header',
    title: 'Also takes the API key from a header called Api-Key',
    seen: 'Code that tries several common names because the agreed one was not documented.',
    why: 'Gateway rules and log masking cover only the agreed name.',
    fix: HEADER_ONLY,
    replace: alsoTakenFrom((req) => [req.headers['api-key']]),
  },
  {
    ...API_KEY,
    name: 'api-key-taken-from-token-header',
    title: 'Also takes the API key from X-Auth-Token, X-Access-Token or the bare Authorization header',
    seen: 'Authentication helpers that are shared with other services and support all their names.',
    why: 'Each additional name bypasses the rules for the agreed one.',
    fix: HEADER_ONLY,
    replace: alsoTakenFrom(({ headers }) => [
      headers['x-auth-token'],
      headers['x-access-token'],
      headers.authorization,
    ]),
  },
  {
    ...API_KEY,
    name: 'api-key-header-in-exact-case',
    severity: 'high',
    title: 'Finds the API key header only if its name is spelled X-API-Key',
    seen:
      'Function platforms and gateways that pass headers as a plain map with their original names, and rules that ' +
      'compare names exactly.',
    why: 'An HTTP/2 proxy writes every name in lower case: as soon as one is in front, every delivery is answered 401.',
    fix: {
      rule: 'Look up headers without regard to letter case, as HTTP requires.',
      express:
        'Use `req.get("X-API-Key")`, which ignores case. In a function, lower-case all names of `event.headers` first.',
      go: 'Use `r.Header.Get`; a direct index into the map needs the canonical spelling `X-Api-Key`.',
    },
    replace:
      ({ correct, config }) =>
      (req, res, next) => {
        const exact = config.apiKey?.header === 'x-api-key' ? 'X-API-Key' : config.apiKey?.header;
        if (exact === undefined || req.rawHeaders.includes(exact)) return correct.requireApiKey(req, res, next);
        refuseUnauthorized(res, 'api-key-missing');
      },
  },
  {
    ...API_KEY,
    name: 'api-key-repeated-throws',
    severity: 'low',
    forbidden: false,
    title: 'Answers 500 to a delivery with two API key headers',
    seen: 'Code that expects one string but gets a list: multi-value maps of gateways and of servlet containers.',
    why: 'The sender takes 500 for an outage and retries for hours, and anyone can fill the log with errors.',
    fix: {
      rule: 'Check that the value is a single string before the comparison, and answer 401 otherwise.',
      express:
        'Node joins repeated headers with a comma; with `req.headersDistinct` or a gateway event, check `length === ' +
        '1`.',
      spring: 'Use `HttpHeaders.getOrEmpty(name)`, and reject a list of any other length than one.',
    },
    replace:
      ({ correct, config }) =>
      (req, res, next) => {
        const given = config.apiKey && requestHeader(req, config.apiKey.header);
        if (Array.isArray(given)) return next(new TypeError('trim is not a function'));
        correct.requireApiKey(req, res, next);
      },
  },
  // Key checks that decide correctly but answer incorrectly.
  {
    ...API_KEY,
    name: 'api-key-refused-with-403',
    title: 'Answers 403 instead of 401 to a wrong or missing API key',
    seen: 'API gateways, whose key check answers 403, and frameworks that answer 403 to anonymous users.',
    why:
      'The sender reports 401 as "wrong credentials" to the operator; 403 is just another failure, which it ' +
      'retries.',
    fix: {
      rule: 'Answer 401 to wrong and to missing credentials.',
      express: 'Use `res.sendStatus(401)`. In a gateway, map the response for a missing key from 403 to 401.',
      django:
        'In REST framework, give the authentication class an `authenticate_header`: without it 401 turns into 403.',
      spring: 'Configure an `AuthenticationEntryPoint`: the default one answers 403.',
    },
    replace: rejectKeys(({ res }) => refuse(res, 403, 'forbidden')),
  },
  {
    ...API_KEY,
    name: 'api-key-missing-is-400',
    title: 'Answers 400 to a missing API key',
    seen:
      'Frameworks in which the header is declared as a required parameter, so validation answers before ' +
      'authentication.',
    why: 'The sender takes a missing key for a malformed delivery and drops it, or searches for a fault in the body.',
    fix: {
      rule: 'Declare the header as optional, and let your own check answer 401.',
      express: 'Answer 401 in the branch for a missing header too.',
      spring: 'Write `@RequestHeader(required = false)`: a required one answers 400.',
      dotnet: 'Do not mark the header parameter as required: validation answers 400 before your code runs.',
    },
    replace: rejectKeys(({ res, given }) => {
      if (given === undefined) refuse(res, 400, 'header-required');
      else refuseUnauthorized(res, 'api-key-wrong');
    }),
  },
  {
    ...API_KEY,
    name: 'api-key-missing-is-500',
    title: 'Answers 500 to a missing API key',
    seen: 'Code that reads the length of the header, trims it or decodes it before it checks for presence.',
    why:
      'An unauthenticated request causes an exception: the log fills up, and monitoring reports an outage that does ' +
      'not exist.',
    fix: {
      rule: 'Handle a missing header first, with 401.',
      express: 'Write `const given = req.get("X-API-Key") ?? ""` first.',
      python: 'Use `headers.get("X-API-Key", "")`; without the default it is None, and indexing raises.',
      php: 'Use `$_SERVER["HTTP_X_API_KEY"] ?? ""`.',
      django: 'Use `request.headers.get("X-API-Key", "")`; indexing throws.',
      flask: 'Use `request.headers.get("X-API-Key", "")`; indexing answers 400.',
    },
    replace: rejectKeys(({ res, given, next }) => {
      if (given === undefined) next(new TypeError("Cannot read properties of undefined (reading 'length')"));
      else refuseUnauthorized(res, 'api-key-wrong');
    }),
  },
  {
    ...API_KEY,
    name: 'api-key-missing-ends-the-process',
    severity: 'critical',
    title: 'Ends the process when a delivery has no API key',
    seen:
      'Exceptions in a callback or an unawaited async function, which end a Node process; a supervisor restarts it ' +
      'a moment later.',
    why: 'Anyone can stop the receiver with one request, without any credential.',
    fix: {
      rule:
        'Handle a missing header first, with 401, and make sure that every exception of a request leads to an ' +
        'answer.',
      express: 'Return or await every promise of the handler; Express 5 forwards their rejections, Express 4 does not.',
    },
    replace: rejectKeys(({ res, given }, { crash }) => {
      if (given === undefined) crash(100);
      else refuseUnauthorized(res, 'api-key-wrong');
    }),
  },
  {
    ...API_KEY,
    name: 'api-key-lengths-end-the-process',
    severity: 'critical',
    title: 'Ends the process when a key has another length',
    seen: '`crypto.timingSafeEqual`, which throws on unequal lengths, inside an unguarded callback.',
    why: 'Anyone can stop the receiver with one request that contains a short key.',
    fix: {
      rule:
        'Compare lengths before bytes, or digests of both, and make sure that every exception of a request leads to ' +
        'an answer.',
      express: 'Hash both sides with SHA-256 and compare the digests with `crypto.timingSafeEqual`.',
    },
    replace: rejectKeys(({ res, given, config }, { crash }) => {
      if (typeof given === 'string' && given !== '' && config.keys.every((key) => key.length !== given.length))
        crash(100);
      else refuseUnauthorized(res, 'api-key-wrong');
    }),
  },
  {
    ...API_KEY,
    name: 'api-key-refused-by-redirect',
    title: 'Redirects to a login page on a wrong or missing API key',
    seen:
      'Browser middleware in front of the route: session guards of Laravel, Django, Next and many admin ' +
      'frameworks.',
    why:
      'A redirect is not a rejection: a client that follows it gets the login page with 200 and counts the delivery ' +
      'as accepted.',
    fix: {
      rule: 'Exclude the route from everything that logs in users, and answer 401.',
      express: 'Mount the webhook route before the session middleware.',
      laravel: 'Register the route in `routes/api.php`: the `auth` guard redirects requests that do not ask for JSON.',
      django: 'Do not use `login_required` on the view.',
      dotnet: 'Do not let the cookie scheme challenge on this route: it redirects instead of answering 401.',
    },
    replace: rejectKeys(({ res }) => answer(res, 302, {}, { Location: '/login' })),
  },
  {
    ...API_KEY,
    name: 'api-key-refused-by-hanging-up',
    title: 'Closes the connection without an answer on a wrong or missing API key',
    seen:
      'Proxies configured to drop unwanted requests (444 in nginx), intrusion prevention, and handlers that destroy ' +
      'the socket.',
    why:
      'The sender sees a broken connection instead of a wrong key, and retries; a configuration mistake looks like ' +
      'a network problem.',
    fix: {
      rule: 'Answer 401. A wrong key may come from your sender after a rotation.',
      express: 'Use `res.sendStatus(401)`, and let the server end the connection.',
    },
    replace: rejectKeys(({ req }) => void req.socket.destroy()),
  },
  {
    ...API_KEY,
    name: 'api-key-refused-with-200',
    severity: 'critical',
    title: 'Answers 200 with an error in the body to a wrong or missing API key',
    seen:
      'RPC styles and low-code tools in which the status is always 200, and receivers that acknowledge first and ' +
      'check later.',
    why: 'For the sender, 200 means accepted. A discarded delivery counts as delivered and is never repeated.',
    fix: {
      rule: 'Use the status: 401 for wrong credentials.',
      express: 'Set the status before the body: `res.status(401).json({ error: "unauthorized" })`.',
    },
    replace: rejectKeys(({ res }) => answer(res, 200, { error: 'unauthorized' })),
  },
];
