/**
 * Creates Node agents for exchanges on separate connections, and parses the URLs of endpoints. Proxy variables in the
 * environment have no effect, because only Node's global agents use them.
 */
import http from 'node:http';
import https from 'node:https';
import { type LookupFunction, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import type { Partner } from '../partner.ts';
import { reportWriteErrorsLate } from './late-write-errors.ts';
import { tlsOptionsFor, withLeafOnly } from './tls-options.ts';

/**
 * Time limit for connecting to each address of a name except the last, in milliseconds. Node's default of 250 ms is too
 * short for a distant endpoint.
 */
export const ADDRESS_TIMEOUT_MS = 1_000;

export interface ConnectionOptions {
  /**
   * Whether to keep connections for further deliveries. Default: true. If false, each delivery has a new connection and
   * TLS session.
   */
  readonly keepAlive?: boolean;
  /**
   * Maximum number of connections to one endpoint; further deliveries wait. Default: 256 in a sender, no limit in
   * agents.
   */
  readonly maxSockets?: number;
  readonly tls?: Partner['tls'];
  /** Replaces the system's resolver. */
  readonly lookup?: LookupFunction | undefined;
}

export interface Connections {
  /** Returns the agent for an http or https URL. */
  agentFor(url: string): http.Agent;
  /** Closes every connection, including busy ones. */
  close(): void;
}

/**
 * Creates the agents of one partner. No connection is opened before the first delivery.
 *
 * @throws HookproofError PARTNER_TLS if the TLS material cannot be used
 */
export function createConnections(options: ConnectionOptions = {}): Connections {
  const { keepAlive = true, maxSockets = Number.POSITIVE_INFINITY, tls, lookup } = options;
  const common = {
    keepAlive,
    maxSockets,
    autoSelectFamilyAttemptTimeout: ADDRESS_TIMEOUT_MS,
    lookup,
  };
  // Invalid TLS material must fail here, not at the first delivery.
  const given = tls === undefined ? undefined : tlsOptionsFor({ tls });
  let plain: http.Agent | undefined;
  let secure: https.Agent | undefined;

  function agentFor(url: string): http.Agent {
    if (!url.startsWith('https:')) {
      plain ??= new PlainAgent(common);
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
    return socket instanceof TLSSocket ? reportWriteErrorsLate(withLeafOnly(socket)) : socket;
  }
}

class PlainAgent extends http.Agent {
  override createConnection(...args: Parameters<http.Agent['createConnection']>): Duplex | null | undefined {
    const socket = super.createConnection(...args);
    return socket instanceof Socket ? reportWriteErrorsLate(socket) : socket;
  }
}

/** A registered URL, parsed for sending. */
export interface Endpoint {
  readonly secure: boolean;
  /** The host name or address to connect to; an IPv6 address without brackets. */
  readonly hostname: string;
  readonly port: number;
  /** Path and query, as in the request line. */
  readonly target: string;
  /** The value of the Host header. It includes the port, unless that is the default port. */
  readonly host: string;
}

/** @throws TypeError if it is not a URL; {@link checkPartner} reports that earlier, with a better message */
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

/** Parses a URL. The last one is cached, because consecutive deliveries go to the same URL. */
export function endpointOf(url: string): Endpoint {
  if (last?.url !== url) last = { url, endpoint: parseEndpoint(url) };
  return last.endpoint;
}
