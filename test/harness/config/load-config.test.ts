import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeConfig, loadConfig } from '../../../harness/config/index.ts';
import { load, refusal, workspace } from './workspace.ts';

describe('loadConfig', () => {
  it('needs only a URL', async () => {
    const config = await load({ flags: { url: 'https://partner.example/hook?x=1' } });
    expect(config.partner).toEqual({ url: 'https://partner.example/hook?x=1' });
    expect(config.run).toEqual({
      open: false,
      profile: null,
      revision: null,
      effectsDeadlineMs: 10_000,
      effectsDecimals: [],
      effectsCommand: null,
      restartCommand: null,
      rotateCommand: null,
      commandVariables: [],
      logs: [],
      suites: [],
      scenarios: [],
      greps: [],
      concurrency: 8,
      timeoutMs: 10_000,
      recoveryMs: 10_000,
      intervalMs: null,
      waitMs: 0,
      maxMs: null,
      allowPrivate: [],
      seed: null,
      strict: false,
      baseline: null,
      stack: null,
      bail: false,
      evidence: false,
      evidenceLevel: 0,
      shard: null,
      code: null,
      outputDir: null,
    });
    expect(config.evidenceSources).toEqual({});
    expect(config.reporters).toEqual([{ name: 'human', file: null }]);
    expect(config.secrets).toEqual([]);
    expect(config.configFile).toBeNull();
  });

  it('reads every setting from flags', async () => {
    const cwd = workspace({ s: 's'.repeat(40), n: 'n'.repeat(40), k: 'k'.repeat(20), t: 't'.repeat(20) });
    const config = await loadConfig({
      flags: {
        url: 'https://partner.example/hook',
        secretFile: 's',
        nextSecretFile: 'n',
        signatureHeader: 'X-Sig',
        apiKeyFile: 'k',
        apiKeyHeader: 'X-Key',
        header: ['X-Tenant: acme'],
        profile: 'production',
        suite: ['signature'],
        scenario: ['signature/missing'],
        grep: ['miss*ing'],
        concurrency: '64',
        timeout: '100ms',
        recovery: '10m',
        maxRate: '100/m',
        wait: '60s',
        seed: '42',
        strict: true,
        open: true,
        baseline: 'known.yaml',
        stack: 'flask',
        bail: true,
        evidence: true,
        evidenceLevel: '2',
        effects: 'http://127.0.0.1:9101/effects',
        effectsTokenFile: 't',
        effectsDeadline: '2s',
        restartCommand: './restart.sh',
        rotateCommand: './rotate.sh',
        commandEnv: ['DATABASE_URL'],
        log: ['a.log'],
        code: 'src/hook.ts',
        reporter: ['json=out.json', 'ndjson=-'],
        outputDir: 'out',
      },
      env: {},
      cwd,
    });
    expect(config.partner).toEqual({
      url: 'https://partner.example/hook',
      signing: { secret: 's'.repeat(40), header: 'X-Sig' },
      apiKey: { value: 'k'.repeat(20), header: 'X-Key' },
      headers: [['X-Tenant', 'acme']],
    });
    expect(config.run).toEqual({
      open: true,
      profile: 'production',
      revision: null,
      effectsDeadlineMs: 2000,
      effectsDecimals: [],
      effectsCommand: null,
      restartCommand: './restart.sh',
      rotateCommand: './rotate.sh',
      commandVariables: ['DATABASE_URL'],
      logs: [join(cwd, 'a.log')],
      suites: ['signature'],
      scenarios: ['signature/missing'],
      greps: ['miss*ing'],
      concurrency: 64,
      timeoutMs: 100,
      recoveryMs: 600_000,
      intervalMs: 600,
      waitMs: 60_000,
      maxMs: null,
      allowPrivate: [],
      seed: '42',
      strict: true,
      baseline: join(cwd, 'known.yaml'),
      stack: 'flask',
      bail: true,
      evidence: true,
      evidenceLevel: 2,
      code: join(cwd, 'src/hook.ts'),
      shard: null,
      outputDir: join(cwd, 'out'),
    });
    expect(config.reporters).toEqual([
      { name: 'json', file: join(cwd, 'out.json') },
      { name: 'ndjson', file: null },
      { name: 'json', file: join(cwd, 'out/run.json') },
      { name: 'junit', file: join(cwd, 'out/junit.xml') },
      { name: 'html', file: join(cwd, 'out/report.html') },
    ]);
    expect(config.secrets.toSorted()).toEqual(['k'.repeat(20), 'n'.repeat(40), 's'.repeat(40), 't'.repeat(20)]);
  });

  it('resolves relative paths in the configuration file against its folder', async () => {
    const cwd = workspace({
      'etc/partner.yaml': `url: https://a.example/\nhmac:\n  secret: \${file:./secret}\nreporters: [json=run.json]\n`,
      'etc/secret': 's'.repeat(40),
    });
    const config = await loadConfig({ flags: {}, env: {}, cwd, configFile: 'etc/partner.yaml' });
    expect(config.partner.signing?.secret).toBe('s'.repeat(40));
    expect(config.reporters).toContainEqual({ name: 'json', file: join(cwd, 'etc/run.json'), base: join(cwd, 'etc') });
    expect(config.sources['hmac.secret']).toBe('etc/partner.yaml:3:11');
    expect(config.configFile).toBe('etc/partner.yaml');
  });

  it('requires a URL', async () => {
    expect(await refusal({ flags: { url: undefined } })).toEqual({
      code: 'CONFIG_URL_MISSING',
      message: 'no endpoint URL was given',
      hint: 'Give it as an argument of the command, as HOOKPROOF_URL, or as `url` in hookproof.yaml.',
    });
  });

  it.each(['partner.example/hook', 'ftp://partner.example/', 'https://', 'javascript:alert(1)'])(
    'refuses the URL %s',
    async (url) => {
      expect(await refusal({ flags: { url } })).toEqual({
        code: 'CONFIG_VALUE',
        message: `URL: ${/^[\w./:-]+$/.test(url) ? `"${url}"` : 'the value'} is not an http or https URL`,
        hint: 'Begin with http:// or https://, for example https://partner.example/webhooks.',
      });
    },
  );

  it('lists all errors of all layers at once', async () => {
    expect(
      await refusal({
        flags: { url: 'nowhere', timeout: '10' },
        env: { HOOKPROOF_PROFILE: 'stagin' },
        yaml: 'concurrency: 65\n',
      }),
    ).toEqual({
      code: 'CONFIG_INVALID',
      message: `the configuration has 4 problems:
  URL: "nowhere" is not an http or https URL
    Begin with http:// or https://, for example https://partner.example/webhooks.
  HOOKPROOF_PROFILE: "stagin" is not a profile; did you mean "staging"?
    Choose from basic, staging, production.
  --timeout: "10" is not a duration
    Write a number and a unit, for example 500ms, 10s or 2m.
  hookproof.yaml:1:14: concurrency: "65" is not a whole number from 1 to 64
    Write digits only.`,
      hint: 'Nothing was sent. All problems are listed, so that you can fix them in one pass.',
    });
  });

  it('rejects empty values instead of treating them as absent', async () => {
    expect(await refusal({ env: { HOOKPROOF_SECRET: '' } })).toEqual({
      code: 'CONFIG_EMPTY_VALUE',
      message: 'HOOKPROOF_SECRET: is empty',
      hint: 'Give it a value, or unset it: an empty variable does not turn anything off.',
    });
    expect(await refusal({ flags: { apiKeyFile: '', profile: 'basic' } })).toEqual({
      code: 'CONFIG_EMPTY_VALUE',
      message: '--api-key-file: is empty',
      hint: 'Give it a value, or omit it.',
    });
    expect((await refusal({ flags: { url: '' } })).message).toBe('URL: is empty');
    expect((await refusal({ yaml: 'url: ""\n' })).message).toBe('hookproof.yaml:1:6: url: is empty');
    expect((await refusal({ configFile: '' })).message).toBe('--config: the path is empty');
  });

  it('advises on a misspelt variable, unless the file refers to it', async () => {
    const env = { HOOKPROOF_SECRT: 'x', HOOKPROOF_APIKEY: 'y'.repeat(20), HOOKPROOF_SOMETHING: 'z', SECRT: 'x' };
    const config = await load({ env, yaml: `api-key:\n  value: \${env:HOOKPROOF_APIKEY}\n` });
    expect(config.advice.filter((line) => line.includes('environment variable'))).toEqual([
      'The environment variable HOOKPROOF_SECRT is not used; did you mean HOOKPROOF_SECRET?',
    ]);
  });

  it('advises on a header name without its secret', async () => {
    const config = await load({ flags: { signatureHeader: 'X-Sig' }, env: { HOOKPROOF_API_KEY_HEADER: 'X-Key' } });
    expect(config.advice).toEqual(
      expect.arrayContaining([
        '--signature-header: the header is not sent, because no secret is configured.',
        'HOOKPROOF_API_KEY_HEADER: the header is not sent, because no API key is configured.',
      ]),
    );
    expect(config.partner).toEqual({ url: 'https://partner.example/hook' });
  });

  it('rejects what the sender core rejects, with its position', async () => {
    const given = {
      flags: { url: 'https://user:hunter2@a.example/', signatureHeader: 'Host' },
      env: { HOOKPROOF_SECRET: 's'.repeat(40), HOOKPROOF_API_KEY: 'line\nbreak', HOOKPROOF_API_KEY_HEADER: 'a b' },
      yaml: 'headers:\n  X-Fine: x\n  content-length: "5"\n  X-Bad: "a\\r\\nb"\n',
    };
    const { message } = await refusal(given);
    expect(message.split('\n').filter((line) => /^ {2}\S/.test(line))).toEqual([
      '  URL: The endpoint URL contains credentials.',
      '  --signature-header: the signature header has the reserved name Host.',
      '  HOOKPROOF_API_KEY_HEADER: the name of the API key header is not a header name.',
      '  HOOKPROOF_API_KEY: the value of X-API-Key (the API key header) contains a line break.',
      '  hookproof.yaml:3:19: headers.content-length: the header has the reserved name content-length.',
      '  hookproof.yaml:4:10: headers.X-Bad: the value of X-Bad (the header) contains a line break.',
    ]);
  });

  it('rejects contradicting settings, and forwards the advice of the sender core', async () => {
    const env = { HOOKPROOF_API_KEY: 'k'.repeat(40) };
    expect(await refusal({ env, flags: { header: ['x-api-key: other'] } })).toMatchObject({
      code: 'PARTNER_HEADER',
      message: 'Headers: custom header 1 and the API key header both have the name x-api-key.',
    });
    expect((await load({ env })).advice).toEqual([
      'An API key alone is basic security: it does not protect the body. Add a signature.',
    ]);
  });
});

