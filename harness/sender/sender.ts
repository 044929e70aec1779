/** The sender as a handle: kept connections, one set of limits, one client certificate. */

import { setTimeout as delay } from 'node:timers/promises';
import { headerValues, LIMITS } from '../../contract/index.ts';
import {
  type Attempt,
  type ConnectionOptions,
  createConnections,
  type ExchangeLimits,
  type ExchangeOptions,
  type Prepared,
  transmit,
} from '../transport/index.ts';

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

/** Retries: off unless a policy is given. The specification does not state any. */

/** When and how often to try again. Times are in milliseconds. */
export interface RetryPolicy {
  /** Attempts in all, the first one included; 1, which is no retry, by default. */
  readonly attempts?: number;
  /** The longest wait after the first attempt; it doubles with each further one. 500 by default. */
  readonly baseDelayMs?: number;
  /** What the doubling stops at; 30,000 by default. */
  readonly maxDelayMs?: number;
  /** How much of a `Retry-After` is honoured; 60,000 by default. */
  readonly maxRetryAfterMs?: number;
}

/** Time and chance, for tests. */
interface RetryClock {
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  /** A number in [0, 1). */
  readonly random?: () => number;
  readonly sleep?: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
}

export interface RetryOptions extends RetryClock {
  /** Ends the waiting and the attempt that is under way. */
  readonly signal?: AbortSignal;
}

/** What a delivery with retries came to. */
export interface Delivery {
  /** Every attempt, in order. */
  readonly attempts: readonly Attempt[];
  /** The last attempt: how the delivery ended. */
  readonly last: Attempt;
}

/** Whether a further attempt may end better: a transport error of the endpoint's side, 408, 429 or 5xx. */
export function isRetryable({ answer, error }: Attempt): boolean {
  if (error !== null) return error.kind !== 'local';
  if (answer === null) return false;
  return answer.status === 408 || answer.status === 429 || (answer.status >= 500 && answer.status <= 599);
}

/**
 * Delivers a prepared request, again and again while the answer allows it and the policy lasts. The waits grow exponentially with full
 * jitter, and a `Retry-After` (seconds or a date) lengthens them up to a cap. Every attempt sends the same bytes.
 *
 * @returns all attempts; never rejects. An aborted signal ends it with the attempts made so far.
 */
export async function deliverWithRetry(
  sender: Pick<Sender, 'deliver'>,
  prepared: Prepared,
  policy: RetryPolicy = {},
  options: RetryOptions = {},
): Promise<Delivery> {
  const { signal, sleep = sleepFor } = options;
  const deliverOptions = signal === undefined ? {} : { signal };
  const attempts: Attempt[] = [];
  for (;;) {
    const last = await sender.deliver(prepared, deliverOptions);
    attempts.push(last);
    if (attempts.length >= (policy.attempts ?? 1) || !isRetryable(last)) return { attempts, last };
    // Nothing but the signal ends a wait early.
    await sleep(waitAfter(last, attempts.length, policy, options), signal).catch(() => undefined);
    if (signal?.aborted) return { attempts, last };
  }
}

function waitAfter(attempt: Attempt, made: number, policy: RetryPolicy, clock: RetryClock): number {
  const { baseDelayMs = 500, maxDelayMs = 30_000, maxRetryAfterMs = 60_000 } = policy;
  const { now = Date.now, random = Math.random } = clock;
  const backoff = random() * Math.min(maxDelayMs, baseDelayMs * 2 ** (made - 1));
  return Math.max(backoff, Math.min(maxRetryAfterMs, retryAfter(attempt, now())));
}

/** Milliseconds that the answer asks for; 0 when it asks for none that can be read. */
function retryAfter({ answer }: Attempt, now: number): number {
  const value = headerValues(answer?.headers ?? [], 'Retry-After')[0] ?? '';
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? 0 : Math.max(0, date - now);
}

async function sleepFor(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await delay(ms, undefined, signal === undefined ? {} : { signal });
}
