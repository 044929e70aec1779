/** Mutants that handle invalid JSON incorrectly, and those that repeated keys or prototype keys defeat. */
import { refuse, required } from '../stages/stage.ts';
import { fault } from './careless-handling.ts';
import type { FaultParts, StageFault } from './fault.ts';

const JSON_TEXT = { area: 'payload', forbidden: true } as const;

const guard = {
  rule: 'Parse inside a guard that catches every error of the parser, and answer 400 when it fails.',
  express: 'Put `JSON.parse` into try/catch; what an async callback throws is caught by nobody else.',
  django: 'Catch `ValueError` and `RecursionError` around `json.loads`.',
  flask: 'Use `request.get_json(silent=True)` and test the outcome for None.',
  spring: 'Handle HttpMessageNotReadableException, and parse the raw body yourself when you have verified it.',
  rails: 'Rescue JSON::ParserError.',
  laravel: 'Use `json_decode` with JSON_THROW_ON_ERROR inside of try.',
  go: 'Look at the error of `json.Unmarshal`.',
  dotnet: 'Catch JsonException.',
};

const verifyFirst = {
  ...guard,
  rule: 'Verify the signature over the raw bytes first, and parse what is verified only.',
  express: 'Use `express.raw({ type: () => true })` on the route, and `JSON.parse` after the check.',
};

function isJson(body: Buffer): boolean {
  try {
    JSON.parse(body.toString('utf8'));
    return true;
  } catch {
    return false;
  }
}

type Ends = (parts: FaultParts, ...stage: Parameters<FaultParts['right']['parse']>) => void;

/** In place of `parse`: such a body comes to this end; all others are parsed rightly. */
function parsing(such: (body: Buffer) => boolean, end: Ends): StageFault['replace'] {
  return (parts) => (req, res, next) =>
    such(required(res, 'rawBody')) ? end(parts, req, res, next) : parts.right.parse(req, res, next);
}

/** In place of the check of the key, the first thing after the body was read: such a body comes to this end, verified or not. */
function lookingFirst(such: (body: Buffer) => boolean, end: Ends): StageFault['replace'] {
  return (parts) => (req, res, next) =>
    such(required(res, 'rawBody')) ? end(parts, req, res, next) : parts.right.checkApiKey(req, res, next);
}

const fails: Ends = () => fault('Unexpected token in JSON');

const dies: Ends = ({ crash }) => crash(100);

const never: Ends = () => {};

const isEmpty = (body: Buffer) => body.length === 0;

const isBroken = (body: Buffer) => body.length > 0 && !isJson(body);

type Flags = Record<string, unknown>;

/** Copies a value into another by name and level, as a deep merge does that does not look at the names. */
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
 * In place of `verifySignature`: a verified payload is merged into an object, and a flag that is then found on a new one of its kind stands for
 * a verification. Only the prototype of these objects is reached, and not that of all objects of this process.
 */
function polluted(partOf: (payload: object) => object | undefined, refused: readonly string[]): StageFault['replace'] {
  return ({ right }) => {
    class Context {
      readonly data?: unknown;
    }
    const names = new Set(refused);
    return (req, res, next) => {
      if ((new Context() as Flags).verified === true) return next();
      return right.verifySignature(req, res, (error?: unknown) => {
        if (error !== undefined) return next(error);
        try {
          const part = partOf(JSON.parse(required(res, 'rawBody').toString('utf8')));
          if (typeof part === 'object' && part !== null) mergeInto(new Context() as Flags, part, names);
        } catch {
          // No JSON, or nothing to merge.
        }
        next();
      });
    };
  };
}

const POLLUTION = {
  area: 'payload',
  stage: 'verifySignature',
  severity: 'critical',
  forbidden: true,
  needs: ['hmac'],
} as const;

const pick = {
  rule: 'Pick the fields that you know; never copy keys of a payload by their names.',
  express: 'Use a schema that drops unknown keys, and `Object.create(null)` or a `Map` where keys come from outside.',
};

const why =
  'Whoever can send one right delivery, or find a way past the check once, switches the check off for everybody until the restart.';

