/**
 * Mutants that skip the check of credentials for some methods, framings, paths or contents, or because of claims in
 * headers.
 */
import type { Request } from 'express';
import { answer, required, type Stage } from '../receiver/stages/stage.ts';
import { acceptWithoutCheck, handleSomeKeys, KEY } from './api-key-check.ts';
import { family } from './family.ts';
import type { FaultParts, StageFault } from './fault.ts';
import { alsoAcceptClients, MTLS } from './lenient-certificate.ts';
import { alsoAccept, early, handleSome, jsonOf, mediaType, rememberingClient, SIGNATURE } from './lenient-verifier.ts';

const confirm: Stage = (_req, res) => answer(res, 200, {});

/** Reads, parses and validates a request without checking credentials, and answers 200. */
function handleUnverified({ correct: { readBody, parse, validate } }: FaultParts): Stage {
  return (req, res, next) =>
    readBody(req, res, () => parse(req, res, () => validate(req, res, () => confirm(req, res, next))));
}

/**
 * Adds a route in front of the checks that handles some requests. `header` is the signature, or empty if there is none.
 */
function openRoute(
  isOpen: (req: Request, header: string) => boolean,
  makeHandler: (parts: FaultParts) => Stage = handleUnverified,
): Partial<StageFault> {
  return {
    stage: 'accept',
    replace: (parts) => {
      const { accept } = parts.correct;
      const { signing } = parts.config;
      if (signing === undefined) return accept;
      const handle = makeHandler(parts);
      return (req, res, next) => (isOpen(req, req.get(signing.header) ?? '') ? handle : accept)(req, res, next);
    },
  };
}

const OVERRIDES = ['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override'];

/** Returns true if a request is sent with one method and claims another one in a header or in the query. */
function isOverridden(req: Request, sent: 'POST' | 'another', wanted: string): boolean {
  if ((req.method === 'POST') !== (sent === 'POST')) return false;
  return named(req, ...OVERRIDES).includes(wanted) || new RegExp(`[?&]_method=${wanted}\\b`).test(req.url);
}

const isBodyless = (req: Request) =>
  req.headers['content-length'] === undefined && req.headers['transfer-encoding'] === undefined;

