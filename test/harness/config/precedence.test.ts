import { describe, expect, it } from 'vitest';
import type { ConfigFlags } from '../../../harness/config/index.ts';
import { load } from './workspace.ts';

interface Row {
  readonly path: string;
  readonly flags: ConfigFlags;
  readonly env?: Record<string, string>;
  readonly yaml?: string;
  /** What is shown when the value comes from the flag, the environment, the file, and from nowhere. */
  readonly shown: { flag: string; env?: string; file?: string; none?: string };
  /** Where the value stands in the file. */
  readonly at?: string;
}

const TABLE: readonly Row[] = [
  {
    path: 'url',
    flags: { url: 'https://flag.example/' },
    env: { HOOKPROOF_URL: 'https://env.example/' },
    yaml: 'url: https://file.example/\n',
    shown: { flag: 'https://flag.example/', env: 'https://env.example/', file: 'https://file.example/' },
    at: '1:6',
  },
  {
    path: 'hmac.secret',
    flags: { secretFile: 'secret-1' },
    env: { HOOKPROOF_SECRET: 'e'.repeat(42) },
    yaml: `hmac:\n  secret: \${file:secret-3}\n`,
    shown: {
      flag: '[set, 41 characters]',
      env: '[set, 42 characters]',
      file: '[set, 43 characters]',
      none: 'not set',
    },
    at: '2:11',
  },
  {
    path: 'hmac.header',
    flags: { signatureHeader: 'X-Flag' },
    env: { HOOKPROOF_SIGNATURE_HEADER: 'X-Env' },
    yaml: 'hmac:\n  header: X-File\n',
    shown: { flag: 'X-Flag', env: 'X-Env', file: 'X-File', none: 'X-Service-Signature' },
    at: '2:11',
  },
  {
    path: 'api-key.value',
    flags: { apiKeyFile: 'secret-1' },
    env: { HOOKPROOF_API_KEY: 'e'.repeat(42) },
    yaml: `api-key:\n  value: "\${env:SOME_KEY}"\n`,
    shown: { flag: '[set, 41 characters]', env: '[set, 42 characters]', file: '[set, 12 characters]', none: 'not set' },
    at: '2:10',
  },
  {
    path: 'api-key.header',
    flags: { apiKeyHeader: 'X-Flag' },
    env: { HOOKPROOF_API_KEY_HEADER: 'X-Env' },
    yaml: 'api-key:\n  header: X-File\n',
    shown: { flag: 'X-Flag', env: 'X-Env', file: 'X-File', none: 'X-API-Key' },
    at: '2:11',
  },
  {
    path: 'headers.X-Tenant',
    flags: { header: ['X-Tenant: flag'] },
    yaml: 'headers:\n  X-Tenant: file\n',
    shown: { flag: 'flag', file: 'file' },
    at: '2:13',
  },
  {
    path: 'profile',
    flags: { profile: 'basic' },
    env: { HOOKPROOF_PROFILE: 'staging' },
    yaml: 'profile: production\n',
    shown: { flag: 'basic', env: 'staging', file: 'production', none: 'none' },
    at: '1:10',
  },
  {
    path: 'revision',
    flags: { revision: '2' },
    yaml: 'revision: 3\n',
    shown: { flag: '2', file: '3', none: 'the newest' },
    at: '1:11',
  },
  {
    path: 'suites',
    flags: { suite: ['valid', 'http'] },
    yaml: 'suites:\n  - leaks\n',
    shown: { flag: 'valid, http', file: 'leaks', none: 'all' },
    at: '2:5',
  },
  {
    path: 'scenarios',
    flags: { scenario: ['a/b'] },
    yaml: 'scenarios: [c/d, e/f]\n',
    shown: { flag: 'a/b', file: 'c/d, e/f', none: 'all' },
    at: '1:13',
  },
  {
    path: 'grep',
    flags: { grep: ['^a'] },
    yaml: 'grep: ["b$"]\n',
    shown: { flag: '^a', file: 'b$', none: 'all' },
    at: '1:8',
  },
  {
    path: 'concurrency',
    flags: { concurrency: '3' },
    yaml: 'concurrency: 4\n',
    shown: { flag: '3', file: '4', none: '8' },
    at: '1:14',
  },
  {
    path: 'timeout',
    flags: { timeout: '90s' },
    yaml: 'timeout: 1.5s\n',
    shown: { flag: '90s', file: '1500ms', none: '10s' },
    at: '1:10',
  },
  {
    path: 'recovery',
    flags: { recovery: '0s' },
    yaml: 'recovery: 2m\n',
    shown: { flag: '0s', file: '2m', none: '10s' },
    at: '1:11',
  },
  {
    path: 'seed',
    flags: { seed: 'flag' },
    yaml: 'seed: 007\n',
    shown: { flag: 'flag', file: '007', none: 'chosen by the run' },
    at: '1:7',
  },
  {
    path: 'strict',
    flags: { strict: false },
    yaml: 'strict: true\n',
    shown: { flag: 'false', file: 'true', none: 'false' },
    at: '1:9',
  },
  {
    path: 'baseline',
    flags: { baseline: '/known.yaml' },
    yaml: 'baseline: /file.yaml\n',
    shown: { flag: '/known.yaml', file: '/file.yaml', none: 'none' },
    at: '1:11',
  },
  {
    path: 'stack',
    flags: { stack: 'flask' },
    yaml: 'stack: spring\n',
    shown: { flag: 'flask', file: 'spring', none: 'guessed from the answers' },
    at: '1:8',
  },
  {
    path: 'bail',
    flags: { bail: true },
    yaml: 'bail: false\n',
    shown: { flag: 'true', file: 'false', none: 'false' },
    at: '1:7',
  },
  {
    path: 'evidence',
    flags: { evidence: true },
    yaml: 'evidence: false\n',
    shown: { flag: 'true', file: 'false', none: 'false' },
    at: '1:11',
  },
  { path: 'shard', flags: { shard: '2/3' }, shown: { flag: '2/3', none: 'none' } },
  {
    path: 'reporters',
    flags: { reporter: ['json'] },
    yaml: 'reporters: [ndjson]\n',
    shown: { flag: 'json=-', file: 'ndjson=-', none: 'human=-' },
    at: '1:13',
  },
];

