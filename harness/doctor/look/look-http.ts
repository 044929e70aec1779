/** One request without credentials, to see that HTTP answers, what time it is there, and what becomes of a client certificate. */
import http from 'node:http';
import https from 'node:https';
import type { Partner } from '../../partner.ts';
import { type Attempt, endpointOf, exchange, type Prepared, tlsOptionsFor } from '../../transport/index.ts';
import { version } from '../../version.ts';
import type { Limits } from './limits.ts';

/** It asks what a path takes, and changes nothing (RFC 9110, 9.3.7). */
export const LOOK_METHOD = 'OPTIONS';
const BODY_BYTES = 4096;

/** The URL, and where its host is. */
export type LookedAt = Pick<Partner, 'url' | 'lookup'>;

/**
 * Sends it to the URL, on a connection of its own. Neither secret nor key nor custom headers go along, so that an endpoint whose
 * certificate is not trusted can be looked at too.
 *
 * @returns an attempt, always
 * @throws HookproofError PARTNER_TLS when OpenSSL does not take the material
 */
export async function lookHttp(
  { url, lookup }: LookedAt,
  tls: Partner['tls'],
  { timeoutMs, signal }: Limits,
): Promise<Attempt> {
  const found = lookup === undefined ? {} : { lookup };
  const { secure, host, target } = endpointOf(url);
  const agent = secure
    ? new https.Agent({
        secureContext: tlsOptionsFor(tls === undefined ? {} : { tls }).secureContext,
        rejectUnauthorized: false,
        maxCachedSessions: 0,
        ...found,
      })
    : new http.Agent(found);
  const prepared: Prepared = {
    url,
    method: LOOK_METHOD,
    target,
    headers: [
      ['Host', host],
      ['User-Agent', `hookproof/${version} (doctor)`],
      ['Accept', '*/*'],
    ],
    body: new Uint8Array(),
  };
  try {
    return await exchange(prepared, { agent, timeoutMs, signal, bodyCapBytes: BODY_BYTES });
  } finally {
    agent.destroy();
  }
}
