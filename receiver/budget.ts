/**
 * Limits on what all clients together can consume before they are authenticated. Everything that grows with the input
 * of an unauthenticated client has a limit in this table. server/connections.ts enforces the limits on connections and
 * requests; {@link createBudget} enforces those on bodies, also when the app is mounted in another server.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { HookproofError } from '../contract/index.ts';

export interface ServerLimits {
  /**
   * Maximum number of open connections. Default: 1,000. When another one arrives, the connection that has waited
   * longest for a complete request is closed. The process needs slightly more file descriptors than this.
   */
  readonly maxConnections?: number;
  /** Maximum size of the request line and all headers, in bytes. Default: 16,384. Larger ones are answered 431. */
  readonly maxHeaderBytes?: number;
  /** Maximum number of header lines per request. Default: 200. Requests with more are answered 431. */
  readonly maxHeaders?: number;
  /**
   * Maximum number of requests on all connections whose answers are not completely sent. Default: 2,000. When it is
   * exceeded, the connection with the most of them is closed.
   */
  readonly maxRequests?: number;
  /**
   * Maximum number of such requests on one connection, sent without waiting for answers. Default: 64. When it is
   * exceeded, the connection is closed.
   */
  readonly maxPipelined?: number;
  /**
   * Maximum number of bytes of the bodies that are still arriving, on all connections. Default: 32 MiB, or `bodyLimit`
   * if that is larger. When it is exceeded, the slowest upload is closed. A body whose head is already rejected is not
   * kept.
   */
  readonly maxUploadBytes?: number;
  /**
   * Maximum number of small chunks (below 256 bytes) per connection, not counting accepted deliveries. A small chunk
   * costs as much time as kilobytes in one piece. Default: 10,000. When it is exceeded, the connection is closed.
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
 * Fills in the defaults. Throws {@link HookproofError} `RECEIVER_LIMIT`. `bodyLimit` is the size of the largest body,
 * in bytes; a single body always fits.
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

/** Longest delay that Node's timers support, in milliseconds. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Returns the numbers given for the options in `defaults`: whole, above 0 and at most `max`. The defaults are the
 * examples in messages about invalid ones. Throws {@link HookproofError} `RECEIVER_LIMIT`.
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

/** Rejects zero, which would disable a limit or reject everything. */
export function requirePositive(code: string, option: string, unit: string, value: number, example: number): void {
  if (Number.isSafeInteger(value) && value >= 1) return;
  throw new HookproofError(code, `${option} is not a whole number of ${unit} above 0.`, {
    hint: `Leave it out, or use a number of ${unit}, for example ${example}.`,
  });
}

/**
 * The limit at which a connection was closed:
 *
 * - `waiting`: there were too many connections, and this one had waited longest for a request;
 * - `full`: there were too many connections, this one was new, and none of the others was waiting;
 * - `slow-upload`: there were too many bytes of bodies, and this upload was the slowest;
 * - `small-chunks`: it sent too many small chunks;
 * - `endless-body`: it sent too much of a body after its request had been rejected;
 * - `pipelined`: it had too many requests;
 * - `requests`: all connections together had too many requests, and this one had the most;
 * - `unread`: the client does not read its answers.
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

/** Receives events about connections, and about requests that are answered before the first stage. For metrics. */
export interface ConnectionObserver {
  opened(): void;
  closed(): void;
  /** Called when a connection is closed at a limit. `closed` follows if the connection was `opened`. */
  dropped(why: DropReason): void;
  /** Called when a request is answered before the first stage, with this status and error code. */
  refused(status: number, error: string): void;
  /** Called when the number of bytes of arriving bodies changes. */
  uploading?(bytes: number): void;
}

export const silentConnectionObserver: ConnectionObserver = { opened() {}, closed() {}, dropped() {}, refused() {} };

/** Size in bytes below which receiving a chunk costs more than its bytes. */
const SMALL_CHUNK = 256;

/** The part of a body that a request has sent so far. */
export interface Upload {
  readonly req: IncomingMessage;
  readonly startedAt: number;
  /** Number of bytes received. */
  received: number;
  /** Memory that the body occupies, in bytes. */
  held: number;
  smallChunks: number;
  /** The limit at which its connection was closed. */
  dropped: DropReason | undefined;
}

export interface Budget {
  begin(req: IncomingMessage): Upload;
  /** Counts a chunk after the first one. Closes the connection when there are too many small chunks. */
  receive(upload: Upload, bytes: number): void;
  /** Reserves memory for a body, in bytes. Above the limit, closes the slowest upload, which can be this one. */
  hold(upload: Upload, bytes: number): void;
  /** Frees the memory when the body is complete or is no longer kept. */
  release(upload: Upload): void;
  /** Marks the delivery as not accepted: its small chunks count for as long as its connection lasts. */
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
  /** Small chunks of deliveries that were not accepted, by connection. */
  const smallChunks = new WeakMap<Socket, number>();

  /** Returns the upload with the lowest rate since it began. One that has just begun is not slow. */
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
    // There is no answer, because the rest of the body would arrive while it is sent.
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