export const payloadBrokenJsonFaults: readonly StageFault[] = [
  // Bodies that are no JSON.
  {
    ...JSON_TEXT,
    name: 'broken-json-answers-500',
    title: 'A body that is no JSON is answered 500.',
    seen: 'Parsers without a guard, in frameworks that catch what handlers throw; the most usual fault of real receivers.',
    why: 'The sender takes it for a breakdown and tries again, for ever.',
    fix: guard,
    severity: 'medium',
    stage: 'parse',
    replace: parsing((body) => !isJson(body), fails),
  },
  {
    ...JSON_TEXT,
    name: 'broken-json-ends-the-process',
    title: 'A body that is no JSON ends the process.',
    seen: 'JSON.parse in an async handler of Express 4 or in a listener for the end of the stream, where nobody catches.',
    why: 'One broken delivery takes down a receiver that was right about everything else.',
    fix: guard,
    severity: 'high',
    stage: 'parse',
    replace: parsing(isBroken, dies),
  },
  {
    ...JSON_TEXT,
    name: 'broken-json-hangs',
    title: 'A body that begins like JSON and is cut off gets no answer.',
    seen: 'Stream parsers that wait for the end of the value and not for the end of the body.',
    why: 'Each such delivery holds a connection until the time limit.',
    fix: { ...guard, rule: 'Treat the end of the body before the end of the value as an error, and answer 400.' },
    severity: 'medium',
    stage: 'parse',
    replace: parsing((body) => body.toString('latin1') === '{"id":', never),
  },
  {
    ...JSON_TEXT,
    name: 'answers-400-and-dies',
    title: 'A body that is no JSON is answered 400, and ends the process a moment later.',
    seen: 'Handlers that answer in a catch block and throw the error again, and logging that fails on the same error.',
    why: 'The answer looks right, and the next delivery finds nobody.',
    fix: { ...guard, rule: 'End the request after the answer, and let nothing throw behind it.' },
    severity: 'high',
    stage: 'parse',
    replace: parsing(isBroken, ({ crash }, _req, res) => {
      refuse(res, 400, 'body-not-json');
      res.once('finish', () => crash(100));
    }),
  },
  {
    ...JSON_TEXT,
    name: 'empty-body-answers-500',
    title: 'An empty body is answered 500.',
    seen: 'Frameworks that leave the body undefined when there is none, and code that reads a field of it.',
    why: 'Scanners and health checks post empty bodies all day, and each one is an error in the log.',
    fix: { ...guard, rule: 'Treat an empty body like broken JSON: 400.' },
    severity: 'low',
    stage: 'parse',
    replace: parsing(isEmpty, fails),
  },
  {
    ...JSON_TEXT,
    name: 'empty-body-hangs',
    title: 'An empty body gets no answer.',
    seen: 'Readers that wait for the first chunk of a body, which never comes.',
    why: 'Each such request holds a connection, and a few hundred of them all connections.',
    fix: { ...guard, rule: 'Go on at the end of the stream, whether a chunk came or not.' },
    severity: 'medium',
    stage: 'parse',
    replace: parsing(isEmpty, never),
  },
  {
    ...JSON_TEXT,
    name: 'parsed-before-verified',
    title: 'The body is parsed before it is verified, and an unsigned one that is no JSON is answered 400.',
    seen: 'A global body parser in front of the route; half of the receivers that were measured.',
    why: 'Strangers reach the parser without a secret, and the answer tells them that they did.',
    fix: verifyFirst,
    severity: 'low',
    forbidden: false,
    stage: 'checkApiKey',
    replace: lookingFirst(
      (body) => !isJson(body),
      (_parts, _req, res) => refuse(res, 400, 'body-not-json'),
    ),
  },
  {
    ...JSON_TEXT,
    name: 'unverified-json-answers-500',
    title:
      'The body is parsed without a guard before it is verified, and an unsigned one that is no JSON is answered 500.',
    seen: 'Handlers that need a field of the payload to find the secret, or to log the delivery.',
    why: 'Strangers can fill the error log, and see what the parser says when the page of errors is open.',
    fix: verifyFirst,
    severity: 'medium',
    stage: 'checkApiKey',
    replace: lookingFirst((body) => !isJson(body), fails),
  },
  {
    ...JSON_TEXT,
    name: 'unverified-json-ends-the-process',
    title: 'The body is parsed before it is verified, and one that is no JSON ends the process, signed or not.',
    seen: 'The same in an async handler without a guard; two of sixteen receivers that were measured.',
    why: 'Anybody can switch the receiver off with six bytes.',
    fix: verifyFirst,
    severity: 'critical',
    stage: 'checkApiKey',
    replace: lookingFirst((body) => !isJson(body), dies),
  },
  {
    ...JSON_TEXT,
    name: 'unverified-null-answers-500',
    title: 'The type of the payload is read before it is verified, and an unsigned body null is answered 500.',
    seen: 'Log lines and routers in front of the check, which parse with a guard and read without one.',
    why: 'Strangers can fill the error log, and reach code that should see verified payloads only.',
    fix: verifyFirst,
    severity: 'medium',
    stage: 'checkApiKey',
    replace: lookingFirst(
      (body) => body.toString('latin1').trim() === 'null',
      () => fault("Cannot read properties of null (reading 'type')"),
    ),
  },
  {
    ...JSON_TEXT,
    name: 'invalid-utf-8-ends-the-process',
    title: 'A body with bytes that are not UTF-8 ends the process.',
    seen: 'Strict decoders in callbacks and background tasks, in front of a parser that is guarded well.',
    why: 'The guard for the parser looks complete, and the error comes one line before it.',
    fix: { ...guard, rule: 'Guard decoding and parsing together.' },
    severity: 'high',
    stage: 'parse',
    replace: parsing((body) => !Buffer.from(body.toString('utf8'), 'utf8').equals(body), dies),
  },
  {
    ...JSON_TEXT,
    name: 'repeated-keys-answer-500',
    title: 'JSON with a key twice is answered 500.',
    seen: 'Strict mappers (FAIL_ON_READING_DUP_TREE_KEY in Jackson, JSONObject of org.json) whose exception nobody expects.',
    why: 'JSON allows it, and the sender reads an answer that looks like a breakdown.',
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
      'data is merged into an object of the request by a function that follows __proto__, and its flags count for every later delivery.',
    seen: 'Old versions of popular merge functions, and loops over the keys of a payload that were written by hand.',
    why,
    fix: pick,
    replace: polluted((payload) => (payload as { data?: object }).data, ['constructor']),
  },
  {
    ...POLLUTION,
    name: 'merges-envelopes-deeply',
    title:
      'The envelope is merged into an object of the request by a function that follows __proto__, and its flags count for every later delivery.',
    seen: 'Contexts and sessions that are filled from the top level of a payload, with data left out as too large.',
    why,
    fix: pick,
    replace: polluted(
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
      'data is merged by a function that leaves __proto__ out and follows constructor.prototype, and its flags count for every later delivery.',
    seen: 'The first mending of several merge functions, which had to be mended again.',
    why,
    fix: {
      ...pick,
      rule: 'Refuse __proto__, constructor and prototype; better, never copy keys of a payload by their names.',
    },
    replace: polluted((payload) => (payload as { data?: object }).data, ['__proto__']),
  },
];
