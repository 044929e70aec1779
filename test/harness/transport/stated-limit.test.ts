import { describe, expect, it } from 'vitest';
import type { HeaderLine } from '../../../contract/index.ts';
import { statedLimit } from '../../../harness/transport/index.ts';

const NOW = Date.parse('2026-11-27T00:00:00Z');

describe('the limit that an answer states', () => {
  it.each<[string, Record<string, string>, string, number | null, number | null]>([
    ['is none without headers', {}, '', null, null],
    ['ends at Retry-After', { 'Retry-After': '900' }, 'Retry-After: 900', 900_000, null],
    [
      'has a policy, of the older drafts',
      { 'RateLimit-Policy': '100;w=900', 'RateLimit-Limit': '100', 'RateLimit-Reset': '30' },
      'RateLimit-Reset: 30, RateLimit-Policy: 100;w=900',
      30_000,
      9000,
    ],
    [
      'has a policy, of the newest draft',
      { 'RateLimit-Policy': '"a"; q=5; w=1', RateLimit: '"a"; r=0; t=1' },
      'RateLimit-Policy: "a"; q=5; w=1',
      1000,
      200,
    ],
    [
      'ends at a time since 1970',
      { 'X-RateLimit-Limit': '10', 'X-RateLimit-Reset': `${NOW / 1000 + 60}` },
      `X-RateLimit-Reset: ${NOW / 1000 + 60}, X-RateLimit-Limit: 10`,
      60_000,
      null,
    ],
    [
      'ends by the clock of the endpoint',
      { Date: 'Fri, 27 Nov 2026 01:00:00 GMT', 'Retry-After': 'Fri, 27 Nov 2026 01:00:30 GMT' },
      'Retry-After: Fri, 27 Nov 2026 01:00:30 GMT',
      30_000,
      null,
    ],
    ['has no interval without a quota', { 'RateLimit-Policy': 'w=900' }, 'RateLimit-Policy: w=900', null, null],
    ['has no interval without a window', { 'RateLimit-Policy': '5;w=0' }, 'RateLimit-Policy: 5;w=0', null, null],
    ['is unknown where it cannot be read', { 'X-RateLimit-Reset': 'soon' }, 'X-RateLimit-Reset: soon', null, null],
  ])('%s', (_name, fields, headers, endsInMs, intervalMs) => {
    const lines: HeaderLine[] = Object.entries(fields);
    expect(statedLimit(lines, NOW)).toEqual({ headers, endsInMs, intervalMs });
  });
});
