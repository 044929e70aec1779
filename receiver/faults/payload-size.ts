/** Mutants with limits on sizes and depths that valid notifications exceed, or with no limit at all. */
import { gunzipSync } from 'node:zlib';
import { parse } from '../stages/parse.ts';
import { refuse, required } from '../stages/stage.ts';
import { containersIn, fault, readingBefore, someText } from './careless-handling.ts';
import type { FaultParts, StageFault } from './fault.ts';

const SIZE = { area: 'payload', forbidden: true } as const;

const limitDepth = {
  rule: 'Limit the depth where the body is parsed, catch the error of that limit like any other error of the parser, and let nothing walk the payload by recursion.',
  express:
    'JSON.parse itself survives; check the depth with a loop before a deep copy, a merge or `util.inspect` sees the value.',
  django: 'Catch `RecursionError` beside `ValueError` around `json.loads`.',
  flask: 'Catch `RecursionError` beside `ValueError` around `json.loads`.',
  rails: 'Rescue JSON::NestingError beside JSON::ParserError.',
};

const limitSize = {
  rule: 'Set the limit of the body yourself, well above the largest notification (256 kB), and answer 413 beyond it.',
  express: "Write `express.raw({ type: () => true, limit: '256kb' })`; the default is 100 kB.",
  spring: 'Set `server.tomcat.max-http-form-post-size` and the limits of the proxy.',
  dotnet: 'Set `MaxRequestBodySize` in Kestrel and in the proxy.',
};

/** How deep a value is nested. Not recursive. */
function depthOf(value: unknown): number {
  let deepest = 0;
  const open: [unknown, number][] = [[value, 0]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [here, depth] = next;
    deepest = Math.max(deepest, depth);
    if (typeof here === 'object' && here !== null) {
      for (const below of Object.values(here)) open.push([below, depth + 1]);
    }
  }
  return deepest;
}

/** In place of `parse`: one without a limit of depth, and what then looks into the payload. */
function withoutDepthLimit(look: (payload: unknown, parts: FaultParts) => 'go on' | 'ended'): StageFault['replace'] {
  const parseAnyDepth = parse(Number.POSITIVE_INFINITY);
  return (parts) => (req, res, next) =>
    parseAnyDepth(req, res, (error?: unknown) => {
      if (error !== undefined || look(required(res, 'payload'), parts) === 'go on') next(error);
    });
}

const tooDeep = (limit: number) =>
  withoutDepthLimit((payload) => (depthOf(payload) > limit ? fault('nesting is too deep') : 'go on'));

/** In place of `readBody`: what is larger than this comes to an end of its own; what that throws is answered 500. */
function reading(
  bytes: number,
  end: (parts: FaultParts, ...stage: Parameters<FaultParts['right']['parse']>) => void,
): StageFault['replace'] {
  return (parts) => (req, res, next) =>
    parts.right.readBody(req, res, (error?: unknown) => {
      if (error !== undefined || required(res, 'rawBody').length <= bytes) return next(error);
      try {
        end(parts, req, res, next);
      } catch (thrown) {
        next(thrown);
      }
    });
}

/** In place of `checkContentType`: a body with a Content-Encoding is first given to `decode`. */
function decoding(decode: (encoding: string, body: Buffer, end: () => void) => void): StageFault['replace'] {
  return ({ right }) =>
    (req, res, next) => {
      const encoding = req.headers['content-encoding'];
      if (encoding === undefined) return right.checkContentType(req, res, next);
      decode(encoding, required(res, 'rawBody'), () => void right.checkContentType(req, res, next));
    };
}

function isWhole(gzip: Buffer): boolean {
  try {
    gunzipSync(gzip);
    return true;
  } catch {
    return false;
  }
}

