import type { Socket } from 'node:net';
import { refuse, refuseUnauthorized, required, type Stage } from '../stages/stage.ts';
import type { StageFault } from './fault.ts';

const base = { area: 'delivery', severity: 'high', forbidden: true } as const;

const keepNothing = {
  rule: 'Keep nothing of a delivery beyond its answer: a new buffer, parser and result for every request.',
  express: 'Keep state in `res.locals`, and nothing in `req.socket` or at the level of the module.',
};

/** In place of a stage: after an answer with one of these statuses, the next request on the connection is ended by `turnAway`. */
function staining(
  stage: 'parse' | 'validate' | 'verifySignature',
  turnAway: (...stage: Parameters<Stage>) => void,
): StageFault['replace'] {
  return ({ right }) => {
    const stained = new WeakSet<Socket>();
    return (req, res, next) => {
      if (stained.delete(req.socket)) return turnAway(req, res, next);
      stained.add(req.socket);
      return right[stage](req, res, (error?: unknown) => {
        stained.delete(req.socket);
        next(error);
      });
    };
  };
}

/** What one delivery leaves behind on its connection for the next. */
export const connectionMemory: readonly StageFault[] = [
  {
    ...base,
    name: 'broken-body-spoils-the-next',
    title: 'After a body that is no JSON, the next delivery on the connection is answered 400.',
    seen: 'Parsers that are made once for each connection and keep what they could not read.',
    why: 'A proxy sends the deliveries of everybody over the same connections, so one broken body costs somebody else a notification.',
    fix: keepNothing,
    stage: 'parse',
    replace: staining('parse', (_req, res) => refuse(res, 400, 'body-not-json')),
  },
  {
    ...base,
    name: 'invalid-fields-spoil-the-next',
    title: 'After a notification with invalid fields, the next delivery on the connection is answered 400.',
    seen: 'Validators whose list of errors belongs to the validator and is not emptied (ajv keeps it in `validate.errors`).',
    why: 'The right delivery after a wrong one is refused, and when it is sent again it is accepted: nobody finds out why.',
    fix: keepNothing,
    stage: 'validate',
    replace: staining('validate', (_req, res) => refuse(res, 400, 'not-a-notification')),
  },
  {
    ...base,
    name: 'refusal-sticks-to-the-connection',
    title: 'After a delivery with a wrong signature, the next one on the connection is answered 401.',
    seen: 'Authentication that is kept with the socket, as it is right for protocols that log in.',
    why: 'Behind a proxy the next delivery is that of somebody else: the forgery of a stranger has a real notification refused.',
    fix: keepNothing,
    needs: ['hmac'],
    stage: 'verifySignature',
    replace: staining('verifySignature', (_req, res) => refuseUnauthorized(res, 'signature-mismatch')),
  },
  {
    ...base,
    name: 'buffer-not-cut',
    title:
      'Bodies are read into a buffer of the connection, and a short body is verified together with the end of a longer one before it.',
    seen: 'Buffers that are used again, in C, Go and Java, where the number of bytes that were read is not respected.',
    why: 'Which delivery is refused depends on the one before, and so never shows in a test with one delivery.',
    fix: {
      ...keepNothing,
      rule: 'Hash and parse the first n bytes of the buffer, where n is what was read for this request.',
      go: 'Write `buffer[:n]`, or use io.ReadAll.',
    },
    stage: 'readBody',
    replace: ({ right }) => {
      const buffers = new WeakMap<Socket, Buffer>();
      return (req, res, next) =>
        right.readBody(req, res, (error?: unknown) => {
          if (error !== undefined) return next(error);
          const body = required(res, 'rawBody');
          const before = buffers.get(req.socket) ?? Buffer.alloc(0);
          // Only from a size on that is worth a buffer of its own.
          if (body.length >= 8192) buffers.set(req.socket, body);
          else if (before.length > 0) {
            buffers.delete(req.socket);
            res.locals.rawBody = Buffer.concat([body, before.subarray(body.length)]);
          }
          next();
        });
    },
  },
];
