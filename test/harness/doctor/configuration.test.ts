/** The configuration: which settings the doctor examines, and which problems stop it. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { clientMaterial } from '../../certs/client-material.ts';
import { examineWith, factsOf, folderWith, found, sectionOf } from './examining.ts';
import { plainServer } from './servers.ts';

const SECRET = 'correct horse battery staple and more';

describe('the settings', () => {
  it('have the same precedence as for a run: flag, environment, file', async () => {
    const cwd = await folderWith({ secret: 'x'.repeat(10), 'hookproof.yaml': `hmac:\n  secret: \${env:MINE}\n` });
    const env = { MINE: `${SECRET}!` };
    const characters = async (flags: object, more: Record<string, string>) => {
      const { from, characters: length } = factsOf(
        await examineWith(null, { cwd, flags, env: { ...env, ...more } }),
        'secret',
      );
      return [from, length];
    };
    expect(await characters({}, {})).toEqual(['hookproof.yaml:2:11: hmac.secret', SECRET.length + 1]);
    expect(await characters({}, { HOOKPROOF_SECRET: SECRET })).toEqual(['HOOKPROOF_SECRET', SECRET.length]);
    expect(await characters({ secretFile: 'secret' }, { HOOKPROOF_SECRET: SECRET })).toEqual(['--secret-file', 10]);
  });

  it('may all be in the file, with paths relative to it', async () => {
    const { cert, key } = await clientMaterial('right');
    const port = await plainServer();
    const cwd = await folderWith({
      'client.pem': cert,
      'client.key': key,
      'mine.yaml': [
        `url: http://127.0.0.1:${port}/`,
        'timeout: 2s',
        'tls: { client-cert: client.pem, client-key: client.key }',
      ].join('\n'),
    });
    const document = await examineWith(null, { configFile: join(cwd, 'mine.yaml'), flags: { timeout: undefined } });
    expect(document.url).toBe(`http://127.0.0.1:${port}/`);
    expect(factsOf(document, 'client-certificate')).toMatchObject({
      pair: true,
      certificateFrom: expect.stringMatching(/mine\.yaml:3:21: tls\.client-cert$/),
    });
  });
});

describe('standard input', () => {
  it('contain a secret, whose final newline is dropped', async () => {
    const document = await examineWith(null, { flags: { secretFile: '-' }, stdin: `${SECRET}\n` });
    expect(factsOf(document, 'secret')).toMatchObject({ from: '--secret-file', characters: SECRET.length });
    expect(found(document)).toEqual([]);
  });

  it('may be empty', async () => {
    expect(found(await examineWith(null, { flags: { secretFile: '-' } }))).toEqual(['problem secret-empty']);
  });
});

describe('an unusable secret is a finding', () => {
  it.each<[string, object, Record<string, string>, string]>([
    ['no such file', { secretFile: 'nowhere' }, {}, 'problem secret-unreadable'],
    ['an empty file', { secretFile: 'empty' }, {}, 'problem secret-unreadable'],
    ['bytes that are not text', { secretFile: 'bytes' }, {}, 'problem secret-unreadable'],
    ['an empty variable', {}, { HOOKPROOF_SECRET: '' }, 'problem secret-empty'],
    [
      'an API key that a header cannot contain',
      {},
      { HOOKPROOF_API_KEY: 'k\u0000k' },
      'problem api-key-control-character',
    ],
    ['an API key with a newline', {}, { HOOKPROOF_API_KEY: 'kkkkk\n' }, 'problem api-key-line-break'],
  ])('%s', async (_, flags, env, expected) => {
    const cwd = await folderWith({ empty: '', bytes: randomBytes(40) });
    const document = await examineWith(null, { flags, env, cwd });
    expect(found(document)).toContain(expected);
  });

  it('when it is in the configuration file, whose URL is still examined', async () => {
    const port = await plainServer();
    const cwd = await folderWith({ 'hookproof.yaml': `url: http://127.0.0.1:${port}/\nhmac:\n  secret: ${SECRET}\n` });
    const document = await examineWith(null, { cwd });
    expect(found(document, 'secret')).toEqual(['problem secret-in-config-file']);
    expect(document.reached).toBe(true);
    expect(JSON.stringify(document)).not.toContain(SECRET);
  });

  it('when it is also the API key', async () => {
    const env = { HOOKPROOF_SECRET: SECRET, HOOKPROOF_API_KEY: SECRET };
    expect(found(await examineWith(null, { env }))).toEqual(['problem secret-equals-api-key']);
  });

  it('is in a header whose name has an underscore', async () => {
    const flags = { signatureHeader: 'x_signature' };
    const codes = async (given: object) =>
      found(await examineWith(null, { flags: given, env: { HOOKPROOF_SECRET: SECRET } }));
    expect(await codes(flags)).toEqual(['advice header-name-with-underscore']);
    expect(await codes({ signatureHeader: 'X-Signature' })).toEqual([]);
  });

  it('or a notice, when its file ends with a newline', async () => {
    const cwd = await folderWith({ secret: `${SECRET}\n` });
    expect(found(await examineWith(null, { flags: { secretFile: 'secret' }, cwd }))).toEqual([
      'info secret-newline-dropped',
    ]);
  });
});

describe('any other problem of the configuration is an error', () => {
  it.each<[string, object, Record<string, string>, string]>([
    ['nothing to examine', {}, {}, 'CONFIG_URL_MISSING'],
    ['not a URL', { url: 'partner.example' }, {}, 'CONFIG_VALUE'],
    ['a URL with credentials', { url: 'https://me:pw@partner.example/' }, {}, 'PARTNER_URL'],
    ['a time limit without a unit', { url: 'https://partner.invalid/', timeout: '10' }, {}, 'CONFIG_VALUE'],
    ['not a header line', { url: 'https://partner.invalid/', header: ['x'] }, {}, 'CONFIG_VALUE'],
  ])('%s', async (_, flags, env, code) => {
    await expect(examineWith(null, { flags, env })).rejects.toMatchObject({
      name: 'HookproofError',
      kind: 'usage',
      code,
    });
  });

  it('that does not list the settings that the doctor examines', async () => {
    const flags = { url: 'https://partner.invalid/', timeout: '10', clientCert: 'nowhere', clientKey: 'nowhere' };
    const error: Error = await examineWith(null, { flags }).then(
      () => new Error('there was no error'),
      (thrown) => thrown,
    );
    expect(error.message).toBe('--timeout: "10" is not a duration');
  });

  it('a file that is not YAML', async () => {
    const cwd = await folderWith({ 'hookproof.yaml': 'url: [' });
    await expect(examineWith('https://partner.invalid/', { cwd })).rejects.toMatchObject({ code: 'CONFIG_SYNTAX' });
  });
});

describe('advice', () => {
  it('about a misspelt variable', async () => {
    const document = await examineWith('https://partner.invalid/', { env: { HOOKPROOF_SECERT: SECRET } });
    expect(found(document, 'configuration')).toEqual(['advice configuration', 'advice no-credentials']);
    expect(sectionOf(document, 'configuration').findings[0]?.title).toContain('HOOKPROOF_SECERT');
  });

  it('about fixtures that cannot be used', async () => {
    const { cert, key } = await clientMaterial('right');
    const yaml = 'mtls:\n  fixtures:\n    expired: { cert: cert, key: key }\n';
    const cwd = await folderWith({ cert, key, 'hookproof.yaml': yaml });
    const document = await examineWith('https://partner.invalid/', { cwd, env: { HOOKPROOF_SECRET: SECRET } });
    expect(found(document, 'configuration')).toEqual(['problem client-fixture', 'advice configuration']);
  });
});
