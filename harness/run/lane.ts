/** A lane: one kept connection, as the sender keeps it in production, and new ones for what must not share it. */
import { setMaxListeners } from 'node:events';
import { type Attempt, createConnections, createSender, exchange, type Partner } from '../sender/index.ts';
import type { Assembled } from './assemble.ts';
import { connectedExchange } from './connected-exchange.ts';
import { createIdentities, type Identities } from './identities.ts';
import { rawExchange } from './raw-exchange.ts';
import { headersFor, requestBytes, writerFor } from './transmissions.ts';

export interface SendOptions {
  /** On a connection of its own. */
  readonly fresh?: boolean;
  /** In place of the run's limits, for a second look. Implies a connection of its own. */
  readonly timeoutMs?: number;
  readonly bodyCapBytes?: number;
}

export interface Lane {
  /** Sends one assembled request. Never rejects. */
  send(assembled: Assembled, options?: SendOptions): Promise<Attempt>;
  /** Closes every connection; deliveries under way end without an answer. */
  close(): void;
}

const BODY_CAP_BYTES = 64 * 1024;

export function createLane(
  partner: Partner,
  limits: { readonly timeoutMs: number },
  identities: () => Identities = () => createIdentities(partner, {}, false),
): Lane {
  const connected = { lookup: partner.lookup, ...(partner.tls === undefined ? {} : { tls: partner.tls }) };
  const kept = createSender({ timeoutMs: limits.timeoutMs, bodyCapBytes: BODY_CAP_BYTES, maxSockets: 1, ...connected });
  const fresh = createConnections({ keepAlive: false, ...connected });
  const closing = new AbortController();
  const { signal } = closing;
  // A group of deliveries listens to it all at once.
  setMaxListeners(0, signal);

  return {
    send({ prepared, transmission, kit, change }, options = {}) {
      const timeoutMs = options.timeoutMs ?? limits.timeoutMs;
      const bodyCapBytes = options.bodyCapBytes ?? BODY_CAP_BYTES;
      if (transmission?.kind === 'raw') {
        return rawExchange(prepared.url, partner, transmission.make(requestBytes(prepared), kit), {
          timeoutMs,
          bodyCapBytes,
          signal,
        });
      }
      if (change.connect !== undefined) {
        const limitsOfThis = { timeoutMs, bodyCapBytes, signal };
        return connectedExchange(prepared, partner, change.connect, identities(), limitsOfThis);
      }
      const write = writerFor(transmission);
      const { fresh: alone = false } = options;
      if (write === undefined && !alone && options.timeoutMs === undefined && options.bodyCapBytes === undefined) {
        return kept.deliver(prepared, { signal });
      }
      const request = { ...prepared, headers: headersFor(transmission, prepared.headers) };
      const agent = fresh.agentFor(prepared.url);
      return exchange(request, { agent, timeoutMs, bodyCapBytes, signal, ...(write === undefined ? {} : { write }) });
    },
    close() {
      closing.abort();
      kept.close();
      fresh.close();
    },
  };
}
