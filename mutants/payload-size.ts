/** Mutants with limits on sizes and depths that valid notifications exceed, or with no limit at all. */
import { gunzipSync } from 'node:zlib';
import { parse } from '../receiver/stages/payload.ts';
import { refuse, required } from '../receiver/stages/stage.ts';
import { containersIn, hasText, readBeforeValidation, throwTypeError } from './careless-handling.ts';
import type { FaultParts, StageFault } from './fault.ts';

const SIZE = { area: 'payload', forbidden: true } as const;

const limitDepth = {
  rule:
    'Limit the depth while parsing, handle that error like any other parser error, and do not walk the payload ' +
    'recursively.',
  express: 'JSON.parse itself is safe; check the depth with a loop before a deep copy, a merge or `util.inspect`.',
  python: 'Catch `RecursionError` in addition to `ValueError` around `json.loads`.',
  ruby: 'Rescue JSON::NestingError in addition to JSON::ParserError.',
};

const limitSize = {
  rule: 'Set the body limit yourself, well above the largest notification (256 kB), and answer 413 above it.',
  express: "Write `express.raw({ type: () => true, limit: '256kb' })`; the default is 100 kB.",
  spring: 'Set `server.tomcat.max-http-form-post-size` and the limits of the proxy.',
  dotnet: 'Set `MaxRequestBodySize` in Kestrel and in the proxy.',
};

/** The depth of a value. Not recursive. */
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

/** Replaces `parse`: has no depth limit, and `look` then reads the payload. */
function withoutDepthLimit(look: (payload: unknown, parts: FaultParts) => 'go on' | 'ended'): StageFault['replace'] {
  const parseAnyDepth = parse(Number.POSITIVE_INFINITY);
  return (parts) => (req, res, next) =>
    parseAnyDepth(req, res, (error?: unknown) => {
      if (error !== undefined || look(required(res, 'payload'), parts) === 'go on') next(error);
    });
}

const tooDeep = (limit: number) =>
  withoutDepthLimit((payload) => (depthOf(payload) > limit ? throwTypeError('nesting is too deep') : 'go on'));

/** Replaces `readBody`: handles larger bodies differently; exceptions are answered 500. */
function reading(
  bytes: number,
  end: (parts: FaultParts, ...stage: Parameters<FaultParts['correct']['parse']>) => void,
): StageFault['replace'] {
  return (parts) => (req, res, next) =>
    parts.correct.readBody(req, res, (error?: unknown) => {
      if (error !== undefined || required(res, 'rawBody').length <= bytes) return next(error);
      try {
        end(parts, req, res, next);
      } catch (thrown) {
        next(thrown);
      }
    });
}

