/** A registered URL, taken apart for sending. */

/** What a URL means to a sender. */
export interface Endpoint {
  readonly secure: boolean;
  /** The host name or address to connect to; an IPv6 address stands here without brackets. */
  readonly hostname: string;
  readonly port: number;
  /** Path and query, as they go on the request line. */
  readonly target: string;
  /** The value of the Host header: the port stands in it when it is not the default one. */
  readonly host: string;
}

/** Takes a URL apart. @throws TypeError when it is no URL; {@link checkPartner} says so in better words, and earlier. */
function parseEndpoint(url: string): Endpoint {
  const { protocol, hostname, port, pathname, search, host } = new URL(url);
  const secure = protocol === 'https:';
  return {
    secure,
    hostname: hostname.startsWith('[') ? hostname.slice(1, -1) : hostname,
    port: port === '' ? (secure ? 443 : 80) : Number(port),
    target: pathname + search,
    host,
  };
}

let last: { readonly url: string; readonly endpoint: Endpoint } | undefined;

/** Like {@link parseEndpoint}, and remembers the last URL: deliveries go to the same one over and over. */
export function endpointOf(url: string): Endpoint {
  if (last?.url !== url) last = { url, endpoint: parseEndpoint(url) };
  return last.endpoint;
}
