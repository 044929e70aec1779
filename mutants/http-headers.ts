/** Mutants that are too strict or too lenient about headers and the content type. */
import type { Request } from 'express';
import type { ReceiverConfig } from '../receiver/options.ts';
import { refuse, refuseUnauthorized } from '../receiver/stages/stage.ts';
import type { StageFault } from './fault.ts';

const CONTENT_TYPE = { area: 'http', severity: 'medium', forbidden: true } as const;

const MEDIA_TYPE = {
  rule: 'Compare the media type without its parameters and letter case, or read the body whatever its type.',
  express: 'Use `express.raw({ type: () => true })`: a list of types or an exact string misses some.',
  fastify: 'Register the content type parser for "*", and decide by the media type afterwards.',
  python: 'Use `self.headers.get_content_type()`, which has no parameters.',
  flask: 'Use `request.mimetype`, which has no parameters.',
  fastapi: 'Cut the header at the semicolon, and compare in lower case.',
  php: 'Cut `$_SERVER["CONTENT_TYPE"]` at the semicolon, and compare in lower case.',
  django: 'Use `request.content_type`, which has no parameters, instead of `request.META["CONTENT_TYPE"]`.',
  spring: 'Use `MediaType.APPLICATION_JSON.isCompatibleWith(...)`, which handles parameters and case.',
  go: 'Use `mime.ParseMediaType`.',
} as const;

const ANY_TYPE = {
  rule: 'Read the raw body whatever its type, or answer 415 before anything uses the body.',
  express:
    '`express.raw()` and `express.json()` leave `req.body` undefined for other types: use `express.raw({ type: () ' +
    '=> true })`.',
  fastify: 'Register a parser for "*": without one the answer is 415, with a wrong one the body is undefined.',
} as const;

const HEADERS = { area: 'http', severity: 'high', forbidden: true } as const;

const ANY_CASE = {
  rule:
    'Look up headers without regard to letter case, as HTTP requires. If the platform passes a plain map, ' +
    'lower-case all names once.',
  express: 'Use `req.get(name)`, or `req.headers` with the name in lower case.',
  go: 'Use `r.Header.Get`; an index into the map needs the canonical spelling.',
  rails: 'Use `request.headers[name]`, not `request.env`.',
  dotnet: 'Use `Request.Headers`; your own dictionary needs `StringComparer.OrdinalIgnoreCase`.',
} as const;

const NO_ALLOW_LIST = {
  rule: 'Ignore unknown headers. Proxies add them, and the sender can configure custom ones for your endpoint.',
  express: 'Remove the middleware that compares headers with a list; exclude the path from the firewall rule.',
} as const;

/** Headers that HTTP clients and proxies add, and those that the specification names. */
const KNOWN: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'authorization',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'cookie',
  'expect',
  'host',
  'transfer-encoding',
  'user-agent',
]);

const TRACING = /^(?:traceparent|x-test-run)$/;

/** Repeated or unusual credentials are another fault. */
function isCredential(name: string, { signing, apiKey }: ReceiverConfig): boolean {
  return name === signing?.header || name === apiKey?.header;
}

/** Whether the header is absent or has one of these spellings. */
function isAbsentOrSpelt(rawHeaders: readonly string[], name: string, spellings: readonly string[]): boolean {
  const names = rawHeaders.filter((_, index) => index % 2 === 0);
  return names.every((one) => one.toLowerCase() !== name.toLowerCase() || spellings.includes(one));
}

/** Replaces `checkContentType`: answers 415 to requests that do not match, and checks the others correctly. */
function unsupportedUnless(matches: (req: Request) => boolean): StageFault['replace'] {
  return ({ correct }) =>
    (req, res, next) =>
      matches(req) ? correct.checkContentType(req, res, next) : refuse(res, 415, 'content-type-not-json');
}

