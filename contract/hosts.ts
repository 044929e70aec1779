/** Recognises host names and addresses of this machine in URLs and in the `Host` header of a request. */
import { isIP } from 'node:net';

/**
 * Returns true for `localhost`, `*.localhost`, 127.0.0.0/8 and ::1. An IPv6 address may be in brackets, as in a URL.
 */
export function isLoopback(host: string): boolean {
  return /^(?:(?:.+\.)?localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/.test(host);
}

/**
 * Returns the host of a `Host` header in lower case, without port or brackets. Returns '' when the header is invalid.
 */
export function hostOf(header: string): string {
  const [, bracketed, plain = ''] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d{0,5})?$/.exec(header.toLowerCase()) ?? [];
  if (bracketed === undefined) return plain;
  return isIP(bracketed) === 6 ? bracketed : '';
}

/**
 * Returns true when a `Host` header is an IP address, a loopback name or one of `names`. This protects against DNS
 * rebinding, where an attacker's domain resolves to an address of this machine and the browser sends that domain. A
 * request without the header is allowed, because browsers always send it.
 */
export function isOwnHost(header: string | undefined, names: readonly string[]): boolean {
  if (header === undefined) return true;
  const host = hostOf(header);
  return isIP(host) !== 0 || isLoopback(host) || (host !== '' && names.some((name) => name.toLowerCase() === host));
}
