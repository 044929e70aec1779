/** Mutants that are too strict or too lenient about headers and the content type. */
import type { ReceiverConfig } from '../options.ts';
import { refuse, refuseUnauthorized } from '../stages/stage.ts';
import type { StageFault } from './fault.ts';

const CONTENT_TYPE = { area: 'http', severity: 'medium', forbidden: true } as const;

const MEDIA_TYPE = {
  rule: 'Compare the media type without its parameters and without regard to letter case, or read the body whatever its type is.',
  express: 'Use `express.raw({ type: () => true })`: a list of types or an exact text misses some.',
  fastify: 'Register the content type parser for "*", and decide by the media type afterwards.',
  django: 'Use `request.content_type`, which is without parameters, and not `request.META["CONTENT_TYPE"]`.',
  spring: 'Use `MediaType.APPLICATION_JSON.isCompatibleWith(...)`, which knows about parameters and case.',
  go: 'Use `mime.ParseMediaType`.',
} as const;

const ANY_TYPE = {
  rule: 'Read the raw body whatever its type is, or answer 415 before anything uses the body.',
  express:
    '`express.raw()` and `express.json()` leave `req.body` undefined for a type that they do not know: use `express.raw({ type: () => true })`.',
  fastify: 'Register a parser for "*": without one the answer is 415, with a wrong one the body is undefined.',
} as const;

const HEADERS = { area: 'http', severity: 'high', forbidden: true } as const;

const ANY_CASE = {
  rule: 'Look headers up without regard to letter case, as HTTP demands. Where the platform hands them out as a plain map, lower-case all names once.',
  express: 'Use `req.get(name)`, or `req.headers` with the name in lower case.',
  go: 'Use `r.Header.Get`; an index into the map needs the canonical spelling.',
  rails: 'Use `request.headers[name]`, not `request.env`.',
  dotnet: 'Use `Request.Headers`; a dictionary of your own needs `StringComparer.OrdinalIgnoreCase`.',
} as const;

const NO_ALLOW_LIST = {
  rule: 'Let headers that you do not know pass. They are added on the way and may be configured for your endpoint at any time.',
  express: 'Remove the middleware that compares headers with a list; in a firewall, take the path out of the rule.',
} as const;

/** What HTTP clients and proxies add to a request by themselves, and what the contract names. */
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

/** Repeated or odd credentials are another fault. */
function isCredential(name: string, { signing, apiKey }: ReceiverConfig): boolean {
  return name === signing?.header || name === apiKey?.header;
}

/** Whether none of the names is this one in another spelling than those. */
function isAbsentOrSpelt(rawHeaders: readonly string[], name: string, spellings: readonly string[]): boolean {
  const names = rawHeaders.filter((_, index) => index % 2 === 0);
  return names.every((one) => one.toLowerCase() !== name.toLowerCase() || spellings.includes(one));
}

