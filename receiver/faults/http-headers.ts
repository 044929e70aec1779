import type { ReceiverConfig } from '../options.ts';
import { refuse, refuseUnauthorized } from '../stages/stage.ts';
import type { StageFault } from './fault.ts';

const base = { area: 'http', severity: 'high', forbidden: true } as const;

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

/** Receivers that trip over the headers of a request. */
export const headerFaults: readonly StageFault[] = [
  {
    ...base,
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
    ...base,
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
    ...base,
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
    ...base,
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
    ...base,
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
    ...base,
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
    ...base,
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
    ...base,
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

/** Repeated or odd credentials are another fault. */
function isCredential(name: string, { signing, apiKey }: ReceiverConfig): boolean {
  return name === signing?.header || name === apiKey?.header;
}

/** Whether none of the names is this one in another spelling than those. */
function isAbsentOrSpelt(rawHeaders: readonly string[], name: string, spellings: readonly string[]): boolean {
  const names = rawHeaders.filter((_, index) => index % 2 === 0);
  return names.every((one) => one.toLowerCase() !== name.toLowerCase() || spellings.includes(one));
}
