import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HELP_TEXT } from '../../harness/cli/help-text.ts';
import { commandsOf, createProgram } from '../../harness/cli/program.ts';
import { configTemplate } from '../../harness/config/index.ts';
import { hookproof } from './hookproof.ts';

/** The commands of the table by their whole names. */
function commandNames(): string[] {
  return commandsOf(createProgram(() => {})).map(({ name }) => name);
}

/** The commands that a help text lists, without their arguments. */
function helpNames(text: string): string[] {
  const list = /Commands:\n((?: {2}\S.*\n)+)/.exec(text)?.[1] ?? '';
  return list
    .trimEnd()
    .split('\n')
    .map((line) => line.trim().split(/ {2,}/)[0]!)
    .map((usage) =>
      usage
        .split(' ')
        .filter((word) => /^[a-z-]+$/.test(word))
        .join(' '),
    );
}

describe('the help', () => {
  it('names every command of the table, and no other', () => {
    expect(helpNames(HELP_TEXT).toSorted()).toEqual(commandNames().toSorted());
  });

  it('would notice a command that is missing', () => {
    expect(helpNames(HELP_TEXT.replace(/^ {2}explain.*\n/m, ''))).not.toContain('explain');
  });

  it.each([['--help'], ['-h'], ['help']])('%s prints it and exits 0', async (flag) => {
    expect(await hookproof([flag])).toEqual({ code: 0, stdout: HELP_TEXT, stderr: '' });
  });

  it('comes without arguments too, with exit 2', async () => {
    expect(await hookproof([])).toEqual({ code: 2, stdout: HELP_TEXT, stderr: '' });
  });

  it('fits 80 columns but for the lines of commands', () => {
    expect(HELP_TEXT.split('\n').filter((line) => line.length > 112)).toEqual([]);
  });

  it.each(commandNames())('%s --help exits 0', async (name) => {
    const { code, stdout, stderr } = await hookproof([...name.split(' '), '--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(`Usage: hookproof ${name}`);
  });

  it('of one command is also behind help', async () => {
    const { code, stdout } = await hookproof(['help', 'run']);
    expect({ code, first: stdout.split('\n')[0] }).toEqual({ code: 0, first: 'Usage: hookproof run [options] [url]' });
  });

  it('--version prints the version of the package', async () => {
    const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'));
    expect(await hookproof(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });
});

describe('a wrong command line exits 2, says what is wrong on stderr, and nothing on stdout', () => {
  const url = 'http://127.0.0.1:9/';
  it.each<[string, string[], string[]]>([
    ['an unknown command', ['rnu'], ["unknown command 'rnu'", 'Did you mean run?']],
    ['an unknown option', ['run', url, '--strct'], ["unknown option '--strct'", 'Did you mean --strict?']],
    ['an unknown suite', ['run', url, '--suite', 'signatur'], ['no suite "signatur"', 'Did you mean "signature"?']],
    [
      'an unknown scenario',
      ['run', url, '--scenario', 'signature/mising'],
      ['no scenario "signature/mising"', 'Did you mean "signature/missing"?'],
    ],
    ['nothing selected', ['run', url, '--grep', 'no such words'], ['the selection matches no scenario']],
    [
      'selections without an overlap',
      ['run', url, '--suite', 'valid', '--scenario', 'signature/missing'],
      ['matches no'],
    ],
    ['a pattern that is none', ['run', url, '--grep', '('], ['is not a regular expression']],
    ['a shard that is none', ['run', url, '--shard', '3/2'], ['shard']],
    ['an empty shard', ['run', url, '--scenario', 'valid/plain', '--shard', '2/2'], ['shard 2/2 of 1', 'is empty']],
    ['no URL', ['run'], ['URL']],
    ['an unknown thing to list', ['list', '--what', 'suits'], ['suits']],
    ['an unknown suite to list', ['list', '--suite', 'vaild'], ['Did you mean "valid"?']],
    ['an unknown id', ['explain', 'signature/mising'], ['is not known', 'Did you mean "signature/missing"?']],
    ['too many arguments', ['explain', 'a', 'b'], ['too many arguments']],
    ['an unknown notification', ['trigger', 'wallett', url], ['Did you mean "wallet"?']],
    ['no signature', ['verify', 'x'], ['--signature']],
  ])('%s', async (_, args, says) => {
    const { code, stdout, stderr } = await hookproof(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    for (const words of says) expect(stderr).toContain(words);
    expect(stderr).not.toMatch(/internal error|\n {4}at /);
  });
});

describe('init', () => {
  let cwd = '';
  beforeAll(async () => {
    cwd = await mkdtemp(join(tmpdir(), 'hookproof-'));
  });
  afterAll(() => rm(cwd, { recursive: true }));
  const content = (name: string) => readFile(join(cwd, name), 'utf8');

  it('writes the template, says what comes next, and the file works', async () => {
    const { code, stdout } = await hookproof(['init'], { cwd });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^wrote hookproof\.yaml\n[\s\S]*hookproof config show\n[\s\S]*hookproof run\n$/);
    expect(await content('hookproof.yaml')).toBe(configTemplate());
    const shown = await hookproof(['config', 'show'], { cwd, env: { WEBHOOK_SECRET: 'x'.repeat(32) } });
    expect({ code: shown.code, named: shown.stdout.includes('https://partner.example/webhooks') }).toEqual({
      code: 0,
      named: true,
    });
  });

  it('keeps a file that is there, unless told otherwise', async () => {
    await writeFile(join(cwd, 'mine.yaml'), 'mine');
    const refused = await hookproof(['init', 'mine.yaml'], { cwd });
    expect({ code: refused.code, kept: await content('mine.yaml') }).toEqual({ code: 2, kept: 'mine' });
    expect(refused.stderr).toContain('--force');
    const forced = await hookproof(['init', 'mine.yaml', '--force'], { cwd });
    expect({ code: forced.code, written: await content('mine.yaml') }).toEqual({ code: 0, written: configTemplate() });
    expect(forced.stdout).toContain('hookproof run --config mine.yaml');
  });

  it('says when it cannot write', async () => {
    const { code, stderr } = await hookproof(['init', 'no/such/folder.yaml'], { cwd });
    expect({ code, says: stderr.includes('no/such/folder.yaml cannot be written') }).toEqual({ code: 2, says: true });
  });
});
