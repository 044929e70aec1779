/**
 * Delivers prepared requests to one partner: over kept connections, with one set of limits and one client certificate.
 * Retries are off unless a policy is given, because the specification names none.
 */

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
  /** Cancels the delivery; the attempt then has an error of kind `local`. */
  readonly signal?: AbortSignal | undefined;
  /** False: when the endpoint has closed the kept connection, this is the result, and nothing is sent again. */
  readonly replaceClosed?: boolean;
}

/** After a shorter pause, a closed connection was not closed for being idle. */
const MIN_IDLE_MS = 200;

export interface Sender {
  /** Sends a prepared request and reads the answer. Never rejects: a failure is in the attempt. */
  deliver(prepared: Prepared, options?: DeliverOptions): Promise<Attempt>;
  /** Closes all connections. Deliveries in progress end as reset. */
  close(): void;
}

/**
 * Creates a sender for one partner. It makes one attempt per delivery; {@link deliverWithRetry} makes more.
 *
 * If the endpoint has closed a kept connection before any byte of an answer arrived, the request is sent once more on a
 * new connection, and both count as one attempt. The endpoint may see the request twice, as at-least-once delivery
 * allows. Unless the connection had been idle, the attempt says so (`resetInUse`).
 *
 * @throws HookproofError PARTNER_TLS if the TLS material cannot be used
 */
export function createSender(options: SenderOptions = {}): Sender {
  const connections = createConnections(options);
  const { timeoutMs = LIMITS.answerTimeoutMs } = options;
  let cached: ExchangeOptions | undefined;

  /**
   * Reuses one object for all deliveries to the same kind of endpoint, because this runs tens of thousands of times a
   * second.
   */
  function optionsFor(url: string): ExchangeOptions {
    const agent = connections.agentFor(url);
    if (cached?.agent !== agent) cached = { ...options, timeoutMs, agent };
    return cached;
  }

  return {
    deliver(prepared, { signal, replaceClosed = true } = {}) {
      const common = optionsFor(prepared.url);
      const request = signal === undefined ? common : { ...common, signal };
      return new Promise((resolve) => {
        transmit(prepared, request, (attempt, idleMs) => {
          if (!replaceClosed || !wasStale(attempt)) return resolve(attempt);
          connections.dropIdle(prepared.url);
          const timeLeft = Math.max(1, timeoutMs - attempt.timings.totalMs);
          const wasIdle = idleMs >= MIN_IDLE_MS;
          transmit(prepared, { ...request, timeoutMs: timeLeft }, (again) =>
            resolve(wasIdle ? again : { ...again, resetInUse: true }),
          );
        });
      });
    },
    close: connections.close,
  };
}

/**
 * Delivers one prepared request on a new connection. For more than a few requests, create a sender and keep it.
 *
 * @throws HookproofError PARTNER_TLS if the TLS material cannot be used
 */
export async function deliver(
  prepared: Prepared,
  { signal, ...options }: Omit<SenderOptions, 'keepAlive' | 'maxSockets'> & DeliverOptions = {},
): Promise<Attempt> {
  return await createSender({ ...options, keepAlive: false }).deliver(prepared, { signal });
}

/** When and how often to try again. Times are in milliseconds. */
export interface RetryPolicy {
  /** Total number of attempts, including the first. Default: 1 (no retry). */
  readonly attempts?: number;
  /** Upper limit of the wait after the first attempt; it doubles with each further attempt. Default: 500. */
  readonly baseDelayMs?: number;
  /** Upper limit of every backoff. Default: 30,000. */
  readonly maxDelayMs?: number;
  /** Upper limit of the wait that a `Retry-After` can ask for. Default: 60,000. */
  readonly maxRetryAfterMs?: number;
}

/** Clock and randomness; replaced in tests. */
interface RetryClock {
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  /** A number in [0, 1). */
  readonly random?: () => number;
  readonly sleep?: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
}

export interface RetryOptions extends RetryClock {
  /** Cancels the current wait and the current attempt. */
  readonly signal?: AbortSignal | undefined;
}

/** The outcome of a delivery with retries. */
export interface Delivery {
  /** Every attempt, in order. */
  readonly attempts: readonly Attempt[];
  /** The last attempt: the outcome of the delivery. */
  readonly last: Attempt;
}

/** Whether another attempt may succeed: after a transport error on the endpoint's side, 408, 429 or 5xx. */
export function isRetryable({ answer, error }: Attempt): boolean {
  if (error !== null) return error.kind !== 'local';
  if (answer === null) return false;
  return answer.status === 408 || answer.status === 429 || (answer.status >= 500 && answer.status <= 599);
}

/**
 * Delivers a prepared request and retries while the outcome is retryable and the policy allows it. The waits grow
 * exponentially with full jitter, and a `Retry-After` (seconds or a date) lengthens them up to a limit. Every attempt
 * sends the same bytes.
 *
 * @returns all attempts; never rejects. When the signal is aborted, returns the attempts made so far.
 */
export async function deliverWithRetry(
  sender: Pick<Sender, 'deliver'>,
  prepared: Prepared,
  policy: RetryPolicy = {},
  options: RetryOptions = {},
): Promise<Delivery> {
  const { signal, sleep = sleepFor } = options;
  const attempts: Attempt[] = [];
  for (;;) {
    const last = await sender.deliver(prepared, { signal });
    attempts.push(last);
    if (attempts.length >= (policy.attempts ?? 1) || !isRetryable(last)) return { attempts, last };
    // Only the signal ends a wait early.
    await sleep(delayAfter(last, attempts.length, policy, options), signal).catch(() => undefined);
    if (signal?.aborted) return { attempts, last };
  }
}

function delayAfter(attempt: Attempt, made: number, policy: RetryPolicy, clock: RetryClock): number {
  const { baseDelayMs = 500, maxDelayMs = 30_000, maxRetryAfterMs = 60_000 } = policy;
  const { now = Date.now, random = Math.random } = clock;
  const backoff = random() * Math.min(maxDelayMs, baseDelayMs * 2 ** (made - 1));
  return Math.max(backoff, Math.min(maxRetryAfterMs, retryAfterMs(attempt, now())));
}

/** Milliseconds that the answer's `Retry-After` asks for, the longest of several; 0 if none can be parsed. */
function retryAfterMs({ answer }: Attempt, now: number): number {
  if (answer === null) return 0;
  const waits = headerValues(answer.headers, 'Retry-After').map((value) =>
    Number.isNaN(Number(value)) ? Date.parse(value) - now : Number(value) * 1000,
  );
  return Math.max(0, ...waits.filter((ms) => !Number.isNaN(ms)));
}

async function sleepFor(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await delay(ms, undefined, { signal });
}

function wasStale({ error, timings }: Attempt): boolean {
  return error?.kind === 'reset' && timings.reused && timings.firstByteMs === null;
}
