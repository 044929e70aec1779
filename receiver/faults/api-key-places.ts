import type { Request } from 'express';
import { requestHeader } from '../stages/request-header.ts';
import { refuseUnauthorized, required } from '../stages/stage.ts';
import type { StageFault } from './fault.ts';
import { alsoAccepts } from './lenient-key.ts';

const base = { area: 'api-key', severity: 'medium', forbidden: true, stage: 'checkApiKey' } as const;

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

/** The right key in a place that was not agreed, or looked for under a name that is too narrow. */
export const misplacedKeys: readonly StageFault[] = [
  {
    ...base,
    name: 'api-key-taken-from-query',
    title: 'The API key is also taken from the query of the URL.',
    seen: 'Fallbacks such as `req.query.api_key ?? header`, made for trials in a browser; gateways that offer both places by default.',
    why: 'URLs are written to access logs, caches and monitoring on the whole way, and the key with them.',
    fix: HEADER_ONLY,
    replace: takenFrom(({ query }) => [query.api_key, query.key]),
  },
  {
    ...base,
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
    ...base,
    name: 'api-key-taken-from-token-parameter',
    title: 'The API key is also taken from a query parameter such as token or access_token.',
    seen: 'Libraries for bearer tokens, which by an old standard look into the query as well.',
    why: 'A key in a URL is written to every log on the way. These names are the ones that such libraries look for without being asked.',
    fix: HEADER_ONLY,
    replace: takenFrom(({ query }) => [query.token, query.access_token, query.apikey]),
  },
  {
    ...base,
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
    ...base,
    name: 'api-key-taken-from-bearer',
    title: 'The API key is also taken from Authorization as a bearer token.',
    seen: 'A token check for the whole application that stands before the route, and gateways that map one header to the other.',
    why: 'Tokens of users arrive there: one kind of credential passes for another.',
    fix: HEADER_ONLY,
    replace: takenFrom((req) => [authorization(req, 'bearer')]),
  },
  {
    ...base,
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
    ...base,
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
    ...base,
    name: 'api-key-taken-from-other-header',
    title: 'The API key is also taken from a header called Api-Key.',
    seen: 'Code that tries a handful of customary names because nobody wrote down which one was agreed.',
    why: 'Rules in a gateway, and the masking of logs, cover the agreed name only.',
    fix: HEADER_ONLY,
    replace: takenFrom((req) => [req.headers['api-key']]),
  },
  {
    ...base,
    name: 'api-key-taken-from-token-header',
    title: 'The API key is also taken from X-Auth-Token, X-Access-Token or the bare Authorization header.',
    seen: 'Authentication helpers that are shared with other services and know the names of all of them.',
    why: 'Each further name leads past the rules that were made for the agreed one.',
    fix: HEADER_ONLY,
    replace: takenFrom(({ headers }) => [headers['x-auth-token'], headers['x-access-token'], headers.authorization]),
  },
  {
    ...base,
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
    ...base,
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
];
