/** What one sender may use of the server: connections, headers, time. Checked at start-up. */
import { HookproofError } from '../../contract/index.ts';

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
}

/** Time limits in milliseconds. */
export interface ServerTimeouts {
  /** For the TLS handshake. 10,000 by default. */
  readonly handshakeMs?: number;
  /**
   * For all headers, from the opening of the connection or the first byte of the request; then 408. 10,000 by default,
   * or `requestMs` when that is less.
   */
  readonly headersMs?: number;
  /** For the complete request; then 408. 30,000 by default. */
  readonly requestMs?: number;
  /** For the next request on a connection. 65,000 by default. */
  readonly keepAliveMs?: number;
  /** For requests and handlers under way when the receiver is closed. 10,000 by default. */
  readonly closeMs?: number;
}

export type ResolvedServerLimits = { -readonly [K in keyof ServerLimits | keyof ServerTimeouts]-?: number };

const DEFAULTS: ResolvedServerLimits = {
  maxConnections: 1000,
  maxHeaderBytes: 16 * 1024,
  maxHeaders: 200,
  handshakeMs: 10_000,
  headersMs: 10_000,
  requestMs: 30_000,
  keepAliveMs: 65_000,
  closeMs: 10_000,
};

/** The longest delay that Node's timers support. */
const MAX_MS = 2 ** 31 - 1;

/** Fills in the defaults. Throws {@link HookproofError} `RECEIVER_LIMIT`. */
export function resolveServerLimits(limits: ServerLimits = {}, timeouts: ServerTimeouts = {}): ResolvedServerLimits {
  const resolved: ResolvedServerLimits = { ...DEFAULTS, ...given(limits), ...given(timeouts) };
  for (const [name, value] of Object.entries(resolved)) {
    const isTime = name.endsWith('Ms');
    // Zero would disable a limit, or reject everything.
    if (Number.isSafeInteger(value) && value >= 1 && (!isTime || value <= MAX_MS)) continue;
    const option = `${isTime ? 'timeouts' : 'limits'}.${name}`;
    const unit = isTime ? 'milliseconds' : name === 'maxHeaderBytes' ? 'bytes' : name.slice(3).toLowerCase();
    throw new HookproofError('RECEIVER_LIMIT', `${option} is not a whole number of ${unit} above 0.`, {
      hint: `Leave it out, or use for example ${DEFAULTS[name as keyof ResolvedServerLimits]}.`,
    });
  }
  if (timeouts.headersMs === undefined) resolved.headersMs = Math.min(resolved.headersMs, resolved.requestMs);
  if (resolved.headersMs > resolved.requestMs) {
    throw new HookproofError('RECEIVER_LIMIT', 'timeouts.headersMs is longer than timeouts.requestMs.', {
      hint: 'The headers are part of the request: allow at most as much time for them as for the request.',
    });
  }
  return resolved;
}

/** Without undefined values, which would override the defaults. */
function given<T extends object>(options: T): Partial<T> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Partial<T>;
}
