/** How handlers are tried: how many at a time, how often, how long. Durations in milliseconds. */
import { HookproofError } from '../../contract/index.ts';

export interface HandlingPolicy {
  /** Handlers at the same time. 16 by default. */
  readonly concurrency: number;
  /** Attempts before a notification is dead. 10 by default. */
  readonly attempts: number;
  /** The pause after the first failed attempt, 1 s by default. It doubles each time. */
  readonly firstDelayMs: number;
  /** The longest pause. 1 hour by default. */
  readonly maxDelayMs: number;
  /** How long a handler may take. 60 s by default. */
  readonly timeLimitMs: number;
  /** How long a REFUND waits for the failed SELL that comes before it. 10 minutes by default. */
  readonly refundWaitMs: number;
  /** How long an entry stays with a receiver that says nothing any more. 15 s by default. */
  readonly leaseMs: number;
  /** How often the inbox is asked for what other receivers have left. 1 s by default. */
  readonly pollMs: number;
}

const DEFAULTS: HandlingPolicy = {
  concurrency: 16,
  attempts: 10,
  firstDelayMs: 1000,
  maxDelayMs: 3_600_000,
  timeLimitMs: 60_000,
  refundWaitMs: 600_000,
  leaseMs: 15_000,
  pollMs: 1000,
};

/** More than this a timer of Node does not hold. */
const LONGEST_MS = 2 ** 31 - 1;

/** Throws {@link HookproofError} `RECEIVER_HANDLING`. */
export function resolveHandlingPolicy(given: Partial<HandlingPolicy> = {}): HandlingPolicy {
  const policy = { ...DEFAULTS, ...given };
  for (const [name, value] of Object.entries(policy)) {
    if (!Object.hasOwn(DEFAULTS, name)) {
      throw new HookproofError('RECEIVER_HANDLING', `handling.${name} is not a setting.`, {
        hint: `There are ${Object.keys(DEFAULTS).join(', ')}.`,
      });
    }
    const least = name === 'firstDelayMs' || name === 'maxDelayMs' || name === 'refundWaitMs' ? 0 : 1;
    if (Number.isSafeInteger(value) && value >= least && value <= LONGEST_MS) continue;
    throw new HookproofError(
      'RECEIVER_HANDLING',
      `handling.${name} is not a whole number from ${least} to ${LONGEST_MS}.`,
      { hint: `Leave it out for ${DEFAULTS[name as keyof HandlingPolicy]}.` },
    );
  }
  return policy;
}

/** The pause after a failed attempt, from 1 on. Spread by half, so that what failed together does not come back together. */
export function retryDelayMs(
  { firstDelayMs, maxDelayMs }: HandlingPolicy,
  attempt: number,
  random = Math.random(),
): number {
  const full = Math.min(maxDelayMs, firstDelayMs * 2 ** Math.min(attempt - 1, 40));
  return Math.round(full * (0.5 + random / 2));
}
