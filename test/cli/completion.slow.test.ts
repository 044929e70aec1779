import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { complete } from '../../harness/cli/complete.ts';
import { commandsOf, createProgram } from '../../harness/cli/program.ts';
import { EVERY_SUITE } from '../../scenarios/index.ts';
import { lacks } from '../setup/programs.ts';
import { hookproof, MAIN } from './hookproof.ts';

const run = promisify(execFile);

/** Returns the candidates for the last word of a command line. A trailing space begins a new word. */
async function candidates(line: string): Promise<string[]> {
  return (await complete(line.split(' '))).candidates.map(({ value }) => value);
}

describe('completion of', () => {
  it.each([
    ['commands', 'cer', ['certs', 'certify']],
    ['subcommands, next to an argument', 'certify ver', ['verify']],
    ['flags', 'run --sui', ['--suite']],
    ['flags of a subcommand', 'certify merge --pre', ['--previous']],
    ['suites', 'run --suite sig', ['signature']],
    ['suites again', 'run --suite http --suite sig', ['signature']],
    ['scenarios', 'run --scenario raw-body/sp', ['raw-body/spaces', 'raw-body/split-characters']],
    ['what is explained', 'explain 352-102', ['352-102-S1']],
    ['notifications', 'trigger fai', ['failed-external-sell', 'failed-refund']],
    ['nothing but the first argument', 'trigger buy fai', []],
    ['stacks', 'explain x --stack fl', ['flask']],
    ['a value after =', 'explain x --stack=fl', ['--stack=flask']],
    ['profiles', 'run --profile s', ['staging']],
    ['reporters, with and without a file', 'run --reporter js', ['json', 'json=']],
    ['choices', 'list --what s', ['scenarios', 'suites']],
    ['faults', 'receiver --fault locks-out-after', ['locks-out-after-25-failures', 'locks-out-after-ten-failures']],
    ['signing mistakes', 'sign --as base64-of', ['base64-of-hex']],
    ['kinds of notifications', 'inbox list --kind REF', ['REFUND']],
    ['a flag after an optional value that is absent', 'receiver --inspect --inspect-h', ['--inspect-host']],
    ['arguments after --', 'explain -- signature/miss', ['signature/missing']],
    ['nothing for an unknown flag', 'run --no-such=x', []],
  ])('%s', async (_, line, expected) => {
    const found = await candidates(line);
    expect(found.filter((value) => expected.includes(value)).toSorted()).toEqual(expected.toSorted());
    const last = line.split(' ').at(-1) ?? '';
    expect(found.every((value) => value.startsWith(last))).toBe(true);
  });

  it('a flag that is given already only if it is repeatable', async () => {
    expect(await candidates('run --strict --suite valid --s')).not.toContain('--strict');
    expect(await candidates('run --strict --suite valid --s')).toContain('--suite');
  });

  it.each([
    ['sign ', 'files'],
    ['run --config ', 'files'],
    ['run --config=', 'files'],
    ['run --reporter json=', 'files'],
    ['report a.json ', 'files'],
    ['certs ', 'folders'],
    ['run -o ', 'folders'],
    ['run ', 'none'],
    ['run --timeout ', 'none'],
    ['run --header ', 'none'],
  ])('paths: `%s` asks for %s', async (line, paths) => {
    expect((await complete(line.split(' '))).paths).toBe(paths);
  });

  it('every scenario, with its title', async () => {
    const all = EVERY_SUITE.flatMap(({ scenarios }) =>
      scenarios.map(({ id, title }) => ({ value: id, description: title })),
    );
    expect((await complete(['run', '--scenario', ''])).candidates).toEqual(all);
  });

  /** Names that only the user knows. */
  const FREE_NAMES = [
    ...['--signature-header', '--api-key-header', '--host', '--client-cn', '--allow-client', '--only', '--owner'],
  ];

  it('every flag that takes a name', async () => {
    const without: string[] = [];
    for (const { name, command } of commandsOf(createProgram(() => {}))) {
      for (const { flags, long } of command.options) {
        if (!flags.endsWith('<name>') || long == null || FREE_NAMES.includes(long)) continue;
        if ((await candidates(`${name} ${long} `)).length === 0) without.push(`${name} ${long}`);
      }
    }
    expect(without).toEqual([]);
  });
});

describe('hookproof __complete', () => {
  it('prints a line for paths, then the candidates with their descriptions', async () => {
    expect(await hookproof(['__complete', 'run', '--suite', 'sig'])).toEqual({
      code: 0,
      stdout: 'none\nsignature\tOnly valid signatures are accepted\n',
      stderr: '',
    });
  });

  it('answers words that the program itself would reject', async () => {
    for (const words of [['--help', ''], ['no', 'such', '--fla'], ['--secret', ''], []]) {
      expect(await hookproof(['__complete', ...words])).toMatchObject({ code: 0, stderr: '' });
    }
  });
});

/**
 * Types lines into a shell in a terminal. After each one, a key moves the cursor to its start and `echo` is put before
 * it, so that the shell prints the completed line. This is written in Python, because Node has no pseudo-terminals.
 */
