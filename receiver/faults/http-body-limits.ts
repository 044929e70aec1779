import type { NextFunction, Request, Response } from 'express';
import type { DeliveryState, Stage } from '../stages/stage.ts';
import type { FaultParts, StageFault } from './fault.ts';

const base = { area: 'http', severity: 'high', forbidden: true, stage: 'readBody' } as const;

const LIMIT = {
  rule: 'Set the limit for the body yourself, to 256 kB or more, in every component on the way, and answer 413 beyond it.',
  express:
    'Use `express.raw({ type: () => true, limit: "1mb" })`, and an error handler that answers with `error.status`.',
  fastify: 'Set `bodyLimit`.',
  django: 'Set `DATA_UPLOAD_MAX_MEMORY_SIZE`, and answer 413 to `RequestDataTooBig`.',
  flask: 'Set `MAX_CONTENT_LENGTH`.',
  spring: 'Set the limit of the server and of the codec (`spring.codec.max-in-memory-size`).',
  laravel: 'Set `post_max_size` in php.ini.',
  go: 'Use `http.MaxBytesReader`, and answer 413 to its error.',
  dotnet: 'Set `MaxRequestBodySize` of Kestrel, and the limit of IIS (`maxAllowedContentLength`).',
} as const;

/** Reads the body rightly, and does something else when it is larger than this. */
function above(
  bytes: number,
  otherwise: (
    parts: FaultParts,
    res: Response<unknown, DeliveryState>,
    next: NextFunction,
    req: Request,
    body: Buffer,
  ) => void,
): (parts: FaultParts) => Stage {
  return (parts) => (req, res, next) =>
    parts.right.readBody(req, res, (...failed) => {
      const body = res.locals.rawBody;
      if (failed.length > 0 || body === undefined || body.length <= bytes) next(...failed);
      else otherwise(parts, res, next, req, body);
    });
}

/** Receivers with a limit for the body that is too small, or that do the wrong thing beyond it. */
export const bodyLimitFaults: readonly StageFault[] = [
  {
    ...base,
    name: 'cuts-bodies-at-64-kb',
    title:
      'Of a body of more than 64 kB the beginning is read and the rest thrown away, so a right signature gets 401.',
    seen: 'Reads into a buffer of a fixed size, and copies of the raw body in a column or a variable that holds 64 kB.',
    why: 'The answer says "wrong signature" about a right one, and only for the largest notifications.',
    fix: {
      ...LIMIT,
      rule: 'Read until the end of the body, or answer 413; never go on with a part of it.',
    },
    replace: above(65_535, (_parts, res, next, _req, body) => {
      res.locals.rawBody = body.subarray(0, 65_535);
      next();
    }),
  },
  {
    ...base,
    name: 'fails-on-bodies-above-100-kb',
    title: 'A body above the default limit of the body parser (100 kB) is answered 500.',
    seen: 'Error handlers that answer 500 to every error, also to the one with which the body parser says "too large".',
    why: 'The sender takes it for an outage and repeats the delivery for hours. Anyone can fill the log.',
    fix: LIMIT,
    replace: above(102_400, (_parts, _res, next) => next(new Error('request entity too large'))),
  },
  {
    ...base,
    name: 'cuts-connection-above-100-kb',
    title: 'On a body of more than 100 kB the connection is cut without an answer.',
    seen: 'Handlers that count bytes and then call `req.destroy()`, which is in many tutorials, and proxies that reset.',
    why: 'The sender sees a broken network and not a limit, and repeats the delivery for hours.',
    fix: {
      ...LIMIT,
      express: `${LIMIT.express} Do not call \`req.destroy()\`: answer 413, and then close.`,
    },
    replace: above(102_400, (_parts, res) => void res.socket?.destroy()),
  },
];