const FILES = { 'secret-1': '1'.repeat(41), 'secret-3': '3'.repeat(43) };
// What the profiles need, so that every row of the table loads.
const BASE = { SOME_KEY: 'k'.repeat(12), HOOKPROOF_SECRET: 's'.repeat(40), HOOKPROOF_API_KEY: 'a'.repeat(20) };

function base(row: Row): Record<string, string> {
  const { [row.path === 'hmac.secret' ? 'HOOKPROOF_SECRET' : 'HOOKPROOF_API_KEY']: _, ...rest } = BASE;
  return row.path === 'hmac.secret' || row.path === 'api-key.value' ? rest : BASE;
}

async function shown(row: Row, layers: { flag?: boolean; env?: boolean; file?: boolean }) {
  const config = await load({
    ...(layers.flag ? { flags: row.flags } : row.path === 'url' ? { flags: { url: undefined } } : {}),
    env: { ...base(row), ...(layers.env && row.env) },
    ...(layers.file && row.yaml !== undefined && { yaml: row.yaml }),
    files: FILES,
  });
  const setting = config.settings.find(({ path }) => path === row.path);
  return setting === undefined ? undefined : { value: setting.value, source: config.sources[row.path] };
}

describe('precedence', () => {
  for (const row of TABLE) {
    it(`of ${row.path} is flag, environment, file, default`, async () => {
      const source = Object.keys(row.env ?? {})[0];
      const option = Object.keys(row.flags)[0]!.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
      const fromFlag = { value: row.shown.flag, source: option === 'url' ? 'argument URL' : `flag --${option}` };

      expect(await shown(row, { flag: true, env: true, file: true })).toEqual(fromFlag);
      expect(await shown(row, { flag: true })).toEqual(fromFlag);
      if (row.env !== undefined) {
        const fromEnvironment = { value: row.shown.env, source: `environment ${source}` };
        expect(await shown(row, { env: true, file: true })).toEqual(fromEnvironment);
      }
      if (row.yaml !== undefined) {
        const fromFile = { value: row.shown.file, source: `hookproof.yaml:${row.at}` };
        expect(await shown(row, { file: true })).toEqual(fromFile);
      }
      if (row.shown.none !== undefined) {
        expect(await shown(row, {})).toEqual({ value: row.shown.none, source: 'default' });
      }
    });
  }

  it('does not read what a stronger layer replaces', async () => {
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
