/**
 * The budget of a receiver: what all senders together may use of it before their credentials are known. Everything that
 * grows with what a stranger sends has a limit in this table. server/connections.ts enforces those of connections and
 * requests; {@link createBudget} those of bodies, also where the app is mounted in another server.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { HookproofError } from '../contract/index.ts';

export interface ServerLimits {
  /**
   * Open connections. 1,000 by default. When one more arrives, the connection that has been waiting longest for a
   * complete request is closed. The process needs that many file descriptors, and some more.
   */
  readonly maxConnections?: number;
  /** The request line and all headers together, in bytes. 16,384 by default. Larger ones are answered 431. */
  readonly maxHeaderBytes?: number;
  /** Header lines per request. 200 by default. More are answered 431. */
  readonly maxHeaders?: number;
  /**
   * Requests on all connections whose answers have not been sent completely. 2,000 by default. Beyond it, the
   * connection with the most of them is closed.
   */
  readonly maxRequests?: number;
  /** The same on one connection: requests that are sent without waiting for answers. 64 by default; more close it. */
  readonly maxPipelined?: number;
  /**
   * Bytes of the bodies that are still arriving, on all connections. 32 MiB by default, or `bodyLimit` when that is
   * more. Beyond it, the slowest upload is closed. A body whose head is already rejected is not kept.
   */
  readonly maxUploadBytes?: number;
  /**
   * Small chunks (below 256 bytes) of the bodies on one connection, without those of accepted deliveries: each costs as
   * much time as kilobytes in one piece. 10,000 by default; more close the connection.
   */
  readonly maxSmallChunks?: number;
}

export type ResolvedLimits = { -readonly [K in keyof ServerLimits]-?: number };

const DEFAULTS: ResolvedLimits = {
  maxConnections: 1000,
  maxHeaderBytes: 16 * 1024,
  maxHeaders: 200,
  maxRequests: 2000,
  maxPipelined: 64,
  maxUploadBytes: 32 * 1024 * 1024,
  maxSmallChunks: 10_000,
};

/**
 * Fills in the defaults. Throws {@link HookproofError} `RECEIVER_LIMIT`. `bodyLimit` is the largest body, in bytes: one
 * alone fits always.
 */
export function resolveLimits(limits: ServerLimits = {}, bodyLimit = 0): ResolvedLimits {
  const unitOf = (name: string) => (/Bytes$/.test(name) ? 'bytes' : name.slice(3).toLowerCase());
  const maxUploadBytes = Math.max(DEFAULTS.maxUploadBytes, bodyLimit);
  const resolved = { ...DEFAULTS, maxUploadBytes, ...givenNumbers('limits', DEFAULTS, limits, unitOf) };
  if (resolved.maxUploadBytes < bodyLimit) {
    throw new HookproofError('RECEIVER_LIMIT', 'limits.maxUploadBytes is smaller than bodyLimit.', {
      hint: `Use at least ${bodyLimit}, or a smaller bodyLimit: otherwise the largest bodies never arrive.`,
    });
  }
  return resolved;
}

/** The longest delay that Node's timers support, in milliseconds. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * The numbers that are given for the options in `defaults`, which are the examples for invalid ones: whole, above 0 and
 * up to `max`. Throws {@link HookproofError} `RECEIVER_LIMIT`.
 */
export function givenNumbers<Numbers extends object>(
  option: string,
  defaults: { readonly [K in keyof Numbers]-?: number },
  given: Numbers,
  unitOf: (name: string) => string,
  max = Number.MAX_SAFE_INTEGER,
): Partial<Record<keyof Numbers, number>> {
  const numbers: Partial<Record<keyof Numbers, number>> = {};
  for (const name of Object.keys(defaults) as (keyof Numbers & string)[]) {
    const value = given[name] as number | undefined;
    if (value === undefined) continue;
    const checked = value <= max ? value : Number.NaN;
    requirePositive('RECEIVER_LIMIT', `${option}.${name}`, unitOf(name), checked, defaults[name]);
    numbers[name] = value;
  }
  return numbers;
}

/** Zero would disable a limit, or reject everything. */
export function requirePositive(code: string, option: string, unit: string, value: number, example: number): void {
  if (Number.isSafeInteger(value) && value >= 1) return;
  throw new HookproofError(code, `${option} is not a whole number of ${unit} above 0.`, {
    hint: `Leave it out, or use a number of ${unit}, for example ${example}.`,
  });
}

