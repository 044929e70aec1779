import { gunzipSync } from 'node:zlib';
import { required } from '../stages/stage.ts';
import type { StageFault } from './fault.ts';

// The sender never compresses, so all this is about robustness.
const base = { area: 'http', severity: 'low', forbidden: false, stage: 'checkContentType' } as const;

const NO_INFLATION = {
  rule: 'Do not inflate bodies on this route; answer 415 to Content-Encoding. Where you inflate, an error in it is a 400.',
  express: 'Use `express.raw({ type: () => true, inflate: false })`, which answers 415 by itself.',
  fastify: 'Keep the plugin for compressed requests off this route.',
  django: 'Let nginx or the WSGI server leave the body as it is.',
} as const;

/** Receivers that trip over Content-Encoding. */
export const compressionFaults: readonly StageFault[] = [
  {
    ...base,
    name: 'broken-gzip-answers-500',
    title: 'A body that is declared as gzip and cannot be inflated is answered 500.',
    seen: 'Decompressors in front of the handler, whose errors no guard around the parser catches.',
    why: 'A malformed delivery must not be an exception: the sender takes 500 for an outage.',
    fix: NO_INFLATION,
    replace:
      ({ right }) =>
      (req, res, next) => {
        if (req.headers['content-encoding'] === 'gzip') {
          try {
            gunzipSync(required(res, 'rawBody'));
          } catch (error) {
            return next(error);
          }
        }
        return right.checkContentType(req, res, next);
      },
  },
  {
    ...base,
    name: 'cut-gzip-never-answered',
    title: 'A gzip body that ends early is never answered.',
    seen: 'Streams that wait for the rest of the compressed data, and handlers that listen for "end" and not for "error".',
    why: 'Each such request holds a connection until its time limit.',
    fix: NO_INFLATION,
    replace:
      ({ right }) =>
      (req, res, next) => {
        if (req.headers['content-encoding'] !== 'gzip') return right.checkContentType(req, res, next);
        try {
          gunzipSync(required(res, 'rawBody'));
        } catch (error) {
          // "unexpected end of file": the inflating stream has no more to read and says nothing.
          if ((error as NodeJS.ErrnoException).code === 'Z_BUF_ERROR') return;
        }
        return right.checkContentType(req, res, next);
      },
  },
  {
    ...base,
    name: 'unknown-encoding-answers-500',
    title: 'A Content-Encoding that is not known is answered 500.',
    seen: 'Tables of decoders that are indexed by the header.',
    why: 'A header that anyone can send makes an exception in the log each time.',
    fix: NO_INFLATION,
    replace:
      ({ right }) =>
      (req, res, next) => {
        const encoding = req.headers['content-encoding'];
        if (encoding === undefined || ['gzip', 'deflate', 'br', 'identity'].includes(encoding))
          return right.checkContentType(req, res, next);
        next(new TypeError('decoders[encoding] is not a function'));
      },
  },
];
