import { refuse } from '../stages/stage.ts';
import type { StageFault } from './fault.ts';

const base = { area: 'http', severity: 'medium', forbidden: true } as const;

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

/** Receivers that trip over Content-Type. */
export const contentTypeFaults: readonly StageFault[] = [
  {
    ...base,
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
    ...base,
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
    ...base,
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
    ...base,
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
    ...base,
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
    ...base,
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
    ...base,
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
    ...base,
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
    ...base,
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
];