/**
 * Why a connection was closed at a limit.
 *
 * - `waiting`: too many connections, and this one had been waiting longest for a request; `full`: it was new, and none
 *   was waiting.
 * - `slow-upload`: too many bytes of bodies, and this was the slowest; `small-chunks`; `endless-body`: it went on long
 *   after its request was rejected.
 * - `pipelined`: too many requests on it; `requests`: too many on all connections, and most on this one; `unread`: the
 *   client does not read its answers.
 */
export const DROP_REASONS = [
  'waiting',
  'full',
  'slow-upload',
  'small-chunks',
  'endless-body',
  'pipelined',
  'requests',
  'unread',
] as const;
export type DropReason = (typeof DROP_REASONS)[number];

/** Is notified of connections, and of requests that are answered before the first stage. For metrics. */
export interface ConnectionObserver {
  opened(): void;
  closed(): void;
  /** A connection was closed at a limit. Followed by `closed` if the connection was `opened`. */
  dropped(why: DropReason): void;
  /** A request was answered before the first stage, with this status and error code. */
  refused(status: number, error: string): void;
  /** The bytes of the bodies that are still arriving have changed. */
  uploading?(bytes: number): void;
}

export const silentConnectionObserver: ConnectionObserver = { opened() {}, closed() {}, dropped() {}, refused() {} };

/** Below this size, in bytes, a chunk takes longer to receive than its bytes. */
const SMALL_CHUNK = 256;

/** What a request has sent of its body so far. */
export interface Upload {
  readonly req: IncomingMessage;
  readonly startedAt: number;
  /** In bytes. */
  received: number;
  /** The memory that it takes, in bytes. */
  held: number;
  smallChunks: number;
  /** Why its connection was closed. */
  dropped: DropReason | undefined;
}

export interface Budget {
  begin(req: IncomingMessage): Upload;
  /** Counts a chunk after the first. Closes the connection when there are too many small ones. */
  receive(upload: Upload, bytes: number): void;
  /** Takes this many bytes of memory for a body. Closes the slowest upload, which can be this one, when it is full. */
  hold(upload: Upload, bytes: number): void;
  /** Frees the memory: the body is complete, or not kept any more. */
  release(upload: Upload): void;
  /** The delivery was not accepted: its small chunks count as long as its connection lasts. */
  reject(upload: Upload): void;
  /** Closes the connection of an upload. */
  drop(upload: Upload, why: DropReason): void;
}

export function createBudget(
  { maxUploadBytes, maxSmallChunks }: Pick<ResolvedLimits, 'maxUploadBytes' | 'maxSmallChunks'>,
  observer: ConnectionObserver,
): Budget {
  const uploads = new Set<Upload>();
  let total = 0;
  /** Of the deliveries that were not accepted, by connection. */
  const smallChunks = new WeakMap<Socket, number>();

  /** The one with the lowest rate since it began: one that has just begun is not slow. */
  function slowest(): Upload | undefined {
    const now = performance.now();
    const rate = ({ received, startedAt }: Upload) => received / (now - startedAt);
    let found: Upload | undefined;
    for (const upload of uploads) if (found === undefined || rate(upload) < rate(found)) found = upload;
    return found;
  }

  function take(upload: Upload, bytes: number): void {
    total += bytes - upload.held;
    upload.held = bytes;
    if (bytes === 0) uploads.delete(upload);
    else uploads.add(upload);
  }

  function drop(upload: Upload, why: DropReason): void {
    if (upload.dropped !== undefined) return;
    upload.dropped = why;
    take(upload, 0);
    observer.dropped(why);
    // Without an answer: while it is sent, the rest of the body would arrive.
    upload.req.destroy();
  }

  return {
    begin: (req) => ({ req, startedAt: performance.now(), received: 0, held: 0, smallChunks: 0, dropped: undefined }),
    receive(upload, bytes) {
      const isFirst = upload.received === 0;
      upload.received += bytes;
      if (isFirst || bytes >= SMALL_CHUNK) return;
      if (upload.smallChunks === 0) upload.smallChunks = smallChunks.get(upload.req.socket) ?? 0;
      upload.smallChunks += 1;
      if (upload.smallChunks > maxSmallChunks) drop(upload, 'small-chunks');
    },
    hold(upload, bytes) {
      take(upload, bytes);
      while (total > maxUploadBytes) drop(slowest() ?? upload, 'slow-upload');
      observer.uploading?.(total);
    },
    release(upload) {
      if (upload.held === 0) return;
      take(upload, 0);
      observer.uploading?.(total);
    },
    reject(upload) {
      if (upload.smallChunks > 0) smallChunks.set(upload.req.socket, upload.smallChunks);
    },
    drop,
  };
}