const SECRET = { HOOKPROOF_SECRET: 's'.repeat(40) };
const KEY = { HOOKPROOF_API_KEY: 'k'.repeat(40) };
const NO_SECRET = 'needs an HMAC secret, but none is configured';
const NO_KEY = 'needs an API key, but none is configured';
const NO_HTTPS = 'needs HTTPS, but the URL is plain HTTP';

describe('profiles', () => {
  it.each([
    ['basic', KEY],
    ['basic', { ...KEY, ...SECRET }],
    ['staging', SECRET],
    ['production', SECRET],
    ['production', { ...KEY, ...SECRET }],
  ] as const)('%s is content with %j', async (profile, env) => {
    expect((await load({ flags: { profile }, env })).run.profile).toBe(profile);
  });

  it.each([
    ['basic', SECRET, NO_KEY],
    ['staging', KEY, NO_SECRET],
    ['production', KEY, NO_SECRET],
  ] as const)('%s with %j is refused', async (profile, env, missing) => {
    expect(await refusal({ flags: { profile }, env })).toMatchObject({
      code: 'CONFIG_PROFILE',
      message: `--profile: the profile ${profile} ${missing}`,
    });
  });

  it.each([
    ['basic', KEY],
    ['staging', SECRET],
    ['production', SECRET],
  ] as const)('%s refuses plain HTTP', async (profile, env) => {
    const flags = { profile, url: 'http://localhost.partner.example/' };
    expect(await refusal({ flags, env })).toEqual({
      code: 'CONFIG_PROFILE',
      message: `--profile: the profile ${profile} ${NO_HTTPS}`,
      hint: 'Give an https:// URL. Only an endpoint on this machine may use plain HTTP.',
    });
  });

  it.each([
    'http://127.0.0.1:8080/',
    'http://localhost/',
    'http://app.localhost/',
    'http://[::1]:1/',
    'http://127.9.9.9/',
  ])('plain HTTP to %s is only advised on', async (url) => {
    const config = await load({ flags: { profile: 'staging', url }, env: SECRET });
    expect(config.advice).toContain(
      'The profile staging needs HTTPS; plain HTTP is allowed for an endpoint on this machine.',
    );
  });

  it('names every missing feature, with the position of the profile', async () => {
    const { message } = await refusal({ yaml: 'url: http://partner.example/\nprofile: staging\n' });
    expect(message).toBe(`the configuration has 2 problems:
  hookproof.yaml:2:10: profile: the profile staging ${NO_SECRET}
    Give the secret with \`--secret-file\`, HOOKPROOF_SECRET, or \`hmac.secret\` in the configuration file.
  hookproof.yaml:2:10: profile: the profile staging ${NO_HTTPS}
    Give an https:// URL. Only an endpoint on this machine may use plain HTTP.`);
  });

  it('advises that a revision without a profile has no effect', async () => {
    const advice = expect.stringContaining('The revision is ignored');
    const flags = { revision: '1' };
    expect((await load({ flags, env: SECRET })).advice).toContainEqual(advice);
    expect((await load({ flags: { ...flags, profile: 'staging' }, env: SECRET })).advice).not.toContainEqual(advice);
  });

  it('does not report a secret as missing if it could not be read', async () => {
    const { message } = await refusal({ flags: { profile: 'staging', secretFile: './none' } });
    expect(message).toBe('--secret-file: the file ./none does not exist');
  });
});

