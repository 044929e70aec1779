/** Texts of hookproof as an MCP client reads them: tool calls and settings instead of commands and flags. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { MISTAKES } from '../../../contract/mistakes/index.ts';
import { explanationOf } from '../../../harness/cli/commands/explain.ts';
import { LISTS, rowsFor } from '../../../harness/cli/commands/list.ts';
import { SETTINGS } from '../../../harness/config/settings.ts';
import { namedFindings } from '../../../harness/diagnose/index.ts';
import { asCalls } from '../../../harness/mcp/as-calls.ts';
import { CATALOGUE } from '../../../scenarios/index.ts';

it.each([
  ['`hookproof run`', '`run`'],
  [
    "`hookproof run 'http://127.0.0.1/a b' --scenario valid/plain --scenario valid/sell --ca x --seed 1`",
    '`run` with {"url":"http://127.0.0.1/a b","scenarios":["valid/plain","valid/sell"]}',
  ],
  ['Run it     hookproof run URL --scenario valid/plain', 'Run it     `run` with {"scenarios":["valid/plain"]}'],
  ['Give it as `hookproof doctor URL`.', 'Give it as `doctor` with {"url":"URL"}.'],
  ['`hookproof doctor URL --deliver`', '`doctor` with {"deliver":true}'],
  ['`hookproof list` or `--what faults`', '`list` with {"what":"scenarios"} or `what: faults`'],
  ['`hookproof explain x --stack flask`', '`explain` with {"id":"x","stack":"flask"}'],
  ['`hookproof verify body.json --signature "$S"`', '`verify` with {"body":"...","signature":"$S"}'],
  ['`hookproof run --watch src`', '`hookproof run --watch src` (in a terminal)'],
  ['`hookproof init --stack node`', '`hookproof init --stack node` (in a terminal)'],
  ['Try it      hookproof sign FILE --as hex', 'Try it      `hookproof sign FILE --as hex` (in a terminal)'],
  ['(`--concurrency 1`)', '(`concurrency: 1`)'],
  ['`--suite`, `--effects URL`', '`suites`, `effects.url` in hookproof.yaml'],
  [
    '`--client-cert FILE --client-key FILE`',
    '`tls.client-cert` in hookproof.yaml and `tls.client-key` in hookproof.yaml',
  ],
  ['2 warnings with --strict', '2 warnings with `strict` in hookproof.yaml'],
  ['`--restart-command COMMAND`', '`--restart-command` (in a terminal)'],
  ['`--allow-host HOST`, `uvicorn --http h11`, --no-dev', '`--allow-host HOST`, `uvicorn --http h11`, --no-dev'],
])('%s becomes %s', (text, expected) => {
  expect(asCalls(text)).toBe(expected);
});

const FLAGS = SETTINGS.flatMap((row) => ('flag' in row ? [/--[a-z-]+/.exec(row.flag)![0]] : []));

/** Returns the commands and flags in a text that a client of the server cannot use. */
function commandsIn(text: string): string[] {
  const left = asCalls(text).replaceAll(/`[^`\n]+` \(in a terminal\)/g, '');
  const code = left.matchAll(/`hookproof [^`]+`|(?<= {2})hookproof [a-z]+ .+|(?<=`|^|[ (])--[a-z][a-z-]+/g);
  return [...code]
    .filter(([found]) => !found.startsWith('--') || [...FLAGS, '--deliver', '--what'].includes(found))
    .map(([found]) => found);
}

const textsIn = (value: unknown): string[] =>
  typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [String(value)];

it('no text of the library, of a finding or of a check names a command that a tool does', () => {
  const texts = textsIn([MISTAKES, namedFindings(), CATALOGUE]);
  expect(texts.length).toBeGreaterThan(5_000);
  expect(texts.filter((text) => text.includes('--'))).not.toEqual([]);
  expect(texts.flatMap(commandsIn)).toEqual([]);
});

it('no explanation and no list names one', async () => {
  const found = [];
  for (const what of LISTS) {
    for (const { id, text } of await rowsFor({ what })) {
      found.push(...commandsIn(text), ...commandsIn(await explanationOf(id, null).catch(() => '')));
    }
  }
  expect(found).toEqual([]);
});

const FOLDERS = ['config', 'diagnose', 'doctor', 'effects', 'judge', 'log', 'report', 'run', 'transport'];

it.each([...FOLDERS.map((one) => `harness/${one}`), 'scenarios'])(
  'no message in %s that quotes a command names one',
  (folder) => {
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
    const source = files
      .map((name) => readFileSync(`${folder}/${name}`, 'utf8').replaceAll(/^ *(?:\*|\/\*|\/\/).*$/gm, ''))
      .join('\n');
    const quoted = [...source.matchAll(/(?<=['" (])\\?`((?:hookproof |--)[^`\\\n]+)\\?`/g)].map(
      ([, code]) => `\`${code}\``,
    );
    expect(files.length).toBeGreaterThan(0);
    expect(quoted.flatMap(commandsIn)).toEqual([]);
  },
);
