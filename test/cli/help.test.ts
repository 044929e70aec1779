import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { HELP_TEXT } from '../../harness/cli/help-text.ts';
import { commandsOf, createProgram } from '../../harness/cli/program.ts';
import { configTemplate } from '../../harness/config/index.ts';
import { hookproof } from './hookproof.ts';

const COMMANDS = commandsOf(createProgram(() => {}));

/** Returns the commands that a help text lists, without arguments. */
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
  it('lists exactly the commands of the table', () => {
    expect(helpNames(HELP_TEXT).toSorted()).toEqual(COMMANDS.map(({ name }) => name).toSorted());
  });

  it.each([
    [['--help'], 0],
    [['help'], 0],
    [[], 2],
  ])('is printed by `hookproof %j`, with exit %d', async (args, code) => {
    expect(await hookproof(args)).toEqual({ code, stdout: HELP_TEXT, stderr: '' });
  });

  it('of `certify` lists no flag that prevents a certificate', () => {
    const text = COMMANDS.find(({ name }) => name === 'certify')?.command.helpInformation() ?? '';
    const flags = [...text.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)].map(([, flag]) => flag);
    expect(flags).toEqual(expect.arrayContaining(['--profile', '--shard', '--strict', '--partners']));
    const refused = ['--suite', '--scenario', '--grep', '--bail', '--baseline'];
    expect(flags.filter((flag) => refused.includes(flag ?? ''))).toEqual([]);
  });

  it.each([[['help', 'run']], [['run', '--help']]])('of one command is printed by `hookproof %j`', async (args) => {
    const { code, stdout, stderr } = await hookproof(args);
    expect({ code, first: stdout.split('\n')[0], stderr }).toEqual({
      code: 0,
      first: 'Usage: hookproof run [options] [url]',
      stderr: '',
    });
  });

  it('--version prints the version of the package', async () => {
    const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'));
    expect(await hookproof(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });
});

describe('an invalid command line exits with 2, explains on stderr, and prints nothing on stdout', () => {
  const url = 'http://127.0.0.1:9/';
  it.each<[string, string[], string[]]>([
    ['an unknown command', ['rnu'], ["unknown command 'rnu'", 'Did you mean run?']],
    ['an unknown option', ['run', url, '--strct'], ["unknown option '--strct'", 'Did you mean --strict?']],
    [
      'an unknown suite',
      ['run', url, '--suite', 'signatur'],
      ['unknown suite "signatur"', 'Did you mean "signature"?'],
    ],
    [
      'an unknown scenario',
      ['run', url, '--scenario', 'signature/mising'],
      ['unknown check "signature/mising"', 'Did you mean "signature/missing"?'],
    ],
    ['nothing selected', ['run', url, '--grep', 'no such words'], ['no check has "no such words" in its id or title']],
    [
      'selections without an overlap',
      ['run', url, '--suite', 'valid', '--scenario', 'signature/missing'],
      ['matches no'],
    ],
    ['a regular expression', ['run', url, '--grep', '^signature/'], ['takes text, not a regular expression']],
    ['an invalid shard', ['run', url, '--shard', '3/2'], ['shard']],
    [
      'an empty shard',
      ['run', url, '--scenario', 'valid/plain', '--shard', '2/2'],
      ['shard 2/2 is empty', '1 check is selected'],
    ],
    ['no URL', ['run'], ['URL']],
    ['an unknown kind to list', ['list', '--what', 'suits'], ['suits']],
    ['an unknown suite to list', ['list', '--suite', 'vaild'], ['Did you mean "valid"?']],
    ['an unknown id', ['explain', 'signature/mising'], ['unknown id', 'Did you mean "signature/missing"?']],
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

  it('lists the stacks', async () => {
    const { code, stdout } = await hookproof(['init', '--stack', 'list'], { cwd });
    expect([code, stdout.split('\n')]).toEqual([0, expect.arrayContaining([expect.stringMatching(/^flask +Flask/)])]);
  });

  it('writes a template that works, and prints the next steps', async () => {
    const { code, stdout } = await hookproof(['init'], { cwd });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^wrote hookproof\.yaml\n[\s\S]*hookproof config show\n[\s\S]*hookproof run\n\n/);
    expect(stdout).toMatch(
      /\nWithout --config, a command reads the hookproof\.yaml of the folder in which it starts\.\n$/,
    );
    expect(await content('hookproof.yaml')).toBe(configTemplate());
    expect(stdout).toContain('\nwrote hookproof.schema.json');
    const shown = await hookproof(['config', 'show'], { cwd, env: { WEBHOOK_SECRET: 'x'.repeat(32) } });
    expect({ code: shown.code, named: shown.stdout.includes('https://partner.example/webhooks') }).toEqual({
      code: 0,
      named: true,
    });
  });

  it('writes the schema that the first line names, next to the file, and the file is valid', async () => {
    await mkdir(join(cwd, 'partners'));
    await hookproof(['init', 'partners/acme.yaml'], { cwd });
    const text = await content('partners/acme.yaml');
    const [, named = ''] = /^# yaml-language-server: \$schema=(\S+)\n/.exec(text) ?? [];
    const schema = await content(join('partners', named));
    expect(schema).toBe((await hookproof(['config', 'schema'], { cwd })).stdout);
    const validate = new Ajv2020().compile(JSON.parse(schema) as object);
    expect(validate(parse(text))).toBe(true);
    expect(validate(parse(`${text}nonsense: 1\n`))).toBe(false);
  });

  it('replaces an existing file only with --force', async () => {
    await writeFile(join(cwd, 'mine.yaml'), 'mine');
    const refused = await hookproof(['init', 'mine.yaml'], { cwd });
    expect({ code: refused.code, kept: await content('mine.yaml') }).toEqual({ code: 2, kept: 'mine' });
    expect(refused.stderr).toContain('--force');
    const forced = await hookproof(['init', 'mine.yaml', '--force'], { cwd });
    expect({ code: forced.code, written: await content('mine.yaml') }).toEqual({ code: 0, written: configTemplate() });
    expect(forced.stdout).toContain('hookproof run --config mine.yaml');
  });

  it('reports a file that cannot be written', async () => {
    const { code, stderr } = await hookproof(['init', 'no/such/folder.yaml'], { cwd });
    expect({ code, says: stderr.includes('no/such/folder.yaml cannot be written') }).toEqual({ code: 2, says: true });
  });
});
