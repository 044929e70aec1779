/** How long one sender may take. Checked at start-up. */
import { HookproofError } from '../../contract/index.ts';
import { givenNumbers, MAX_TIMER_MS } from '../budget.ts';

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
  /** For the client to take an answer; then the connection is closed. 10,000 by default. */
  readonly writeMs?: number;
  /** For the next request on a connection. 65,000 by default. */
  readonly keepAliveMs?: number;
  /** For requests and handlers under way when the receiver is closed. 10,000 by default. */
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
    throw new HookproofError('RECEIVER_LIMIT', 'timeouts.headersMs is longer than timeouts.requestMs.', {
      hint: 'The headers are part of the request: allow at most as much time for them as for the request.',
    });
  }
  return resolved;
}
