import { describe, expect, it } from 'vitest';
import { type ConfigFlags, SETTINGS, type SettingPath } from '../../../harness/config/index.ts';
import { flagKeyOf, flagOf, settingAt } from '../../../harness/config/settings.ts';
import { type Given, load } from './workspace.ts';

interface Row {
  readonly path: Exclude<SettingPath, 'headers'>;
  readonly flag?: string | boolean | readonly string[];
  readonly env?: string;
  readonly file?: string;
  /** The value that is shown if nothing is given. */
  readonly none?: string;
  /** The values that are shown, if they differ from the given ones. */
  readonly shown?: { readonly flag?: string; readonly env?: string; readonly file?: string };
}

const SHOWN_SECRETS = { flag: '[set, 41 characters]', env: '[set, 42 characters]', file: '[set, 43 characters]' };
const FILES = { 'secret-1': '1'.repeat(41), 'secret-3': '3'.repeat(43) };
const secret = {
  flag: 'secret-1',
  env: 'e'.repeat(42),
  file: `\${file:secret-3}`,
  none: 'not set',
  shown: SHOWN_SECRETS,
};

const TABLE: readonly Row[] = [
  { path: 'url', flag: 'https://flag.example/', env: 'https://env.example/', file: 'https://file.example/' },
  { path: 'hmac.secret', ...secret },
  { path: 'hmac.next-secret', ...secret },
  { path: 'hmac.header', flag: 'X-Flag', env: 'X-Env', file: 'X-File', none: 'X-Service-Signature' },
  { path: 'scheme', flag: 'stripe', file: 'github', none: 'service' },
  { path: 'api-key.value', ...secret },
  { path: 'api-key.header', flag: 'X-Flag', env: 'X-Env', file: 'X-File', none: 'X-API-Key' },
  { path: 'open', flag: true, file: 'true', none: 'false' },
  { path: 'profile', flag: 'basic', env: 'staging', file: 'production', none: 'none' },
  { path: 'revision', flag: '2', file: '3', none: 'the newest' },
  {
    path: 'effects.url',
    flag: 'http://flag.example/',
    env: 'http://env.example/',
    file: 'http://f.example/',
    none: 'none',
  },
  { path: 'effects.token', ...secret },
  { path: 'effects.deadline', flag: '90s', file: '1.5s', none: '10s', shown: { file: '1500ms' } },
  { path: 'effects.decimals', file: '[A=1]', none: 'NEO=0, GUSD=2, USDC=6, BTC=8, ETH=18' },
  { path: 'effects-command', flag: './effects.sh', none: 'none' },
  { path: 'restart-command', flag: './restart.sh', none: 'none' },
  { path: 'rotate-command', flag: './rotate.sh', none: 'in a terminal, `run` and `certify` ask you to do it' },
  { path: 'command-env', flag: ['A', 'B'], none: 'none' },
  { path: 'log', flag: ['/a.log', '/b.log'], file: '[/file.log]', none: 'none' },
  { path: 'suites', flag: ['valid', 'http'], file: '[leaks]', none: 'all' },
  { path: 'scenarios', flag: ['signature/missing'], file: '[valid/plain, valid/buy-failed]', none: 'all' },
  { path: 'grep', flag: ['a*b'], file: '[b]', none: 'all' },
  { path: 'concurrency', flag: '3', file: '4', none: '8' },
  { path: 'timeout', flag: '90s', file: '1.5s', none: '10s', shown: { file: '1500ms' } },
  { path: 'recovery', flag: '0s', file: '2m', none: '10s' },
  { path: 'max-rate', flag: '5/s', env: '90/m', file: '100/m', none: 'no limit' },
  { path: 'wait', flag: '30s', env: '45s', file: '2m', none: '0s' },
  { path: 'max-time', flag: '60m', file: '30m', none: 'depends on the number of checks' },
  { path: 'allow-private', flag: ['a.example'], file: '[b.example]', none: 'none' },
  { path: 'seed', flag: 'flag', file: '007', none: 'random' },
  { path: 'strict', flag: false, file: 'true', none: 'false' },
  { path: 'baseline', flag: '/known.yaml', file: '/file.yaml', none: 'none' },
  { path: 'stack', flag: 'flask', file: 'spring', none: 'guessed from the answers' },
  { path: 'bail', flag: true, file: 'false', none: 'false' },
  { path: 'evidence', flag: true, file: 'false', none: 'false' },
  { path: 'evidence-level', flag: '1', file: '2', none: '0' },
  { path: 'shard', flag: '2/3', none: 'none' },
  { path: 'code', flag: '/flag.ts', file: '/file.ts', none: 'none' },
  { path: 'reporters', flag: ['json'], file: '[ndjson]', none: 'human=-', shown: { flag: 'json=-', file: 'ndjson=-' } },
  { path: 'output-dir', flag: '/flag', file: '/file', none: 'none' },
];

