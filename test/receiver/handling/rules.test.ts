/** The rules of handling without a store: pauses, settings, superseded statuses, positions. */
import { describe, expect, it } from 'vitest';
import { isSuperseded } from '../../../receiver/handling/handle-entry.ts';
import { resolveHandlingPolicy, retryDelayMs } from '../../../receiver/handling/handlers.ts';
import { toInboxRow } from '../../../receiver/inbox/inbox-row.ts';
import { received } from '../inbox/stores.ts';

describe('the pause after a failed attempt', () => {
  const policy = resolveHandlingPolicy({ firstDelayMs: 1000, maxDelayMs: 60_000 });

  it('doubles up to its limit, with a jitter of one half', () => {
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
  it('have defaults', () => {
    expect(resolveHandlingPolicy()).toMatchObject({ concurrency: 16, attempts: 10, refundWaitMs: 600_000 });
    expect(resolveHandlingPolicy({ refundWaitMs: 0 }).refundWaitMs).toBe(0);
  });

  it.each([
    [{ attempts: 0 }, '`handling.attempts` is not a whole number between 1 and'],
    [{ concurrency: 1.5 }, 'handling.concurrency'],
    [{ timeLimitMs: 2 ** 31 }, 'handling.timeLimitMs'],
    [{ firstDelayMs: -1 }, '`handling.firstDelayMs` is not a whole number between 0 and'],
    [{ pollMs: Number.NaN }, 'handling.pollMs'],
    [{ retries: 5 }, '`handling.retries` is not a setting'],
    [{ toString: 5 }, '`handling.toString` is not a setting'],
  ])('%o is rejected', (given, message) => {
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
  ])('%o after %o is superseded: %s', (step, progress, late) => {
    expect(isSuperseded(step, progress)).toBe(late);
  });
});

describe('the position in a transaction', () => {
  const position = (kind: 'BUY' | 'REFUND', at: number, status?: string) =>
    toInboxRow(received(kind, { at, ...(status === undefined ? {} : { status }) })).position;

  it('is a safe integer for any time', () => {
    for (const at of [0, 1, 1_700_000_000, 1_700_000_000_000, 8.64e12]) {
      expect(Number.isSafeInteger(position('BUY', at, 'FAILED'))).toBe(true);
      expect(Number.isSafeInteger(position('REFUND', at, 'FAIL'))).toBe(true);
      expect(position('REFUND', 0, 'FAIL')).toBeGreaterThan(position('BUY', at));
    }
  });

  it('depends on the time, and then on the status', () => {
    expect(position('BUY', 5, 'CREATED')).toBeLessThan(position('BUY', 5, 'PENDING'));
    expect(position('BUY', 5, 'FAILED')).toBeLessThan(position('BUY', 6, 'CREATED'));
    expect(position('REFUND', 5, 'FAIL')).toBeLessThan(position('REFUND', 6, 'FAIL'));
  });
});
