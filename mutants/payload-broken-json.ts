/** Mutants that handle invalid JSON incorrectly, and those that repeated keys or prototype keys defeat. */
import { refuse, required } from '../receiver/stages/stage.ts';
import { isJson, throwTypeError } from './careless-handling.ts';
import type { FaultParts, StageFault } from './fault.ts';

const JSON_TEXT = { area: 'payload', forbidden: true } as const;

const guard = {
  rule: 'Catch every parser error, and answer 400.',
  express: 'Put `JSON.parse` into try/catch; nothing else catches exceptions of an async callback.',
  python: 'Catch `ValueError` and `RecursionError` around `json.loads`.',
  flask: 'Use `request.get_json(silent=True)`, and test the result for None.',
  spring: 'Handle HttpMessageNotReadableException, or parse the raw body yourself after the verification.',
  ruby: 'Rescue JSON::ParserError.',
  php: 'Use `json_decode` with JSON_THROW_ON_ERROR inside try.',
  go: 'Check the error of `json.Unmarshal`.',
  dotnet: 'Catch JsonException.',
};

const verifyFirst = {
  ...guard,
  rule: 'Verify the signature over the raw bytes first, and parse only verified bodies.',
  express: 'Use `express.raw({ type: () => true })` on the route, and `JSON.parse` after verification.',
};

type Ends = (parts: FaultParts, ...stage: Parameters<FaultParts['correct']['parse']>) => void;

/** Replaces `parse`: handles matching bodies by `end`, and parses all others correctly. */
function parsing(such: (body: Buffer) => boolean, end: Ends): StageFault['replace'] {
  return (parts) => (req, res, next) =>
    such(required(res, 'rawBody')) ? end(parts, req, res, next) : parts.correct.parse(req, res, next);
}

/**
 * Replaces the key check, the first stage after reading the body: handles matching bodies by `end`, verified or not.
 */
function inspectFirst(such: (body: Buffer) => boolean, end: Ends): StageFault['replace'] {
  return (parts) => (req, res, next) =>
    such(required(res, 'rawBody')) ? end(parts, req, res, next) : parts.correct.requireApiKey(req, res, next);
}

const fails: Ends = () => throwTypeError('Unexpected token in JSON');

const endsProcess: Ends = ({ crash }) => crash(100);

const never: Ends = () => {};

const isEmpty = (body: Buffer) => body.length === 0;

const isInvalidJson = (body: Buffer) => body.length > 0 && !isJson(body);

type Flags = Record<string, unknown>;

/** Copies a value into another by name and level, like a deep merge that does not check names. */
function mergeInto(target: Flags, source: object, refused: ReadonlySet<string>): void {
  for (const [name, value] of Object.entries(source)) {
    if (refused.has(name)) continue;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      target[name] = value;
      continue;
    }
    const below = target[name];
    if ((typeof below !== 'object' && typeof below !== 'function') || below === null) continue;
    mergeInto(below as Flags, value, refused);
  }
}

/**
 * Replaces `requireSignature`: merges a verified payload into an object, and accepts a delivery if a new object of that
 * kind has the flag. Only the prototype of these objects is reachable, not that of all objects of the process.
 */
function acceptIfPolluted(
  partOf: (payload: object) => object | undefined,
  refused: readonly string[],
): StageFault['replace'] {
  return ({ correct }) => {
    class Context {
      readonly data?: unknown;
    }
    const names = new Set(refused);
    return (req, res, next) => {
      if ((new Context() as Flags).verified === true) return next();
      return correct.requireSignature(req, res, (error?: unknown) => {
        if (error !== undefined) return next(error);
        try {
          const part = partOf(JSON.parse(required(res, 'rawBody').toString('utf8')));
          if (typeof part === 'object' && part !== null) mergeInto(new Context() as Flags, part, names);
        } catch {
          // Not JSON, or nothing to merge.
        }
        next();
      });
    };
  };
}

const POLLUTION = {
  area: 'payload',
  stage: 'requireSignature',
  severity: 'critical',
  forbidden: true,
  needs: ['hmac'],
} as const;

