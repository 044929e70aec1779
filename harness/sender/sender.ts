/** The sender as a handle: kept connections, one set of limits, one client certificate. */

import { LIMITS } from '../../contract/index.ts';
import type { Attempt, Prepared } from './attempt.ts';
import { type ConnectionOptions, createConnections } from './connections.ts';
import { type ExchangeLimits, type ExchangeOptions, transmit } from './exchange.ts';

export interface SenderOptions extends ExchangeLimits, ConnectionOptions {}

export interface DeliverOptions {
  /** Breaks the delivery off; the attempt then has an error of kind `local`. */
  readonly signal?: AbortSignal;
}

export interface Sender {
  /** Sends a prepared request and reads the answer. Never rejects: what goes wrong stands in the attempt. */
  deliver(prepared: Prepared, options?: DeliverOptions): Promise<Attempt>;
  /** Closes all connections. Deliveries that are under way end as reset. */
  close(): void;
}

/**
 * Makes a sender for one partner. It makes one attempt for each delivery; {@link deliverWithRetry} makes more.
 *
 * One thing is not counted as an attempt: a kept connection that the endpoint had closed in the meantime, so that no byte of an
 * answer came. The request is then sent once more on a new connection. The endpoint may have seen it twice; a sender promises
 * delivery at least once, so a receiver has to be ready for that anyway.
 *
 * @throws HookproofError PARTNER_TLS when the TLS material cannot be used
 */
export function createSender(options: SenderOptions = {}): Sender {
  const connections = createConnections(options);
  const { timeoutMs = LIMITS.answerTimeoutMs } = options;
  let last: ExchangeOptions | undefined;

  /** The same object for every delivery to the same kind of endpoint: this runs tens of thousands of times a second. */
  function optionsFor(url: string): ExchangeOptions {
    const agent = connections.agentFor(url);
    if (last?.agent !== agent) last = { ...options, timeoutMs, agent };
    return last;
  }

  return {
    deliver(prepared, { signal } = {}) {
      const common = optionsFor(prepared.url);
      const request = signal === undefined ? common : { ...common, signal };
      // One promise for a delivery, whatever it takes.
      return new Promise((resolve) => {
        transmit(prepared, request, (attempt) => {
          if (!wasStale(attempt)) return resolve(attempt);
          connections.dropIdle(prepared.url);
          const timeLeft = Math.max(1, timeoutMs - attempt.timings.totalMs);
          transmit(prepared, { ...request, timeoutMs: timeLeft }, resolve);
        });
      });
    },
    close: connections.close,
  };
}

function wasStale({ error, timings }: Attempt): boolean {
  return error?.kind === 'reset' && timings.reused && timings.firstByteMs === null;
}

/**
 * Delivers one prepared request on a connection of its own. For more than a few, make a sender and keep it.
 *
 * @throws HookproofError PARTNER_TLS when the TLS material cannot be used
 */
export async function deliver(
  prepared: Prepared,
  { signal, ...options }: Omit<SenderOptions, 'keepAlive' | 'maxSockets'> & DeliverOptions = {},
): Promise<Attempt> {
  const sender = createSender({ ...options, keepAlive: false });
  try {
    return await sender.deliver(prepared, signal === undefined ? {} : { signal });
  } finally {
    sender.close();
  }
}