/** Replaces `checkContentType`: passes a body with a Content-Encoding to `decode` first. */
function decoding(decode: (encoding: string, body: Buffer, end: () => void) => void): StageFault['replace'] {
  return ({ correct }) =>
    (req, res, next) => {
      const encoding = req.headers['content-encoding'];
      if (encoding === undefined) return correct.checkContentType(req, res, next);
      decode(encoding, required(res, 'rawBody'), () => void correct.checkContentType(req, res, next));
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
    title: 'Answers 500 to more than a hundred levels of nesting',
    seen: 'Ruby, whose parser stops there with a separate error class.',
    why: 'The handler expects another error from the parser.',
    fix: limitDepth,
    severity: 'low',
    stage: 'parse',
    replace: tooDeep(100),
  },
  {
    ...SIZE,
    name: 'nesting-of-900-answers-500',
    title: 'Answers 500 to more than nine hundred levels of nesting',
    seen: 'Python, whose parser raises RecursionError.',
    why: 'RecursionError is not a ValueError, so the error handling of the parser misses it.',
    fix: limitDepth,
    severity: 'low',
    stage: 'parse',
    replace: tooDeep(900),
  },
  {
    ...SIZE,
    name: 'nesting-of-10000-answers-500',
    title: 'Answers 500 to more than ten thousand levels of nesting, because of a recursive walk',
    seen: 'Deep copies, merge functions and loggers in JavaScript, after a parser without a limit.',
    why: 'The parser accepted the payload, so no code expects an error.',
    fix: limitDepth,
    severity: 'low',
    stage: 'parse',
    replace: tooDeep(10_000),
  },
  {
    ...SIZE,
    name: 'deep-nesting-ends-the-process',
    title: "Ends the process on fifty thousand levels of nesting, because the parser's stack overflows",
    seen: 'Native parsers without a limit, and languages in which a stack overflow cannot be caught.',
    why: 'One delivery stops the process and all requests in progress.',
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
    title: 'Ends the process on a deeply nested body before verifying the signature',
    seen: 'A global body parser, or an attack scanner, before the route.',
    why: 'Anyone can stop the receiver without a secret.',
    fix: { ...limitDepth, rule: 'Verify first: nothing reads an unverified body.' },
    severity: 'critical',
    stage: 'requireApiKey',
    replace:
      ({ correct, crash }) =>
      (req, res, next) =>
        /^\[{5000}/.test(required(res, 'rawBody').subarray(0, 5000).toString('latin1'))
          ? crash(100)
          : correct.requireApiKey(req, res, next),
  },
  {
    ...SIZE,
    name: 'nested-objects-answer-500',
    title: 'Answers 500 to a thousand levels of nested objects, but not of nested arrays',
    seen: 'Deep merges and mappers, which recurse only into keys.',
    why: 'A test with nested arrays passed, so the limit was never added.',
    fix: limitDepth,
    severity: 'low',
    stage: 'parse',
    replace: withoutDepthLimit((payload) => {
      let objects = 0;
      for (const container of containersIn(payload)) if (!Array.isArray(container)) objects += 1;
      return objects > 1000 ? throwTypeError('Maximum call stack size exceeded') : 'go on';
    }),
  },
  {
    ...SIZE,
    name: 'many-keys-answer-500',
    title: 'Answers 500 to a payload with more than a thousand keys',
    seen:
      'Limits on parameters (max_input_vars, by default 1000 in form parsers), on columns, and on the fields of a ' +
      'search index.',
    why: 'The limit is in a system behind the receiver, and its error is not handled.',
    fix: {
      rule: 'Pick the fields that you need, and store the rest as text if at all.',
      express: 'Do not copy payloads into documents, metrics or log lines key by key.',
    },
    severity: 'low',
    stage: 'validate',
    replace: readBeforeValidation((payload) => {
      for (const container of containersIn(payload)) {
        if (!Array.isArray(container) && Object.keys(container).length > 1000)
          throwTypeError('limit of total fields exceeded');
      }
    }),
  },
  {
    ...SIZE,
    name: 'names-as-columns-answer-500',
    title: 'Answers 500 to an unknown field with an empty name or a dot in its name, because storing it fails',
    seen: 'Payloads that are stored as they are in MongoDB before 5.0, or indexed in Elasticsearch.',
    why: 'A new field with such a name stops every notification.',
    fix: {
      rule: 'Pick the fields that you need, and store the rest as text if at all.',
      express: 'Store `JSON.stringify(payload)`, or selected fields, instead of the payload.',
    },
    severity: 'low',
    stage: 'validate',
    equivalentTo: {
      name: 'many-keys-answer-500',
      reason: 'One delivery has many unknown fields, and some of them have such names.',
    },
    replace: readBeforeValidation((payload) => {
      for (const container of containersIn(payload)) {
        if (!Array.isArray(container) && Object.keys(container).some((name) => name === '' || name.includes('.')))
          throwTypeError('field names may not be empty or contain a dot');
      }
    }),
  },
  {
    ...SIZE,
    name: 'long-keys-answer-500',
    title: 'Answers 500 to a payload with a key of more than a thousand characters',
    seen: 'Indexes and metrics with a name for each key.',
    why: 'The limit is in a system behind the receiver, and its error is not handled.',
    fix: {
      rule: 'Do not create names from the keys of a payload.',
      express: 'Use your own names for logs and metrics.',
    },
    severity: 'low',
    stage: 'validate',
    replace: readBeforeValidation((payload) => {
      for (const container of containersIn(payload)) {
        if (Object.keys(container).some((key) => key.length > 1000)) throwTypeError('immense term in field');
      }
    }),
  },
  {
    ...SIZE,
    name: 'long-numbers-answer-500',
    title: 'Answers 500 to a number of more than 4,300 digits',
    seen: 'Python, which limits the conversion because of a denial-of-service attack.',
    why: 'The parser raises an error of another kind than usual.',
    fix: {
      rule: 'Catch every exception of the parser, and limit the size of the body.',
      express: 'JSON.parse returns Infinity: test numbers with `Number.isFinite`.',
      python: 'Catch `ValueError` around `json.loads`, or pass `parse_int`.',
    },
    severity: 'low',
    stage: 'parse',
    replace:
      ({ correct }) =>
      (req, res, next) =>
        /:\d{4300}/.test(required(res, 'rawBody').toString('latin1'))
          ? throwTypeError('Exceeds the limit (4300 digits) for integer string conversion')
          : correct.parse(req, res, next),
  },
  {
    ...SIZE,
    name: 'infinite-numbers-answer-500',
    title: 'Answers 500 to a number that is too large for floating point',
    seen: 'Conversions of Infinity to an integer or to JSON, and parsers that reject the overflow.',
    why: 'The number passes the parser and fails at its first use.',
    fix: {
      rule: 'Check during validation that every number is finite and in range.',
      express: 'Use `z.number().int()`, which rejects Infinity, and answer 400.',
    },
    severity: 'low',
    stage: 'validate',
    replace: readBeforeValidation((payload) => {
      for (const container of containersIn(payload)) {
        if (Object.values(container).some((value) => value === Infinity))
          throwTypeError('cannot convert float infinity to integer');
      }
    }),
  },
  {
    ...SIZE,
    name: 'limit-of-8-kb',
    title: 'Answers 413 to a notification over 8 kB',
    seen: 'Limits derived from the size of the sample payload, and buffers of small servers.',
    why: 'A long description reaches this size, and one rejected notification is one lost order.',
    fix: limitSize,
    severity: 'high',
    stage: 'readBody',
    replace: reading(8192, (_parts, _req, res) => refuse(res, 413, 'body-too-large')),
  },
  {
    ...SIZE,
    name: 'full-buffers-hang',
    title: 'Never answers a body that fills its read buffer exactly',
    seen: 'Loops in C, Go and Java that read again while the last read filled the buffer.',
    why: 'One size of notification in some thousand never gets an answer, and no test finds it.',
    fix: {
      rule: 'Read as many bytes as Content-Length says.',
      express: 'Let the framework read the body.',
      go: 'Use `io.ReadAll`, or stop at io.EOF.',
    },
    severity: 'medium',
    stage: 'readBody',
    replace:
      ({ correct }) =>
      (req, res, next) =>
        correct.readBody(req, res, (error?: unknown) => {
          const length = error === undefined ? required(res, 'rawBody').length : 0;
          if (length === 0 || length % 8192 !== 0) next(error);
        }),
  },
  {
    ...SIZE,
    name: 'large-bodies-end-the-process',
    title: 'Ends the process on a body of half a megabyte, signed or not',
    seen:
      'Bodies read without a limit in containers with little memory; reported as denial of service in a well-known ' +
      'deployment tool.',
    why: 'Anyone can fill the memory without a secret.',
    fix: { ...limitSize, rule: 'Limit the body while reading it, and answer 413 above the limit.' },
    severity: 'critical',
    stage: 'readBody',
    replace: reading(500_000, ({ crash }) => crash(100)),
  },
  {
    ...SIZE,
    name: 'large-bodies-answer-500',
    title: 'Answers 500 to a body over half a megabyte',
    seen: 'Limits whose error is not handled, such as a parser that throws into a global error page.',
    why: 'The sender takes a body that will always be too large for an outage and retries.',
    fix: limitSize,
    severity: 'low',
    stage: 'readBody',
    replace: reading(500_000, () => throwTypeError('request entity too large')),
  },
  {
    ...SIZE,
    name: 'long-ids-fill-the-index',
    title: 'Answers 500 to an id of more than 2,700 characters, because no index accepts it',
    seen: 'PostgreSQL, which limits the size of index entries, with a column of unlimited text.',
    why: 'The column has no limit, so the limit of the index is overlooked.',
    fix: {
      rule: 'Validate the length of ids, and answer 400 to longer ones.',
      express: 'Use `z.string().max(100)`.',
    },
    severity: 'low',
    stage: 'validate',
    replace: readBeforeValidation((payload) => {
      if (hasText([(payload as { id?: unknown } | null)?.id], (id) => id.length > 2700))
        throwTypeError('index row size exceeds');
    }),
  },
  {
    ...SIZE,
    name: 'inflates-for-ever',
    title: 'Never answers a truncated gzip body',
    seen: 'Streams with a listener for the end but not for errors.',
    why: 'Each such request holds a connection until it times out.',
    fix: {
      rule: 'Handle stream errors, or disable decompression and answer 415.',
      express: 'Use `stream.pipeline`, which reports errors, instead of `.pipe()`.',
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
    title: 'Answers 500 to an unknown Content-Encoding',
    seen: 'Tables of decoders that are indexed by the header.',
    why: 'Any client can send a header that makes the receiver fail.',
    fix: {
      rule: 'Answer 415 to an unknown encoding.',
      express: 'Test `req.headers["content-encoding"]` before anything decodes.',
    },
    severity: 'low',
    forbidden: false,
    stage: 'checkContentType',
    replace: decoding((encoding, _body, end) =>
      encoding === 'gzip' ? end() : throwTypeError('decoders[encoding] is not a function'),
    ),
  },
];
