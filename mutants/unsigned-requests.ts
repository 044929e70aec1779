/** Mutants that skip the credential check for other methods, framings, paths or contents, or for claims in headers. */
import type { Request } from 'express';
import { answer, required, type Stage } from '../receiver/stages/stage.ts';
import { acceptWithoutCheck } from './api-key-check.ts';
import type { FaultParts, StageFault } from './fault.ts';
import { alsoAcceptClients, MTLS } from './lenient-certificate.ts';
import { early, jsonOf, lenientMutant, rememberingClient, SIGNATURE } from './lenient-verifier.ts';

type Text = Pick<StageFault, 'name' | 'title' | 'seen' | 'why' | 'fix'>;

const CHECK_FIRST =
  'Check the credentials of every request in one place, before any part of it decides how it is handled.';
const ON_ROUTE = 'Mount the verification as middleware in front of every handler of the route, without a condition.';
const FIX = { rule: CHECK_FIRST, express: ON_ROUTE } as const;

const mediaType = (req: Request) => (req.headers['content-type'] ?? '').split(';', 1)[0]?.trim() ?? '';

/** Reads, parses and validates a request, and answers 200. */
function handleUnverified({ correct: { readBody, parse, validate } }: FaultParts): Stage {
  return (req, res) => readBody(req, res, () => parse(req, res, () => validate(req, res, () => answer(res, 200, {}))));
}

/** A mutant whose route for other methods accepts deliveries without the check, or with any signature. */
function otherMethods(
  methods: readonly string[],
  needsHeader: boolean,
  text: Pick<Text, 'name' | 'title' | 'seen'>,
): StageFault {
  return {
    ...SIGNATURE,
    ...text,
    why: `An attacker changes the method, and needs no ${needsHeader ? 'valid ' : ''}signature.`,
    fix: { rule: CHECK_FIRST, express: 'Use `app.post(path, verify, handle)`, and no route for all methods.' },
    stage: 'accept',
    severity: 'critical',
    forbidden: true,
    replace: (parts) => {
      const handle = handleUnverified(parts);
      const header = parts.config.signing?.header ?? '';
      return (req, res, next) => {
        const isOpen = methods.includes(req.method) && parts.config.signing !== undefined;
        const hasHeader = (req.get(header) ?? '') !== '';
        const isForged = needsHeader ? hasHeader : !hasHeader;
        return isOpen && isForged ? handle(req, res, next) : parts.correct.accept(req, res, next);
      };
    },
  };
}

const OVERRIDES = ['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override'];

/** Whether a request is sent with one method and claims another in a header or in the query. */
function isOverridden(req: Request, sent: 'POST' | 'another', wanted: string): boolean {
  if ((req.method === 'POST') !== (sent === 'POST')) return false;
  return named(req, ...OVERRIDES).includes(wanted) || new RegExp(`[?&]_method=${wanted}\\b`).test(req.url);
}

const isBodyless = (req: Request) =>
  req.headers['content-length'] === undefined && req.headers['transfer-encoding'] === undefined;

const NO_OVERRIDE = {
  rule: 'Turn off method overriding for this route, or apply it before everything else.',
  express: 'Remove `methodOverride()`, or mount it in front of the verification.',
  rails: 'Remove Rack::MethodOverride from the middleware stack.',
  laravel: 'Middleware for the route sees the overridden method: let it cover every method.',
} as const;

