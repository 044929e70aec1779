import { isIP, type LookupFunction } from 'node:net';
import { endpointOf, type Partner } from '../../sender/index.ts';

export interface HelloEndpoint {
  /** A name or an address; IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
  /** What to send as SNI; null for an endpoint that is known by its address. */
  readonly serverName: string | null;
  /** Where the host is, in place of the system's resolver. */
  readonly lookup?: LookupFunction | undefined;
}

/** The endpoint of a partner, as a ClientHello needs it: names are said, addresses are not (RFC 6066, 3). */
export function helloEndpoint({ url, lookup }: Pick<Partner, 'url' | 'lookup'>): HelloEndpoint {
  const { hostname, port } = endpointOf(url);
  return { host: hostname, port, serverName: isIP(hostname) === 0 ? hostname : null, lookup };
}