export const httpHeadersFaults: readonly StageFault[] = [
  // Receivers that trip over Content-Type.
  {
    ...CONTENT_TYPE,
    name: 'content-type-compared-exactly',
    title: 'Content-Type has to be exactly application/json; with a charset behind it the delivery is refused.',
    seen: '`if (req.headers["content-type"] !== "application/json")`, and parsers with an exact list of types.',
    why: 'HTTP libraries and proxies add charset=utf-8 by themselves. After an update on the way nothing arrives any more.',
    fix: MEDIA_TYPE,
    forbidden: false,
    stage: 'checkContentType',
    replace:
      ({ right }) =>
      (req, res, next) =>
        req.headers['content-type'] === 'application/json'
          ? right.checkContentType(req, res, next)
          : refuse(res, 415, 'content-type-not-json'),
  },
  {
    ...CONTENT_TYPE,
    name: 'content-type-compared-with-case',
    title: 'The media type is found only in small letters.',
    seen: '`startsWith("application/json")` and regular expressions without the flag for letter case.',
    why: 'Media types have no letter case. One gateway that writes them its own way stops every delivery.',
    fix: MEDIA_TYPE,
    severity: 'low',
    forbidden: false,
    stage: 'checkContentType',
    replace:
      ({ right }) =>
      (req, res, next) =>
        /^[A-Z]/.test(req.headers['content-type'] ?? '')
          ? refuse(res, 415, 'content-type-not-json')
          : right.checkContentType(req, res, next),
  },
  {
    ...CONTENT_TYPE,
    name: 'charset-with-space-expected',
    title: 'A charset is accepted only as "; charset=utf-8", with the space and in small letters.',
    seen: 'Lists of the two spellings that were seen so far, in rules of gateways and in hand-written checks.',
    why: 'Java stacks write ";charset=UTF-8". After a change on the way every delivery is refused.',
    fix: MEDIA_TYPE,
    severity: 'low',
    forbidden: false,
    stage: 'checkContentType',
    replace:
      ({ right }) =>
      (req, res, next) =>
        /;/.test(req.headers['content-type'] ?? '') && !/; charset=utf-8$/.test(req.headers['content-type'] ?? '')
          ? refuse(res, 415, 'content-type-not-json')
          : right.checkContentType(req, res, next),
  },
  {
    ...CONTENT_TYPE,
    name: 'charset-in-quotes-throws',
    title: 'A charset in quotes is answered 500.',
    seen: 'Code that cuts the charset out of the header and opens a decoder of that name, quotes included.',
    why: 'Quotes are allowed there. The sender takes 500 for an outage and goes on trying.',
    fix: {
      ...MEDIA_TYPE,
      rule: 'Ignore the charset: JSON is UTF-8. If you must read it, use a parser for the header.',
    },
    severity: 'low',
    stage: 'checkContentType',
    replace:
      ({ right }) =>
      (req, res, next) => {
        const charset = /charset=(.+)$/i.exec(req.headers['content-type'] ?? '')?.[1];
        // Throws RangeError on a name that is none, and Express makes 500 of it.
        if (charset !== undefined) new TextDecoder(charset);
        return right.checkContentType(req, res, next);
      },
  },
  {
    ...CONTENT_TYPE,
    name: 'content-type-missing-throws',
    title: 'A delivery without Content-Type is answered 500.',
    seen: '`req.headers["content-type"].includes("json")`, and body parsers that leave the body undefined for the code that hashes it.',
    why: 'A malformed delivery must not be an exception: the sender takes 500 for an outage, and anyone can fill the log.',
    fix: ANY_TYPE,
    stage: 'readBody',
    replace:
      ({ right }) =>
      (req, res, next) =>
        req.headers['content-type'] === undefined
          ? next(new TypeError("Cannot read properties of undefined (reading 'includes')"))
          : right.readBody(req, res, next),
  },
  {
    ...CONTENT_TYPE,
    name: 'content-type-missing-hangs',
    title: 'A delivery without Content-Type is never answered.',
    seen: 'Handlers that wait for the end of a body which a parser in front has read and thrown away.',
    why: 'Each such request holds a connection and a worker until the time limit: a few of them a second stop the service.',
    fix: ANY_TYPE,
    stage: 'readBody',
    replace:
      ({ right }) =>
      (req, res, next) => {
        if (req.headers['content-type'] !== undefined) return right.readBody(req, res, next);
        req.resume();
      },
  },
  {
    ...CONTENT_TYPE,
    name: 'content-type-missing-ends-the-process',
    severity: 'critical',
    title: 'A delivery without Content-Type ends the process.',
    seen: 'The same exception as elsewhere, in an event handler or an async function that nobody awaits.',
    why: 'Anyone can switch the receiver off with one request, without any credential.',
    fix: {
      ...ANY_TYPE,
      express: `${ANY_TYPE.express} Await every promise of the handler, so that its exceptions end in an answer.`,
    },
    stage: 'readBody',
    replace:
      ({ right, crash }) =>
      (req, res, next) =>
        req.headers['content-type'] === undefined ? crash(100) : right.readBody(req, res, next),
  },
  {
    ...CONTENT_TYPE,
    name: 'content-type-other-throws',
    title: 'A delivery whose Content-Type is not JSON is answered 500.',
    seen: 'Body parsers that go by the type, so that the body is undefined or a text where the handler expects bytes.',
    why: 'A malformed delivery must not be an exception; a text/plain from a script of a colleague looks like an outage.',
    fix: ANY_TYPE,
    stage: 'checkContentType',
    replace:
      ({ right }) =>
      (req, res, next) => {
        const type = (req.headers['content-type'] ?? 'application/json').toLowerCase();
        if (!type.includes('json'))
          return next(new TypeError('The "data" argument must be of type string or a Buffer'));
        return right.checkContentType(req, res, next);
      },
  },
  {
    ...CONTENT_TYPE,
    name: 'form-body-consumed',
    severity: 'low',
    forbidden: false,
    title: 'A parser for forms has read the body before the signature is verified, so a right signature gets 401.',
    seen: '`express.urlencoded()`, multipart middleware and PHP, which read forms into fields before the handler runs.',
    why: 'The answer says "wrong signature" about a right one, and whoever looks for the fault looks in the wrong place.',
    fix: {
      rule: 'Keep parsers for forms and uploads off this route.',
      express: 'Mount `express.urlencoded()` and upload middleware behind the webhook route.',
      laravel: 'Read `php://input`; for multipart bodies it is empty, so answer 415 to them.',
    },
    stage: 'readBody',
    replace:
      ({ right }) =>
      (req, res, next) => {
        right.readBody(req, res, (...failed) => {
          if (/form/.test(req.headers['content-type'] ?? '')) res.locals.rawBody = Buffer.alloc(0);
          next(...failed);
        });
      },
  },
  // Receivers that trip over the headers of a request.
  {
    ...HEADERS,
    name: 'signature-header-in-exact-case',
    title: 'The signature header is found only when its name is spelt X-Service-Signature.',
    seen: 'Function platforms and gateways that hand headers out as a plain map of names as they came.',
    why: 'A proxy that speaks HTTP/2 writes every name in lower case: from the day it stands in front, every delivery is a 401.',
    fix: ANY_CASE,
    needs: ['hmac'],
    stage: 'verifySignature',
    replace:
      ({ right, config }) =>
      (req, res, next) => {
        const exact = config.signing?.header === 'x-service-signature' ? 'X-Service-Signature' : undefined;
        if (exact === undefined || isAbsentOrSpelt(req.rawHeaders, exact, [exact]))
          return right.verifySignature(req, res, next);
        refuseUnauthorized(res, 'signature-missing');
      },
  },
  {
    ...HEADERS,
    name: 'signature-header-in-two-spellings',
    severity: 'medium',
    title: 'The signature header is found as X-Service-Signature and in lower case, and in no other spelling.',
    seen: '`headers["X-Service-Signature"] ?? headers["x-service-signature"]`, which is how functions behind a gateway are mended after the first failure.',
    why: 'The next component that spells the name its own way stops every delivery.',
    fix: ANY_CASE,
    needs: ['hmac'],
    stage: 'verifySignature',
    replace:
      ({ right, config }) =>
      (req, res, next) => {
        const exact = config.signing?.header === 'x-service-signature' ? 'X-Service-Signature' : undefined;
        if (exact === undefined || isAbsentOrSpelt(req.rawHeaders, exact, [exact, exact.toLowerCase()]))
          return right.verifySignature(req, res, next);
        refuseUnauthorized(res, 'signature-missing');
      },
  },
  {
    ...HEADERS,
    name: 'content-type-header-in-exact-case',
    title: 'Content-Type is found only when its name is spelt with capitals.',
    seen: 'The one lookup that was forgotten when the headers of the credentials were mended: a map of names as they came is still used for the type.',
    why: 'Behind a proxy that speaks HTTP/2 every delivery is refused as "not JSON", although its credentials are found.',
    fix: ANY_CASE,
    stage: 'checkContentType',
    replace:
      ({ right }) =>
      (req, res, next) =>
        isAbsentOrSpelt(req.rawHeaders, 'Content-Type', ['Content-Type'])
          ? right.checkContentType(req, res, next)
          : refuse(res, 415, 'content-type-not-json'),
  },
  {
    ...HEADERS,
    name: 'refuses-unknown-headers',
    title: 'A delivery with a header that is not on a list is refused.',
    seen: 'Firewalls and gateways with a list of permitted headers, and strict validation of the whole request against a schema.',
    why: 'Custom headers are part of the contract, and proxies add headers for tracing without asking anyone.',
    fix: NO_ALLOW_LIST,
    stage: 'accept',
    replace:
      ({ right, config }) =>
      (req, res, next) => {
        const known = (name: string) =>
          KNOWN.has(name) || name === config.signing?.header || name === config.apiKey?.header || !TRACING.test(name);
        return Object.keys(req.headers).every(known)
          ? right.accept(req, res, next)
          : refuse(res, 400, 'unknown-header');
      },
  },
  {
    ...HEADERS,
    name: 'refuses-headers-of-2-kb',
    severity: 'medium',
    forbidden: false,
    title: 'A header of more than 2 kB is answered 431.',
    seen: 'Small header buffers in proxies and embedded servers, which were chosen to save memory.',
    why: 'A custom header may carry a token of that size, and tracing headers grow on the way.',
    fix: {
      rule: 'Give the server at least 8 kB for a header and 16 kB for all of them.',
      express:
        'Leave `maxHeaderSize` of `http.createServer` at its default of 16 kB. In nginx, see `large_client_header_buffers`.',
      spring: 'Set `server.max-http-request-header-size` to 16KB.',
    },
    stage: 'accept',
    replace:
      ({ right }) =>
      (req, res, next) =>
        Object.values(req.headers).some((value = '') => value.length > 2048 && value.length < 4500)
          ? refuse(res, 431, 'header-too-large')
          : right.accept(req, res, next),
  },
  {
    ...HEADERS,
    name: 'repeated-header-answers-500',
    severity: 'medium',
    forbidden: false,
    title: 'A header that comes in two lines is answered 500.',
    seen: 'Code that copies all headers into a log or a record and expects a text for each, where a repeated one is a list.',
    why: 'Proxies repeat headers (X-Forwarded-For, Via, cookies). After a change on the way nothing arrives any more.',
    fix: {
      rule: 'Touch only the headers that you need, and expect a list where a name may be repeated.',
      express: 'Use `req.get(name)`; `req.headers` joins most repeated headers, `req.headersDistinct` gives lists.',
      go: 'Values are lists always: `r.Header.Values(name)`.',
    },
    stage: 'accept',
    replace:
      ({ right, config }) =>
      (req, res, next) => {
        const repeated = Object.entries(req.headersDistinct).filter(
          ([name, values = []]) => values.length > 1 && !isCredential(name, config),
        );
        if (repeated.length > 0) return next(new TypeError('value.trim is not a function'));
        return right.accept(req, res, next);
      },
  },
  {
    ...HEADERS,
    name: 'non-ascii-header-answers-500',
    severity: 'medium',
    forbidden: false,
    title: 'An unknown header with a character beyond ASCII is answered 500.',
    seen: 'Code that decodes every header strictly, as ASCII or UTF-8, for a log or a record.',
    why: 'Proxies add headers with names of people and places. Anyone can make exceptions with it.',
    fix: {
      rule: 'Touch only the headers that you need, and read the rest as bytes.',
      express:
        'Node gives headers as latin1 and does not throw; look for `decodeURIComponent` or JSON columns behind it.',
      flask: 'Do not encode `request.headers` as ASCII; use `errors="replace"` in the log.',
    },
    stage: 'accept',
    replace:
      ({ right, config }) =>
      (req, res, next) => {
        const unreadable = Object.entries(req.headers).some(
          ([name, value]) => !isCredential(name, config) && /[^\x00-\x7f]/.test(String(value)),
        );
        return unreadable ? next(new TypeError("'ascii' codec can't decode byte 0xe9")) : right.accept(req, res, next);
      },
  },
  {
    ...HEADERS,
    name: 'refuses-many-headers',
    severity: 'medium',
    forbidden: false,
    title: 'More than 32 headers are answered 431.',
    seen: 'Small tables for headers in embedded servers and firewalls.',
    why: 'Each proxy on the way adds some, and custom headers come on top.',
    fix: {
      rule: 'Allow at least 100 headers.',
      express: 'Leave `server.maxHeadersCount` at its default.',
    },
    stage: 'accept',
    replace:
      ({ right }) =>
      (req, res, next) =>
        req.rawHeaders.length > 64 ? refuse(res, 431, 'too-many-headers') : right.accept(req, res, next),
  },
];
