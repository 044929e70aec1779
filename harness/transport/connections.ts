/**
 * Node's agents for exchanges with their own connections, and the parsed URL. Proxy variables in the environment do not
 * apply: only Node's global agents use them.
 */
import http from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import type { Partner } from '../partner.ts';
import { tlsOptionsFor, withLeafOnly } from './tls-options.ts';

/**
 * Milliseconds for each address but the last of a name that has several. Node's default of 250 ms is shorter than a
 * connection to the other side of the world takes.
 */
export const ADDRESS_TIMEOUT_MS = 1_000;

export interface ConnectionOptions {
  /**
   * Keep connections for further deliveries; true by default. If false, each delivery has a new connection and TLS
   * session.
   */
  readonly keepAlive?: boolean;
  /**
   * Connections to one endpoint at the same time; further deliveries wait. 256 by default in a sender, and no limit in
   * agents.
   */
  readonly maxSockets?: number;
  /** The TLS material of the partner. */
  readonly tls?: Partner['tls'];
  /** Resolves hosts instead of the system's resolver. */
  readonly lookup?: LookupFunction | undefined;
}

export interface Connections {
  /** The agent for an http or https URL. */
  agentFor(url: string): http.Agent;
  /** Closes every connection, including busy ones. */
  close(): void;
}

/**
 * Makes the agents of one partner. Nothing is opened before the first delivery.
 *
 * @throws HookproofError PARTNER_TLS when the TLS material cannot be used
 */
export function createConnections(options: ConnectionOptions = {}): Connections {
  const { keepAlive = true, maxSockets = Number.POSITIVE_INFINITY, tls, lookup } = options;
  const common = {
    keepAlive,
    maxSockets,
    autoSelectFamilyAttemptTimeout: ADDRESS_TIMEOUT_MS,
    lookup,
  };
  // Material that is given is tried at once, so that it fails here and not at the first delivery.
  const given = tls === undefined ? undefined : tlsOptionsFor({ tls });
  let plain: http.Agent | undefined;
  let secure: https.Agent | undefined;

  function agentFor(url: string): http.Agent {
    if (!url.startsWith('https:')) {
      plain ??= new http.Agent(common);
      return plain;
    }
    secure ??= new LeafOnlyAgent({
      ...common,
      ...(given ?? tlsOptionsFor({})),
      ...(!keepAlive && { maxCachedSessions: 0 }),
    });
    return secure;
  }

  return {
    agentFor,
    close() {
      plain?.destroy();
      secure?.destroy();
    },
  };
}

class LeafOnlyAgent extends https.Agent {
  override createConnection(...args: Parameters<https.Agent['createConnection']>): Duplex | null | undefined {
    const socket = super.createConnection(...args);
    return socket instanceof TLSSocket ? withLeafOnly(socket) : socket;
  }
}

/** A registered URL, parsed for sending. */
export interface Endpoint {
  readonly secure: boolean;
  /** The host name or address to connect to; an IPv6 address without brackets. */
  readonly hostname: string;
  readonly port: number;
  /** Path and query, as they go on the request line. */
  readonly target: string;
  /** The value of the Host header: with the port unless it is the default. */
  readonly host: string;
}

/** @throws TypeError when it is not a URL; {@link checkPartner} reports that earlier, with a better message. */
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

/** Parses a URL. The last one is cached, because deliveries go to the same URL again and again. */
export function endpointOf(url: string): Endpoint {
  if (last?.url !== url) last = { url, endpoint: parseEndpoint(url) };
  return last.endpoint;
}
