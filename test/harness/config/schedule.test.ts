/** The group `operate` of `_defaults.yaml`. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadSchedule } from '../../../harness/config/index.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hookproof-schedule-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function read(text: string) {
  const file = join(folder, '_defaults.yaml');
  await writeFile(file, text);
  return loadSchedule(file);
}
const DAY = 86_400_000;

it('has defaults without a file, and for what the file does not set', async () => {
  const standard = {
    everyMs: DAY,
    certifyBeforeMs: 14 * DAY,
    quiet: null,
    timeZone: 'UTC',
    perHost: 1,
    retryAfterMs: [60_000, 300_000, 1_800_000],
    revision: null,
  };
  expect(await loadSchedule(null)).toEqual(standard);
  expect(await read('profile: staging\n')).toEqual(standard);
});

it('reads the schedule', async () => {
  const lines = [
    '  recheck-every: 7d',
    '  certify-before: 21d',
    '  quiet-hours: "22:30-06:00"',
    '  time-zone: Europe/Berlin',
  ];
  const text = `operate:\n${lines.join('\n')}\n  per-host: 3\n  retry-after: [30s, 2m]\nrevision: 2\n`;
  expect(await read(text)).toEqual({
    everyMs: 7 * DAY,
    certifyBeforeMs: 21 * DAY,
    quiet: { from: 22 * 60 + 30, to: 6 * 60 },
    timeZone: 'Europe/Berlin',
    perHost: 3,
    retryAfterMs: [30_000, 120_000],
    revision: 2,
  });
});

it.each([
  ['recheck-every: 31d', ':2:18: operate.recheck-every: the value is not a number of days from 1d to 30d'],
  ['quiet-hours: "22:00-25:00"', 'is not a part of the day'],
  ['quiet-hours: "22:00-22:00"', 'is not a part of the day'],
  ['time-zone: Europe/Bonn', ':2:14: operate.time-zone: the value is not a time zone'],
  ['per-host: 0', 'is not a whole number from 1 to 64'],
  ['retry-after: [5]', 'is not a duration'],
  ['retry-after: [13h]', 'is not a duration'],
  ['recheck: 1d', 'unknown key "recheck" in operate'],
])('refuses %s with its line', async (line, message) => {
  await expect(read(`operate:\n  ${line}\n`)).rejects.toThrow(message);
});
