/** What a local page may be asked by a browser: rules over the headers of a request. Pure. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { hostOf, isLoopback, isOwnHost } from './hosts.ts';

/**
 * Returns true when a server that listens on `address` may answer to this `Host` header. On a loopback address it
 * answers to loopback names only; elsewhere to addresses and to `names`. Another host name can resolve to the address
 * (DNS rebinding), and its pages would have the same origin.
 */
export function isAnsweredHost(header: string | undefined, address: string, names: readonly string[]): boolean {
  if (isLoopback(address)) return isLoopback(hostOf(header ?? '')) || (names.length > 0 && isNamed(header, names));
  return isOwnHost(header ?? '', names);
}

function isNamed(header: string | undefined, names: readonly string[]): boolean {
  const host = hostOf(header ?? '');
  return host !== '' && names.some((name) => name.toLowerCase() === host);
}

/** Returns true when a page of another site caused the request, by the headers that a browser sets. */
export function isForeignRequest(headers: IncomingHttpHeaders, origin: string): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return true;
  return headers.origin !== undefined && headers.origin !== origin;
}

/** Returns true for a visit: a link or the address bar. Other sites may link to a page, but may not read from it. */
export function isNavigation(headers: IncomingHttpHeaders): boolean {
  return headers['sec-fetch-mode'] === 'navigate';
}

/** Compares two texts in a time that does not depend on where they differ. */
export function isSameText(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}

/** The headers of a page that no other page may frame, open or read, and that nobody may store. */
export const PAGE_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
} as const;
