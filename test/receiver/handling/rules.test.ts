/** The rules without a store: pauses, settings, and which status comes too late. */
import { describe, expect, it } from 'vitest';
import { isSuperseded } from '../../../receiver/handling/attempt.ts';
import { resolveHandlingPolicy, retryDelayMs } from '../../../receiver/handling/handlers.ts';
import { toInboxRow } from '../../../receiver/inbox/inbox-row.ts';
import { received } from '../inbox/stores.ts';

describe('the pause after a failed attempt', () => {
  const policy = resolveHandlingPolicy({ firstDelayMs: 1000, maxDelayMs: 60_000 });

  it('doubles up to its limit, and is spread by half', () => {
    const longest = [1, 2, 3, 6, 7, 8, 1000].map((attempt) => retryDelayMs(policy, attempt, 1));
    expect(longest).toEqual([1000, 2000, 4000, 32_000, 60_000, 60_000, 60_000]);
    expect(retryDelayMs(policy, 3, 0)).toBe(2000);
    const some = Array.from({ length: 100 }, () => retryDelayMs(policy, 3));
    expect(Math.min(...some)).toBeGreaterThanOrEqual(2000);
    expect(Math.max(...some)).toBeLessThanOrEqual(4000);
    expect(new Set(some).size).toBeGreaterThan(10);
  });
});

describe('the settings', () => {
  it('have defaults, and none but those that there are', () => {
    expect(resolveHandlingPolicy()).toMatchObject({ concurrency: 16, attempts: 10, refundWaitMs: 600_000 });
    expect(resolveHandlingPolicy({ refundWaitMs: 0 }).refundWaitMs).toBe(0);
  });

  it.each([
    [{ attempts: 0 }, 'handling.attempts is not a whole number between 1 and'],
    [{ concurrency: 1.5 }, 'handling.concurrency'],
    [{ timeLimitMs: 2 ** 31 }, 'handling.timeLimitMs'],
    [{ firstDelayMs: -1 }, 'handling.firstDelayMs is not a whole number between 0 and'],
    [{ pollMs: Number.NaN }, 'handling.pollMs'],
    [{ retries: 5 }, 'handling.retries is not a setting'],
    [{ toString: 5 }, 'handling.toString is not a setting'],
  ])('%o is refused', (given, message) => {
    expect(() => resolveHandlingPolicy(given as object)).toThrow(
      expect.objectContaining({ code: 'RECEIVER_HANDLING', message: expect.stringContaining(message) }),
    );
  });
});

describe('a status', () => {
  it.each([
    [{ rank: 1, at: 9 }, { rank: 4, at: 1 }, true],
    [{ rank: 4, at: 1 }, { rank: 1, at: 9 }, false],
    [{ rank: 4, at: 1 }, { rank: 4, at: 2 }, true],
    [{ rank: 4, at: 2 }, { rank: 4, at: 2 }, false],
    [{ rank: 0, at: 1 }, { rank: 4, at: 9 }, false],
    [{ rank: 1, at: 1 }, null, false],
    [null, { rank: 4, at: 1 }, false],
  ])('%o after %o comes too late: %s', (step, progress, late) => {
    expect(isSuperseded(step, progress)).toBe(late);
  });
});

describe('the place in a transaction', () => {
  const place = (kind: 'BUY' | 'REFUND', at: number, status?: string) =>
    toInboxRow(received(kind, { at, ...(status === undefined ? {} : { status }) })).position;

  it('is a whole number that every database holds, however far the time is', () => {
    for (const at of [0, 1, 1_700_000_000, 1_700_000_000_000, 8.64e12]) {
      expect(Number.isSafeInteger(place('BUY', at, 'FAILED'))).toBe(true);
      expect(Number.isSafeInteger(place('REFUND', at, 'FAIL'))).toBe(true);
      expect(place('REFUND', 0, 'FAIL')).toBeGreaterThan(place('BUY', at));
    }
  });

  it('is by time, and then by status', () => {
    expect(place('BUY', 5, 'CREATED')).toBeLessThan(place('BUY', 5, 'PENDING'));
    expect(place('BUY', 5, 'FAILED')).toBeLessThan(place('BUY', 6, 'CREATED'));
    expect(place('REFUND', 5, 'FAIL')).toBeLessThan(place('REFUND', 6, 'FAIL'));
  });
});