describe('describeConfig', () => {
  it('shows every setting with its source, and secrets by their length', async () => {
    const config = await load({
      yaml: `url: https://file.example/\nhmac:\n  secret: \${file:s}\nheaders:\n  X-Tenant: acme\ntimeout: 5s\n`,
      env: { HOOKPROOF_API_KEY: 'k' },
      flags: { strict: true },
      files: { s: 's'.repeat(44) },
    });
    const rows = describeConfig(config)
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/ {2,}/));
    expect(rows).toEqual([
      ['url', 'https://file.example/', 'hookproof.yaml:1:6'],
      ['hmac.secret', '[set, 44 characters]', 'hookproof.yaml:3:11'],
      ['hmac.next-secret', 'not set', 'default'],
      ['hmac.header', 'X-Service-Signature', 'default'],
      ['scheme', 'service', 'default'],
      ['api-key.value', '[set, 1 character]', 'environment HOOKPROOF_API_KEY'],
      ['api-key.header', 'X-API-Key', 'default'],
      ['headers.X-Tenant', 'acme', 'hookproof.yaml:5:13'],
      ...['tls.client-cert', 'tls.client-key', 'tls.passphrase', 'tls.ca'].map((path) => [path, 'not set', 'default']),
      ['mtls.fixtures', 'none', 'default'],
      ['open', 'false', 'default'],
      ['profile', 'none', 'default'],
      ['revision', 'the newest', 'default'],
      ['effects.url', 'none', 'default'],
      ['effects.token', 'not set', 'default'],
      ['effects.deadline', '10s', 'default'],
      ['effects.decimals', 'NEO=0, GUSD=2, USDC=6, BTC=8, ETH=18', 'default'],
      ['effects-command', 'none', 'default'],
      ['restart-command', 'none', 'default'],
      ['rotate-command', 'in a terminal, `run` and `certify` ask you to do it', 'default'],
      ['command-env', 'none', 'default'],
      ['log', 'none', 'default'],
      ['suites', 'all', 'default'],
      ['scenarios', 'all', 'default'],
      ['grep', 'all', 'default'],
      ['concurrency', '8', 'default'],
      ['timeout', '5s', 'hookproof.yaml:6:10'],
      ['recovery', '10s', 'default'],
      ['max-rate', 'no limit', 'default'],
      ['wait', '0s', 'default'],
      ['max-time', 'depends on the number of checks', 'default'],
      ['allow-private', 'none', 'default'],
      ['seed', 'random', 'default'],
      ['strict', 'true', 'flag --strict'],
      ['baseline', 'none', 'default'],
      ['stack', 'guessed from the answers', 'default'],
      ['bail', 'false', 'default'],
      ['evidence', 'false', 'default'],
      ['evidence-level', '0', 'default'],
      ['shard', 'none', 'default'],
      ['code', 'none', 'default'],
      ['reporters', 'human=-', 'default'],
      ['output-dir', 'none', 'default'],
    ]);
  });

  it('has the sources that the result has', async () => {
    const config = await load({});
    expect(config.sources).toEqual(Object.fromEntries(config.settings.map(({ path, source }) => [path, source])));
  });

  it('escapes control characters', async () => {
    const config = await load({ flags: { outputDir: '\u001b[31mred\na' } });
    expect(describeConfig(config)).toMatch(/output-dir .*\\x1b\[31mred\\na {2}/);
  });

  it('reads samples: ids that the receiver knows, and fields that it needs', async () => {
    const yaml = [
      'url: https://file.example/',
      'samples:',
      '  transactions: [T-1, "2"]',
      '  payment-methods: [P-1]',
      '  fields: ["data.tenant=acme", "data.level=3", "extra={\\"a\\":[true]}"]',
    ].join('\n');
    const config = await load({ yaml });
    expect(config.partner.samples).toEqual({
      ids: { transaction: ['T-1', '2'], 'payment-method': ['P-1'] },
      fields: [
        ['data.tenant', 'acme'],
        ['data.level', 3],
        ['extra', { a: [true] }],
      ],
    });
    const { message } = await refusal({ yaml: 'url: https://file.example/\nsamples:\n  fields: [data=x, tenant]\n' });
    expect(message.match(/is not an additional field/g)).toHaveLength(2);
  });
});
