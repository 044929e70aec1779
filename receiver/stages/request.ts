/** The first stages: what kind of request it is, and the bytes of its body. */
import type { IncomingMessage } from 'node:http';
import { HookproofError } from '../../contract/index.ts';
import { refuse, type Stage } from './stage.ts';

/**
 * Stage 1: accepts POST at the registered path, and nothing else. Specification: Delivery endpoint.
 *
 * `path` is compared exactly, without the query, which is never read. When it is undefined, any path is accepted.
 */
export function accept(path: string | undefined): Stage {
  return (req, res, next) => {
    if (path !== undefined && req.path !== path) return refuse(res, 404, 'not-found');
    if (req.method !== 'POST') return refuse(res, 405, 'method-not-allowed', { headers: { Allow: 'POST' } });
    next();
  };
}

/**
 * Stage 3: reads the body as bytes, up to `limit` of them. Nothing is decoded or decompressed, and Content-Type does
 * not matter: the signature is over exactly these bytes.
 */
export function readBody(limit: number): Stage {
  return (req, res, next) => {
    readBytes(req, limit, (reading) => {
      if (reading.ok) {
        res.locals.rawBody = reading.body;
        return next();
      }
      // The sender has disconnected: there is no one to answer.
      if (reading.reason === 'aborted') return;
      refuse(res, 413, 'body-too-large', reading.drained ? {} : { headers: { Connection: 'close' } });
    });
  };
}

type Reading =
  | { readonly ok: true; readonly body: Buffer }
  | { readonly ok: false; readonly reason: 'aborted' }
  /** `drained`: the rest was read and discarded, so the connection can be reused. */
  | { readonly ok: false; readonly reason: 'too-large'; readonly drained: boolean };

/**
 * How much of a body beyond the limit is still read (and discarded), in bytes. Closing a connection while the sender is
 * still sending resets it, and then the sender never sees the 413.
 */
const DRAIN_LIMIT = 16 * 1024 * 1024;

const EMPTY = Buffer.alloc(0);
const MIN_BUFFER_BYTES = 4096;

/**
 * Calls `done` once. A callback, because a promise and the router's wait for it would cost each delivery a microsecond.
 */
function readBytes(req: IncomingMessage, limit: number, done: (reading: Reading) => void): void {
  if (req.readableDidRead || req.readableEnded) {
    // A body parser ran first: waiting for bytes that have been read already would hang.
    throw new HookproofError('RECEIVER_BODY_CONSUMED', 'The body was read before the receiver saw it.', {
      hint: 'Mount the receiver before express.json() and any other body parser.',
      kind: 'internal',
    });
  }
  const declared = Number(req.headers['content-length'] ?? 0);
  const maxBytes = declared > 0 ? Math.min(declared, limit) : limit;
  let received = 0;
  // One buffer and not a list of chunks: a body in one-byte chunks would take several hundred times its size.
  let body: Buffer = EMPTY;
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
      // Most bodies arrive in one chunk, which is used without a copy.
      body = before === 0 ? chunk : append(body, before, chunk, maxBytes);
      return;
    }
    body = EMPTY;
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

/** Copies a chunk after the first `length` bytes of a buffer, or of a new one twice as large when it does not fit. */
function append(body: Buffer, length: number, chunk: Buffer, maxBytes: number): Buffer {
  const needed = length + chunk.length;
  let target = body;
  if (target.length < needed) {
    target = Buffer.allocUnsafe(Math.max(needed, Math.min(maxBytes, Math.max(2 * needed, MIN_BUFFER_BYTES))));
    body.copy(target, 0, 0, length);
  }
  chunk.copy(target, length);
  return target;
}
