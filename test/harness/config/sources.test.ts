/** The settings of the evidence sources: the effects window, its command, the restart and the logs. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findConfigFile } from '../../../harness/config/config-file.ts';
import { loadConfig } from '../../../harness/config/index.ts';
import type { Problem } from '../../../harness/config/problems.ts';
import { readFile } from '../../../harness/config/read-file.ts';
import { type Given, load, refusal, workspace } from './workspace.ts';

const URL_OF_WINDOW = 'http://127.0.0.1:9101/effects';
const TOKEN = 'a-token-of-the-window-in-tests';

describe('the sources of evidence', () => {
  it('are what flags, environment and file say', async () => {
    const effects = `  url: ${URL_OF_WINDOW}\n  deadline: 2s\n  decimals: [DOGE=8, X=0]\n`;
    const yaml = `url: https://a.example/\neffects:\n${effects}`;
    const flags = { url: undefined, restartCommand: 'systemctl restart receiver', log: ['a.log', '/b.log'] };
    const env = { HOOKPROOF_EFFECTS_TOKEN: TOKEN };
    const config = await load({ flags, env, yaml });
    expect(config.evidenceSources).toEqual({
      effects: { url: URL_OF_WINDOW, token: TOKEN, deadlineMs: 2000 },
      restartCommand: 'systemctl restart receiver',
      logs: [expect.stringMatching(/^\/.*\/a\.log$/), '/b.log'],
    });
    expect(config.partner.decimals).toEqual({ DOGE: 8, X: 0 });
    expect(config.secrets).toContain(TOKEN);
  });

  it('are closed by default, also when only a token is set', async () => {
    const { evidenceSources, partner } = await load({ env: { HOOKPROOF_EFFECTS_TOKEN: TOKEN } });
    expect(evidenceSources).toEqual({});
    expect(partner).not.toHaveProperty('decimals');
  });

  it('take a command instead of a URL, which sees no shell before it runs', async () => {
    const command = './effects.sh --for "a b"; echo $HOME';
    expect((await load({ flags: { effectsCommand: command } })).evidenceSources).toEqual({
      effects: { command, deadlineMs: 10_000 },
    });
  });

  it('trust the CA of the endpoint, too', async () => {
    const { makeCertificate } = await import('../../../certs/index.ts');
    const { cert: ca } = await makeCertificate({ subject: 'CN=CA', authority: true });
    const flags = { ca: 'ca.pem', effects: 'https://a.example/effects' };
    const { evidenceSources } = await load({ flags, files: { 'ca.pem': ca } });
    expect(evidenceSources.effects?.tls?.ca).toContain('BEGIN CERTIFICATE');
  });
});

const FULL = 'Give a full URL without credentials: http://127.0.0.1:9101/effects. The token has its own setting.';
const SHARD = 'Run the suites `effects` and `rotation`, and check the log, in a separate run without `--shard`.';
const shard = (flag: string) => `--${flag}: a shard sees only its own deliveries`;
const file = (lines: string): Given => ({ yaml: `url: https://a.example/\neffects:\n  ${lines}\n`, flags: {} });

describe('a problem is named with its place', () => {
  it.each<[string, Given, string, string]>([
    [
      'no URL',
      { flags: { effects: '127.0.0.1:9101/effects' } },
      '--effects: "127.0.0.1:9101/effects" is not an http or https URL without credentials',
      FULL,
    ],
    [
      'another protocol',
      { env: { HOOKPROOF_EFFECTS_URL: 'file:///etc/passwd' } },
      'HOOKPROOF_EFFECTS_URL: "file:///etc/passwd" is not an http or https URL without credentials',
      FULL,
    ],
    [
      'credentials',
      file('url: http://me:hunter2@a.example/'),
      'hookproof.yaml:3:8: effects.url: the value is not an http or https URL without credentials',
      FULL,
    ],
    [
      'a URL and a command',
      { flags: { effects: URL_OF_WINDOW, effectsCommand: './effects.sh' } },
      '--effects-command: the effects window also has a URL',
      'Give only one of them.',
    ],
    [
      'a variable without a command',
      { flags: { commandEnv: ['DATABASE_URL'] } },
      '--command-env: there is no command',
      'Add `--restart-command`, `--effects-command` or `--rotate-command`, or remove it.',
    ],
    [
      'the key of the certifier for a command',
      { flags: { effectsCommand: './x', commandEnv: ['HOOKPROOF_CERTIFY_KEY'] } },
      "--command-env: HOOKPROOF_CERTIFY_KEY is the certifier's key",
      'Give a variable that the receiver needs.',
    ],
    [
      'a restart without a window',
      { flags: { restartCommand: './restart.sh' } },
      '--restart-command: there is no effects window',
      'Add `--effects URL`: without it, a restart provides no evidence.',
    ],
    ['a shard with a window', { flags: { effects: URL_OF_WINDOW, shard: '1/2' } }, shard('effects'), SHARD],
    ['a shard with a command', { flags: { effectsCommand: 'x', shard: '1/2' } }, shard('effects-command'), SHARD],
    ['a shard with a log', { flags: { log: ['a.log'], shard: '1/2' } }, shard('log'), SHARD],
    [
      'too short a deadline',
      { flags: { effects: URL_OF_WINDOW, effectsDeadline: '10ms' } },
      '--effects-deadline: "10ms" is out of range',
      'Choose a duration from 100ms to 10m.',
    ],
    [
      'decimals without a number',
      file('decimals: [BTC=8, ETH]'),
      'hookproof.yaml:3:21: effects.decimals: "ETH" is not symbol=decimals',
      'Write a symbol and its decimals: NEO=0, GUSD=2, USDC=6, BTC=8, ETH=18.',
    ],
    [
      'more decimals than an asset has',
      file('decimals: [X=78]'),
      'hookproof.yaml:3:14: effects.decimals: "X=78" is not symbol=decimals',
      'Write a symbol and its decimals: NEO=0, GUSD=2, USDC=6, BTC=8, ETH=18.',
    ],
    [
      'an empty command',
      { flags: { effectsCommand: '' } },
      '--effects-command: is empty',
      'Give it a value, or omit it.',
    ],
  ])('%s', async (_, given, message, hint) => {
    expect(await refusal(given)).toMatchObject({ message, hint });
  });

  it('all of them at once, and no password in any', async () => {
    const flags = { effects: 'http://me:hunter2hunter2@a.example/', restartCommand: 'x', effectsDeadline: 'soon' };
    const { message, hint } = await refusal({ flags });
    for (const place of ['--effects:', '--restart-command:', '--effects-deadline:']) expect(message).toContain(place);
    expect(message + hint).not.toContain('hunter2');
  });

  it('a token is read like every secret', async () => {
    expect(await refusal({ flags: { effectsTokenFile: 'none' } })).toMatchObject({ code: 'CONFIG_SECRET' });
    const literal = await refusal(file(`token: ${TOKEN}`));
    expect(literal.message).not.toContain(TOKEN);
    const { settings } = await load({ env: { HOOKPROOF_EFFECTS_TOKEN: TOKEN } });
    expect(settings.find(({ path }) => path === 'effects.token')?.value).toBe(`[set, ${TOKEN.length} characters]`);
  });
});

describe('a rotation of the secret', () => {
  const [OLD, NEXT] = ['s'.repeat(40), 'n'.repeat(40)];
  const env = { HOOKPROOF_SECRET: OLD, HOOKPROOF_NEXT_SECRET: NEXT };

  it('has the next secret, which is kept secret, and a command', async () => {
    const { evidenceSources, secrets } = await load({ flags: { rotateCommand: './rotate.sh' }, env });
    expect(evidenceSources).toEqual({ rotation: { nextSecret: NEXT, command: './rotate.sh' } });
    expect(secrets).toContain(NEXT);
  });

  it('takes the next secret from a file and from hookproof.yaml', async () => {
    const files = { 'next.txt': NEXT };
    const byFlag = await load({ flags: { nextSecretFile: 'next.txt' }, env: { HOOKPROOF_SECRET: OLD }, files });
    const yaml = `url: https://a.example/\nhmac:\n  next-secret: \${env:NEXT}\n`;
    const byFile = await load({ yaml, env: { HOOKPROOF_SECRET: OLD, NEXT }, flags: { url: undefined } });
    for (const { evidenceSources } of [byFlag, byFile]) expect(evidenceSources.rotation?.nextSecret).toBe(NEXT);
  });

  it('gives advice about a newline in the next secret', async () => {
    const { advice } = await load({ env: { ...env, HOOKPROOF_NEXT_SECRET: `${NEXT}\n` } });
    expect(advice.join()).toContain('The next HMAC secret ends with a newline');
  });

  it.each<[string, Given, string]>([
    ['no secret', { env: { HOOKPROOF_NEXT_SECRET: NEXT } }, 'there is no current secret for it to replace'],
    ['the same secret', { env: { ...env, HOOKPROOF_NEXT_SECRET: OLD } }, 'it is the same as the current secret'],
    ['a command alone', { flags: { rotateCommand: 'x' } }, 'there is no next secret'],
    ['a shard', { env, flags: { shard: '1/2' } }, 'a shard sees only its own deliveries'],
  ])('is refused with %s', async (_, given, reason) => {
    const { message } = await refusal(given);
    expect(message).toContain(reason);
    expect(message).not.toContain(NEXT);
  });
});

describe('a file', () => {
  it.each(['effects-command: ./x', 'restart-command: ./x', 'rotate-command: ./x', 'effects: { command: ./x }'])(
    'has no setting that runs a command: %s',
    async (line) => {
      const { code } = await refusal({ yaml: `url: https://a.example/\n${line}\n`, flags: {} });
      expect(code).toBe('CONFIG_UNKNOWN_KEY');
    },
  );

  /** Returns the problems in a partner file of a fleet. */
  async function problemsOfPartner(lines: string) {
    const cwd = workspace({ 'acme.yaml': `url: https://a.example/\n${lines}` });
    const scope = { partner: 'acme', folder: cwd, names: ['acme'] };
    const problems: Problem[] = [];
    await findConfigFile({ configFile: 'acme.yaml', cwd, readFile, scope }, problems, []);
    return problems.map(({ code }) => code);
  }

  it('of a partner of a fleet may open its window, and may not set a command, a log or what is checked', async () => {
    expect(await problemsOfPartner(`effects:\n  url: ${URL_OF_WINDOW}\n  deadline: 2s\n`)).toEqual([]);
    for (const line of ['effects-command: ./x', 'restart-command: ./x', 'rotate-command: ./x']) {
      expect(await problemsOfPartner(`${line}\n`)).toEqual(['CONFIG_UNKNOWN_KEY']);
    }
    for (const line of ['log: [a]', 'open: true']) {
      expect(await problemsOfPartner(`${line}\n`)).toEqual(['CONFIG_PARTNER_SETTING']);
    }
    expect(await problemsOfPartner('hmac:\n  next-secret: x\n')).toContain('CONFIG_PARTNER_SETTING');
  });

  it('is not asked for a log that a flag names: it is relative to the current folder', async () => {
    const cwd = workspace({ 'etc/partner.yaml': 'url: https://a.example/\n' });
    const { evidenceSources } = await loadConfig({
      flags: { log: ['a.log'] },
      env: {},
      cwd,
      configFile: 'etc/partner.yaml',
    });
    expect(evidenceSources.logs).toEqual([join(cwd, 'a.log')]);
  });

  it('names a log relative to itself', async () => {
    const cwd = workspace({ 'etc/partner.yaml': 'url: https://a.example/\nlog: [a.log]\n' });
    const { evidenceSources } = await loadConfig({ flags: {}, env: {}, configFile: 'etc/partner.yaml', cwd });
    expect(evidenceSources.logs).toEqual([join(cwd, 'etc/a.log')]);
  });
});
