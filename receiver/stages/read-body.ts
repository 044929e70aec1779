import type { IncomingMessage } from 'node:http';
import { HookproofError } from '../../contract/index.ts';
import { refuse, type Stage } from './stage.ts';

/**
 * Stage 3: reads the body as bytes, up to `limit` of them. Nothing is decoded or inflated, and Content-Type does not matter:
 * the signature is over these very bytes.
 */
export function readBody(limit: number): Stage {
  return (req, res, next) => {
    readBytes(req, limit, (reading) => {
      if (reading.ok) {
        res.locals.rawBody = reading.body;
        return next();
      }
      // The sender has gone: there is nobody to answer.
      if (reading.reason === 'aborted') return;
      refuse(res, 413, 'body-too-large', reading.drained ? {} : { headers: { Connection: 'close' } });
    });
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

const NO_BYTES = Buffer.alloc(0);
const SMALLEST_BUFFER = 4096;

/** Calls `done` once. A callback and not a promise: a promise, and the router's wait for it, would cost each delivery a microsecond. */
function readBytes(req: IncomingMessage, limit: number, done: (reading: Reading) => void): void {
  if (req.readableDidRead || req.readableEnded) {
    // A body parser in front of us: waiting for bytes that have been read already would hang.
    throw new HookproofError('RECEIVER_BODY_CONSUMED', 'The body was read before the receiver saw it.', {
      hint: 'Mount the receiver before express.json() and any other body parser.',
      kind: 'internal',
    });
  }
  const declared = Number(req.headers['content-length'] ?? 0);
  const mostBytes = declared > 0 ? Math.min(declared, limit) : limit;
  let received = 0;
  // One buffer and not a list of chunks: a body in one-byte chunks would take several hundred times its size.
  let body: Buffer = NO_BYTES;
  let over = false;

  const finish = (reading: Reading) => {
    if (over) return;
    over = true;
    done(reading);
  };
  const onData = (chunk: Buffer) => {
    const before = received;
    received += chunk.length;
    if (received <= limit) {
      // Most bodies come in one piece, which is kept as it is.
      body = before === 0 ? chunk : append(body, before, chunk, mostBytes);
      return;
    }
    body = NO_BYTES;
    if (received > limit + DRAIN_LIMIT) {
      req.off('data', onData).pause();
      finish({ ok: false, reason: 'too-large', drained: false });
    }
  };
  const onEnd = () => {
    if (received > limit) return finish({ ok: false, reason: 'too-large', drained: true });
    finish({ ok: true, body: body.length === received ? body : body.subarray(0, received) });
  };
  const onClose = () => finish({ ok: false, reason: 'aborted' });

  if (declared > limit + DRAIN_LIMIT) finish({ ok: false, reason: 'too-large', drained: false });
  else req.on('data', onData).on('end', onEnd).on('close', onClose);
}

/** Copies a chunk behind the first `length` bytes of a buffer, or of one twice as large where it does not fit. */
function append(body: Buffer, length: number, chunk: Buffer, mostBytes: number): Buffer {
  const needed = length + chunk.length;
  let target = body;
  if (target.length < needed) {
    target = Buffer.allocUnsafe(Math.max(needed, Math.min(mostBytes, Math.max(2 * needed, SMALLEST_BUFFER))));
    body.copy(target, 0, 0, length);
  }
  chunk.copy(target, length);
  return target;
}
