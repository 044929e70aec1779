/** Retries: off unless a policy is given. The specification does not state any. */
import { setTimeout as delay } from 'node:timers/promises';
import { headerValues } from '../../contract/index.ts';
import type { Attempt, Prepared } from './attempt.ts';
import type { Sender } from './sender.ts';

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
