/** Reads what an answer states about a rate limit: `Retry-After`, `RateLimit` and the older headers. */
import { type HeaderLine, headerValues } from '../../contract/index.ts';

/**
 * Returns how long the `Retry-After` of an answer asks to wait, in milliseconds. The header contains seconds or an HTTP
 * date (RFC 9110, section 10.2.3). If it is repeated, the longest wait counts. Null if no value is readable.
 *
 * @param now milliseconds since 1970
 */
export function retryAfterMs(headers: readonly HeaderLine[], now: number): number | null {
  const sentAt = sentAtOf(headers) ?? now;
  const waits = headerValues(headers, 'Retry-After').map((value) => {
    if (/^\d+$/.test(value)) return Number(value) * 1000;
    // A date begins with the name of a day; Date.parse would also accept numbers.
    return /^[A-Z][a-z]{2,8},? /.test(value) ? Math.max(0, Date.parse(value) - sentAt) : Number.NaN;
  });
  const readable = waits.filter((ms) => !Number.isNaN(ms));
  return readable.length === 0 ? null : Math.max(...readable);
}

/**
 * Returns when the endpoint sent an answer, in milliseconds since 1970, by the clock of the endpoint. Null if unknown.
 */
function sentAtOf(headers: readonly HeaderLine[]): number | null {
  const sentAt = Date.parse(headerValues(headers, 'Date')[0] ?? '');
  return Number.isNaN(sentAt) ? null : sentAt;
}

/**
 * The headers that state when the limit ends, and those that state the limit. From each list, the first one present is
 * shown.
 */
const SHOWN_HEADERS = [
  ['Retry-After', 'RateLimit-Reset', 'X-RateLimit-Reset'],
  ['RateLimit-Policy', 'RateLimit', 'RateLimit-Limit', 'X-RateLimit-Limit'],
];
const MAX_SHOWN = 80;

/** From this number on, a reset time is in seconds since 1970. Smaller numbers are seconds from now. */
const EPOCH_FROM = 1_000_000_000;

/** A rate limit as an answer states it. */
export interface StatedLimit {
  /** The headers in one line. Empty if there are none. */
  readonly headers: string;
  /** Milliseconds until requests are allowed again; null if not stated. */
  readonly endsInMs: number | null;
  /** Milliseconds per allowed request; null if not stated. */
  readonly intervalMs: number | null;
}

/**
 * Reads the rate limit that an answer states.
 *
 * @param now milliseconds since 1970
 */
export function statedLimit(headers: readonly HeaderLine[], now: number): StatedLimit {
  const sentAt = sentAtOf(headers) ?? now;
  const fieldOf = (name: string) => headerValues(headers, name)[0]?.slice(0, MAX_SHOWN);
  const reset =
    /\b(?:t|reset)=(\d{1,9})/.exec(fieldOf('RateLimit') ?? '')?.[1] ??
    /^\d{1,10}$/.exec(fieldOf('RateLimit-Reset') ?? fieldOf('X-RateLimit-Reset') ?? '')?.[0];
  const seconds = Number(reset) >= EPOCH_FROM ? Math.max(0, Number(reset) - sentAt / 1000) : Number(reset);
  const policy = fieldOf('RateLimit-Policy') ?? '';
  const quota = Number(/\bq=(\d{1,9})/.exec(policy)?.[1] ?? /^\d{1,9}/.exec(policy)?.[0]);
  const window = Number(/\bw=(\d{1,9})/.exec(policy)?.[1]);
  return {
    headers: SHOWN_HEADERS.flatMap((names) => {
      const name = names.find((one) => fieldOf(one) !== undefined);
      return name === undefined ? [] : `${name}: ${fieldOf(name)}`;
    }).join(', '),
    endsInMs: retryAfterMs(headers, now) ?? (Number.isNaN(seconds) ? null : Math.ceil(seconds * 1000)),
    intervalMs: quota > 0 && window > 0 ? (window * 1000) / quota : null,
  };
}