// The settings that profiles, a restart and a rotation need, so that every row of the table loads.
const WINDOW = { HOOKPROOF_EFFECTS_URL: 'http://127.0.0.1:9101/effects' };
const NEXT = { HOOKPROOF_NEXT_SECRET: 'n'.repeat(40) };
const BASE = { HOOKPROOF_SECRET: 's'.repeat(40), HOOKPROOF_API_KEY: 'a'.repeat(20) };

type Layers = readonly ('flag' | 'env' | 'file')[];

/** Returns what `config show` prints for the setting when these layers set it. */
async function shown({ path, flag, env, file }: Row, layers: Layers) {
  const setting = settingAt(path);
  const { HOOKPROOF_SECRET, HOOKPROOF_API_KEY } = BASE;
  const isSecret = path === 'hmac.secret' || path === 'api-key.value';
  const source = path === 'restart-command' ? WINDOW : path === 'rotate-command' ? NEXT : {};
  const base = path === 'hmac.secret' ? { HOOKPROOF_API_KEY } : isSecret ? { HOOKPROOF_SECRET } : BASE;
  const [group, key] = path.split('.');
  const given: Given = {
    flags: {
      ...(path === 'url' && { url: undefined }),
      ...(path === 'command-env' && { effectsCommand: './effects.sh' }),
      ...(layers.includes('flag') && flag !== undefined && { [flagKeyOf(setting) as keyof ConfigFlags]: flag }),
    },
    env: {
      ...base,
      ...source,
      ...(layers.includes('env') && env !== undefined && { [setting.environment ?? '']: env }),
    },
    ...(layers.includes('file') && {
      yaml: key === undefined ? `${path}: ${file}\n` : `${group}:\n  ${key}: ${file}\n`,
    }),
    files: FILES,
  };
  const config = await load(given);
  const found = config.settings.find((one) => one.path === path);
  return found === undefined ? undefined : { value: found.value, source: config.sources[path] };
}

/** Returns the position of the value in the file: after the key or, for a list, of its first item. */
function placeOf({ path, file = '' }: Row): string {
  const [group = '', key] = path.split('.');
  const list = file.startsWith('[') ? 1 : 0;
  return key === undefined ? `1:${group.length + 3 + list}` : `2:${key.length + 5 + list}`;
}

describe('precedence', () => {
  it('is tested for every setting but headers, samples, certificates and notices', () => {
    const others = SETTINGS.map(({ path }) => path).filter(
      (path) => !/^(?:headers|samples|tls|mtls|operate)/.test(path),
    );
    expect(TABLE.map(({ path }) => path)).toEqual(others);
  });

  it.each(TABLE)('of $path is flag, environment, file, default', async (row) => {
    const { path, flag, env, file, none } = row;
    const label = flagOf(settingAt(path)) ?? '';
    const text = row.shown?.flag ?? (Array.isArray(flag) ? flag.join(', ') : String(flag));
    const fromFlag = { value: text, source: label === 'URL' ? 'argument URL' : `flag ${label}` };
    const below: Layers = [
      ...(env === undefined ? [] : (['env'] as const)),
      ...(file === undefined ? [] : (['file'] as const)),
    ];

    if (flag !== undefined) {
      expect(await shown(row, ['flag', ...below])).toEqual(fromFlag);
      expect(await shown(row, ['flag'])).toEqual(fromFlag);
    }
    if (env !== undefined) {
      const source = `environment ${settingAt(path).environment}`;
      expect(await shown(row, below)).toEqual({ value: row.shown?.env ?? env, source });
    }
    if (file !== undefined) {
      const value = row.shown?.file ?? file.replace(/^\[|\]$/g, '');
      expect(await shown(row, ['file'])).toEqual({ value, source: `hookproof.yaml:${placeOf(row)}` });
    }
    if (none !== undefined) expect(await shown(row, [])).toEqual({ value: none, source: 'default' });
  });

  it('of a custom header is flag, file', async () => {
    const sourceOf = async (given: Given) => (await load(given)).sources['headers.X-Tenant'];
    const yaml = 'headers:\n  X-Tenant: file\n';
    expect(await sourceOf({ flags: { header: ['X-Tenant: flag'] }, yaml })).toBe('flag --header');
    expect(await sourceOf({ yaml })).toBe('hookproof.yaml:2:13');
  });

  it('does not read a value that a stronger layer replaces', async () => {
    const config = await load({
      flags: { secretFile: 'secret-1' },
      env: { HOOKPROOF_SECRET: '' },
      yaml: `hmac:\n  secret: \${env:NOT_SET}\n`,
      files: FILES,
    });
    expect(config.partner.signing?.secret).toBe('1'.repeat(41));
  });

  it('replaces custom headers by name, in any letter case, and keeps the others', async () => {
    const config = await load({
      flags: { header: ['x-b: flag', 'X-C:flag:with:colons '] },
      yaml: 'headers:\n  X-A: file\n  X-B: file\n',
    });
    expect(config.partner.headers).toEqual([
      ['X-A', 'file'],
      ['x-b', 'flag'],
      ['X-C', 'flag:with:colons'],
    ]);
  });
});