export const payloadSizeFaults: readonly StageFault[] = [
  {
    ...SIZE,
    name: 'nesting-of-100-answers-500',
    title: 'More than a hundred levels of nesting are answered 500.',
    seen: 'Ruby, whose parser stops there with an error of a class of its own.',
    why: 'The error is not the one that the handler expects from the parser.',
    fix: limitDepth,
    severity: 'low',
    stage: 'parse',
    replace: tooDeep(100),
  },
  {
    ...SIZE,
    name: 'nesting-of-900-answers-500',
    title: 'More than nine hundred levels of nesting are answered 500.',
    seen: 'Python, which raises RecursionError in the parser.',
    why: 'RecursionError is no ValueError, so the guard around the parser does not catch it.',
    fix: limitDepth,
    severity: 'low',
    stage: 'parse',
    replace: tooDeep(900),
  },
  {
    ...SIZE,
    name: 'nesting-of-10000-answers-500',
    title:
      'More than ten thousand levels of nesting are answered 500, because something walks the payload by recursion.',
    seen: 'Deep copies, mergers and loggers in JavaScript, behind a parser that has no limit.',
    why: 'The parser took the payload, so nobody expects an error any more.',
    fix: limitDepth,
    severity: 'low',
    stage: 'parse',
    replace: tooDeep(10_000),
  },
  {
    ...SIZE,
    name: 'deep-nesting-ends-the-process',
    title: 'Fifty thousand levels of nesting overflow the stack of the parser, and the process ends.',
    seen: 'Parsers in native code without a limit, and languages in which an overflow of the stack cannot be caught.',
    why: 'One delivery takes the process down, with every request that it was handling.',
    fix: limitDepth,
    severity: 'high',
    stage: 'parse',
    replace: withoutDepthLimit((payload, { crash }) => {
      if (depthOf(payload) <= 50_000) return 'go on';
      crash(100);
      return 'ended';
    }),
  },
  {
    ...SIZE,
    name: 'unverified-nesting-ends-the-process',
    title: 'The nesting of a body overflows the stack before the signature is checked, and the process ends.',
    seen: 'A global body parser, or a scanner for attacks, in front of the route.',
    why: 'Anybody can switch the receiver off, without a secret.',
    fix: { ...limitDepth, rule: 'Verify first: nothing looks into a body that is not verified.' },
    severity: 'critical',
    stage: 'checkApiKey',
    replace:
      ({ right, crash }) =>
      (req, res, next) =>
        /^\[{5000}/.test(required(res, 'rawBody').subarray(0, 5000).toString('latin1'))
          ? crash(100)
          : right.checkApiKey(req, res, next),
  },
  {
    ...SIZE,
    name: 'nested-objects-answer-500',
    title: 'Objects in objects, a thousand levels deep, are answered 500; arrays in arrays are not.',
    seen: 'Deep merges and mappers, which recurse over keys alone.',
    why: 'The test with nested arrays passed, and the guard was never written.',
    fix: limitDepth,
    severity: 'low',
    stage: 'parse',
    replace: withoutDepthLimit((payload) => {
      let objects = 0;
      for (const container of containersIn(payload)) if (!Array.isArray(container)) objects += 1;
      return objects > 1000 ? fault('Maximum call stack size exceeded') : 'go on';
    }),
  },
  {
    ...SIZE,
    name: 'many-keys-answer-500',
    title: 'A payload with more than a thousand keys is answered 500.',
    seen: 'Limits on parameters (max_input_vars, 1000 by default in form parsers), on columns, and on the fields of a search index.',
    why: 'The limit lies in a system behind the receiver, and its error is not expected.',
    fix: {
      rule: 'Pick the fields that you need, and store the rest as text if at all.',
      express: 'Do not spread payloads into documents, metrics or log lines.',
    },
    severity: 'low',
    stage: 'validate',
    replace: readingBefore((payload) => {
      for (const container of containersIn(payload)) {
        if (!Array.isArray(container) && Object.keys(container).length > 1000) fault('limit of total fields exceeded');
      }
    }),
  },
  {
    ...SIZE,
    name: 'long-keys-answer-500',
    title: 'A payload with a key of more than a thousand characters is answered 500.',
    seen: 'Indexes and metrics with a name for each key.',
    why: 'The limit lies in a system behind the receiver, and its error is not expected.',
    fix: {
      rule: 'Make no names out of the keys of a payload.',
      express: 'Log and measure under names of your own.',
    },
    severity: 'low',
    stage: 'validate',
    replace: readingBefore((payload) => {
      for (const container of containersIn(payload)) {
        if (Object.keys(container).some((key) => key.length > 1000)) fault('immense term in field');
      }
    }),
  },
  {
    ...SIZE,
    name: 'long-numbers-answer-500',
    title: 'A number of more than 4,300 digits is answered 500.',
    seen: 'Python, which refuses to convert longer ones since that was found to be an attack.',
    why: 'The error comes from within the parser, and is of another kind than its own.',
    fix: {
      rule: 'Catch whatever the parser throws, and limit the size of the body.',
      express: 'JSON.parse makes Infinity of it: test numbers with `Number.isFinite`.',
      django: 'Catch `ValueError` around `json.loads`, or pass `parse_int`.',
      flask: 'Catch `ValueError` around `json.loads`, or pass `parse_int`.',
    },
    severity: 'low',
    stage: 'parse',
    replace:
      ({ right }) =>
      (req, res, next) =>
        /:\d{4300}/.test(required(res, 'rawBody').toString('latin1'))
          ? fault('Exceeds the limit (4300 digits) for integer string conversion')
          : right.parse(req, res, next),
  },
  {
    ...SIZE,
    name: 'infinite-numbers-answer-500',
    title: 'A number that is too large for floating point is answered 500.',
    seen: 'Conversions of Infinity to an integer or to JSON, and parsers that refuse the overflow.',
    why: 'The number passes the parser and fails wherever it is first used.',
    fix: {
      rule: 'Test every number for being finite and in range when you validate.',
      express: 'Use `z.number().int()`, which refuses Infinity, and answer 400.',
    },
    severity: 'low',
    stage: 'validate',
    replace: readingBefore((payload) => {
      for (const container of containersIn(payload)) {
        if (Object.values(container).some((value) => value === Infinity))
          fault('cannot convert float infinity to integer');
      }
    }),
  },
  {
    ...SIZE,
    name: 'limit-of-64-kb',
    title: 'A notification of more than 64 kB is answered 413.',
    seen: 'Limits of gateways and queues, and columns for text (65,535 bytes in MySQL) that a limit was derived from.',
    why: 'Nobody notices until the first long text, and then this notification never gets through.',
    fix: limitSize,
    severity: 'low',
    forbidden: false,
    stage: 'readBody',
    replace: reading(65_535, (_parts, _req, res) => refuse(res, 413, 'body-too-large')),
  },
  {
    ...SIZE,
    name: 'limit-of-8-kb',
    title: 'A notification of more than 8 kB is answered 413.',
    seen: 'Limits that were set by the size of the sample payload, and buffers of small servers.',
    why: 'A long description reaches this size, and one refused notification is one lost order.',
    fix: limitSize,
    severity: 'high',
    stage: 'readBody',
    replace: reading(8192, (_parts, _req, res) => refuse(res, 413, 'body-too-large')),
  },
  {
    ...SIZE,
    name: 'large-bodies-end-the-process',
    title: 'A body of half a megabyte ends the process, signed or not.',
    seen: 'Bodies that are read without a limit in containers with little memory; published as denial of service of a well-known deployment tool.',
    why: 'Anybody can fill the memory, without a secret.',
    fix: { ...limitSize, rule: 'Limit the body before it is read, and answer 413 beyond the limit.' },
    severity: 'critical',
    stage: 'readBody',
    replace: reading(500_000, ({ crash }) => crash(100)),
  },
  {
    ...SIZE,
    name: 'large-bodies-answer-500',
    title: 'A body of more than half a megabyte is answered 500.',
    seen: 'Limits whose error has no handler, as with a parser that throws in front of a global error page.',
    why: 'The sender takes a body that will always be too large for a breakdown, and repeats it.',
    fix: limitSize,
    severity: 'low',
    stage: 'readBody',
    replace: reading(500_000, () => fault('request entity too large')),
  },
  {
    ...SIZE,
    name: 'long-ids-fill-the-index',
    title: 'An id of more than 2,700 characters is answered 500, because no index takes it.',
    seen: 'PostgreSQL, whose index entries have a maximum size, under a column of unlimited text.',
    why: 'The column has no limit, so nobody thinks of the one of the index.',
    fix: {
      rule: 'Set an upper bound for id in the validation, and answer 400 beyond it.',
      express: 'Use `z.string().max(100)`.',
    },
    severity: 'low',
    stage: 'validate',
    replace: readingBefore((payload) => {
      if (someText([(payload as { id?: unknown } | null)?.id], (id) => id.length > 2700))
        fault('index row size exceeds');
    }),
  },
  {
    ...SIZE,
    name: 'inflates-for-ever',
    title: 'A gzip body that ends early gets no answer.',
    seen: 'Streams whose end is waited for and whose error is not.',
    why: 'Each such request holds a connection until the time limit.',
    fix: {
      rule: 'Handle the error of the stream, or switch inflation off and answer 415.',
      express: 'Use `stream.pipeline`, which reports errors, and not `.pipe()`.',
    },
    severity: 'medium',
    forbidden: false,
    stage: 'checkContentType',
    replace: decoding((_encoding, body, end) => {
      const isGzip = body[0] === 0x1f && body[1] === 0x8b;
      if (!isGzip || isWhole(body)) end();
    }),
  },
  {
    ...SIZE,
    name: 'unknown-encoding-answers-500',
    title: 'A Content-Encoding that nobody knows is answered 500.',
    seen: 'Tables of decoders that are indexed by the header.',
    why: 'A header that any client can send makes the receiver fail.',
    fix: {
      rule: 'Answer 415 to an encoding that you do not know.',
      express: 'Test `req.headers["content-encoding"]` before anything decodes.',
    },
    severity: 'low',
    forbidden: false,
    stage: 'checkContentType',
    replace: decoding((encoding, _body, end) =>
      encoding === 'gzip' ? end() : fault('decoders[encoding] is not a function'),
    ),
  },
];
