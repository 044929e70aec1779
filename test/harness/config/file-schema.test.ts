import { Ajv2020 } from 'ajv/dist/2020.js';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { addRunningCommands } from '../../../harness/cli/command-table/running.ts';
import { configTemplate, jsonSchema } from '../../../harness/config/index.ts';
import { flagOf, SETTINGS, type Setting } from '../../../harness/config/settings.ts';
import { load } from './workspace.ts';

/** Returns the template with every commented setting enabled. */
function uncommented(): string {
  return configTemplate()
    .split('\n')
    .map((line) => (/^\s*# {0,7}(?!yaml-language-server)[a-zA-Z-]+:( |$)/.test(line) ? line.replace('# ', '') : line))
    .join('\n');
}

describe('the file', () => {
  it('has a key for every flag of run, except commands, the shard, and what is asked for one time', () => {
    const program = new Command();
    addRunningCommands(program, () => async () => {});
    const flags = program.commands.find((command) => command.name() === 'run')?.options.map(({ long }) => long) ?? [];
    const inFile = SETTINGS.filter((setting: Setting) => setting.flagOnly !== true).map((setting) => flagOf(setting));
    const others = flags.filter((flag) => !inFile.includes(flag ?? ''));
    const commands = ['--effects-command', '--restart-command', '--rotate-command', '--command-env'];
    const oneTime = ['--yes', '--verbose', '--failed', '--watch', '--settle', '--dry-run', '--json'];
    expect(others.toSorted()).toEqual(['--config', '--shard', ...commands, ...oneTime].toSorted());
  });
});

describe('configTemplate', () => {
  it('loads unchanged', async () => {
    const config = await load({
      yaml: configTemplate('https://mine.example/"q"'),
      env: { WEBHOOK_SECRET: 's'.repeat(40) },
      flags: { url: undefined },
    });
    expect(config.partner.url).toBe('https://mine.example/"q"');
    expect(config.partner.signing?.secret).toBe('s'.repeat(40));
  });

  it('shows every setting of the file, and the defaults that are', async () => {
    const data: unknown = parse(uncommented());
    const pathsIn = (value: object, start: string): string[] =>
      Object.entries(value).flatMap(([key, inner]) =>
        inner !== null && typeof inner === 'object' && !Array.isArray(inner) && key !== 'headers'
          ? pathsIn(inner, `${start}${key}.`)
          : [`${start}${key}`],
      );
    // The template shows a passphrase for one fixture only, and leaves the addresses of notices to the operator.
    const isFurther = (path: string) => /^mtls\.fixtures\.(?!expired\.)[\w-]+\.passphrase$|^operate\./.test(path);
    expect(pathsIn(data as object, '').toSorted()).toEqual(
      SETTINGS.filter((setting: Setting) => setting.flagOnly !== true)
        .map(({ path }) => path)
        .filter((path) => !isFurther(path))
        .toSorted(),
    );

    const defaults = await load({});
    const shown = data as Record<string, unknown>;
    for (const path of ['concurrency', 'timeout', 'recovery', 'strict', 'bail', 'evidence']) {
      expect([path, String(shown[path])]).toEqual([path, defaults.settings.find((one) => one.path === path)?.value]);
    }
  });

  it('loads with every setting enabled, except for missing files', async () => {
    const yaml = uncommented()
      .replace(/^tls:\n( {2}.*\n)+/m, '')
      .replace(/^mtls:\n( {2}.*\n)+/m, '')
      .replace(/^seed: .*/m, 'seed: "1"')
      .replace(/^scheme: .*\n/m, '')
      .replace(/^ {2}deliveries:.*\n(?: {4}- .*\n)*/m, '');
    const config = await load({
      yaml,
      env: {
        WEBHOOK_SECRET: 's'.repeat(40),
        NEXT_WEBHOOK_SECRET: 'n'.repeat(40),
        GATEWAY_TOKEN: 't'.repeat(20),
        EFFECTS_TOKEN: 'e'.repeat(20),
      },
      files: { 'api-key.txt': 'k'.repeat(20) },
      flags: { url: undefined },
    });
    expect(config.partner.headers).toEqual([
      ['X-Tenant', 'acme'],
      ['Authorization', `Bearer ${'t'.repeat(20)}`],
    ]);
    expect(config.run.profile).toBe('staging');
  });
});

describe('jsonSchema', () => {
  it('accepts valid files, and rejects invalid ones', async () => {
    const validate = new Ajv2020().compile(await jsonSchema());
    const verdict = (yaml: string) => validate(parse(yaml));
    expect(verdict(configTemplate())).toBe(true);
    expect(verdict(uncommented())).toBe(true);
    expect(verdict('nonsense: 1')).toBe(false);
    expect(verdict('hmac: { heder: x }')).toBe(false);
    expect(verdict('hmac: { secret: literal }')).toBe(false);
    expect(verdict('profile: gold')).toBe(false);
    expect(verdict('concurrency: 65')).toBe(false);
    expect(verdict('timeout: 10')).toBe(false);
    expect(verdict('timeout: "10"')).toBe(false);
  });

  it('describes every setting', async () => {
    const bare = (schema: unknown, path: string): string[] => {
      const { properties, description } = schema as { properties?: Record<string, unknown>; description?: string };
      if (properties === undefined) return description === undefined ? [path] : [];
      return Object.entries(properties).flatMap(([key, value]) => bare(value, `${path}/${key}`));
    };
    expect(bare(await jsonSchema(), '')).toEqual([]);
  });
});
