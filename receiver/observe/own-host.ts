import { isIP } from 'node:net';

/**
 * Whether a `Host` header names this machine: by an IP address, as localhost, or as `hostName`. A web page whose name was pointed at a loopback
 * address (DNS rebinding) makes the browser send its own name. Without the header no browser is asking.
 */
export function isOwnHost(header: string | undefined, hostName: string): boolean {
  if (header === undefined) return true;
  const [, bracketed, plain = ''] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d{1,5})?$/.exec(header.toLowerCase()) ?? [];
  if (bracketed !== undefined) return isIP(bracketed) === 6;
  return isIP(plain) === 4 || plain === 'localhost' || (plain !== '' && plain === hostName.toLowerCase());
}