export const httpHeadersFaults: readonly StageFault[] = [
  // Receivers that fail on Content-Type.
  {
    ...CONTENT_TYPE,
    name: 'content-type-compared-exactly',
    title: 'Requires Content-Type to be exactly application/json and rejects it with a charset',
    seen: '`if (req.headers["content-type"] !== "application/json")`, and parsers with an exact list of types.',
    why: 'HTTP libraries and proxies add charset=utf-8 by themselves. After such a change every delivery is rejected.',
    fix: MEDIA_TYPE,
    forbidden: false,
    stage: 'checkContentType',
    replace: unsupportedUnless((req) => req.headers['content-type'] === 'application/json'),
  },
  {
    ...CONTENT_TYPE,
    name: 'content-type-compared-with-case',
    title: 'Recognises the media type only in lower case',
    seen: '`startsWith("application/json")`, and regular expressions without the case-insensitive flag.',
    why: 'Media types are case-insensitive. A gateway that writes them differently stops every delivery.',
    fix: MEDIA_TYPE,
    severity: 'low',
    forbidden: false,
    stage: 'checkContentType',
    replace: unsupportedUnless((req) => !/^[A-Z]/.test(req.headers['content-type'] ?? '')),
  },
  {
    ...CONTENT_TYPE,
    name: 'charset-with-space-expected',
    title: 'Accepts a charset only as "; charset=utf-8", with the space and in lower case',
    seen: 'Lists of the two spellings seen so far, in gateway rules and in hand-written checks.',
    why: 'Java stacks write ";charset=UTF-8". After such a change every delivery is rejected.',
    fix: MEDIA_TYPE,
    severity: 'low',
    forbidden: false,
    stage: 'checkContentType',
    replace: unsupportedUnless(
      ({ headers: { 'content-type': type = '' } }) => !/;/.test(type) || /; charset=utf-8$/.test(type),
    ),
  },
  {
    ...CONTENT_TYPE,
    name: 'charset-in-quotes-throws',
    title: 'Answers 500 to a charset in quotes',
    seen: 'Code that extracts the charset from the header and opens a decoder with that name, including the quotes.',
    why: 'HTTP allows the quotes. The sender takes 500 for an outage and keeps retrying.',
    fix: {
      ...MEDIA_TYPE,
      rule: 'Ignore the charset: JSON is UTF-8. If you must read it, use a header parser.',
    },
    severity: 'low',
    stage: 'checkContentType',
    replace:
      ({ correct }) =>
      (req, res, next) => {
        const charset = /charset=(.+)$/i.exec(req.headers['content-type'] ?? '')?.[1];
        // Throws RangeError for an unknown name, and Express answers 500.
        if (charset !== undefined) new TextDecoder(charset);
        return correct.checkContentType(req, res, next);
      },
  },
  {
    ...CONTENT_TYPE,
    name: 'content-type-missing-throws',
    title: 'Answers 500 to a delivery without Content-Type',
    seen:
      '`req.headers["content-type"].includes("json")`, and body parsers that leave the body undefined for the ' +
      'code that hashes it.',
    why:
      'A malformed delivery must not cause an exception: the sender takes 500 for an outage, and anyone can fill ' +
      'the log.',
    fix: ANY_TYPE,
    stage: 'readBody',
    replace:
      ({ correct }) =>
      (req, res, next) =>
        req.headers['content-type'] === undefined
          ? next(new TypeError("Cannot read properties of undefined (reading 'includes')"))
          : correct.readBody(req, res, next),
  },
  {
    ...CONTENT_TYPE,
    name: 'content-type-missing-hangs',
    title: 'Never answers a delivery without Content-Type',
    seen: 'Handlers that wait for the end of a body which a parser has already discarded.',
    why: 'Each such request holds a connection and a worker until it times out: a few per second stop the service.',
    fix: ANY_TYPE,
    stage: 'readBody',
    replace:
      ({ correct }) =>
      (req, res, next) => {
        if (req.headers['content-type'] !== undefined) return correct.readBody(req, res, next);
        req.resume();
      },
  },
  {
    ...CONTENT_TYPE,
    name: 'content-type-missing-ends-the-process',
    severity: 'critical',
    title: 'Ends the process on a delivery without Content-Type',
    seen: 'The same exception in an event handler or an unawaited async function.',
    why: 'Anyone can stop the receiver with one request, without any credential.',
    fix: {
      ...ANY_TYPE,
      express: `${ANY_TYPE.express} Await every promise of the handler, so that its exceptions lead to an answer.`,
    },
    stage: 'readBody',
    replace:
      ({ correct, crash }) =>
      (req, res, next) =>
        req.headers['content-type'] === undefined ? crash(100) : correct.readBody(req, res, next),
  },
  {
    ...CONTENT_TYPE,
    name: 'content-type-other-throws',
    title: 'Answers 500 to a delivery whose Content-Type is not JSON',
    seen: 'Body parsers that depend on the type, so the body is undefined or a string where the handler expects bytes.',
    why: 'A malformed delivery must not cause an exception; a text/plain request from a script looks like an outage.',
    fix: ANY_TYPE,
    stage: 'checkContentType',
    replace:
      ({ correct }) =>
      (req, res, next) => {
        const type = (req.headers['content-type'] ?? 'application/json').toLowerCase();
        if (!type.includes('json'))
          return next(new TypeError('The "data" argument must be of type string or a Buffer'));
        return correct.checkContentType(req, res, next);
      },
  },
  {
    ...CONTENT_TYPE,
    name: 'form-body-consumed',
    severity: 'low',
    forbidden: false,
    title: 'Lets a form parser consume the body before the verification, so a valid signature gets 401',
    seen: '`express.urlencoded()`, multipart middleware and PHP, which read forms into fields before the handler runs.',
    why: 'The answer reports a wrong signature, so the search for the fault starts in the wrong place.',
    fix: {
      rule: 'Do not use parsers for forms and uploads on this route.',
      express: 'Mount `express.urlencoded()` and upload middleware after the webhook route.',
      php: 'Read `php://input`; for multipart bodies it is empty, so answer 415 to them.',
    },
    stage: 'readBody',
    replace:
      ({ correct }) =>
      (req, res, next) => {
        correct.readBody(req, res, (...failed) => {
          if (/form/.test(req.headers['content-type'] ?? '')) res.locals.rawBody = Buffer.alloc(0);
          next(...failed);
        });
      },
  },
  // Receivers that fail on headers.
  {
    ...HEADERS,
    name: 'signature-header-in-exact-case',
    title: 'Finds the signature header only if its name is spelled X-Service-Signature',
    seen: 'Function platforms and gateways that pass headers as a plain map with their original names.',
    why: 'An HTTP/2 proxy writes every name in lower case: as soon as one is in front, every delivery is answered 401.',
    fix: ANY_CASE,
    needs: ['hmac'],
    stage: 'requireSignature',
    replace:
      ({ correct, config }) =>
      (req, res, next) => {
        const exact = config.signing?.header === 'x-service-signature' ? 'X-Service-Signature' : undefined;
        if (exact === undefined || isAbsentOrSpelt(req.rawHeaders, exact, [exact]))
          return correct.requireSignature(req, res, next);
        refuseUnauthorized(res, 'signature-missing');
      },
  },
  {
    ...HEADERS,
    name: 'signature-header-in-two-spellings',
    severity: 'medium',
    title: 'Finds the signature header only as X-Service-Signature or in lower case',
    seen:
      '`headers["X-Service-Signature"] ?? headers["x-service-signature"]`, a usual fix of functions behind a ' +
      'gateway after the first failure.',
    why: 'The next component with another spelling stops every delivery.',
    fix: ANY_CASE,
    needs: ['hmac'],
    stage: 'requireSignature',
    replace:
      ({ correct, config }) =>
      (req, res, next) => {
        const exact = config.signing?.header === 'x-service-signature' ? 'X-Service-Signature' : undefined;
        if (exact === undefined || isAbsentOrSpelt(req.rawHeaders, exact, [exact, exact.toLowerCase()]))
          return correct.requireSignature(req, res, next);
        refuseUnauthorized(res, 'signature-missing');
      },
  },
  {
    ...HEADERS,
    name: 'content-type-header-in-exact-case',
    title: 'Finds Content-Type only if its name is spelled with capitals',
    seen:
      'The one lookup that was forgotten when the credential headers were fixed: a map with original names is still ' +
      'used for the type.',
    why: 'Behind an HTTP/2 proxy every delivery is rejected as "not JSON", although its credentials are found.',
    fix: ANY_CASE,
    stage: 'checkContentType',
    replace: unsupportedUnless((req) => isAbsentOrSpelt(req.rawHeaders, 'Content-Type', ['Content-Type'])),
  },
  {
    ...HEADERS,
    name: 'refuses-unknown-headers',
    forbidden: false,
    title: 'Rejects a delivery with an unlisted header',
    seen: 'Firewalls and gateways with a list of permitted headers, and strict schema validation of the whole request.',
    why: 'The specification allows custom headers, and proxies add tracing headers.',
    fix: NO_ALLOW_LIST,
    stage: 'accept',
    replace:
      ({ correct, config }) =>
      (req, res, next) => {
        const known = (name: string) =>
          KNOWN.has(name) || name === config.signing?.header || name === config.apiKey?.header || !TRACING.test(name);
        return Object.keys(req.headers).every(known)
          ? correct.accept(req, res, next)
          : refuse(res, 400, 'unknown-header');
      },
  },
  {
    ...HEADERS,
    name: 'refuses-headers-of-2-kb',
    severity: 'medium',
    forbidden: false,
    title: 'Answers 431 to a header over 2 kB',
    seen: 'Small header buffers in proxies and embedded servers, chosen to save memory.',
    why: 'A custom header may carry a token of that size, and tracing headers grow on the way.',
    fix: {
      rule: 'Allow at least 8 kB for one header and 16 kB for all of them.',
      express:
        'Leave `maxHeaderSize` of `http.createServer` at its default of 16 kB. In nginx, see ' +
        '`large_client_header_buffers`.',
      spring: 'Set `server.max-http-request-header-size` to 16KB.',
    },
    stage: 'accept',
    replace:
      ({ correct }) =>
      (req, res, next) =>
        Object.values(req.headers).some((value = '') => value.length > 2048 && value.length < 4500)
          ? refuse(res, 431, 'header-too-large')
          : correct.accept(req, res, next),
  },
  {
    ...HEADERS,
    name: 'repeated-header-answers-500',
    severity: 'medium',
    forbidden: false,
    title: 'Answers 500 to a repeated header',
    seen:
      'Code that copies all headers into a log or a record and expects a string for each, where a repeated one is a ' +
      'list.',
    why: 'Proxies repeat headers (X-Forwarded-For, Via, cookies). After such a change every delivery fails.',
    fix: {
      rule: 'Read only the headers that you need, and expect a list where a name may be repeated.',
      express: 'Use `req.get(name)`; `req.headers` joins most repeated headers, `req.headersDistinct` returns lists.',
      go: 'Values are always lists: `r.Header.Values(name)`.',
    },
    stage: 'accept',
    replace:
      ({ correct, config }) =>
      (req, res, next) => {
        const repeated = Object.entries(req.headersDistinct).filter(
          ([name, values = []]) => values.length > 1 && !isCredential(name, config),
        );
        if (repeated.length > 0) return next(new TypeError('value.trim is not a function'));
        return correct.accept(req, res, next);
      },
  },
  {
    ...HEADERS,
    name: 'unparsable-headers-answer-500',
    severity: 'medium',
    forbidden: false,
    title: 'Answers 500 to a cookie or a language that cannot be parsed',
    seen: 'Middleware for cookies, sessions and languages for the whole application: `decodeURIComponent`, `Intl`.',
    why: 'Anyone can cause exceptions with one header, and each of them looks like an outage in the monitoring.',
    fix: {
      rule: 'Parse only the headers that you need, and handle the errors of the parser.',
      express: 'Mount middleware for cookies and languages on other routes only.',
      rails: 'Use `ActionController::API` for the endpoint.',
    },
    stage: 'accept',
    replace:
      ({ correct }) =>
      (req, res, next) => {
        try {
          decodeURIComponent(req.get('Cookie') ?? '');
          Intl.getCanonicalLocales(req.get('Accept-Language')?.split(/[,;]/, 1)[0] ?? []);
        } catch {
          return refuse(res, 500, 'internal-error');
        }
        return correct.accept(req, res, next);
      },
  },
  {
    ...HEADERS,
    name: 'non-ascii-header-answers-500',
    severity: 'medium',
    forbidden: false,
    title: 'Answers 500 to an unknown header with a character outside ASCII',
    seen: 'Code that decodes every header strictly, as ASCII or UTF-8, for a log or a record.',
    why: 'Proxies add headers with names of people and places. Anyone can cause exceptions with one.',
    fix: {
      rule: 'Read only the headers that you need, and treat the rest as bytes.',
      express:
        'Node returns headers as latin1 and does not throw; search for `decodeURIComponent` or JSON columns in ' +
        'later code.',
      python: 'Do not encode headers as ASCII; use `errors="replace"` in the log.',
    },
    stage: 'accept',
    replace:
      ({ correct, config }) =>
      (req, res, next) => {
        const unreadable = Object.entries(req.headers).some(
          ([name, value]) => !isCredential(name, config) && /[^\x00-\x7f]/.test(String(value)),
        );
        return unreadable
          ? next(new TypeError("'ascii' codec can't decode byte 0xe9"))
          : correct.accept(req, res, next);
      },
  },
  {
    ...HEADERS,
    name: 'authorization-taken-for-login',
    severity: 'medium',
    forbidden: false,
    title: 'Answers 401 to a valid delivery with an Authorization header',
    seen: 'A login filter for admin pages that reads the header on every route and rejects unknown users.',
    why: 'A partner who sets the header as a custom header, or a proxy that adds it, stops every delivery.',
    fix: {
      rule: 'Keep the authentication of users off this route.',
      express: 'Mount passport or express-basic-auth on other routes only.',
      spring: 'Give the endpoint its own SecurityFilterChain without httpBasic().',
    },
    stage: 'accept',
    replace:
      ({ correct, config }) =>
      (req, res, next) =>
        req.headers.authorization !== undefined && !isCredential('authorization', config)
          ? refuseUnauthorized(res, 'user-unknown')
          : correct.accept(req, res, next),
  },
  {
    ...HEADERS,
    name: 'refuses-many-headers',
    severity: 'medium',
    forbidden: false,
    title: 'Answers 431 to more than 32 headers',
    seen: 'Small header tables in embedded servers and firewalls.',
    why: 'Each proxy adds some, in addition to custom headers.',
    fix: {
      rule: 'Allow at least 100 headers.',
      express: 'Leave `server.maxHeadersCount` at its default.',
    },
    stage: 'accept',
    replace:
      ({ correct }) =>
      (req, res, next) =>
        req.rawHeaders.length > 64 ? refuse(res, 431, 'too-many-headers') : correct.accept(req, res, next),
  },
];
