/** Formats numbers for people. */

/**
 * Formats a number with three significant digits and a thousands separator: `12,300`, `1.23`, `0.0123`. Zero is `0`.
 */
export function amount(value: number): string {
  const rounded = Math.abs(value) >= 1000 ? Math.round(value) : Number(value.toPrecision(3));
  return rounded.toLocaleString('en-GB', { maximumSignificantDigits: Math.abs(value) >= 1000 ? 21 : 3 });
}

/** Formats a duration: `1.23 s` or `456 ms`. */
export function duration(ms: number): string {
  return Math.abs(ms) >= 1000 ? `${amount(ms / 1000)} s` : `${amount(ms)} ms`;
}

/** Formats a size: `762 kB` or `1.5 MB`. */
export function size(bytes: number): string {
  const whole = Math.round(bytes);
  return Math.abs(whole) >= 1e6 ? `${amount(whole / 1e6)} MB` : `${amount(whole / 1000)} kB`;
}
