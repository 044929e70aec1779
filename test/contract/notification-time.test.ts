import { describe, expect, it } from 'vitest';
import { readTime } from '../../contract/envelope.ts';

const iso = (value: unknown) => readTime(value)?.toISOString() ?? null;

describe('readTime', () => {
  it.each([
    [0, '1970-01-01T00:00:00.000Z'],
    [1_700_000_000, '2023-11-14T22:13:20.000Z'],
    [1_700_000_000.5, '2023-11-14T22:13:20.500Z'],
    ['1700000000', '2023-11-14T22:13:20.000Z'],
    ['1700000000.25', '2023-11-14T22:13:20.250Z'],
    ['2023-11-14T22:13:20Z', '2023-11-14T22:13:20.000Z'],
    ['2023-11-14T22:13:20.123Z', '2023-11-14T22:13:20.123Z'],
    ['2023-11-14T22:13:20.1Z', '2023-11-14T22:13:20.100Z'],
    ['2023-11-14T22:13:20.123456789Z', '2023-11-14T22:13:20.123Z'],
    ['2023-11-14T22:13:20,5Z', '2023-11-14T22:13:20.500Z'],
    ['2023-11-14t22:13:20z', '2023-11-14T22:13:20.000Z'],
    ['2023-11-14T22:13:20+00:00', '2023-11-14T22:13:20.000Z'],
    ['2023-11-15T00:13:20+02:00', '2023-11-14T22:13:20.000Z'],
    ['2023-11-14T17:13:20-0500', '2023-11-14T22:13:20.000Z'],
    ['2023-11-14 22:13:20', '2023-11-14T22:13:20.000Z'],
    ['2023-11-14T22:13', '2023-11-14T22:13:00.000Z'],
    ['2023-11-14', '2023-11-14T00:00:00.000Z'],
  ])('reads %s', (value, expected) => {
    expect(iso(value)).toBe(expected);
  });

  it('reads text without an offset as UTC in every time zone', () => {
    const before = process.env.TZ;
    try {
      process.env.TZ = 'America/New_York';
      expect(new Date('2023-11-14T22:13:20').toISOString()).toBe('2023-11-15T03:13:20.000Z');
      expect(iso('2023-11-14T22:13:20')).toBe('2023-11-14T22:13:20.000Z');
    } finally {
      if (before === undefined) delete process.env.TZ;
      else process.env.TZ = before;
    }
  });

  it.each([
    ...[-1, Number.NaN, Number.POSITIVE_INFINITY, 8.64e12 + 1, '', ' ', 'yesterday', 'foo 1', '-1', '1e9'],
    ...['99999999999999', '2023-13-01', '2023-11-14T25:00:00Z', '2023-11-14T22:13:20Zulu', '2023-11-14T22:13:20Z\n'],
    ...['14/11/2023', '1969-12-31T23:59:59Z', null, undefined, true, {}, [1_700_000_000], new Date()],
  ])('rejects %s', (value) => {
    expect(readTime(value)).toBeNull();
  });
});
