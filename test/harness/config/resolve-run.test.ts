/** The settings of the run and the reporters: valid values, and values that are rejected. */
import { describe, expect, it } from 'vitest';
import { type ConfigFlags, loadConfig } from '../../../harness/config/index.ts';
import { load, refusal } from './workspace.ts';

const PROFILES = 'Choose from basic, staging, production.';
const LINE = "Write name, colon and value: `--header 'X-Tenant: acme'`.";

/** For each flag its invalid values, the message (`%s` is the value), and the hint. */
const REFUSED: readonly (readonly [flag: keyof ConfigFlags, values: readonly string[], what: string, hint: string])[] =
  [
    ['concurrency', ['0', '65', '1.5', '0x8', '-1'], '%s is not a whole number from 1 to 64', 'Write digits only.'],
    ['timeout', ['99ms', '601s'], '%s is out of range', 'Choose a duration from 100ms to 10m.'],
    [
      'timeout',
      ['10', '10 s', '-5s', '1h'],
      '%s is not a duration',
      'Write a number and a unit, for example 500ms, 10s or 2m.',
    ],
    ['maxRate', ['5'], '%s is not a rate', 'Write a number, a slash and a unit, for example 5/s or 100/m.'],
    ['maxRate', ['0/s', '9000/s'], '%s is out of range', 'Choose a rate from 0.017/m to 1000/s.'],
    ['recovery', ['11m'], '%s is out of range', 'Choose a duration from 0s to 10m.'],
    [
      'shard',
      ['0/3', '4/3', '1/1001', '1', '1/', 'a/b', '1/2/3', '-1/2'],
      '%s is not a shard',
      'Write i/n with i from 1 to n, and n at most 1000: 2/4 is the second of four.',
    ],
    ['seed', ['a b', 'a'.repeat(65)], '%s is not a seed', 'A seed is 1 to 64 letters, digits, or any of . : _ -'],
    ['profile', ['prod'], '%s is not a profile; did you mean "production"?', PROFILES],
    // A long or unusual value is not repeated, because it may be a secret or control the terminal.
    ['profile', ['gold', 'x'.repeat(25), '\u001b[31m'], '%s is not a profile', PROFILES],
    ['header', ['no colon', ': value'], 'is not a header line', LINE],
  ];

describe('values', () => {
  it.each(REFUSED)('--%s refuses %j', async (flag, values, what, hint) => {
    for (const value of values) {
      const shown = /^[\w ./-]{1,24}$/.test(value) ? `"${value}"` : 'the value';
      const flags = { [flag]: flag === 'header' ? ['a: fine', value] : value };
      const message = `--${flag.replace('maxRate', 'max-rate')}: ${what.replace('%s', shown)}`;
      expect(await refusal({ flags })).toMatchObject({ message, hint });
    }
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

  it('accepts the smallest and the largest shard', async () => {
    expect((await load({ flags: { shard: '1/1' } })).run.shard).toEqual({ index: 1, of: 1 });
    expect((await load({ flags: { shard: '1000/1000' } })).run.shard).toEqual({ index: 1000, of: 1000 });
  });
});

async function reporters(reporter: string[], outputDir?: string) {
  const flags = { url: 'https://partner.example/', reporter, outputDir };
  return (await loadConfig({ flags, env: {}, cwd: '/nonexistent' })).reporters;
}
const human = { name: 'human', file: null };

describe('reporters', () => {
  it('write to the terminal by default', async () => {
    expect(await reporters([])).toEqual([human]);
    expect(await reporters(['human'])).toEqual([human]);
  });

  it('use the format of GitHub Actions there, unless another one writes to standard output', async () => {
    const there = async (reporter: string[]) => {
      const flags = { url: 'https://partner.example/', reporter };
      return (await loadConfig({ flags, env: { GITHUB_ACTIONS: 'true' }, cwd: '/nonexistent' })).reporters;
    };
    expect(await there([])).toEqual([{ name: 'github', file: null }]);
    expect(await there(['json=a'])).toEqual([
      { name: 'github', file: null },
      { name: 'json', file: '/nonexistent/a' },
    ]);
    expect(await there(['human'])).toEqual([human]);
  });

  it('in files never silence the terminal', async () => {
    expect(await reporters(['json=a=b.json', 'junit=/abs/j.xml', 'human=h.txt'])).toEqual([
      human,
      { name: 'json', file: '/nonexistent/a=b.json' },
      { name: 'junit', file: '/abs/j.xml' },
      { name: 'human', file: '/nonexistent/h.txt' },
    ]);
  });

  it.each(['json', 'json=-'])('%s replaces the human one on standard output', async (reporter) => {
    expect(await reporters([reporter])).toEqual([{ name: 'json', file: null }]);
  });

  it('write run.json, junit.xml and report.html into an output directory, once', async () => {
    expect(await reporters(['ndjson', 'json=out/run.json'], 'out')).toEqual([
      { name: 'ndjson', file: null },
      { name: 'json', file: '/nonexistent/out/run.json' },
      { name: 'junit', file: '/nonexistent/out/junit.xml' },
      { name: 'html', file: '/nonexistent/out/report.html' },
    ]);
  });

  it.each([
    [
      ['json', 'ndjson=-'],
      '--reporter: json and ndjson both write to standard output',
      'Give each its own file, for example ndjson=FILE.',
    ],
    [
      ['json=./x', 'junit=x'],
      '--reporter: json and junit both write to the same file',
      'Give each its own file, for example junit=FILE.',
    ],
    [
      ['juint'],
      '--reporter: "juint" is not a reporter; did you mean "junit"?',
      'Choose from human, html, json, junit, ctrf, sarif, github, ndjson, badge.',
    ],
    [
      ['pdf=x'],
      '--reporter: "pdf" is not a reporter',
      'Choose from human, html, json, junit, ctrf, sarif, github, ndjson, badge.',
    ],
    [['json='], '--reporter: the file for json is missing', 'Write json=FILE, or json=- for standard output.'],
  ])('%j is refused', async (reporter, message, hint) => {
    expect(await refusal({ flags: { reporter } })).toMatchObject({ message, hint });
  });
});
