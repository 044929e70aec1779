import { type HeaderLine, headerValues } from '../../contract/index.ts';

/**
 * Milliseconds that the `Retry-After` of an answer asks for: seconds or an HTTP date (RFC 9110, section 10.2.3), the
 * longest of several. Null when there is none that can be read.
 *
 * @param now milliseconds since 1970
 */
export function retryAfterMs(headers: readonly HeaderLine[], now: number): number | null {
  const waits = headerValues(headers, 'Retry-After').map((value) => {
    if (/^\d+$/.test(value)) return Number(value) * 1000;
    // A date begins with the name of a day; Date.parse would take numbers too.
    return /^[A-Z][a-z]{2,8},? /.test(value) ? Math.max(0, Date.parse(value) - now) : Number.NaN;
  });
  const readable = waits.filter((ms) => !Number.isNaN(ms));
  return readable.length === 0 ? null : Math.max(...readable);
}
