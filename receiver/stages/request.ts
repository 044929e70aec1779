/** The first stages: they check the method, path and framing of the request, and read the bytes of its body. */
import type { IncomingMessage } from 'node:http';
import type { Response } from 'express';
import { HookproofError } from '../../contract/index.ts';
import type { Budget, Upload } from '../budget.ts';
import { type DeliveryState, refuse, refuseUnauthorized, type Stage, setReason } from './stage.ts';

/**
 * Stage 1: accepts only POST at the configured path. Specification: Delivery endpoint.
 *
 * `path` is compared exactly, without the query, which is ignored. When `path` is undefined, any path is accepted.
 * Requests with an HTTP version or a transfer coding that Node's parser accepts but does not implement are rejected.
 */
export function accept(path: string | undefined, budget: Budget): Stage {
  return (req, res, next) => {
    const { 'transfer-encoding': coding } = req.headers;
    let status: 404 | 405 | 501 | 505;
    if (req.httpVersionMajor !== 1) status = 505;
    // With any other transfer coding, the encoded body would be verified and stored.
    else if (coding !== undefined && coding.toLowerCase() !== 'chunked') status = 501;
    else if (path !== undefined && req.path !== path) status = 404;
    else if (req.method !== 'POST') status = 405;
    else return next();
    discardBody(req, budget);
    const [error, headers] = NOT_ACCEPTED[status];
    refuse(res, status, error, { headers });
  };
}

const CLOSE = { Connection: 'close' };
const NOT_ACCEPTED = {
  404: ['not-found', {}],
  405: ['method-not-allowed', { Allow: 'POST' }],
  501: ['transfer-encoding-not-supported', CLOSE],
  505: ['http-version-not-supported', CLOSE],
} as const;

/**
 * Returns a code when the headers of a request already show that the delivery must be rejected, otherwise undefined.
 */
export type HeadCheck = (req: IncomingMessage, res: Response<unknown, DeliveryState>) => string | undefined;

/**
 * Stage 3: reads up to `limit` bytes of the body. Nothing is decoded or decompressed, whatever the Content-Type,
 * because the signature covers exactly these bytes.
 *
 * The body of a request that `checkHead` rejects is read to its end, but not kept; then the answer is 401.
 */
export function readBody(limit: number, budget: Budget, checkHead?: HeadCheck): Stage {
  return (req, res, next) => {
    const rejected = checkHead?.(req, res);
    readBytes(req, { limit, budget, keeps: rejected === undefined }, (reading, upload) => {
      // Small chunks of accepted deliveries do not count.
      if (upload !== undefined && upload.smallChunks > 0) {
        res.once('close', () => res.statusCode === 200 || budget.reject(upload));
      }
      if (reading.ok) {
        if (rejected !== undefined) return refuseUnauthorized(res, rejected);
        res.locals.rawBody = reading.body;
        return next();
      }
      if (reading.reason === 'aborted') {
        // The connection is closed, so no answer can be sent.
        if (upload?.dropped !== undefined) setReason(res, upload.dropped);
        return;
      }
      refuse(res, 413, 'body-too-large', reading.drained ? {} : { headers: CLOSE });
    });
  };
}

type BodyReading =
  | { readonly ok: true; readonly body: Buffer }
  | { readonly ok: false; readonly reason: 'aborted' }
  /** `drained` means that the rest of the body was read and discarded, so the connection can be reused. */
  | { readonly ok: false; readonly reason: 'too-large'; readonly drained: boolean };

/**
 * Number of bytes beyond the limit that are read and discarded. Closing the connection while the sender is still
 * sending would reset it, and the sender would never see the 413.
 */
const DRAIN_LIMIT = 16 * 1024 * 1024;

/**
 * Reads the body and calls `done` once. A callback saves a microsecond per delivery compared with a promise. A body
 * that arrives in one chunk needs no upload: it is complete at once, and does not count towards the budget.
 */
