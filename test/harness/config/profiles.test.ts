import { describe, expect, it } from 'vitest';
import { load, refusal } from './workspace.ts';

const SECRET = { HOOKPROOF_SECRET: 's'.repeat(40) };
const KEY = { HOOKPROOF_API_KEY: 'k'.repeat(40) };
const NO_SECRET = 'needs an HMAC secret, and none is configured';
const NO_KEY = 'needs an API key, and none is configured';
const NO_HTTPS = 'needs HTTPS, and the URL is plain HTTP';

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

  it('names every missing feature, at the place of the profile', async () => {
    const { message } = await refusal({ yaml: 'url: http://partner.example/\nprofile: staging\n' });
    expect(message).toBe(`the configuration has 2 problems:
  hookproof.yaml:2:10: profile: the profile staging ${NO_SECRET}
    Give the secret with --secret-file, HOOKPROOF_SECRET, or hmac.secret in the configuration file.
  hookproof.yaml:2:10: profile: the profile staging ${NO_HTTPS}
    Give an https:// URL. Only an endpoint on this machine may use plain HTTP.`);
  });

  it('tells that a revision without a profile says nothing', async () => {
    const advice = expect.stringContaining('The revision is ignored');
    const flags = { revision: '1' };
    expect((await load({ flags, env: SECRET })).advice).toContainEqual(advice);
    expect((await load({ flags: { ...flags, profile: 'staging' }, env: SECRET })).advice).not.toContainEqual(advice);
  });

  it('does not call a secret missing that could not be read', async () => {
    const { message } = await refusal({ flags: { profile: 'staging', secretFile: './none' } });
    expect(message).toBe('--secret-file: the file ./none does not exist');
  });
});
