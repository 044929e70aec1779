/** Mutants that take the API key from other places, and those that reject a wrong key incorrectly. */
import type { Request } from 'express';
import { requestHeader } from '../stages/request-header.ts';
import { answer, refuse, refuseUnauthorized, required } from '../stages/stage.ts';
import { alsoAccepts, refusesKeys } from './api-key-check.ts';
import type { StageFault } from './fault.ts';

const API_KEY = { area: 'api-key', severity: 'medium', forbidden: true, stage: 'checkApiKey' } as const;

const HEADER_ONLY = {
  rule: 'Read the key from the configured header and from nowhere else.',
  express: 'Use `req.get("X-API-Key")` alone; delete every fallback behind `??` or `||`.',
} as const;

/** Accepts the key in another place, whatever stands in the header. */
function takenFrom(places: (req: Request, body: Buffer, header: string) => readonly unknown[]): StageFault['replace'] {
  return alsoAccepts(({ req, res, config }) =>
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
  // The right key in a place that was not agreed, or looked for under a name that is too narrow.
  {
    ...API_KEY,
    name: 'api-key-taken-from-query',
    title: 'The API key is also taken from the query of the URL.',
    seen: 'Fallbacks such as `req.query.api_key ?? header`, made for trials in a browser; gateways that offer both places by default.',
    why: 'URLs are written to access logs, caches and monitoring on the whole way, and the key with them.',
    fix: HEADER_ONLY,
    replace: takenFrom(({ query }) => [query.api_key, query.key]),
  },
  {
    ...API_KEY,
    name: 'api-key-taken-from-any-parameter',
    title: 'The API key is looked up by its name in headers, query and body alike.',
    seen: 'Frameworks with one function for parameters of every kind, used with the name of the header.',
    why: 'The agreed place is not the only one: the key is accepted from URLs, which are logged everywhere.',
    fix: {
      ...HEADER_ONLY,
      rails: 'Use `request.headers["X-API-Key"]`, not `params`.',
      laravel: 'Use `$request->header("X-API-Key")`, not `$request->input()` or `$request->get()`.',
      spring: 'Use `@RequestHeader`, not `getParameter`.',
    },
    replace: takenFrom(({ query }, _body, header) =>
      Object.entries(query).flatMap(([name, value]) => (name.toLowerCase() === header ? [value] : [])),
    ),
  },
  {
    ...API_KEY,
    name: 'api-key-taken-from-token-parameter',
    title: 'The API key is also taken from a query parameter such as token or access_token.',
    seen: 'Libraries for bearer tokens, which by an old standard look into the query as well.',
    why: 'A key in a URL is written to every log on the way. These names are the ones that such libraries look for without being asked.',
    fix: HEADER_ONLY,
    replace: takenFrom(({ query }) => [query.token, query.access_token, query.apikey]),
  },
  {
    ...API_KEY,
    name: 'api-key-taken-from-body',
    title: 'The API key is also taken from a field of the body.',
    seen: 'Endpoints that served a form or a script before, with the key as one of the fields.',
    why: 'Bodies are stored and shown to people, and the key with them.',
    fix: HEADER_ONLY,
    replace: takenFrom((_req, body) => {
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
    title: 'The API key is also taken from Authorization as a bearer token.',
    seen: 'A token check for the whole application that stands before the route, and gateways that map one header to the other.',
    why: 'Tokens of users arrive there: one kind of credential passes for another.',
    fix: HEADER_ONLY,
    replace: takenFrom((req) => [authorization(req, 'bearer')]),
  },
  {
    ...API_KEY,
    name: 'api-key-taken-from-basic',
    title: 'The API key is also taken from Authorization as user name or password.',
    seen: 'Receivers that put a stock check for Basic authentication beside the key, so that tools that know no other header can be used.',
    why: 'Clients cache and resend Basic credentials by themselves, and many tools write the URL that holds them to their logs.',
    fix: HEADER_ONLY,
    replace: takenFrom((req) =>
      Buffer.from(authorization(req, 'basic') ?? '', 'base64')
        .toString('utf8')
        .split(':'),
    ),
  },
  {
    ...API_KEY,
    name: 'api-key-taken-from-cookie',
    title: 'The API key is also taken from a cookie.',
    seen: 'Session middleware that merges cookies into the credentials of a request, and admin pages that share the route.',
    why: 'Browsers attach cookies by themselves: a foreign page can then deliver in the name of whoever has one.',
    fix: HEADER_ONLY,
    replace: takenFrom((req) =>
      (req.headers.cookie ?? '').split('; ').map((pair) => decodeURIComponent(pair.slice(pair.indexOf('=') + 1))),
    ),
  },
  {
    ...API_KEY,
    name: 'api-key-taken-from-other-header',
    title: 'The API key is also taken from a header called Api-Key.',
    seen: 'Code that tries a handful of customary names because nobody wrote down which one was agreed.',
    why: 'Rules in a gateway, and the masking of logs, cover the agreed name only.',
    fix: HEADER_ONLY,
    replace: takenFrom((req) => [req.headers['api-key']]),
  },
  {
    ...API_KEY,
    name: 'api-key-taken-from-token-header',
    title: 'The API key is also taken from X-Auth-Token, X-Access-Token or the bare Authorization header.',
    seen: 'Authentication helpers that are shared with other services and know the names of all of them.',
    why: 'Each further name leads past the rules that were made for the agreed one.',
    fix: HEADER_ONLY,
    replace: takenFrom(({ headers }) => [headers['x-auth-token'], headers['x-access-token'], headers.authorization]),
  },
  {
    ...API_KEY,
    name: 'api-key-header-in-exact-case',
    severity: 'high',
    title: 'The API key header is found only when its name is spelt X-API-Key.',
    seen: 'Function platforms and gateways that hand headers out as a plain map of names as they came, and rules that compare names exactly.',
    why: 'A proxy that speaks HTTP/2 writes every name in lower case: from the day it stands in front, every delivery is a 401.',
    fix: {
      rule: 'Look headers up without regard to letter case, as HTTP demands.',
      express:
        'Use `req.get("X-API-Key")`, which ignores case. In a function, lower-case all names of `event.headers` first.',
      go: 'Use `r.Header.Get`; a direct index into the map needs the canonical spelling `X-Api-Key`.',
    },
    replace:
      ({ right, config }) =>
      (req, res, next) => {
        const exact = config.apiKey?.header === 'x-api-key' ? 'X-API-Key' : config.apiKey?.header;
        if (exact === undefined || req.rawHeaders.includes(exact)) return right.checkApiKey(req, res, next);
        refuseUnauthorized(res, 'api-key-missing');
      },
  },
  {
    ...API_KEY,
    name: 'api-key-repeated-throws',
    severity: 'low',
    forbidden: false,
    title: 'A delivery in which the API key header stands twice is answered 500.',
    seen: 'Code that expects one text and is given a list: multi-value maps of gateways and of servlet containers.',
    why: 'The sender takes 500 for an outage and tries again for hours, and anyone can fill the log with errors.',
    fix: {
      rule: 'Check that the value is a single text before comparing, and answer 401 to anything else.',
      express:
        'Node joins repeated lines with a comma; with `req.headersDistinct` or a gateway event, check `length === 1`.',
      spring: 'Take `HttpHeaders.getOrEmpty(name)` and refuse a list of any length but one.',
    },
    replace:
      ({ right, config }) =>
      (req, res, next) => {
        const given = config.apiKey && requestHeader(req, config.apiKey.header);
        if (Array.isArray(given)) return next(new TypeError('trim is not a function'));
        right.checkApiKey(req, res, next);
      },
  },
  // Key checks that refuse rightly and answer wrongly.
  {
    ...API_KEY,
    name: 'api-key-refused-with-403',
    title: 'A wrong or missing API key is answered 403 in place of 401.',
    seen: 'API gateways, whose own key check answers 403, and frameworks that answer 403 when nobody is logged in.',
    why: 'The sender reads 401 as "wrong credentials" and tells the operator; 403 is just another failure, which is tried again.',
    fix: {
      rule: 'Answer 401 to wrong and to missing credentials alike.',
      express: 'Use `res.sendStatus(401)`. In a gateway, map the response for a missing key from 403 to 401.',
      django:
        'With REST framework, give the authentication class an `authenticate_header`: without it 401 turns into 403.',
      spring: 'Configure an `AuthenticationEntryPoint`: the default one answers 403.',
    },
    replace: refusesKeys(({ res }) => refuse(res, 403, 'forbidden')),
  },
  {
    ...API_KEY,
    name: 'api-key-missing-is-400',
    title: 'A missing API key is answered 400, and a wrong one 401.',
    seen: 'Frameworks in which the header is declared as a required parameter, so that validation answers before authentication does.',
    why: 'The sender takes a missing key for a malformed delivery, and drops it or looks for the fault in the body.',
    fix: {
      rule: 'Declare the header as optional, and let your own check answer 401.',
      express: 'Answer 401 in the branch for an absent header as well.',
      spring: 'Write `@RequestHeader(required = false)`: a required one answers 400.',
      dotnet: 'Do not mark the header parameter as required: validation answers 400 before your code runs.',
    },
    replace: refusesKeys(({ res, given }) => {
      if (given === undefined) refuse(res, 400, 'header-required');
      else refuseUnauthorized(res, 'api-key-wrong');
    }),
  },
  {
    ...API_KEY,
    name: 'api-key-missing-is-500',
    title: 'A missing API key is answered 500.',
    seen: 'Code that takes the length of the header, trims it or decodes it before asking whether it is there.',
    why: 'An unauthenticated request causes an exception: the log fills up, and monitors report an outage that is none.',
    fix: {
      rule: 'Handle an absent header first, with 401.',
      express: 'Write `const given = req.get("X-API-Key") ?? ""` before anything is done with it.',
      django: 'Use `request.headers.get("X-API-Key", "")`; indexing throws.',
      flask: 'Use `request.headers.get("X-API-Key", "")`; indexing answers 400.',
    },
    replace: refusesKeys(({ res, given, next }) => {
      if (given === undefined) next(new TypeError("Cannot read properties of undefined (reading 'length')"));
      else refuseUnauthorized(res, 'api-key-wrong');
    }),
  },
  {
    ...API_KEY,
    name: 'api-key-missing-ends-the-process',
    severity: 'critical',
    title: 'A delivery without the API key ends the process.',
    seen: 'Exceptions in a callback or an async function that nobody awaits, which end a Node process; a supervisor starts it again a moment later.',
    why: 'Anyone can switch the receiver off with one request, without any credential.',
    fix: {
      rule: 'Handle an absent header first, with 401, and let every exception of a request end in an answer.',
      express:
        'Return or await every promise of the handler; Express 5 passes their rejections on, Express 4 does not.',
    },
    replace: refusesKeys(({ res, given }, { crash }) => {
      if (given === undefined) crash(100);
      else refuseUnauthorized(res, 'api-key-wrong');
    }),
  },
  {
    ...API_KEY,
    name: 'api-key-lengths-end-the-process',
    severity: 'critical',
    title: 'A key of another length than the right one ends the process.',
    seen: '`crypto.timingSafeEqual`, which throws on unequal lengths, inside a callback that nothing guards.',
    why: 'Anyone can switch the receiver off with one request that holds any short key.',
    fix: {
      rule: 'Compare lengths before bytes, or digests of both, and let every exception of a request end in an answer.',
      express: 'Hash both sides with SHA-256 and compare the digests with `crypto.timingSafeEqual`.',
    },
    replace: refusesKeys(({ res, given, config }, { crash }) => {
      if (typeof given === 'string' && given !== '' && config.keys.every((key) => key.length !== given.length))
        crash(100);
      else refuseUnauthorized(res, 'api-key-wrong');
    }),
  },
  {
    ...API_KEY,
    name: 'api-key-refused-by-redirect',
    title: 'A wrong or missing API key is redirected to a login page.',
    seen: 'Middleware for people with browsers in front of the route: session guards of Laravel, Django, Next and many admin frameworks.',
    why: 'A redirect is no refusal: a client that follows it gets the login page with 200 and counts the delivery as accepted.',
    fix: {
      rule: 'Take the route out of everything that logs people in, and answer 401.',
      express: 'Mount the webhook route before the session middleware.',
      laravel: 'Register the route in `routes/api.php`: the `auth` guard redirects what does not ask for JSON.',
      django: 'Do not use `login_required` on the view.',
      dotnet: 'Do not let the cookie scheme challenge on this route: it redirects in place of 401.',
    },
    replace: refusesKeys(({ res }) => answer(res, 302, {}, { Location: '/login' })),
  },
  {
    ...API_KEY,
    name: 'api-key-refused-by-hanging-up',
    title: 'On a wrong or missing API key the connection is closed without an answer.',
    seen: 'Proxies that are told to drop unwanted requests (444 in nginx), intrusion prevention, and handlers that destroy the socket.',
    why: 'The sender sees a broken connection, not a wrong key, and tries again; a mistake in the configuration looks like a broken network.',
    fix: {
      rule: 'Answer 401. Whoever has a wrong key may be your sender after a rotation.',
      express: 'Use `res.sendStatus(401)` and let the server end the connection.',
    },
    replace: refusesKeys(({ req }) => void req.socket.destroy()),
  },
  {
    ...API_KEY,
    name: 'api-key-refused-with-200',
    severity: 'critical',
    title: 'A wrong or missing API key is answered 200 with an error in the body.',
    seen: 'Remote procedure styles and low-code tools in which the status is always 200, and receivers that acknowledge first and check later.',
    why: 'For the sender 200 means accepted. A delivery that was thrown away counts as done and never comes again.',
    fix: {
      rule: 'Say it with the status: 401 for wrong credentials.',
      express: 'Set the status before the body: `res.status(401).json({ error: "unauthorized" })`.',
    },
    replace: refusesKeys(({ res }) => answer(res, 200, { error: 'unauthorized' })),
  },
];