const pick = {
  rule: 'Pick the fields that you know; never copy keys of a payload by name.',
  express: 'Use a schema that drops unknown keys, and `Object.create(null)` or a `Map` for external keys.',
};

const why =
  'Anyone who sends one valid delivery, or bypasses the check once, disables it for everyone until the restart.';

export const payloadBrokenJsonFaults: readonly StageFault[] = [
  // Bodies that are not JSON.
  {
    ...JSON_TEXT,
    name: 'broken-json-answers-500',
    title: 'Answers 500 to a body that is not JSON',
    seen: 'Unguarded parsers in frameworks that catch exceptions of handlers; the most common fault of real receivers.',
    why: 'The sender takes it for an outage and keeps retrying.',
    fix: guard,
    severity: 'medium',
    stage: 'parse',
    replace: parsing((body) => !isJson(body), fails),
  },
  {
    ...JSON_TEXT,
    name: 'broken-json-ends-the-process',
    title: 'Ends the process on a body that is not JSON',
    seen:
      'JSON.parse in an async handler of Express 4 or in a listener for the end of the stream, where nothing ' +
      'catches exceptions.',
    why: 'One malformed delivery stops a receiver that is otherwise correct.',
    fix: guard,
    severity: 'high',
    stage: 'parse',
    replace: parsing(isInvalidJson, endsProcess),
  },
  {
    ...JSON_TEXT,
    name: 'broken-json-hangs',
    title: 'Never answers a truncated JSON body',
    seen: 'Streaming parsers that wait for the end of the value instead of the end of the body.',
    why: 'Each such delivery holds a connection until it times out.',
    fix: { ...guard, rule: 'Treat the end of the body before the end of the value as an error, and answer 400.' },
    severity: 'medium',
    stage: 'parse',
    replace: parsing((body) => body.toString('latin1') === '{"id":', never),
  },
  {
    ...JSON_TEXT,
    name: 'answers-400-and-dies',
    title: 'Answers 400 to a body that is not JSON and then ends the process',
    seen: 'Handlers that answer in a catch block and rethrow, and logging that fails on the same error.',
    why: 'The answer looks correct, but the next delivery finds no server.',
    fix: { ...guard, rule: 'End the request after the answer, and throw nothing after it.' },
    severity: 'high',
    stage: 'parse',
    replace: parsing(isInvalidJson, ({ crash }, _req, res) => {
      refuse(res, 400, 'body-not-json');
      res.once('finish', () => crash(100));
    }),
  },
  {
    ...JSON_TEXT,
    name: 'empty-body-answers-500',
    title: 'Answers 500 to an empty body',
    seen: 'Frameworks that leave the body undefined if there is none, and code that reads a field of it.',
    why: 'Scanners and health checks constantly post empty bodies, and each one logs an error.',
    fix: { ...guard, rule: 'Treat an empty body like invalid JSON: 400.' },
    severity: 'low',
    stage: 'parse',
    replace: parsing(isEmpty, fails),
  },
  {
    ...JSON_TEXT,
    name: 'empty-body-hangs',
    title: 'Never answers an empty body',
    seen: 'Readers that wait for the first chunk of a body, which never arrives.',
    why: 'Each such request holds a connection, and a few hundred of them use up all connections.',
    fix: { ...guard, rule: 'Continue at the end of the stream, whether there was a chunk or not.' },
    severity: 'medium',
    stage: 'parse',
    replace: parsing(isEmpty, never),
  },
  {
    ...JSON_TEXT,
    name: 'parsed-before-verified',
    title: 'Parses the body before verifying it and answers 400 to an unsigned one that is not JSON',
    seen: 'A global body parser before the route, as in half of the receivers that were examined.',
    why: 'Unauthenticated clients reach the parser, and the answer reveals it.',
    fix: verifyFirst,
    severity: 'low',
    forbidden: false,
    stage: 'requireApiKey',
    replace: inspectFirst(
      (body) => !isJson(body),
      (_parts, _req, res) => refuse(res, 400, 'body-not-json'),
    ),
  },
  {
    ...JSON_TEXT,
    name: 'unverified-json-answers-500',
    title: 'Parses the body unguarded before verifying it and answers 500 to an unsigned one that is not JSON',
    seen: 'Handlers that need a field of the payload to find the secret or to log the delivery.',
    why: "Anyone can fill the error log, and see the parser's message if error pages are enabled.",
    fix: verifyFirst,
    severity: 'medium',
    stage: 'requireApiKey',
    replace: inspectFirst((body) => !isJson(body), fails),
  },
  {
    ...JSON_TEXT,
    name: 'unverified-json-ends-the-process',
    title: 'Parses the body before verifying it and ends the process if it is not JSON',
    seen: 'The same in an unguarded async handler, as in two of sixteen receivers that were examined.',
    why: 'Anyone can stop the receiver with six bytes.',
    fix: verifyFirst,
    severity: 'critical',
    stage: 'requireApiKey',
    replace: inspectFirst((body) => !isJson(body), endsProcess),
  },
  {
    ...JSON_TEXT,
    name: 'unverified-null-answers-500',
    title: 'Reads the type of the payload before verifying it and answers 500 to an unsigned null',
    seen: 'Log lines and routers before verification, which parse with error handling but read fields without it.',
    why: 'Anyone can fill the error log and reach code that expects verified payloads.',
    fix: verifyFirst,
    severity: 'medium',
    stage: 'requireApiKey',
    replace: inspectFirst(
      (body) => body.toString('latin1').trim() === 'null',
      () => throwTypeError("Cannot read properties of null (reading 'type')"),
    ),
  },
  {
    ...JSON_TEXT,
    name: 'invalid-utf-8-ends-the-process',
    title: 'Ends the process on a body that is not UTF-8',
    seen: 'Strict decoders in callbacks and background tasks, before a well-guarded parser.',
    why: 'The error handling of the parser looks complete, but the exception occurs one line before it.',
    fix: { ...guard, rule: 'Catch errors of decoding and parsing together.' },
    severity: 'high',
    stage: 'parse',
    replace: parsing((body) => !Buffer.from(body.toString('utf8'), 'utf8').equals(body), endsProcess),
  },
  {
    ...JSON_TEXT,
    name: 'repeated-keys-answer-500',
    title: 'Answers 500 to JSON with a repeated key',
    seen:
      'Strict mappers (FAIL_ON_READING_DUP_TREE_KEY in Jackson, JSONObject of org.json) whose exception is not ' +
      'handled.',
    why: 'JSON allows repeated keys, and the sender takes the answer for an outage.',
    fix: { ...guard, spring: 'Handle the exception with 400, or take the last value as other parsers do.' },
    severity: 'low',
    stage: 'parse',
    replace: parsing((body) => body.toString('latin1').split('"type":"CAAS"').length > 2, fails),
  },
  // Payloads that reach the prototype of the receiver's own objects.
  {
    ...POLLUTION,
    name: 'merges-payloads-deeply',
    title:
      'Merges data into an object of the request with a function that follows __proto__, which affects every later ' +
      'delivery',
    seen: 'Old versions of popular merge functions, and hand-written loops over the keys of a payload.',
    why,
    fix: pick,
    replace: acceptIfPolluted((payload) => (payload as { data?: object }).data, ['constructor']),
  },
  {
    ...POLLUTION,
    name: 'merges-envelopes-deeply',
    title:
      'Merges the envelope into an object of the request with a function that follows __proto__, which affects ' +
      'every later delivery',
    seen: 'Contexts and sessions filled from the top level of a payload, without data.',
    why,
    fix: pick,
    replace: acceptIfPolluted(
      ({ ...payload }) => {
        return Object.hasOwn(payload, '__proto__') ? payload : undefined;
      },
      ['constructor', 'data'],
    ),
  },
  {
    ...POLLUTION,
    name: 'merges-but-for-proto',
    title:
      'Merges data with a function that blocks __proto__ but follows constructor.prototype, which affects every ' +
      'later delivery',
    seen: 'The first fix of several merge functions, which needed a second one.',
    why,
    fix: {
      ...pick,
      rule: 'Reject __proto__, constructor and prototype; better, never copy keys of a payload by name.',
    },
    replace: acceptIfPolluted((payload) => (payload as { data?: object }).data, ['__proto__']),
  },
];
