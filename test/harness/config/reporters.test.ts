import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../harness/config/index.ts';
import { refusal } from './workspace.ts';

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

  it('say it in the way of GitHub Actions there, unless another one stands on standard output', async () => {
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

  it.each(['json', 'json=-'])('%s stands in for the human one on standard output', async (reporter) => {
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
      'Choose from human, html, json, junit, ctrf, github, ndjson, badge.',
    ],
    [
      ['pdf=x'],
      '--reporter: "pdf" is not a reporter',
      'Choose from human, html, json, junit, ctrf, github, ndjson, badge.',
    ],
    [['json='], '--reporter: the file for json is missing', 'Write json=FILE, or json=- for standard output.'],
  ])('%j is refused', async (reporter, message, hint) => {
    expect(await refusal({ flags: { reporter } })).toMatchObject({ message, hint });
  });
});
