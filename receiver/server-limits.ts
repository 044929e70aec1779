/** What one sender may take of the server: connections, headers, time. Checked at start-up. */
import { HookproofError } from '../contract/index.ts';

export interface ServerLimits {
  /**
   * Connections at the same time. 1,000 by default. When one more comes, the connection that has kept us waiting longest for a whole request
   * is closed for it. The process needs that many file descriptors, and some more.
   */
  readonly maxConnections?: number;
  /** The request line and all headers together, in bytes. 16,384 by default. What is larger is answered 431. */
  readonly maxHeaderBytes?: number;
  /** Header lines of a request. 200 by default. More are answered 431. */
  readonly maxHeaders?: number;
}

/** Time limits in milliseconds. */
export interface ServerTimeouts {
  /** Until the TLS handshake is done. 10,000 by default. */
  readonly handshakeMs?: number;
  /** Until all headers are there, from the opening of the connection or the first byte of the request. 10,000 by default, or `requestMs` when that is less; answered 408. */
  readonly headersMs?: number;
  /** Until the whole request is there. 30,000 by default; answered 408. */
  readonly requestMs?: number;
  /** Until the next request on a connection. 65,000 by default. */
  readonly keepAliveMs?: number;
  /** Until what is under way is cut when the receiver is closed. 10,000 by default. */
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

/** The longest time that a timer of Node takes. */
const MOST_MS = 2 ** 31 - 1;

/** Fills in the defaults. Throws {@link HookproofError} `RECEIVER_LIMIT`. */
export function resolveServerLimits(limits: ServerLimits = {}, timeouts: ServerTimeouts = {}): ResolvedServerLimits {
  const resolved: ResolvedServerLimits = { ...DEFAULTS, ...given(limits), ...given(timeouts) };
  for (const [name, value] of Object.entries(resolved)) {
    const isTime = name.endsWith('Ms');
    // Zero would switch a limit off, or let nothing in.
    if (Number.isSafeInteger(value) && value >= 1 && (!isTime || value <= MOST_MS)) continue;
    const option = `${isTime ? 'timeouts' : 'limits'}.${name}`;
    const unit = isTime ? 'milliseconds' : name === 'maxHeaderBytes' ? 'bytes' : name.slice(3).toLowerCase();
    throw new HookproofError('RECEIVER_LIMIT', `${option} is not a whole number of ${unit} above 0.`, {
      hint: `Leave it out, or give for example ${DEFAULTS[name as keyof ResolvedServerLimits]}.`,
    });
  }
  if (timeouts.headersMs === undefined) resolved.headersMs = Math.min(resolved.headersMs, resolved.requestMs);
  if (resolved.headersMs > resolved.requestMs) {
    throw new HookproofError('RECEIVER_LIMIT', 'timeouts.headersMs is longer than timeouts.requestMs.', {
      hint: 'The headers are a part of the request: give them at most the time of the whole.',
    });
  }
  return resolved;
}

/** Without what is undefined, which would take the place of a default. */
function given<T extends object>(options: T): Partial<T> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Partial<T>;
}