const TYPIST = `
import fcntl, json, os, pty, re, struct, sys, termios
given = json.load(sys.stdin)
child, end = pty.fork()
if child == 0:
    os.chdir(given['cwd'])
    os.execvp(given['shell'][0], given['shell'])
fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack('HHHH', 50, 200, 0, 0))
def until(pattern):
    seen = b''
    while not re.search(pattern, seen):
        seen += os.read(end, 65536)
    return seen
os.write(end, (given['setup'] + '; echo READY$((1+1))\\r').encode())
until(rb'READY2')
screens = []
for line in given['lines']:
    os.write(end, (line + "\\t\\x01echo '{' \\x05 '}'\\r").encode())
    seen = until(rb'\\n\\{ [^\\n]* \\}\\r')
    screens.append(seen.decode(errors='replace'))
os.close(end)
os.waitpid(child, 0)
json.dump(screens, sys.stdout)
`;

const SETUPS = {
  bash: {
    shell: ['bash', '--norc', '--noprofile', '-i'],
    setup:
      "bind 'set show-all-if-ambiguous on'; bind 'set enable-bracketed-paste off'; " +
      'source <(hookproof completion bash)',
  },
  zsh: {
    shell: ['zsh', '-f', '-i'],
    setup:
      'bindkey -e; unset zle_bracketed_paste; unsetopt list_ambiguous auto_menu; ' +
      'autoload -Uz compinit; compinit -D -u; source <(hookproof completion zsh)',
  },
} as const;

describe('in a shell', () => {
  let cwd = '';
  beforeAll(() => {
    cwd = mkdtempSync(join(tmpdir(), 'hookproof-completion-'));
    mkdirSync(join(cwd, 'bin'));
    writeFileSync(join(cwd, 'bin', 'hookproof'), `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`);
    chmodSync(join(cwd, 'bin', 'hookproof'), 0o755);
    mkdirSync(join(cwd, 'folder-of-mine'));
    writeFileSync(join(cwd, 'file-of-mine.json'), '{}');
  });
  afterAll(() => rmSync(cwd, { recursive: true }));
  const environment = () => ({
    env: { PATH: `${join(cwd, 'bin')}:${process.env.PATH}`, HOME: cwd, TERM: 'dumb', PS1: '> ', LANG: 'C.UTF-8' },
    cwd,
  });

  /** The typed line, and the completed line or, if several candidates remain, the list of them. */
  const LINES: readonly (readonly [typed: string, becomes: string, listed?: readonly string[]])[] = [
    ['hookproof run --sui', 'hookproof run --suite'],
    ['hookproof run --suite sig', 'hookproof run --suite signature'],
    [
      'hookproof run --scenario raw-body/sp',
      'hookproof run --scenario raw-body/sp',
      ['raw-body/spaces', 'raw-body/split-characters'],
    ],
    ['hookproof explain verifies-res', 'hookproof explain verifies-reserialised-json', ['verifies-reserialised-json']],
    ['hookproof trigger fai', 'hookproof trigger failed-', ['failed-external-sell', 'failed-refund']],
    ['hookproof run --stack fl', 'hookproof run --stack flask'],
    ['hookproof run --stack=fl', 'hookproof run --stack=flask'],
    [
      "hookproof run --header 'X-A: b c' --header X-B:d --suite sig",
      'hookproof run --header X-A: b c --header X-B:d --suite signature',
    ],
    ['hookproof sign file-of', 'hookproof sign file-of-mine.json'],
    ['hookproof run --reporter json=file-of', 'hookproof run --reporter json=file-of-mine.json'],
    ['hookproof certs f', 'hookproof certs folder-of-mine'],
    ['hookproof run file-of', 'hookproof run file-of'],
  ];

  for (const name of ['bash', 'zsh'] as const) {
    it.skipIf(lacks('python3', name))(`${name} completes what is typed`, async () => {
      const { shell, setup } = SETUPS[name];
      const typist = run('python3', ['-c', TYPIST], { ...environment(), timeout: 100_000 });
      typist.child.stdin?.end(JSON.stringify({ cwd, shell, setup, lines: LINES.map(([typed]) => typed) }));
      const screens = JSON.parse((await typist).stdout) as string[];
      // zsh removes the slash after a folder when a space follows.
      const completed = screens.map((screen) => /\n\{ ([^\n]*?)\/? *\}\r/.exec(screen)?.[1]);
      expect(completed).toEqual(LINES.map(([, becomes]) => becomes));
      for (const [at, [, , listed = []]] of LINES.entries()) {
        for (const one of listed) expect(screens[at]).toContain(one);
      }
    });
  }

  it.skipIf(lacks('fish'))('fish offers what completes the last word', async () => {
    const asked = LINES.map(([typed]) => `complete -C "${typed}"; echo end`);
    const script = `hookproof completion fish | source; ${asked.join('; ')}`;
    const { stdout } = await run('fish', ['--no-config', '-c', script], { ...environment(), timeout: 100_000 });
    const offered = stdout.split(/^end\n/m).slice(0, -1);
    expect(offered.map((text) => text.match(/^[^\t\n]+/gm) ?? [])).toEqual(
      LINES.map(([typed, becomes, listed]) => {
        if (typed === becomes && listed === undefined) return [];
        // The candidate is a folder.
        return (
          listed ?? [
            becomes
              .split(' ')
              .at(-1)
              ?.replace(/-mine$/, '-mine/'),
          ]
        );
      }),
    );
  });
});
