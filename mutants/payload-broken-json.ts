/** Mutants that handle invalid JSON incorrectly, and mutants that fail on repeated keys or prototype keys. */
import { refuse, required } from '../receiver/stages/stage.ts';
import { isContainer, isJson, throwTypeError } from './careless-handling.ts';
import { family } from './family.ts';
import type { FaultParts, StageFault } from './fault.ts';

type Replacement = Pick<StageFault, 'stage' | 'replace'>;

type Ends = (parts: FaultParts, ...stage: Parameters<FaultParts['correct']['parse']>) => void;

/** Replaces a stage: handles matching bodies with `end`, and all others correctly. */
const replacing =
  (stage: 'parse' | 'requireApiKey') =>
  (such: (body: Buffer) => boolean, end: Ends): Replacement => ({
    stage,
    replace: (parts) => (req, res, next) =>
      such(required(res, 'rawBody')) ? end(parts, req, res, next) : parts.correct[stage](req, res, next),
  });

const parsing = replacing('parse');

/** Replaces the status 400 in the answers of the parser and all later stages. */
const rejectingPayloads = (status: number, headers: Record<string, string> = {}): Replacement => ({
  stage: 'parse',
  replace:
    ({ correct }) =>
    (req, res, next) => {
      const writeHead = res.writeHead.bind(res);
      const replaced = (given: number, own: Record<string, string>) =>
        given === 400 ? writeHead(status, { ...own, ...headers }) : writeHead(given, own);
      res.writeHead = replaced as typeof res.writeHead;
      correct.parse(req, res, next);
    },
});

/**
 * Handles bodies in the check of the API key, the first stage after reading the body. The signature is not verified
 * yet.
 */
const inspectFirst = replacing('requireApiKey');

const fails: Ends = () => throwTypeError('Unexpected token in JSON');
const endsProcess: Ends = ({ crash }) => crash(100);
const never: Ends = () => {};

const isEmpty = (body: Buffer) => body.length === 0;
const isNotJson = (body: Buffer) => !isJson(body);
const isInvalidJson = (body: Buffer) => body.length > 0 && !isJson(body);

type Flags = Record<string, unknown>;

/** Copies the properties of one object into another, level by level, like a deep merge that does not check names. */
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
 * Replaces `requireSignature`: merges each verified payload into an object. Accepts a delivery without verification if
 * a new object of the same class has the flag. A payload can reach only the prototype of this class, not that of all
 * objects in the process.
 */
function acceptIfPolluted(
  partOf: (payload: object) => object | undefined,
  refused: readonly string[],
): Partial<StageFault> {
  const replace: StageFault['replace'] = ({ correct }) => {
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
          if (isContainer(part)) mergeInto(new Context() as Flags, part, names);
        } catch {
          // The body is not JSON, or it contains nothing to merge.
        }
        next();
      });
    };
  };
  return { stage: 'requireSignature', needs: ['hmac'], replace };
}

export const payloadBrokenJsonFaults = family<StageFault>(
  { area: 'payload', mistake: 'unguarded-parser' },
  {
    // Mutants that mishandle bodies that are not JSON.
    'broken-json-answers-500': ['Answers 500 to a body that is not JSON', parsing(isNotJson, fails)],
    'invalid-payloads-answer-500': [
      'Answers 500 to every payload that is not a notification',
      rejectingPayloads(500),
      'payload-not-validated',
    ],
    'invalid-payloads-redirected': [
      'Redirects every payload that is not a notification, and does not answer 400',
      rejectingPayloads(302, { Location: '/' }),
      'invalid-payload-redirected',
    ],
    'broken-json-ends-the-process': [
      'Ends the process on a body that is not JSON',
      parsing(isInvalidJson, endsProcess),
    ],
    'broken-json-hangs': [
      'Never answers a truncated JSON body',
      parsing((body) => body.toString('latin1') === '{"id":', never),
      'read-waits-for-more',
    ],
    'answers-400-and-dies': [
      'Answers 400 to a body that is not JSON and then ends the process',
      parsing(isInvalidJson, ({ crash }, _req, res) => {
        refuse(res, 400, 'body-not-json');
        res.once('finish', () => crash(100));
      }),
      { note: 'The answer looks correct, but the next delivery finds no server.' },
    ],
    'empty-body-answers-500': ['Answers 500 to an empty body', parsing(isEmpty, fails), 'undefined-body-throws'],
    'empty-body-hangs': ['Never answers an empty body', parsing(isEmpty, never), 'read-waits-for-more'],
    'parsed-before-verified': [
      'Parses the body before verifying it and answers 400 to an unsigned one that is not JSON',
      inspectFirst(isNotJson, (_parts, _req, res) => refuse(res, 400, 'body-not-json')),
      'parsing-before-verification',
      { forbidden: false },
    ],
    'unverified-json-answers-500': [
      'Parses the body unguarded before verifying it and answers 500 to an unsigned one that is not JSON',
      inspectFirst(isNotJson, fails),
      'parsing-before-verification',
    ],
    'unverified-json-ends-the-process': [
      'Parses the body before verifying it and ends the process if it is not JSON',
      inspectFirst(isNotJson, endsProcess),
      'parsing-before-verification',
    ],
    'unverified-null-answers-500': [
      'Reads the type of the payload before verifying it and answers 500 to an unsigned null',
      inspectFirst(
        (body) => body.toString('latin1').trim() === 'null',
        () => throwTypeError("Cannot read properties of null (reading 'type')"),
      ),
      'parsing-before-verification',
    ],
    'invalid-utf-8-ends-the-process': [
      'Ends the process on a body that is not UTF-8',
      parsing((body) => !Buffer.from(body.toString('utf8'), 'utf8').equals(body), endsProcess),
    ],
    'repeated-keys-answer-500': [
      'Answers 500 to JSON with a repeated key',
      parsing((body) => body.toString('latin1').split('"type":"CAAS"').length > 2, fails),
      { note: 'FAIL_ON_READING_DUP_TREE_KEY in Jackson and JSONObject in org.json throw on repeated keys.' },
    ],
    // Mutants in which a payload reaches the prototype of the receiver's own objects.
    'merges-payloads-deeply': [
      'Merges data into an object of the request with a function that follows __proto__, which affects every later ' +
        'delivery',
      acceptIfPolluted((payload) => (payload as { data?: object }).data, ['constructor']),
      'payload-merged-into-prototype',
    ],
    'merges-envelopes-deeply': [
      'Merges the envelope into an object of the request with a function that follows __proto__, which affects ' +
        'every later delivery',
      acceptIfPolluted(
        ({ ...payload }) => (Object.hasOwn(payload, '__proto__') ? payload : undefined),
        ['constructor', 'data'],
      ),
      'payload-merged-into-prototype',
    ],
    'merges-but-for-proto': [
      'Merges data with a function that blocks __proto__ but follows constructor.prototype, which affects every ' +
        'later delivery',
      acceptIfPolluted((payload) => (payload as { data?: object }).data, ['__proto__']),
      'payload-merged-into-prototype',
    ],
  },
);
