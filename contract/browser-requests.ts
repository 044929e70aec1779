/** Decides from the headers of a request whether a local web page may answer it. All functions are pure. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { hostOf, isLoopback, isOwnHost } from './hosts.ts';

/**
 * Returns true when a server that listens on `address` may answer a request with this `Host` header. On a loopback
 * address, it may answer loopback names and `names`; on any other address, IP addresses, loopback names and `names`.
 * Another host name may be an attacker's domain that resolves to this address (DNS rebinding), and the attacker's pages
 * would then have the same origin.
 */
export function isAnsweredHost(header: string | undefined, address: string, names: readonly string[]): boolean {
  if (isLoopback(address)) return isLoopback(hostOf(header ?? '')) || (names.length > 0 && isNamed(header, names));
  return isOwnHost(header ?? '', names);
}

function isNamed(header: string | undefined, names: readonly string[]): boolean {
  const host = hostOf(header ?? '');
  return host !== '' && names.some((name) => name.toLowerCase() === host);
}

/** Returns true when the headers that browsers set show that a page of another site caused the request. */
export function isForeignRequest(headers: IncomingHttpHeaders, origin: string): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return true;
  return headers.origin !== undefined && headers.origin !== origin;
}

/**
 * Returns true for a navigation, such as a followed link. Other sites may link to a page, but may not read its content.
 */
export function isNavigation(headers: IncomingHttpHeaders): boolean {
  return headers['sec-fetch-mode'] === 'navigate';
}

/** Compares two texts in constant time. */
export function isSameText(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}

/** Response headers of a page. They prevent other sites from framing, opening or reading it, and forbid storing it. */
export const PAGE_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
} as const;
