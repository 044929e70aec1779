/** Time limits for each client, checked at start-up. */
import { HookproofError } from '../../contract/index.ts';
import { givenNumbers, MAX_TIMER_MS } from '../budget.ts';

/** Time limits in milliseconds. */
export interface ServerTimeouts {
  /** Time for the TLS handshake. Default: 10,000. */
  readonly handshakeMs?: number;
  /**
   * Time for all headers, from the opening of the connection or the first byte of the request. A request that exceeds
   * it is answered 408. Default: 10,000, or `requestMs` if that is less.
   */
  readonly headersMs?: number;
  /** Time for the complete request. A request that exceeds it is answered 408. Default: 30,000. */
  readonly requestMs?: number;
  /** Time for the client to read an answer, after which the connection is closed. Default: 10,000. */
  readonly writeMs?: number;
  /** Time until the next request on a connection, after which it is closed. Default: 65,000. */
  readonly keepAliveMs?: number;
  /** Time for open requests to finish when the receiver is closed, and then again for handlers. Default: 10,000. */
  readonly closeMs?: number;
}

export type ResolvedTimeouts = { -readonly [K in keyof ServerTimeouts]-?: number };

const DEFAULTS: ResolvedTimeouts = {
  handshakeMs: 10_000,
  headersMs: 10_000,
  requestMs: 30_000,
  writeMs: 10_000,
  keepAliveMs: 65_000,
  closeMs: 10_000,
};

/** Fills in the defaults. Throws {@link HookproofError} `RECEIVER_LIMIT`. */
export function resolveTimeouts(timeouts: ServerTimeouts = {}): ResolvedTimeouts {
  const given = givenNumbers('timeouts', DEFAULTS, timeouts, () => 'milliseconds', MAX_TIMER_MS);
  const resolved = { ...DEFAULTS, ...given };
  if (timeouts.headersMs === undefined) resolved.headersMs = Math.min(resolved.headersMs, resolved.requestMs);
  if (resolved.headersMs > resolved.requestMs) {
    throw new HookproofError('RECEIVER_LIMIT', '`timeouts.headersMs` is longer than `timeouts.requestMs`.', {
      hint: 'The headers are part of the request: allow at most as much time for them as for the request.',
    });
  }
  return resolved;
}