/** A mutant that reads deliveries of some media types in its own way and does not verify them. */
function ofTypes(test: (req: Request, body: Buffer) => boolean, text: Text, read = (body: Buffer) => body): StageFault {
  return {
    ...SIGNATURE,
    ...text,
    severity: 'critical',
    forbidden: true,
    replace: ({ correct, config }) => {
      if (config.signing === undefined) return correct.requireSignature;
      return (req, res, next) => {
        const body = required(res, 'rawBody');
        if (!test(req, body)) return correct.requireSignature(req, res, next);
        res.locals.rawBody = read(body);
        req.headers['content-type'] = 'application/json';
        next();
      };
    },
  };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isList = (value: unknown) => Array.isArray(value) || (isObject(value) && Array.isArray(value.events));
const isPing = (value: unknown) => isObject(value) && (value.type === 'ping' || Object.keys(value).length === 0);

/** The JSON in the field `payload` of a form, or null. */
function payloadField(body: Buffer): Buffer | null {
  const text = body.toString('utf8');
  const inMultipart = /name="payload"\r\n\r\n(.*?)\r\n--/s.exec(text)?.[1];
  const value = inMultipart ?? new URLSearchParams(text).get('payload');
  return value === null ? null : Buffer.from(value);
}

const isForm = (req: Request) => /^(?:application\/x-www-form-urlencoded|multipart\/form-data)$/.test(mediaType(req));

/** Whether a path is spelled differently from a plain one. */
function isOddPath(req: Request): boolean {
  const path = req.url.split('?', 1)[0] ?? '/';
  return (path.length > 1 && path.endsWith('/')) || /^http:|\/\/|%|\/\.\/|;|[A-Z]/.test(path);
}

const isBelow = (req: Request) => /\/(?:health|ping|test)$/.test(req.url.split('?', 1)[0] ?? '/');

/** Whether Host is not a name or address of this machine, as the only tenant would have it. */
const isUnknownHost = (req: Request) => !/^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/.test(req.get('Host') ?? '');

const named = (req: Request, ...names: readonly string[]) => names.map((name) => req.get(name) ?? '');

const PRIVATE = /\b192\.168\./;
const isPrivate = (req: Request) => named(req, 'X-Forwarded-For', 'X-Client-IP').some((value) => PRIVATE.test(value));
const hasSkip = (req: Request) => named(req, 'X-Skip-Verification', 'X-Test-Mode').includes('true');
const isHealthAgent = (req: Request) => /^(?:curl|kube-probe)\/|HealthCheck/.test(req.get('User-Agent') ?? '');
const hasSwitch = (req: Request) => /[?&](?:skip_signature=true|mode=test)\b/.test(req.url);

const LOCAL = 'Make no exception based on what the request claims: any client can claim it.';

export const unsignedRequests: readonly StageFault[] = [
  ofTypes(
    (req) =>
      !['', 'application/json', 'text/plain'].includes(mediaType(req)) &&
      !isForm(req) &&
      req.headers['content-encoding'] === undefined,
    {
      name: 'rare-types-not-verified',
      title: 'Does not verify deliveries of rare content types, such as XML, vendor JSON or APPLICATION/JSON',
      seen: 'A verification in the parser for `application/json`, and `express.text({ type: "*/*" })` for the rest.',
      why: 'An attacker changes the Content-Type, and the forged notification is processed.',
      fix: FIX,
    },
  ),
  ofTypes(
    (req, body) => isForm(req) && payloadField(body) !== null,
    {
      name: 'form-fields-not-verified',
      title: 'Does not verify notifications in the fields of a form',
      seen: '`express.urlencoded()` next to `express.json({ verify })`, and handlers that read `req.body.payload`.',
      why: 'Forms are not verified, so a forged notification needs no signature.',
      fix: { rule: CHECK_FIRST, express: 'Remove `express.urlencoded()` and upload parsers from this route.' },
    },
    (body) => payloadField(body) ?? body,
  ),
  ofTypes((req) => (req.get('X-Service-Signature') ?? '') !== '' && mediaType(req) !== 'application/json', {
    name: 'other-types-need-any-signature',
    title: 'Compares the signature only for JSON, and requires only that the header is present for other types',
    seen: 'A gateway rule that requires the header, in front of verification in the JSON parser.',
    why: 'Tests without a signature see 401 everywhere, but any text in the header is enough.',
    fix: FIX,
  }),
  lenientMutant(({ req }) => req.httpVersion === '1.0', {
    name: 'http-1-0-not-verified',
    title: 'Does not verify HTTP/1.0 requests',
    seen: 'Exceptions for load balancer health checks that use HTTP/1.0.',
    why: 'Any client can use this version.',
    fix: { rule: CHECK_FIRST, express: 'Remove the condition on `req.httpVersion`.' },
  }),
  lenientMutant(({ req }) => req.headers.expect !== undefined, {
    name: 'expect-not-verified',
    title: 'Does not verify requests with Expect: 100-continue',
    seen: 'A `checkContinue` listener of Node that calls the handler without the middleware.',
    why: 'Every client can send this header.',
    fix: { rule: CHECK_FIRST, express: 'In the `checkContinue` listener, call the same app as for other requests.' },
  }),
  lenientMutant(
    ({ req, header = '' }) =>
      header !== '' && (req.headers['content-length'] === undefined || req.headers.expect !== undefined),
    {
      name: 'streamed-bodies-need-any-signature',
      title: 'Requires only that the signature header is present for chunked bodies or after 100-continue',
      seen: 'A check that needs the whole body and is skipped where it is streamed.',
      why: 'Any text in the header is enough.',
      fix: FIX,
    },
  ),
  otherMethods(['PUT', 'PATCH', 'DELETE'], false, {
    name: 'other-methods-not-verified',
    title: 'Accepts unsigned notifications sent by PUT, PATCH and DELETE',
    seen: '`app.post(path, verify)` next to `app.all(path, handle)`.',
  }),
  otherMethods(['OPTIONS', 'PROPFIND'], false, {
    name: 'rare-methods-not-verified',
    title: 'Accepts unsigned notifications sent by methods that its rules do not list, such as OPTIONS',
    seen: 'Verification for a list of methods, an exemption of OPTIONS for CORS, and `app.all(path, handle)`.',
  }),
  otherMethods(['GET'], false, {
    name: 'get-not-verified',
    title: 'Accepts unsigned notifications sent by GET',
    seen: 'Middleware that exempts safe methods, and a handler that serves all methods.',
  }),
  otherMethods(['PUT', 'GET'], true, {
    name: 'other-methods-need-any-signature',
    title: 'Does not verify the signature of notifications sent by PUT or GET',
    seen: 'A gateway rule that requires the header for the path, and a comparison mounted only for POST.',
  }),
  {
    ...SIGNATURE,
    name: 'put-takes-anything',
    title: 'Accepts everything that is sent by PUT',
    seen: 'A route that stores what it gets for later, for tests or for an import, next to the one for deliveries.',
    why: 'Anyone can store notifications. What processes them later takes them for verified ones.',
    fix: {
      rule: CHECK_FIRST,
      express: 'Remove the route `app.put(path, store)`, or mount the verification before it.',
    },
    stage: 'accept',
    severity: 'critical',
    forbidden: true,
    replace: (parts) => (req, res, next) =>
      req.method === 'PUT' && parts.config.signing !== undefined
        ? parts.correct.readBody(req, res, () => answer(res, 200, {}))
        : parts.correct.accept(req, res, next),
  },
  {
    ...SIGNATURE,
    name: 'method-overridden-after-check',
    title: 'Verifies only POST, and overrides other methods with POST afterwards',
    seen: '`if (req.method === "POST") verify()` in front of `methodOverride()`.',
    why: 'An attacker sends PUT with `X-HTTP-Method-Override: POST`, and needs no signature.',
    fix: NO_OVERRIDE,
    stage: 'accept',
    severity: 'critical',
    forbidden: true,
    replace: (parts) => {
      const handle = handleUnverified(parts);
      return (req, res, next) =>
        parts.config.signing !== undefined && isOverridden(req, 'another', 'POST')
          ? handle(req, res, next)
          : parts.correct.accept(req, res, next);
    },
  },
  lenientMutant(({ req }) => isOverridden(req, 'POST', 'PUT'), {
    name: 'method-overridden-before-check',
    title: 'Does not verify a POST that claims to be a PUT',
    seen: '`methodOverride()` in front of a verification for POST, and a handler for all methods.',
    why: 'An attacker adds `X-HTTP-Method-Override: PUT`, and needs no signature.',
    fix: NO_OVERRIDE,
  }),
  lenientMutant(({ req, header }) => header === undefined && Object.keys(req.trailers).length > 0, {
    name: 'trailers-not-verified',
    title: 'Does not verify deliveries with a trailer',
    seen: 'Checks that defer a signature in a trailer until the end of the stream, where nothing compares it.',
    why: 'Every client can send a trailer.',
    fix: FIX,
  }),
  {
    ...SIGNATURE,
    name: 'requests-without-body-not-verified',
    title: 'Answers 200 to requests without a body and a length, without verification',
    seen: '`express.json({ verify })`: body-parser skips requests without a body, and with them the verification.',
    why: 'Everyone gets a 200. A delivery whose body was lost counts as received.',
    fix: {
      rule: CHECK_FIRST,
      express: 'Keep the raw body in `verify`, check the signature in the next middleware, and reject missing bodies.',
    },
    severity: 'critical',
    forbidden: true,
    replace: ({ correct, config }) =>
      config.signing === undefined
        ? correct.requireSignature
        : (req, res, next) => (isBodyless(req) ? answer(res, 200, {}) : correct.requireSignature(req, res, next)),
  },
  early((payload) => (isList(payload) ? {} : null), {
    name: 'lists-not-verified',
    title: 'Does not verify lists of notifications',
    seen: "Handlers for another sender's batches that process the list before the verification.",
    why: 'An attacker wraps a forged notification in a list.',
    fix: FIX,
  }),
  early((payload) => (isObject(payload) && payload.challenge !== undefined ? { challenge: payload.challenge } : null), {
    name: 'handshakes-not-verified',
    title: 'Answers handshakes of other senders without verification',
    seen: 'Endpoints that also serve senders that verify a URL with a challenge.',
    why: 'The endpoint answers 200 to anyone, and echoes what was sent.',
    fix: {
      rule: 'Remove the handshake: this sender has none.',
      express: 'Delete the branch on `req.body.challenge`.',
    },
  }),
  early((payload) => (isPing(payload) ? {} : null), {
    name: 'pings-not-verified',
    title: 'Answers 200 to pings and empty objects without verification',
    seen: 'Endpoints that also serve senders with a ping event.',
    why: 'Unverified requests look accepted, and a forgery easily meets the condition.',
    fix: FIX,
  }),
  lenientMutant(({ req }) => isOddPath(req), {
    name: 'path-spellings-not-verified',
    title: 'Verifies only the exact path, and handles other spellings of it',
    seen: 'Rules of a proxy or `if (req.path === "/hooks")` in front of a router that ignores case and slashes.',
    why: 'An attacker adds a slash to the URL.',
    fix: { rule: CHECK_FIRST, express: 'Put the verification on the route itself: `app.post(path, verify, handle)`.' },
  }),
  lenientMutant(({ req }) => isBelow(req), {
    name: 'paths-below-not-verified',
    title: 'Does not verify deliveries at paths that end like a health check or a test',
    seen: 'Rules such as `path.endsWith("/health")` in front of a handler that is mounted by prefix.',
    why: 'An attacker adds /health to the URL.',
    fix: { rule: CHECK_FIRST, express: 'Use `app.post(path, verify, handle)` instead of `app.use(path, handle)`.' },
  }),
  lenientMutant(({ req }) => isUnknownHost(req), {
    name: 'unknown-hosts-not-verified',
    title: 'Does not verify deliveries with an unknown Host',
    seen: 'Secrets in a table by host name, and `if (secret) verify()`.',
    why: 'Any client can send any Host.',
    fix: { rule: 'Answer 401 when no secret is found.', express: 'Use one secret, whatever `req.hostname` is.' },
  }),
  lenientMutant(({ req }) => named(req, 'X-Tenant-Id', 'X-Partner-Id', 'X-Key-Id').some((name) => name !== ''), {
    name: 'unknown-tenants-not-verified',
    title: 'Does not verify deliveries that name an unknown tenant or key in a header',
    seen: 'Secrets in a table by tenant, and `if (secret) verify()`.',
    why: 'Any client can name a tenant that does not exist.',
    fix: { rule: 'Answer 401 when no secret is found.', express: 'Use one secret, whatever the headers name.' },
  }),
  lenientMutant(({ req }) => req.get('Host') === 'localhost', {
    name: 'local-host-not-verified',
    title: 'Does not verify requests with Host: localhost',
    seen: 'Development modes that recognise the local machine by the Host header.',
    why: 'Any client can send any Host.',
    fix: { rule: LOCAL, express: 'Remove the condition on `req.hostname`.' },
  }),
  lenientMutant(({ req }) => isPrivate(req), {
    name: 'private-addresses-not-verified',
    title: 'Does not verify requests that claim a private address',
    seen: 'Exceptions for the internal network, based on X-Forwarded-For or X-Client-IP.',
    why: 'Every client can set these headers.',
    fix: { rule: LOCAL, express: 'Remove the exception, and set "trust proxy" to the addresses of your proxies.' },
  }),
  lenientMutant(({ req }) => hasSkip(req), {
    name: 'skip-header',
    title: 'Skips the verification when X-Skip-Verification or X-Test-Mode is set',
    seen: 'Switches that were added for end-to-end tests.',
    why: 'The switch is a backdoor with an easily guessed name.',
    fix: { rule: 'Delete the switch, and sign test deliveries.', express: 'Delete the branch on the header.' },
  }),
  lenientMutant(({ req }) => req.get('X-Signature-Algorithm') === 'none', {
    name: 'algorithm-none',
    title: 'Skips the verification when the request names "none" as the algorithm',
    seen: 'Verifiers that support several algorithms and read the algorithm from a header.',
    why: 'An attacker can turn the verification off.',
    fix: { rule: 'Use HMAC-SHA256 only, and read no algorithm from the request.', express: 'Delete the lookup.' },
  }),
  lenientMutant(({ req }) => (req.get('X-Authenticated-User') ?? '') !== '', {
    name: 'trusts-gateway-user',
    title: 'Does not verify requests with a header that a gateway sets about the user or the client',
    seen: 'Single sign-on proxies that set X-Authenticated-User or X-Remote-User.',
    why: 'Anyone who reaches the receiver directly can set it.',
    fix: { rule: LOCAL, express: 'Remove the condition, and let the proxy delete the header of clients.' },
  }),
  lenientMutant(({ req }) => /health/.test(req.get('X-Original-URL') ?? ''), {
    name: 'trusts-rewritten-path',
    title: 'Looks up X-Original-URL instead of the path in its list of open paths',
    seen: 'Frameworks that support the URL rewriting of IIS.',
    why: 'Every client can set this header.',
    fix: { rule: LOCAL, express: 'Use `req.path`, and do not read X-Original-URL or X-Rewrite-URL.' },
  }),
  lenientMutant(({ req }) => isHealthAgent(req), {
    name: 'health-agents-not-verified',
    title: 'Does not verify requests with the User-Agent of a health check',
    seen: 'Exceptions for load balancer and Kubernetes probes.',
    why: 'Any client can send this name.',
    fix: { rule: LOCAL, express: 'Give the health check a separate route.' },
  }),
  lenientMutant(({ req }) => hasSwitch(req), {
    name: 'query-parameter-skips',
    title: 'Skips the verification when the query has `skip_signature=true` or `mode=test`',
    seen: 'Parameters for manual tests.',
    why: 'The parameter is found in old logs and in documentation.',
    fix: { rule: 'Delete the parameter, and sign test deliveries.', express: 'Delete the branch on `req.query`.' },
  }),
  lenientMutant(({ req }) => ['valid', 'verified', 'authenticated'].some((name) => req.query[name] === '1'), {
    name: 'query-sets-result',
    title: 'Lets the query set the result of the verification, for example with `valid=1`',
    seen: 'register_globals or `extract($_GET)` in PHP, and a result that is kept in an object with the parameters.',
    why: 'An attacker adds the name of a variable to the URL.',
    fix: {
      rule: 'Keep the result in a variable that no parameter can set.',
      express: 'Do not copy `req.query` into `res.locals` or `req`.',
      php: 'Do not use `extract()` or `parse_str()` without a second argument.',
    },
  }),
  {
    ...SIGNATURE,
    name: 'session-after-delivery',
    title: 'Returns a cookie or a token after a valid delivery, and accepts it instead of a signature',
    seen: 'Session middleware for the whole application, and a check for a session in front of the verification.',
    why: 'Anyone who gets hold of the cookie needs no signature.',
    fix: {
      rule: 'Verify each delivery, and set no cookies.',
      express: 'Mount session middleware on other routes only.',
    },
    severity: 'critical',
    forbidden: true,
    replace: rememberingClient(
      (res) => void res.setHeader('Set-Cookie', 'sid=verified; Path=/; HttpOnly'),
      (req) => /\bsid=verified\b/.test(req.get('Cookie') ?? ''),
    ),
  },
];

/** A mutant of the API key check that lets some requests pass. */
function keyless(test: (req: Request, payload: unknown) => boolean, text: Text): StageFault {
  const replace = acceptWithoutCheck(({ req, res }) => test(req, jsonOf(required(res, 'rawBody'))));
  return { area: 'api-key', stage: 'requireApiKey', severity: 'critical', forbidden: true, ...text, replace };
}

export const keylessRequests: readonly StageFault[] = [
  {
    ...keyless(() => false, {
      name: 'api-key-not-checked-on-other-contents',
      title: 'Answers bodies that are not notifications, such as handshakes, before it checks the API key',
      seen: 'Handlers for other senders on the same route.',
      why: 'The endpoint answers 200 to anyone.',
      fix: FIX,
    }),
    replace: ({ correct, config }) => {
      if (config.apiKey === undefined) return correct.requireApiKey;
      return (req, res, next) => {
        const payload = jsonOf(required(res, 'rawBody'));
        const isOther = isList(payload) || isPing(payload) || (isObject(payload) && payload.challenge !== undefined);
        return isOther ? answer(res, 200, {}) : correct.requireApiKey(req, res, next);
      };
    },
  },
  keyless((req) => hasSkip(req), {
    name: 'api-key-skip-header',
    title: 'Skips the API key check when X-Skip-Verification or X-Test-Mode is set',
    seen: 'Switches that were added for end-to-end tests.',
    why: 'The switch is a backdoor with an easily guessed name.',
    fix: {
      rule: 'Delete the switch, and send the key with test deliveries.',
      express: 'Delete the branch on the header.',
    },
  }),
  {
    ...keyless(() => false, {
      name: 'api-key-from-request',
      title: 'Compares the API key with one that the request names in its query or body',
      seen: '`extract($_GET)` and register_globals in PHP, and settings merged with `req.query` or `req.body`.',
      why: 'An attacker sends any key, and names it as the expected one.',
      fix: {
        rule: 'Never merge parameters of a request into variables or settings.',
        express: 'Read single fields of `req.query` and `req.body`, and do not spread or assign them.',
      },
    }),
    replace: acceptWithoutCheck(({ req, res, given }) => {
      const payload = jsonOf(required(res, 'rawBody'));
      const inBody = isObject(payload) ? payload.apiKey : undefined;
      return given !== undefined && [req.query.apiKey, inBody].includes(given as string);
    }),
  },
  keyless((req) => isHealthAgent(req), {
    name: 'api-key-not-checked-for-health-agents',
    title: 'Does not check the API key of requests with the User-Agent of a health check',
    seen: 'Exceptions for load balancer and Kubernetes probes.',
    why: 'Any client can send this name.',
    fix: { rule: LOCAL, express: 'Give the health check a separate route.' },
  }),
  keyless((req) => isOddPath(req), {
    name: 'api-key-not-checked-for-path-spellings',
    title: 'Checks the API key at the exact path only, and handles other spellings of it',
    seen: 'Gateway rules that match the path as text.',
    why: 'An attacker adds a slash to the URL.',
    fix: { rule: CHECK_FIRST, express: 'Put the check on the route itself: `app.post(path, checkKey, handle)`.' },
  }),
  keyless((req) => req.httpVersion === '1.0' || req.headers.expect !== undefined, {
    name: 'api-key-not-checked-in-other-framings',
    title: 'Does not check the API key of HTTP/1.0 requests or requests with Expect: 100-continue',
    seen: 'Exceptions for old load balancers, and separate handlers for 100-continue.',
    why: 'Any client can send such a request.',
    fix: FIX,
  }),
  {
    ...keyless(() => false, {
      name: 'api-key-not-checked-without-body',
      title: 'Answers 200 to requests without a body and a length before it checks the API key',
      seen: 'A key check in the callback of a body parser, which does not run without a body.',
      why: 'The endpoint answers 200 to anyone.',
      fix: FIX,
    }),
    replace: ({ correct, config }) =>
      config.apiKey === undefined
        ? correct.requireApiKey
        : (req, res, next) => (isBodyless(req) ? answer(res, 200, {}) : correct.requireApiKey(req, res, next)),
  },
  keyless((req) => isOverridden(req, 'POST', 'PUT'), {
    name: 'api-key-not-checked-for-overridden-methods',
    title: 'Does not check the API key of a POST that claims to be a PUT',
    seen: '`methodOverride()` in front of a key check for POST, and a handler for all methods.',
    why: 'Every client can send such a claim.',
    fix: NO_OVERRIDE,
  }),
];

/** The certificate check that lets some paths pass. */
export const uncertifiedRequests: readonly StageFault[] = [
  {
    ...MTLS,
    name: 'certificate-required-at-exact-path',
    title: 'Requires the client certificate at the exact path only, and handles other spellings of it',
    seen: 'nginx with `ssl_verify_client optional` and a check in one exact `location`.',
    why: 'An attacker without a certificate adds a slash to the URL.',
    fix: {
      rule: 'Require the certificate for the whole port, in the handshake.',
      express: 'Set `rejectUnauthorized: true` in the options of node:https.',
    },
    replace: alsoAcceptClients(
      () =>
        ({ req }) =>
          isOddPath(req),
    ),
  },
];
