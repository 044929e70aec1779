/** Which hosts are this machine: of URLs, and of the `Host` header that a page was requested with. */
import { isIP } from 'node:net';

/** `localhost`, `*.localhost`, 127.0.0.0/8 or ::1, as in a URL (`[::1]`) or without brackets. */
export function isLoopback(host: string): boolean {
  return /^(?:(?:.+\.)?localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/.test(host);
}

/** The host of a `Host` header, in lower case, without port and brackets. Empty when the header is not valid. */
export function hostOf(header: string): string {
  const [, bracketed, plain = ''] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d{0,5})?$/.exec(header.toLowerCase()) ?? [];
  if (bracketed === undefined) return plain;
  return isIP(bracketed) === 6 ? bracketed : '';
}

/**
 * Whether a `Host` header names this machine: by an IP address, as loopback, or by one of `names`. With DNS rebinding,
 * where the name of a web page resolves to an address of this machine, the browser sends that name. A request without
 * the header is not from a browser.
 */
export function isOwnHost(header: string | undefined, names: readonly string[]): boolean {
  if (header === undefined) return true;
  const host = hostOf(header);
  return isIP(host) !== 0 || isLoopback(host) || (host !== '' && names.some((name) => name.toLowerCase() === host));
}
