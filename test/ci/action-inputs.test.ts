/** How the action converts its inputs. */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readInputs } from '../../action/inputs.mjs';

const manifest = parse(await readFile(new URL('../../action.yml', import.meta.url), 'utf8'));
const [step] = manifest.runs.steps;
const variableOf = (input: string) => `INPUT_${input.toUpperCase().replaceAll('-', '_')}`;

/** Returns the environment of the step for these inputs of the workflow. */
function environment(given: Readonly<Record<string, string>> = {}): Record<string, string> {
  const inputs = Object.entries(manifest.inputs as Record<string, { default: string }>);
  return Object.fromEntries(inputs.map(([name, { default: value }]) => [variableOf(name), given[name] ?? value]));
}

describe('action.yml', () => {
  it('passes every input to the script in the environment, and none in its text', () => {
    const expected = Object.keys(manifest.inputs).map((name) => [variableOf(name), `\${{ inputs.${name} }}`]);
    expect(step.env).toEqual(Object.fromEntries(expected));
    expect(step.run).not.toContain('${{');
    expect(manifest.runs.steps).toHaveLength(1);
  });

  it('has every output of the script, and describes everything', () => {
    for (const [name, { value }] of Object.entries(manifest.outputs as Record<string, { value: string }>)) {
      expect(value).toBe(`\${{ steps.run.outputs.${name} }}`);
    }
    const described = [...Object.values(manifest.inputs), ...Object.values(manifest.outputs)] as {
      description: string;
    }[];
    expect(described.filter(({ description = '' }) => !description.endsWith('.'))).toEqual([]);
  });
});

describe('the page about continuous integration', () => {
  const page = readFileSync(new URL('../../docs/continuous-integration.md', import.meta.url), 'utf8');
  /** Returns the distinct names in the first column of the table whose header row begins with this word. */
  const namesIn = (table: string) => {
    const [, rows = ''] = new RegExp(`^\\| ${table} \\|.*\\n\\|---.*\\n((?:\\|.*\\n)+)`, 'm').exec(page) ?? [];
    const cells = rows.split('\n').map((row) => row.split('|')[1] ?? '');
    return cells.flatMap((cell) => [...cell.matchAll(/`([\w-]+)`/g)].map(([, name]) => name)).toSorted();
  };

  it('lists every input and every output', () => {
    expect(namesIn('input')).toEqual(Object.keys(manifest.inputs).toSorted());
    expect(namesIn('output')).toEqual(Object.keys(manifest.outputs).toSorted());
  });
});

describe('the inputs', () => {
  it('without a value result in a run with the settings of the configuration', () => {
    expect(readInputs(environment())).toEqual({
      ...{ command: 'run', args: [], variables: {}, texts: {}, version: '' },
      ...{ outputDir: 'hookproof-run', workingDirectory: '' },
    });
  });

  it('become one argument each, whatever they contain, except secrets', () => {
    const { args, variables, texts } = readInputs(
      environment({
        url: 'https://partner.example/hooks?token=s3cret',
        secret: ' kept as it is \n',
        'api-key': '$(touch /tmp/never)',
        'client-cert': 'certs/client one.pem',
        'client-key': '-----BEGIN of a key\nabc\n',
        suites: 'signature, raw-body\n  http',
        headers: 'X-Tenant: a, b\n\n  X-Other: --strict\n',
        baseline: '--insecure',
        effects: 'http://127.0.0.1:9101/effects',
        'effects-token': 's3cret',
        'restart-command': './restart.sh && true',
        strict: 'true',
      }),
    );
    expect(args).toEqual([
      ...[
        '--baseline=--insecure',
        '--restart-command=./restart.sh && true',
        '--suite=signature',
        '--suite=raw-body',
        '--suite=http',
      ],
      ...['--header=X-Tenant: a, b', '--header=X-Other: --strict', '--strict'],
    ]);
    expect(variables).toEqual({
      HOOKPROOF_URL: 'https://partner.example/hooks?token=s3cret',
      HOOKPROOF_SECRET: ' kept as it is \n',
      HOOKPROOF_API_KEY: '$(touch /tmp/never)',
      HOOKPROOF_CLIENT_CERT: 'certs/client one.pem',
      HOOKPROOF_EFFECTS_URL: 'http://127.0.0.1:9101/effects',
      HOOKPROOF_EFFECTS_TOKEN: 's3cret',
    });
    expect(texts).toEqual({ HOOKPROOF_CLIENT_KEY: '-----BEGIN of a key\nabc\n' });
  });

  it.each(
    [
      ...['url', 'secret', 'api-key', 'client-cert', 'client-key', 'ca', 'profile', 'certify-key', 'effects'],
      ...['effects-token', 'restart-command', 'log'],
    ].flatMap((name) => ['', ' \n'].map((value) => [name, value] as const)),
  )('%s given as %j is refused: it would turn checks off', (name, value) => {
    expect(() => readInputs(environment({ [name]: value }))).toThrow(`The input \`${name}\` is set but empty.`);
  });

  it.each([
    [{ command: 'receiver' }, '`command` must be `run` or `certify`'],
    [{ strict: 'yes' }, '`strict` must be true or false'],
    [{ strict: '' }, '`strict` must be true or false'],
    [{ version: 'git+https://elsewhere.example/x' }, '`version` must be a version'],
    [{ version: '--registry=x' }, '`version` must be a version'],
    [{ 'client-key': 'line one\nline two' }, '`client-key` has several lines'],
  ])('%j is refused', (given, message) => {
    expect(() => readInputs(environment(given as Record<string, string>))).toThrow(message);
  });
});
