/** Where the doctor has its settings from, and which faults of the configuration end it. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { clientMaterial } from '../../../certs/index.ts';
import { factsOf, folderWith, found, look, sectionOf } from './examining.ts';
import { plainServer } from './servers.ts';

const SECRET = 'correct horse battery staple and more';

describe('precedence', () => {
  it('is that of run: flag, environment, file', async () => {
    const cwd = await folderWith({ secret: 'x'.repeat(10), 'hookproof.yaml': `hmac:\n  secret: \${env:MINE}\n` });
    const env = { MINE: `${SECRET}!` };
    const characters = async (flags: object, more: Record<string, string>) => {
      const { from, characters: length } = factsOf(
        await look(null, { cwd, flags, env: { ...env, ...more } }),
        'secret',
      );
      return [from, length];
    };
    expect(await characters({}, {})).toEqual(['hookproof.yaml:2:11: hmac.secret', SECRET.length + 1]);
    expect(await characters({}, { HOOKPROOF_SECRET: SECRET })).toEqual(['HOOKPROOF_SECRET', SECRET.length]);
    expect(await characters({ secretFile: 'secret' }, { HOOKPROOF_SECRET: SECRET })).toEqual(['--secret-file', 10]);
  });

  it('takes URL, certificates and time limit from the file, paths relative to it', async () => {
    const { cert, key } = await clientMaterial('right');
    const port = await plainServer();
    const cwd = await folderWith({
      'client.pem': cert,
      'client.key': key,
      'mine.yaml': `url: http://127.0.0.1:${port}/\ntimeout: 2s\ntls: { client-cert: client.pem, client-key: client.key }\n`,
    });
    const document = await look(null, { configFile: join(cwd, 'mine.yaml'), flags: { timeout: undefined } });
    expect(document.url).toBe(`http://127.0.0.1:${port}/`);
    expect(factsOf(document, 'client-certificate')).toMatchObject({
      pair: true,
      certificateFrom: expect.stringMatching(/mine\.yaml:3:21: tls\.client-cert$/),
    });
  });
});

describe('standard input and pipes are read once', () => {
  it('a secret on standard input, without the newline at its end', async () => {
    const document = await look(null, { flags: { secretFile: '-' }, stdin: `${SECRET}\n` });
    expect(factsOf(document, 'secret')).toMatchObject({ from: '--secret-file', characters: SECRET.length });
    expect(found(document)).toEqual([]);
  });

  it('nothing on standard input', async () => {
    expect(found(await look(null, { flags: { secretFile: '-' } }))).toEqual(['problem secret-empty']);
  });

  it.skipIf(process.platform === 'win32')('a secret, a certificate and its key through pipes', async () => {
    const { cert, key } = await clientMaterial('right');
    const cwd = await folderWith({ secret: SECRET, cert, key });
    for (const name of ['secret', 'cert', 'key']) {
      // The writer ends when it has been read.
      execFileSync('sh', ['-c', `mkfifo ${name}.pipe; cat ${name} > ${name}.pipe &`], { cwd, stdio: 'ignore' });
    }
    const flags = { secretFile: 'secret.pipe', clientCert: 'cert.pipe', clientKey: 'key.pipe' };
    const document = await look(null, { flags, cwd });
    expect(found(document)).toEqual([]);
    expect(factsOf(document, 'client-certificate')).toMatchObject({ pair: true, keyFrom: '--client-key' });
    expect(factsOf(document, 'secret').characters).toBe(SECRET.length);
  });
});

describe('a broken secret is a finding', () => {
  it.each<[string, object, Record<string, string>, string]>([
    ['no such file', { secretFile: 'nowhere' }, {}, 'problem secret-unreadable'],
    ['an empty file', { secretFile: 'empty' }, {}, 'problem secret-unreadable'],
    ['bytes that are no text', { secretFile: 'bytes' }, {}, 'problem secret-unreadable'],
    ['an empty variable', {}, { HOOKPROOF_SECRET: '' }, 'problem secret-empty'],
    ['an API key that no header carries', {}, { HOOKPROOF_API_KEY: 'k\u0000k' }, 'problem api-key-control-character'],
    ['an API key with a newline', {}, { HOOKPROOF_API_KEY: 'kkkkk\n' }, 'problem api-key-line-break'],
  ])('%s', async (_, flags, env, expected) => {
    const cwd = await folderWith({ empty: '', bytes: randomBytes(40) });
    const document = await look(null, { flags, env, cwd });
    expect(found(document)).toContain(expected);
  });

  it('in the configuration file itself, and the URL beside it is looked at', async () => {
    const port = await plainServer();
    const cwd = await folderWith({ 'hookproof.yaml': `url: http://127.0.0.1:${port}/\nhmac:\n  secret: ${SECRET}\n` });
    const document = await look(null, { cwd });
    expect(found(document, 'secret')).toEqual(['problem secret-in-config-file']);
    expect(document.reached).toBe(true);
    expect(JSON.stringify(document)).not.toContain(SECRET);
  });

  it('is the API key too', async () => {
    const env = { HOOKPROOF_SECRET: SECRET, HOOKPROOF_API_KEY: SECRET };
    expect(found(await look(null, { env }))).toEqual(['problem secret-equals-api-key']);
  });

  it('has a newline at the end of its file', async () => {
    const cwd = await folderWith({ secret: `${SECRET}\n` });
    expect(found(await look(null, { flags: { secretFile: 'secret' }, cwd }))).toEqual(['info secret-newline-dropped']);
  });
});

describe('what else is wrong with the configuration ends it', () => {
  it.each<[string, object, Record<string, string>, string]>([
    ['nothing to look at', {}, {}, 'CONFIG_URL_MISSING'],
    ['a URL that is none', { url: 'partner.example' }, {}, 'CONFIG_VALUE'],
    ['a URL with credentials', { url: 'https://me:pw@partner.example/' }, {}, 'PARTNER_URL'],
    ['a time limit without a unit', { url: 'https://partner.invalid/', timeout: '10' }, {}, 'CONFIG_VALUE'],
    ['a header that is none', { url: 'https://partner.invalid/', header: ['x'] }, {}, 'CONFIG_VALUE'],
  ])('%s', async (_, flags, env, code) => {
    await expect(look(null, { flags, env })).rejects.toMatchObject({ name: 'HookproofError', kind: 'usage', code });
  });

  it('and is told without what the doctor looks at itself', async () => {
    const flags = { url: 'https://partner.invalid/', timeout: '10', clientCert: 'nowhere', clientKey: 'nowhere' };
    const error: Error = await look(null, { flags }).then(
      () => new Error('it did not end'),
      (thrown) => thrown,
    );
    expect(error.message).toBe('--timeout: "10" is not a duration');
  });

  it('a file that is not YAML', async () => {
    const cwd = await folderWith({ 'hookproof.yaml': 'url: [' });
    await expect(look('https://partner.invalid/', { cwd })).rejects.toMatchObject({ code: 'CONFIG_SYNTAX' });
  });
});

describe('advice', () => {
  it('on a variable that is misspelt', async () => {
    const document = await look('https://partner.invalid/', { env: { HOOKPROOF_SECERT: SECRET } });
    expect(found(document, 'configuration')).toEqual(['advice configuration', 'advice no-credentials']);
    expect(sectionOf(document, 'configuration').findings[0]?.title).toContain('HOOKPROOF_SECERT');
  });

  it('on fixtures that cannot be used', async () => {
    const { cert, key } = await clientMaterial('right');
    const yaml = 'mtls:\n  fixtures:\n    expired: { cert: cert, key: key }\n';
    const cwd = await folderWith({ cert, key, 'hookproof.yaml': yaml });
    const document = await look('https://partner.invalid/', { cwd, env: { HOOKPROOF_SECRET: SECRET } });
    expect(found(document, 'configuration')).toEqual(['problem client-fixture', 'advice configuration']);
  });
});
