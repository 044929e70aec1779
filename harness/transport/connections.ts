/** The connections of a sender. Proxies in the environment have no say: only the global agents would listen to them. */
import http from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import type { Partner } from '../partner.ts';
import { tlsOptionsFor } from './tls-options.ts';

/**
 * Milliseconds for each address of a name that has several, but the last. Node's own 250 ms is shorter than a connection to
 * the other side of the world takes, and would fail where any other client gets through.
 */
const ADDRESS_TIMEOUT_MS = 1_000;

export interface ConnectionOptions {
  /** Keep connections for further deliveries; true by default. Without it each delivery has a connection, and a TLS session, of its own. */
  readonly keepAlive?: boolean;
  /** Connections to one endpoint at the same time; deliveries beyond wait for one. No limit by default. */
  readonly maxSockets?: number;
  /** The TLS material of the partner. */
  readonly tls?: Partner['tls'];
  /** Where hosts are, in place of the system's resolver. */
  readonly lookup?: LookupFunction | undefined;
}

export interface Connections {
  /** The agent for an http or https URL. */
  agentFor(url: string): http.Agent;
  /** Drops the idle connections to an endpoint: when one of them has turned out to be closed by the other side, so are the rest, likely. */
  dropIdle(url: string): void;
  /** Closes every connection, busy ones too. */
  close(): void;
}

/**
 * Makes the connections of one partner. Nothing is opened before the first delivery.
 *
 * @throws HookproofError PARTNER_TLS when the TLS material cannot be used
 */
export function createConnections(options: ConnectionOptions = {}): Connections {
  const { keepAlive = true, maxSockets = Number.POSITIVE_INFINITY, tls, lookup } = options;
  const common = {
    keepAlive,
    maxSockets,
    autoSelectFamilyAttemptTimeout: ADDRESS_TIMEOUT_MS,
    ...(lookup !== undefined && { lookup }),
  };
  // Material that is given is tried at once; without any, there is nothing that could fail later.
  const given = tls === undefined ? undefined : tlsOptionsFor({ tls });
  let plain: http.Agent | undefined;
  let secure: https.Agent | undefined;

  function agentFor(url: string): http.Agent {
    if (!url.startsWith('https:')) {
      plain ??= new http.Agent(common);
      return plain;
    }
    secure ??= new https.Agent({
      ...common,
      ...(given ?? tlsOptionsFor({})),
      ...(!keepAlive && { maxCachedSessions: 0 }),
    });
    return secure;
  }

  return {
    agentFor,
    dropIdle(url) {
      const { hostname, port } = endpointOf(url);
      // An agent names its pools "host:port:..."; what follows is the TLS material, which is the same for all of them here.
      const pool = `${hostname}:${port}:`;
      for (const [name, sockets] of Object.entries(agentFor(url).freeSockets)) {
        if (name.startsWith(pool)) for (const socket of sockets ?? []) socket.destroy();
      }
    },
    close() {
      plain?.destroy();
      secure?.destroy();
    },
  };
}

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
