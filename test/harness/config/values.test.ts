import { describe, expect, it } from 'vitest';
import type { ConfigFlags } from '../../../harness/config/index.ts';
import { load, refusal } from './workspace.ts';

const REFUSED: readonly (readonly [flags: ConfigFlags, message: string, hint: string])[] = [
  [{ concurrency: 0 }, '--concurrency: "0" is not a whole number from 1 to 64', 'Write it in digits.'],
  [{ concurrency: 65 }, '--concurrency: "65" is not a whole number from 1 to 64', 'Write it in digits.'],
  [{ concurrency: '1.5' }, '--concurrency: "1.5" is not a whole number from 1 to 64', 'Write it in digits.'],
  [{ concurrency: '0x8' }, '--concurrency: "0x8" is not a whole number from 1 to 64', 'Write it in digits.'],
  [{ concurrency: '-1' }, '--concurrency: "-1" is not a whole number from 1 to 64', 'Write it in digits.'],
  [{ timeout: '99ms' }, '--timeout: 99ms is out of bounds', 'It can be from 100ms to 10m.'],
  [{ timeout: '601s' }, '--timeout: 601s is out of bounds', 'It can be from 100ms to 10m.'],
  [{ timeout: '10' }, '--timeout: is not a duration', 'Write a number and its unit: 500ms, 10s or 2m.'],
  [{ timeout: '10 s' }, '--timeout: is not a duration', 'Write a number and its unit: 500ms, 10s or 2m.'],
  [{ timeout: '-5s' }, '--timeout: is not a duration', 'Write a number and its unit: 500ms, 10s or 2m.'],
  [{ timeout: '1h' }, '--timeout: is not a duration', 'Write a number and its unit: 500ms, 10s or 2m.'],
  [{ recovery: '11m' }, '--recovery: 11m is out of bounds', 'It can be from 0s to 10m.'],
  ...['0/3', '4/3', '1/1001', '1', '1/', 'a/b', '1/2/3', '-1/2'].map(
    (shard) =>
      [
        { shard },
        `--shard: "${shard}" is not a shard`,
        'Write i/n with i from 1 to n, and n at most 1000: 2/4 is the second of four.',
      ] as const,
  ),
  [{ seed: 'a b' }, '--seed: is not a seed', 'A seed is 1 to 64 letters, digits, or any of . : _ -'],
  [{ seed: 'a'.repeat(65) }, '--seed: is not a seed', 'A seed is 1 to 64 letters, digits, or any of . : _ -'],
  [
    { grep: ['fine', '('] },
    '--grep: is not a regular expression (unterminated group)',
    'Write \\( for a bracket that is meant as it stands.',
  ],
  [
    { grep: ['a: b/i: (*'] },
    '--grep: is not a regular expression (nothing to repeat)',
    'Write \\( for a bracket that is meant as it stands.',
  ],
  [
    { profile: 'prod' },
    '--profile: "prod" is not a profile; did you mean "production"?',
    'Choose from basic, staging, production.',
  ],
  [{ profile: 'gold' }, '--profile: "gold" is not a profile', 'Choose from basic, staging, production.'],
  [
    { header: ['no colon'] },
    '--header: a header has the form "Name: value"',
    "For example: --header 'X-Tenant: acme'.",
  ],
  [{ header: [': value'] }, '--header: a header has the form "Name: value"', "For example: --header 'X-Tenant: acme'."],
];

describe('values', () => {
  it.each(REFUSED)('%j is refused', async (flags, message, hint) => {
    expect(await refusal({ flags })).toMatchObject({ message, hint });
  });

  it.each([
    ['100ms', 100],
    ['1s', 1000],
    ['0.25s', 250],
    ['1.5m', 90_000],
    ['10m', 600_000],
  ])('a timeout of %s is %d ms', async (timeout, timeoutMs) => {
    expect((await load({ flags: { timeout } })).run.timeoutMs).toBe(timeoutMs);
  });

  it.each([
    ['1/1', { index: 1, of: 1 }],
    ['1000/1000', { index: 1000, of: 1000 }],
  ])('%s is a shard', async (shard, expected) => {
    expect((await load({ flags: { shard } })).run.shard).toEqual(expected);
  });

  it('does not repeat a long or odd value', async () => {
    expect((await refusal({ flags: { profile: 'x'.repeat(25) } })).message).toBe(
      '--profile: the value is not a profile',
    );
    expect((await refusal({ flags: { profile: '\u001b[31m' } })).message).toBe('--profile: the value is not a profile');
  });
});