function readBytes(
  req: IncomingMessage,
  { limit, budget, keeps }: { readonly limit: number; readonly budget: Budget; readonly keeps: boolean },
  done: (reading: BodyReading, upload: Upload | undefined) => void,
): void {
  if (req.readableDidRead || req.readableEnded) {
    // A body parser ran earlier. Waiting for bytes that have already been read would never end.
    throw new HookproofError('RECEIVER_BODY_CONSUMED', 'The body was read before the receiver saw it.', {
      hint: 'Mount the receiver before express.json() and any other body parser.',
      kind: 'internal',
    });
  }
  const declared = Number(req.headers['content-length'] ?? 0);
  let received = 0;
  /** The only chunk of most bodies, which is used without a copy. Otherwise the complete body. */
  let whole: Buffer | undefined;
  let chunks: Chunks | undefined;
  let upload: Upload | undefined;
  let over = false;

  const finish = (reading: BodyReading) => {
    if (over) return;
    over = true;
    chunks = undefined;
    if (upload !== undefined) budget.release(upload);
    done(reading, upload);
  };
  const onData = (chunk: Buffer) => {
    // Chunks still arrive, and are discarded, until the answer is sent and the connection is closed.
    if (over) return;
    received += chunk.length;
    if (upload !== undefined || received !== declared) {
      upload ??= budget.begin(req);
      budget.receive(upload, chunk.length);
    }
    if (received <= limit && keeps && upload?.dropped === undefined) {
      if (upload === undefined) {
        whole = chunk;
        return;
      }
      chunks ??= new Chunks();
      chunks.add(chunk);
      if (upload.held !== chunks.held) budget.hold(upload, chunks.held);
      return;
    }
    chunks = undefined;
    if (upload !== undefined) budget.release(upload);
    if (received > limit + DRAIN_LIMIT) finish({ ok: false, reason: 'too-large', drained: false });
  };
  const onEnd = () => {
    if (received > limit) return finish({ ok: false, reason: 'too-large', drained: true });
    finish({ ok: true, body: whole ?? chunks?.join() ?? EMPTY });
  };
  const onClose = () => finish({ ok: false, reason: 'aborted' });

  if (declared > limit + DRAIN_LIMIT) finish({ ok: false, reason: 'too-large', drained: false });
  else req.on('data', onData).on('end', onEnd).on('close', onClose);
}

/**
 * Reads and discards the body of a request that is rejected because of its headers, up to a limit. Call this at once,
 * because unread chunks occupy memory until the answer is sent.
 */
export function discardBody(req: IncomingMessage, budget: Budget): void {
  const upload = budget.begin(req);
  req.on('data', (chunk: Buffer) => {
    budget.receive(upload, chunk.length);
    if (upload.received > DRAIN_LIMIT) budget.drop(upload, 'endless-body');
  });
  req.on('end', () => budget.reject(upload));
}

const EMPTY = Buffer.alloc(0);
const BLOCK_BYTES = 4096;

/**
 * Collects the chunks of a body. Small chunks are copied into blocks, because each chunk object takes several hundred
 * bytes of memory.
 */
class Chunks {
  /** Memory that the chunks occupy, in bytes. */
  held = 0;
  readonly #list: Buffer[] = [];
  #block = EMPTY;
  #used = 0;

  add(chunk: Buffer): void {
    if (chunk.length >= BLOCK_BYTES) {
      this.#endBlock();
      this.#list.push(chunk);
      this.held += chunk.length;
      return;
    }
    if (this.#used + chunk.length > this.#block.length) {
      this.#endBlock();
      this.#block = Buffer.allocUnsafe(BLOCK_BYTES);
      this.held += BLOCK_BYTES;
    }
    this.#used += chunk.copy(this.#block, this.#used);
  }

  join(): Buffer {
    this.#endBlock();
    return this.#list.length === 1 ? (this.#list[0] as Buffer) : Buffer.concat(this.#list);
  }

  #endBlock(): void {
    if (this.#used > 0) this.#list.push(this.#block.subarray(0, this.#used));
    this.#block = EMPTY;
    this.#used = 0;
  }
}
