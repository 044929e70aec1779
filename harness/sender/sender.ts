/**
 * Delivers prepared requests to one partner: over kept connections, with one set of limits and one client certificate.
 * Retries are off unless a policy is given, because the specification names none.
 */

import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { LIMITS } from '../../contract/index.ts';
import {
  type Attempt,
  Pool,
  type PoolOptions,
  type PoolState,
  type Prepared,
  retryAfterMs,
} from '../transport/index.ts';

export interface SenderOptions extends PoolOptions {
  /**
   * Called with each attempt before its delivery ends, including a failed one whose request is sent once more; for
   * metrics and records. It must not throw.
   */
  readonly onAttempt?: (attempt: Attempt, prepared: Prepared) => void;
}

export interface DeliverOptions {
  /** Cancels the delivery; the attempt then has an error of kind `local`. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds; replaces the sender's time limit. */
  readonly timeoutMs?: number;
  /** Whether to send again on a new connection if the endpoint has closed the kept one. Default: true. */
  readonly replaceClosed?: boolean;
}

/** Minimum idle time, in milliseconds, after which an endpoint may have closed a connection because it was idle. */
const MIN_IDLE_MS = 200;

export interface Sender {
  /** Sends a prepared request and reads the answer. Never rejects: a failure is in the attempt. */
  deliver(prepared: Prepared, options?: DeliverOptions): Promise<Attempt>;
  /** Resolves when a delivery to this URL would not have to wait for a connection, or when the signal is aborted. */
  ready(url: string, signal?: AbortSignal): Promise<void>;
  /** Returns the current state of the connections and the queue. */
  state(): PoolState;
  /**
   * Closes all connections. Deliveries in progress get an error of kind `reset`, and later ones an error of kind
   * `local`.
   */
  close(): void;
}

/**
 * Creates a sender for one partner, or for all partners that share its options. It makes one attempt per delivery;
 * {@link deliverWithRetry} makes more. Connections are kept and bounded for each endpoint, and so is the queue of
 * deliveries that wait for one.
 *
 * If the endpoint has closed a kept connection before any byte of an answer arrived, the request is sent once more on a
 * new connection, and both count as one attempt. The endpoint may see the request twice, as at-least-once delivery
 * allows: the attempt says so (`sentAgain`), and also if the connection had not been idle (`resetInUse`).
 *
 * @example
 * const sender = createSender({ maxSockets: 32, onAttempt: ({ timings }) => histogram.record(timings.totalMs) });
 * for await (const notification of queue) {
 *   await sender.ready(partner.url, signal); // as fast as the partner answers
 *   void sender.deliver(prepare(notification, partner), { signal }).then(store);
 * }
 *
 * @throws HookproofError PARTNER_TLS if the TLS material cannot be used
 */
export function createSender(options: SenderOptions = {}): Sender {
  const { onAttempt } = options;
  const pool = new Pool(options, LIMITS.answerTimeoutMs);

  return {
    deliver(prepared, { signal, replaceClosed = true, timeoutMs = pool.limits.timeoutMs } = {}) {
      mayBeShared(signal);
      return new Promise((resolve) => {
        const end = (attempt: Attempt) => {
          onAttempt?.(attempt, prepared);
          resolve(attempt);
        };
        pool.send(prepared, { signal, timeoutMs }, (attempt, idleMs) => {
          if (!replaceClosed || !wasStale(attempt)) return end(attempt);
          onAttempt?.(attempt, prepared);
          // If the other side closed one connection, it probably closed the others, too.
          pool.dropIdle(prepared.url);
          const timeLeft = Math.max(1, timeoutMs - attempt.timings.totalMs);
          const isUnexpected = idleMs < MIN_IDLE_MS;
          pool.send(prepared, { signal, timeoutMs: timeLeft }, (again) =>
            end({ ...again, sentAgain: true, ...(isUnexpected && { resetInUse: true }) }),
          );
        });
      });
    },
    ready(url, signal) {
      mayBeShared(signal);
      return pool.ready(url, signal);
    },
    state: () => pool.state(),
    close: () => pool.close(),
  };
}

/** Allows any number of listeners. Otherwise Node warns of a leak if more than ten deliveries share a signal. */
function mayBeShared(signal: AbortSignal | undefined): void {
  if (signal !== undefined) setMaxListeners(0, signal);
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
export interface DeliveryResult {
  /** Every attempt, in order. */
  readonly attempts: readonly Attempt[];
  /** The last attempt: the outcome of the delivery. */
  readonly last: Attempt;
}

/** Returns whether another attempt may succeed: after a transport error on the endpoint's side, 408, 429 or 5xx. */
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
): Promise<DeliveryResult> {
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
  const asked = retryAfterMs(attempt.answer?.headers ?? [], now()) ?? 0;
  return Math.max(backoff, Math.min(maxRetryAfterMs, asked));
}

async function sleepFor(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await delay(ms, undefined, { signal });
}

function wasStale({ error, timings }: Attempt): boolean {
  return error?.kind === 'reset' && timings.reused && timings.firstByteMs === null;
}
