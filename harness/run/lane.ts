/**
 * A lane has one kept connection, like the production sender, and opens new ones for deliveries that must not share it.
 */

import { setMaxListeners } from 'node:events';
import type { Partner } from '../partner.ts';
import {
  connectedExchange,
  createIdentities,
  type Hold,
  headersFor,
  type Identities,
  rawExchange,
  writerFor,
} from '../probe/index.ts';
import { createSender } from '../sender/index.ts';
import { type Attempt, createConnections, exchange } from '../transport/index.ts';
import type { Assembled } from './assemble.ts';

export interface SendOptions {
  /** Whether the delivery gets a new connection. */
  readonly fresh?: boolean;
  /**
   * Whether the kept connection must be used, unless the endpoint has announced that it will close it. If the
   * connection turns out to be closed, the attempt fails.
   */
  readonly kept?: boolean;
  /** The local address from which to send, on a new connection. */
  readonly localAddress?: string | undefined;
  /** Controls when the second half of a held body is sent. */
  readonly hold?: Hold;
  /** Overrides the time limit of the run. Implies a new connection. */
  readonly timeoutMs?: number;
  readonly bodyCapBytes?: number;
}

export interface Lane {
  /** Sends one assembled request. Never rejects. */
  send(assembled: Assembled, options?: SendOptions): Promise<Attempt>;
  /** Closes every connection. Deliveries in flight end without an answer. */
  close(): void;
}

/** The lanes of a run. They are created on demand. */
export interface LanePool {
  at(index: number): Lane;
  close(): void;
}

/** Creates a pool whose lanes close when the signal aborts. */
export function createLanePool(create: () => Lane, signal: AbortSignal): LanePool {
  const lanes: Lane[] = [];
  const close = () => {
    signal.removeEventListener('abort', close);
    for (const lane of lanes) lane.close();
  };
  signal.addEventListener('abort', close, { once: true });
  return {
    at(index) {
      while (lanes.length <= index) lanes.push(create());
      return lanes[index] as Lane;
    },
    close,
  };
}

const BODY_CAP_BYTES = 64 * 1024;

export function createLane(
  partner: Partner,
  limits: { readonly timeoutMs: number },
  identities: Identities = createIdentities(partner, {}, false),
): Lane {
  const connected = { lookup: partner.lookup, ...(partner.tls === undefined ? {} : { tls: partner.tls }) };
  const common = { timeoutMs: limits.timeoutMs, bodyCapBytes: BODY_CAP_BYTES, ...connected };
  const kept = createSender({ ...common, maxSockets: 1 });
  const fresh = createSender({ ...common, maxSockets: Number.POSITIVE_INFINITY, keepAlive: false });
  const others = createConnections({ keepAlive: false, ...connected });
  const closing = new AbortController();
  const { signal } = closing;
  // All concurrent deliveries of a group listen to this signal.
  setMaxListeners(0, signal);

  return {
    send({ prepared, transmission, raw, change }, options = {}) {
      const limitsOfThis = {
        timeoutMs: options.timeoutMs ?? limits.timeoutMs,
        bodyCapBytes: options.bodyCapBytes ?? BODY_CAP_BYTES,
        signal,
      };
      if (transmission?.kind === 'raw' && raw !== null) {
        return rawExchange(prepared.url, partner, raw, { ...limitsOfThis, end: transmission.end === true });
      }
      if (change.connect !== undefined) {
        return connectedExchange(prepared, partner, change.connect, identities, limitsOfThis);
      }
      const { localAddress, hold, timeoutMs } = options;
      const write = writerFor(transmission, hold);
      if (write === undefined && localAddress === undefined && options.bodyCapBytes === undefined) {
        const isFresh = options.fresh === true || timeoutMs !== undefined;
        return isFresh
          ? fresh.deliver(prepared, { signal, ...(timeoutMs !== undefined && { timeoutMs }) })
          : kept.deliver(prepared, { signal, replaceClosed: options.kept !== true });
      }
      const request = { ...prepared, headers: headersFor(transmission, prepared.headers) };
      const agent = others.agentFor(prepared.url);
      return exchange(request, { agent, localAddress, ...limitsOfThis, ...(write === undefined ? {} : { write }) });
    },
    close() {
      closing.abort();
      kept.close();
      fresh.close();
      others.close();
    },
  };
}
