import { describe, expect, it } from 'vitest';
import { collectConfig, loadConfig } from '../../../harness/config/index.ts';
import { type Given, refusal, workspace } from './workspace.ts';

/** Eleven mistakes of different kinds: type, name, unit, reference, file. */
const FAULTY = `url: partner.example/hooks
timeout: 10
suites: [nope, 1]
timeuot: 5s
hmac:
  secret: \${env:NOT_SET}
headers:
  X-Tenant: a \${b}
tls:
  client-cert: missing.pem
  client-key: missing.key
strict: maybe
grep: [no such check]
`;

/** Returns the place and name of each problem, as a message about several problems lists them. */
const listed = (message: string) =>
  [...message.matchAll(/^ {2}(?! )(?:hookproof\.yaml:)?(\S+?): (?:(?<key>[\w.-]+): )?/gm)].map(([, place, key]) =>
    key === undefined ? place : `${place} ${key}`,
  );

async function codes(given: Given): Promise<string[]> {
  const cwd = workspace({ 'hookproof.yaml': given.yaml ?? '' });
  const { problems } = await collectConfig({ flags: given.flags ?? {}, env: given.env ?? {}, cwd, forRun: true });
  return problems.map(({ code, path }) => `${code} ${path}`);
}

describe('all problems of a configuration', () => {
  it('are listed in one pass, eleven of eleven, in the order of the file, each with its value', async () => {
    const { code, message, hint } = await refusal({ yaml: FAULTY });
    expect(code).toBe('CONFIG_INVALID');
    expect(message).toMatch(/^the configuration has 11 problems:\n/);
    expect(listed(message)).toEqual([
      '1:6 url',
      '2:10 timeout',
      '3:10 suites',
      '3:16 suites.1',
      '4:1',
      '6:11 hmac.secret',
      '8:13 headers.X-Tenant',
      '10:16 tls.client-cert',
      '11:15 tls.client-key',
      '12:9 strict',
      '13:8 grep',
    ]);
    for (const value of ['"partner.example/hooks"', '"10"', '"nope"', '"1"', '"timeuot"', 'NOT_SET', '"maybe"']) {
      expect(message).toContain(value);
    }
    expect(hint).toBe('Nothing was sent. All problems are listed, so that you can fix them in one pass.');
  });

  it('of flags, variables and the file are listed together, each with its source', async () => {
    const { message } = await refusal({
      flags: { seed: 'a b', suite: ['nope'], clientKey: 'none.key' },
      env: { HOOKPROOF_PROFILE: 'stagin', HOOKPROOF_SECRET: '' },
      yaml: 'concurrency: 65\nbail: 1\n',
    });
    expect(listed(message)).toEqual([
      'HOOKPROOF_SECRET',
      '--client-key',
      '--client-key',
      'HOOKPROOF_PROFILE',
      '--seed',
      '--suite',
      '1:14 concurrency',
      '2:7 bail',
    ]);
  });

  it('include a profile without its features and a certificate without its key', async () => {
    const yaml = 'timeout: 10\nprofile: production\nurl: http://partner.example/\ntls:\n  client-cert: none.pem\n';
    expect(await codes({ yaml })).toEqual([
      'CONFIG_VALUE timeout',
      'CONFIG_PROFILE profile',
      'CONFIG_PROFILE profile',
      'CONFIG_TLS tls.client-cert',
      'CONFIG_TLS tls.client-cert',
    ]);
  });

  it.each([
    ['a secret of the wrong type', 'hmac:\n  secret: [a]\n', 'CONFIG_LITERAL_SECRET hmac.secret'],
    ['a group of the wrong type', 'hmac: abc\n', 'CONFIG_VALUE hmac'],
    ['a misspelt key', 'hmac:\n  secrt: x\n', 'CONFIG_UNKNOWN_KEY hmac.secrt'],
    ['a misspelt group', 'hmca:\n  secret: x\n', 'CONFIG_UNKNOWN_KEY hmca'],
  ])('do not include what only follows from another one: %s', async (_, yaml, code) => {
    expect(await codes({ yaml: `url: https://a.example/\nprofile: staging\n${yaml}` })).toEqual([code]);
  });

  it('do not include a missing URL when the one in the file is not usable', async () => {
    expect(await codes({ yaml: 'url: [a]\n' })).toEqual(['CONFIG_VALUE url']);
    expect(await codes({ yaml: 'bail: true\n' })).toEqual(['CONFIG_URL_MISSING url']);
  });

  it('before a syntax error are listed with it, and the hint says that there may be more', async () => {
    const { message, hint } = await refusal({ yaml: 'timeout: 10\nsuites: [nope]\nhmac:\n  header: "x\nbail: 1\n' });
    expect(listed(message).slice(0, 2)).toEqual(['1:10 timeout', '2:10 suites']);
    expect(listed(message)).toHaveLength(3);
    expect(hint).toBe(
      'Nothing was sent. Settings after a syntax error are not read: more problems may be listed once it is fixed.',
    );
  });

  it('include a baseline that does not exist and a selection without checks, for a run', async () => {
    const yaml = 'url: https://a.example/\nbaseline: none.yaml\nsuites: [leaks]\nscenarios: [signature/missing]\n';
    expect(await codes({ yaml })).toEqual(['PLAN_NOTHING_SELECTED null', 'BASELINE_NOT_READ baseline']);
    // Commands that only print the configuration or write the baseline accept both.
    const cwd = workspace({ 'hookproof.yaml': yaml });
    expect((await loadConfig({ flags: {}, env: {}, cwd })).run.suites).toEqual(['leaks']);
  });
});

describe('an invalid reference instead of a secret', () => {
  it('is not taken for the secret itself, and is not shown', async () => {
    expect((await refusal({ yaml: `hmac:\n  secret: \${evn:WEBHOOK}\n` })).message).toBe(
      'hookproof.yaml:2:11: hmac.secret: the reference is not valid',
    );
  });
});