/** Does not verify the deliveries that pass `test`. `read` converts their body. */
function ofTypes(test: (req: Request, body: Buffer) => boolean, read = (body: Buffer) => body): StageFault['replace'] {
  const readAnyway: Stage = (req, res, next) => {
    res.locals.rawBody = read(required(res, 'rawBody'));
    req.headers['content-type'] = 'application/json';
    next();
  };
  return handleSome(({ req, body }) => (test(req, body) ? readAnyway : null));
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isList = (value: unknown) => Array.isArray(value) || (isObject(value) && Array.isArray(value.events));
const isPing = (value: unknown) => isObject(value) && (value.type === 'ping' || Object.keys(value).length === 0);

/** Recognises the ping of WooCommerce and the WebSub challenge of other senders. */
function isFormHandshake(body: Buffer): boolean {
  const text = body.toString('latin1');
  return /^webhook_id=\d+$/.test(text) || /&hub\.challenge=/.test(text);
}

/** Returns the JSON in the field `payload` of a form. Null if there is no such field. */
function payloadField(body: Buffer): Buffer | null {
  const text = body.toString('utf8');
  const inMultipart = /name="payload"\r\n\r\n(.*?)\r\n--/s.exec(text)?.[1];
  const value = inMultipart ?? new URLSearchParams(text).get('payload');
  return value === null ? null : Buffer.from(value);
}

const isForm = (req: Request) => /^(?:application\/x-www-form-urlencoded|multipart\/form-data)$/.test(mediaType(req));

/** Returns true if a path has an unusual spelling. */
function isOddPath(req: Request): boolean {
  const path = req.url.split('?', 1)[0] ?? '/';
  return (path.length > 1 && path.endsWith('/')) || /^http:|\/\/|%|\/\.\/|;|[A-Z]/.test(path);
}

const named = (req: Request, ...names: readonly string[]) => names.map((name) => req.get(name) ?? '');

const hasSkip = (req: Request) => named(req, 'X-Skip-Verification', 'X-Test-Mode').includes('true');
const isHealthAgent = (req: Request) => /^(?:curl|kube-probe)\/|HealthCheck/.test(req.get('User-Agent') ?? '');

export const unsignedRequests = family<StageFault>(
  { ...SIGNATURE, mistake: 'verification-per-method' },
  {
    'rare-types-not-verified': [
      'Does not verify deliveries of rare content types, such as XML, vendor JSON or APPLICATION/JSON',
      ofTypes(
        (req) =>
          !['', 'application/json', 'text/plain'].includes(mediaType(req)) &&
          !isForm(req) &&
          req.headers['content-encoding'] === undefined,
      ),
      'verification-per-content-type',
    ],
    'form-fields-not-verified': [
      'Does not verify notifications in the fields of a form',
      ofTypes(
        (req, body) => isForm(req) && payloadField(body) !== null,
        (body) => payloadField(body) ?? body,
      ),
      'verification-per-content-type',
    ],
    'other-types-need-any-signature': [
      'Compares the signature only for JSON, and requires only that the header is present for other types',
      ofTypes((req) => (req.get('X-Service-Signature') ?? '') !== '' && mediaType(req) !== 'application/json'),
      'verification-per-content-type',
      { note: 'Tests without a signature see 401 everywhere, but any text in the header is enough.' },
    ],
    'http-1-0-not-verified': [
      'Does not verify HTTP/1.0 requests',
      alsoAccept(({ req }) => req.httpVersion === '1.0'),
      'verification-per-framing',
    ],
    'expect-not-verified': [
      'Does not verify requests with Expect: 100-continue',
      alsoAccept(({ req }) => req.headers.expect !== undefined),
      'verification-per-framing',
    ],
    'streamed-bodies-need-any-signature': [
      'Requires only that the signature header is present for chunked bodies or after 100-continue',
      alsoAccept(
        ({ req, header = '' }) =>
          header !== '' && (req.headers['content-length'] === undefined || req.headers.expect !== undefined),
      ),
      'verification-per-framing',
      { note: 'Only the presence of the header is required for streamed bodies.' },
    ],
    'other-methods-not-verified': [
      'Accepts unsigned notifications sent by PUT, PATCH and DELETE',
      openRoute((req, header) => ['PUT', 'PATCH', 'DELETE'].includes(req.method) && header === ''),
    ],
    'rare-methods-not-verified': [
      'Accepts unsigned notifications sent by methods that its rules do not list, such as OPTIONS',
      openRoute((req, header) => ['OPTIONS', 'PROPFIND'].includes(req.method) && header === ''),
    ],
    'get-not-verified': [
      'Accepts unsigned notifications sent by GET',
      openRoute((req, header) => req.method === 'GET' && header === ''),
    ],
    'other-methods-need-any-signature': [
      'Does not verify the signature of notifications sent by PUT or GET',
      openRoute((req, header) => ['PUT', 'GET'].includes(req.method) && header !== ''),
      { note: 'Tests without a signature see 401 everywhere, but any text in the header is enough.' },
    ],
    'put-takes-anything': [
      'Accepts everything that is sent by PUT',
      openRoute(
        (req) => req.method === 'PUT',
        ({ correct }) =>
          (req, res, next) =>
            correct.readBody(req, res, () => confirm(req, res, next)),
      ),
      { note: 'Such a route stores requests for later or for tests, next to the route for deliveries.' },
    ],
    'method-overridden-after-check': [
      'Verifies only POST, and overrides other methods with POST afterwards',
      openRoute((req) => isOverridden(req, 'another', 'POST')),
    ],
    'method-overridden-before-check': [
      'Does not verify a POST that claims to be a PUT',
      alsoAccept(({ req }) => isOverridden(req, 'POST', 'PUT')),
    ],
    'trailers-not-verified': [
      'Does not verify deliveries with a trailer',
      alsoAccept(({ req, header }) => header === undefined && Object.keys(req.trailers).length > 0),
      'verification-per-framing',
      { note: 'A check deferred to a trailer never takes place, because nothing compares the trailer.' },
    ],
    'requests-without-body-not-verified': [
      'Answers 200 to requests with neither a body nor a length, without verification',
      handleSome(({ req }) => (isBodyless(req) ? confirm : null)),
      'verification-per-framing',
      { note: 'body-parser skips requests without a body, and with them its `verify` hook.' },
    ],
    'lists-not-verified': [
      'Does not verify lists of notifications',
      early((payload) => (isList(payload) ? {} : null)),
      'verification-per-type',
    ],
    'handshakes-not-verified': [
      'Answers handshakes of other senders without verification',
      early((payload) =>
        isObject(payload) && payload.challenge !== undefined ? { challenge: payload.challenge } : null,
      ),
      'foreign-handshake',
    ],
    'pings-not-verified': [
      'Answers 200 to pings and empty objects without verification',
      early((payload) => (isPing(payload) ? {} : null)),
      'foreign-handshake',
    ],
    'path-spellings-not-verified': [
      'Verifies only the exact path, and handles other spellings of it',
      alsoAccept(({ req }) => isOddPath(req)),
      'verification-per-path',
    ],
    'paths-below-not-verified': [
      'Does not verify deliveries at paths that end like a health check or a test',
      alsoAccept(({ req }) => /\/(?:health|ping|test)$/.test(req.url.split('?', 1)[0] ?? '/')),
      'verification-per-path',
    ],
    'unknown-hosts-not-verified': [
      'Does not verify deliveries with an unknown Host',
      alsoAccept(({ req }) => !/^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/.test(req.get('Host') ?? '')),
      'unset-secret',
    ],
    'unknown-tenants-not-verified': [
      'Does not verify deliveries that name an unknown tenant or key in a header',
      alsoAccept(({ req }) => named(req, 'X-Tenant-Id', 'X-Partner-Id', 'X-Key-Id').some((name) => name !== '')),
      'unset-secret',
    ],
    'local-host-not-verified': [
      'Does not verify requests with Host: localhost',
      alsoAccept(({ req }) => req.get('Host') === 'localhost'),
      'spoofed-client-address',
    ],
    'private-addresses-not-verified': [
      'Does not verify requests that claim a private address',
      alsoAccept(({ req }) => named(req, 'X-Forwarded-For', 'X-Client-IP').some((value) => /\b192\.168\./.test(value))),
      'spoofed-client-address',
    ],
    'skip-header': [
      'Skips the verification when X-Skip-Verification or X-Test-Mode is set',
      alsoAccept(({ req }) => hasSkip(req)),
      'test-mode-from-request',
    ],
    'algorithm-none': [
      'Skips the verification when the request names "none" as the algorithm',
      alsoAccept(({ req }) => req.get('X-Signature-Algorithm') === 'none'),
      'algorithm-from-request',
    ],
    'trusts-gateway-user': [
      'Does not verify requests with a header that a gateway sets about the user or the client',
      alsoAccept(({ req }) => (req.get('X-Authenticated-User') ?? '') !== ''),
      'spoofed-request-header',
    ],
    'trusts-rewritten-path': [
      'Looks up X-Original-URL instead of the path in its list of open paths',
      alsoAccept(({ req }) => /health/.test(req.get('X-Original-URL') ?? '')),
      'verification-per-path',
    ],
    'trusts-forwarded-path': [
      'Looks up X-Forwarded-Uri instead of the path in its list of open paths',
      alsoAccept(({ req }) => /^\/(?:public|ping|healthz|metrics)/.test(req.get('X-Forwarded-Uri') ?? '')),
      'verification-per-path',
      { equivalentTo: { name: 'trusts-rewritten-path', reason: 'One check sends all these headers and paths.' } },
    ],
    'trusts-forwarded-page': [
      'Looks up X-Original-URI in its list of open pages and files',
      alsoAccept(({ req }) => /^\/(?:$|login$|.+\.(?:css|ico|txt)$)/.test(req.get('X-Original-URI') ?? '')),
      'verification-per-path',
      { equivalentTo: { name: 'trusts-rewritten-path', reason: 'One check sends all these headers and paths.' } },
    ],
    'form-handshakes-not-verified': [
      'Answers the handshake of another sender in a form without verification',
      handleSome(({ body }) => (isFormHandshake(body) ? confirm : null)),
      'foreign-handshake',
    ],
    'health-agents-not-verified': [
      'Does not verify requests with the User-Agent of a health check',
      alsoAccept(({ req }) => isHealthAgent(req)),
      'spoofed-request-header',
    ],
    'query-parameter-skips': [
      'Skips the verification when the query has `skip_signature=true` or `mode=test`',
      alsoAccept(({ req }) => /[?&](?:skip_signature=true|mode=test)\b/.test(req.url)),
      'test-mode-from-request',
    ],
    'query-sets-result': [
      'Lets the query set the result of the verification, for example with `valid=1`',
      alsoAccept(({ req }) => ['valid', 'verified', 'authenticated'].some((name) => req.query[name] === '1')),
      'request-overwrites-state',
    ],
    'session-after-delivery': [
      'Returns a cookie or a token after a valid delivery, and accepts it instead of a signature',
      rememberingClient(
        (res) => void res.setHeader('Set-Cookie', 'sid=verified; Path=/; HttpOnly'),
        (req) => /\bsid=verified\b/.test(req.get('Cookie') ?? ''),
      ),
      'other-credential-suffices',
    ],
  },
);

/** Mutants whose check of the API key accepts some requests without a key. */
export const keylessRequests = family<StageFault>(
  { ...KEY, mistake: 'conditional-key-check' },
  {
    'api-key-not-checked-on-other-contents': [
      'Answers bodies that are not notifications, such as handshakes, before it checks the API key',
      handleSomeKeys(({ res }) => {
        const payload = jsonOf(required(res, 'rawBody'));
        const isOther = isList(payload) || isPing(payload) || (isObject(payload) && payload.challenge !== undefined);
        return isOther ? confirm : null;
      }),
      { note: 'The branches for handshakes and pings of other senders run before the check.' },
    ],
    'api-key-skip-header': [
      'Skips the API key check when X-Skip-Verification or X-Test-Mode is set',
      acceptWithoutCheck(({ req }) => hasSkip(req)),
      'key-exempt-claims',
    ],
    'api-key-from-request': [
      'Compares the API key with one that the request names in its query or body',
      acceptWithoutCheck(({ req, res, given }) => {
        const payload = jsonOf(required(res, 'rawBody'));
        const inBody = isObject(payload) ? payload.apiKey : undefined;
        return given !== undefined && [req.query.apiKey, inBody].includes(given as string);
      }),
      'named-expected-key',
    ],
    'api-key-not-checked-for-forwarded-paths': [
      'Does not check the API key of requests in which X-Forwarded-Uri names an open path',
      acceptWithoutCheck(({ req }) => /^\/(?:public|healthz)/.test(req.get('X-Forwarded-Uri') ?? '')),
    ],
    'api-key-not-checked-for-form-handshakes': [
      'Answers handshakes in a form before it checks the API key',
      handleSomeKeys(({ res }) => (isFormHandshake(required(res, 'rawBody')) ? confirm : null)),
    ],
    'api-key-not-checked-for-health-agents': [
      'Does not check the API key of requests with the User-Agent of a health check',
      acceptWithoutCheck(({ req }) => isHealthAgent(req)),
      'key-exempt-claims',
    ],
    'api-key-not-checked-for-path-spellings': [
      'Checks the API key at the exact path only, and handles other spellings of it',
      acceptWithoutCheck(({ req }) => isOddPath(req)),
    ],
    'api-key-not-checked-in-other-framings': [
      'Does not check the API key of HTTP/1.0 requests or requests with Expect: 100-continue',
      acceptWithoutCheck(({ req }) => req.httpVersion === '1.0' || req.headers.expect !== undefined),
    ],
    'api-key-not-checked-without-body': [
      'Answers 200 to requests with neither a body nor a length before it checks the API key',
      handleSomeKeys(({ req }) => (isBodyless(req) ? confirm : null)),
      { note: 'The check is in the callback of a body parser, which does not run without a body.' },
    ],
    'api-key-not-checked-for-overridden-methods': [
      'Does not check the API key of a POST that claims to be a PUT',
      acceptWithoutCheck(({ req }) => isOverridden(req, 'POST', 'PUT')),
      { note: '`methodOverride()` runs before a key check for POST, and a handler serves all methods.' },
    ],
  },
);

/** Mutants whose check of the certificate accepts some paths without a certificate. */
export const uncertifiedRequests = family<StageFault>(MTLS, {
  'certificate-required-at-exact-path': [
    'Requires the client certificate at the exact path only, and handles other spellings of it',
    alsoAcceptClients(
      () =>
        ({ req }) =>
          isOddPath(req),
    ),
    'certificate-check-conditional',
    { note: 'An attacker without a certificate adds a slash to the URL.' },
  ],
});
