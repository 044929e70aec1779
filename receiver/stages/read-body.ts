import type { IncomingMessage } from 'node:http';
import { HookproofError } from '../../contract/index.ts';
import { refuse, type Stage } from './stage.ts';

/**
 * Stage 3: reads the body as bytes, up to `limit` of them. Nothing is decoded or inflated, and Content-Type does not matter:
 * the signature is over these very bytes.
 */
export function readBody(limit: number): Stage {
  return async (req, res, next) => {
    const reading = await readBytes(req, limit);
    if (reading.ok) {
      res.locals.rawBody = reading.body;
      return next();
    }
    // The sender has gone: there is nobody to answer.
    if (reading.reason === 'aborted') return;
    refuse(res, 413, 'body-too-large', reading.drained ? {} : { headers: { Connection: 'close' } });
  };
}

type Reading =
  | { readonly ok: true; readonly body: Buffer }
  | { readonly ok: false; readonly reason: 'aborted' }
  /** `drained`: the rest was read and thrown away, so the connection can be used again. */
  | { readonly ok: false; readonly reason: 'too-large'; readonly drained: boolean };

/**
 * How much of a body beyond the limit is still read (and thrown away), in bytes. Closing a connection on a sender that is
 * still sending resets it, and then the sender never sees the 413.
 */
const DRAIN_LIMIT = 16 * 1024 * 1024;

function readBytes(req: IncomingMessage, limit: number): Promise<Reading> {
  if (req.readableDidRead || req.readableEnded) {
    // A body parser in front of us: waiting for bytes that have been read already would hang.
    throw new HookproofError('RECEIVER_BODY_CONSUMED', 'The body was read before the receiver saw it.', {
      hint: 'Mount the receiver before express.json() and any other body parser.',
      kind: 'internal',
    });
  }
  return new Promise((resolve) => {
    const declared = Number(req.headers['content-length'] ?? 0);
    let received = 0;
    let chunks: Buffer[] = [];

    const finish = (reading: Reading) => {
      req.off('data', onData).off('end', onEnd).off('close', onClose);
      resolve(reading);
    };
    const onData = (chunk: Buffer) => {
      received += chunk.length;
      if (received <= limit) {
        chunks.push(chunk);
        return;
      }
      chunks = [];
      if (received > limit + DRAIN_LIMIT) {
        req.pause();
        finish({ ok: false, reason: 'too-large', drained: false });
      }
    };
    const onEnd = () => {
      if (received > limit) finish({ ok: false, reason: 'too-large', drained: true });
      else finish({ ok: true, body: Buffer.concat(chunks) });
    };
    const onClose = () => finish({ ok: false, reason: 'aborted' });

    if (declared > limit + DRAIN_LIMIT) return finish({ ok: false, reason: 'too-large', drained: false });
    req.on('data', onData).on('end', onEnd).on('close', onClose);
  });
}
