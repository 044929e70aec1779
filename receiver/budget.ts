/**
 * Limits on the resources that all clients together can consume before they are authenticated. Everything that grows
 * with the input of an unauthenticated client has a limit in this table. server/connections.ts enforces the limits on
 * connections and requests; {@link createBudget} enforces the limits on bodies, even when the app is mounted in another
 * server.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { HookproofError } from '../contract/index.ts';

export interface ServerLimits {
  /**
   * Maximum number of open connections. Default: 1,000. When another one arrives, the connection that has waited
   * longest for a complete request is closed. The process needs slightly more file descriptors than this number.
   */
  readonly maxConnections?: number;
  /** Maximum size of the request line and all headers, in bytes. Default: 16,384. Larger ones are answered 431. */
  readonly maxHeaderBytes?: number;
  /** Maximum number of header lines per request. Default: 200. Requests with more are answered 431. */
  readonly maxHeaders?: number;
  /**
   * Maximum number of requests, on all connections together, whose answers are not completely sent. Default: 2,000.
   * When it is exceeded, the connection with the most such requests is closed.
   */
  readonly maxRequests?: number;
  /**
   * Maximum number of requests on one connection whose answers are not completely sent. Default: 64. When it is
   * exceeded, the connection is closed.
   */
  readonly maxPipelined?: number;
  /**
   * Maximum memory, in bytes, for the bodies that are still arriving on all connections. Default: 32 MiB, or
   * `bodyLimit` if that is larger. When it is exceeded, the slowest upload is closed. The body of a request that is
   * already rejected because of its headers is not kept in memory.
   */
  readonly maxUploadBytes?: number;
  /**
   * Maximum number of small chunks (below 256 bytes) per connection, not counting those of accepted deliveries.
   * Processing a small chunk takes as long as processing kilobytes in one piece. Default: 10,000. When it is exceeded,
   * the connection is closed.
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
 * Fills in the defaults. `bodyLimit` is the maximum size of a body, in bytes. Throws {@link HookproofError}
 * `RECEIVER_LIMIT` for an invalid limit, or when `maxUploadBytes` is smaller than `bodyLimit`.
 */
export function resolveLimits(limits: ServerLimits = {}, bodyLimit = 0): ResolvedLimits {
  const unitOf = (name: string) => (/Bytes$/.test(name) ? 'bytes' : name.slice(3).toLowerCase());
  const maxUploadBytes = Math.max(DEFAULTS.maxUploadBytes, bodyLimit);
  const resolved = { ...DEFAULTS, maxUploadBytes, ...givenNumbers('limits', DEFAULTS, limits, unitOf) };
  if (resolved.maxUploadBytes < bodyLimit) {
    throw new HookproofError('RECEIVER_LIMIT', '`limits.maxUploadBytes` is smaller than `bodyLimit`.', {
      hint: `Use at least ${bodyLimit}, or a smaller \`bodyLimit\`: otherwise the largest bodies are never accepted.`,
    });
  }
  return resolved;
}

/** Longest delay that Node's timers support, in milliseconds. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Returns the given values of the options in `defaults`. Each must be a whole number from 1 to `max`. Error messages
 * show the default as an example. Throws {@link HookproofError} `RECEIVER_LIMIT`.
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

/**
 * Throws {@link HookproofError} with this code unless the value is a whole number above 0. Zero would disable a limit
 * or reject everything.
 */
export function requirePositive(code: string, option: string, unit: string, value: number, example: number): void {
  if (Number.isSafeInteger(value) && value >= 1) return;
  throw new HookproofError(code, `\`${option}\` is not a whole number of ${unit} above 0.`, {
    hint: `Leave it out, or use a number of ${unit}, for example ${example}.`,
  });
}

/**
 * The limit at which a connection was closed:
 *
 * - `waiting`: there were too many connections, and this one had waited longest for a request;
 * - `full`: there were too many connections, this one was new, and none of the others was waiting for a request;
 * - `slow-upload`: the arriving bodies took too much memory, and this upload was the slowest;
 * - `small-chunks`: the client sent too many small chunks;
 * - `endless-body`: the client sent too much of a body after its request had been rejected;
 * - `pipelined`: the connection had too many unanswered requests;
 * - `requests`: all connections together had too many unanswered requests, and this one had the most;
 * - `unread`: the client did not read its answers.
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

/** Receives events about connections, and about requests that are answered before the first stage. Used for metrics. */
export interface ConnectionObserver {
  opened(): void;
  closed(): void;
  /** Called when a connection is closed at a limit. `closed` is called as well, but only if `opened` was. */
  dropped(why: DropReason): void;
  /** Called when a request is answered before the first stage. `error` is the error code in the answer. */
  refused(status: number, error: string): void;
  /** Called when the memory for arriving bodies changes, with its size in bytes. */
  uploading?(bytes: number): void;
}

export const silentConnectionObserver: ConnectionObserver = { opened() {}, closed() {}, dropped() {}, refused() {} };

/** Size in bytes below which a chunk counts as small: its overhead exceeds the cost of its bytes. */
const SMALL_CHUNK = 256;

/** A body that is being received. */
export interface Upload {
  readonly req: IncomingMessage;
  readonly startedAt: number;
  /** Number of bytes received. */
  received: number;
  /** Memory that the body occupies, in bytes. */
  held: number;
  smallChunks: number;
  /** The limit at which the connection of the upload was closed, if it was. */
  dropped: DropReason | undefined;
}

export interface Budget {
  begin(req: IncomingMessage): Upload;
  /**
   * Counts a received chunk. Closes the connection when it has sent too many small chunks. The first chunk of a body
   * never counts as small.
   */
  receive(upload: Upload, bytes: number): void;
  /** Reserves memory, in bytes, for a body. Above the limit, closes the slowest uploads, which may include this one. */
  hold(upload: Upload, bytes: number): void;
  /** Frees the memory when the body is complete or is no longer kept. */
  release(upload: Upload): void;
  /** Marks the delivery as not accepted. Its small chunks then count towards the limit of its connection. */
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
  /** Number of small chunks of deliveries that were not accepted, by connection. */
  const smallChunks = new WeakMap<Socket, number>();

  /**
   * Returns the upload with the lowest average rate in bytes per millisecond. An upload that has just begun has a high
   * rate.
   */
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
    // Sends no answer, because the rest of the body would keep arriving in the meantime.
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
