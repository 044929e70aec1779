/** Mutants with limits on size or depth that valid notifications exceed, and mutants without such limits. */
import { gunzipSync } from 'node:zlib';
import { parse } from '../receiver/stages/payload.ts';
import { refuse, required } from '../receiver/stages/stage.ts';
import {
  containersIn,
  hasContainer,
  hasText,
  isObject,
  throwBefore,
  throwTypeError,
  where,
} from './careless-handling.ts';
import { family } from './family.ts';
import type { FaultParts, StageFault } from './fault.ts';

type Replacement = Pick<StageFault, 'stage' | 'replace'>;

/** Returns the depth of a value, without recursion. */
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

/** Replaces `parse`: accepts payloads of any depth, then passes them to `look`. */
function withoutDepthLimit(look: (payload: unknown, parts: FaultParts) => 'go on' | 'ended'): Replacement {
  const parseAnyDepth = parse(Number.POSITIVE_INFINITY);
  return {
    stage: 'parse',
    replace: (parts) => (req, res, next) =>
      parseAnyDepth(req, res, (error?: unknown) => {
        if (error !== undefined || look(required(res, 'payload'), parts) === 'go on') next(error);
      }),
  };
}

const tooDeep = (limit: number) =>
  withoutDepthLimit((payload) => (depthOf(payload) > limit ? throwTypeError('nesting is too deep') : 'go on'));

/** Replaces `readBody`: handles bodies above this size with `end`. An exception leads to a 500. */
function reading(
  bytes: number,
  end: (parts: FaultParts, ...stage: Parameters<FaultParts['correct']['parse']>) => void,
): Replacement {
  return {
    stage: 'readBody',
    replace: (parts) => (req, res, next) =>
      parts.correct.readBody(req, res, (error?: unknown) => {
        if (error !== undefined || required(res, 'rawBody').length <= bytes) return next(error);
        try {
          end(parts, req, res, next);
        } catch (thrown) {
          next(thrown);
        }
      }),
  };
}

/** Replaces `checkContentType`: passes a body with a Content-Encoding to `decode` first. */
function decoding(decode: (encoding: string, body: Buffer, end: () => void) => void): Replacement {
  return {
    stage: 'checkContentType',
    replace:
      ({ correct }) =>
      (req, res, next) => {
        const encoding = req.headers['content-encoding'];
        if (encoding === undefined) return correct.checkContentType(req, res, next);
        decode(encoding, required(res, 'rawBody'), () => void correct.checkContentType(req, res, next));
      },
  };
}

/** Matches if `such` returns true for a key of an object at any depth of the payload. */
const hasName = (such: (name: string) => boolean) =>
  hasContainer((container) => isObject(container) && Object.keys(container).some(such));

function isWhole(gzip: Buffer): boolean {
  try {
    gunzipSync(gzip);
    return true;
  } catch {
    return false;
  }
}

export const payloadSizeFaults = family<StageFault>(
  { area: 'payload', stage: 'validate', mistake: 'deep-nesting-unhandled' },
  {
    'nesting-of-100-answers-500': ['Answers 500 to more than a hundred levels of nesting', tooDeep(100)],
    'nesting-of-900-answers-500': [
      'Answers 500 to more than nine hundred levels of nesting',
      tooDeep(900),
      { forbidden: false },
    ],
    'nesting-of-10000-answers-500': [
      'Answers 500 to more than ten thousand levels of nesting, because of a recursive walk',
      tooDeep(10_000),
      { forbidden: false },
    ],
    'deep-nesting-ends-the-process': [
      "Ends the process on fifty thousand levels of nesting, because the parser's stack overflows",
      withoutDepthLimit((payload, { crash }) => {
        if (depthOf(payload) <= 50_000) return 'go on';
        crash(100);
        return 'ended';
      }),
    ],
    'unverified-nesting-ends-the-process': [
      'Ends the process on a deeply nested body before verifying the signature',
      ({ correct, crash }) =>
        (req, res, next) =>
          /^\[{5000}/.test(required(res, 'rawBody').subarray(0, 5000).toString('latin1'))
            ? crash(100)
            : correct.requireApiKey(req, res, next),
      'parsing-before-verification',
      { stage: 'requireApiKey' },
    ],
    'nested-objects-answer-500': [
      'Answers 500 to a thousand levels of nested objects, but not of nested arrays',
      withoutDepthLimit((payload) => {
        let objects = 0;
        for (const container of containersIn(payload)) if (isObject(container)) objects += 1;
        return objects > 1000 ? throwTypeError('Maximum call stack size exceeded') : 'go on';
      }),
      { forbidden: false, note: 'A test with nested arrays passed, so the limit was never added.' },
    ],
    'many-keys-answer-500': [
      'Answers 500 to a payload with more than a thousand keys',
      throwBefore(
        'limit of total fields exceeded',
        hasContainer((container) => isObject(container) && Object.keys(container).length > 1000),
      ),
      'names-from-payload-keys',
      { forbidden: false },
    ],
    'names-as-columns-answer-500': [
      'Answers 500 to an unknown field with an empty name or a dot in its name, because storing it fails',
      throwBefore(
        'field names may not be empty or contain a dot',
        hasName((name) => name === '' || name.includes('.')),
      ),
      'names-from-payload-keys',
      {
        forbidden: false,
        equivalentTo: {
          name: 'many-keys-answer-500',
          reason: 'One delivery has many unknown fields, and some of them have such names.',
        },
      },
    ],
    'long-keys-answer-500': [
      'Answers 500 to a payload with a key of more than a thousand characters',
      throwBefore(
        'immense term in field',
        hasName((name) => name.length > 1000),
      ),
      'names-from-payload-keys',
      { forbidden: false },
    ],
    'long-numbers-answer-500': [
      'Answers 500 to a number of more than 4,300 digits',
      ({ correct }) =>
        (req, res, next) =>
          /:\d{4300}/.test(required(res, 'rawBody').toString('latin1'))
            ? throwTypeError('Exceeds the limit (4300 digits) for integer string conversion')
            : correct.parse(req, res, next),
      'number-conversion-unchecked',
      { stage: 'parse' },
    ],
    'infinite-numbers-answer-500': [
      'Answers 500 to a number that is too large for floating point',
      throwBefore(
        'cannot convert float infinity to integer',
        hasContainer((container) => Object.values(container).includes(Infinity)),
      ),
      'number-conversion-unchecked',
    ],
    'limit-of-8-kb': [
      'Answers 413 to a notification over 8 kB',
      reading(8192, (_parts, _req, res) => refuse(res, 413, 'body-too-large')),
      'valid-body-size-rejected',
      { note: 'Such limits are derived from the size of the sample payload.' },
    ],
    'full-buffers-hang': [
      'Never answers a body that fills its read buffer exactly',
      ({ correct }) =>
        (req, res, next) =>
          correct.readBody(req, res, (error?: unknown) => {
            const length = error === undefined ? required(res, 'rawBody').length : 0;
            if (length === 0 || length % 8192 !== 0) next(error);
          }),
      'read-waits-for-more',
      { stage: 'readBody' },
    ],
    'large-bodies-end-the-process': [
      'Ends the process on a body of half a megabyte, signed or not',
      reading(500_000, ({ crash }) => crash(100)),
      'oversized-body-unhandled',
    ],
    'large-bodies-answer-500': [
      'Answers 500 to a body over half a megabyte',
      reading(500_000, () => throwTypeError('request entity too large')),
      'oversized-body-unhandled',
      { forbidden: false },
    ],
    'long-ids-fill-the-index': [
      'Answers 500 to an id of more than 2,700 characters, because no index accepts it',
      throwBefore('index row size exceeds', where('id', hasText(/^[\s\S]{2701}/))),
      'value-longer-than-column',
    ],
    'inflates-for-ever': [
      'Never answers a truncated gzip body',
      decoding((_encoding, body, end) => {
        const isGzip = body[0] === 0x1f && body[1] === 0x8b;
        if (!isGzip || isWhole(body)) end();
      }),
      'decompression-unguarded',
      { forbidden: false },
    ],
    'unknown-encoding-answers-500': [
      'Answers 500 to an unknown Content-Encoding',
      decoding((encoding, _body, end) =>
        encoding === 'gzip' ? end() : throwTypeError('decoders[encoding] is not a function'),
      ),
      'decompression-unguarded',
      { forbidden: false },
    ],
  },
);
