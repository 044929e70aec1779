import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../harness/config/index.ts';
import { load, refusal, workspace } from './workspace.ts';

const SECRET = randomBytes(24).toString('base64');
const reference = (target: string) => `hmac:\n  secret: \${${target}}\n`;

async function secretIn(content: string | Uint8Array) {
  const { partner, advice } = await load({ flags: { secretFile: 'secret' }, files: { secret: content } });
  return { secret: partner.signing?.secret, advice: advice.filter((line) => line.startsWith('--secret-file')) };
}

describe('a secret in a file', () => {
  it.each([
    ['as it is', SECRET, SECRET, []],
    ['without the newline at its end', `${SECRET}\n`, SECRET, []],
    ['without the Windows newline at its end', `${SECRET}\r\n`, SECRET, []],
    ['without the last of two newlines', `${SECRET}\n\n`, `${SECRET}\n`, []],
    ['with other white space', ` ${SECRET}\t`, ` ${SECRET}\t`, []],
    ['in any language', 'ключ-🔑'.repeat(8), 'ключ-🔑'.repeat(8), []],
    [
      'with its byte order mark',
      `\uFEFF${SECRET}`,
      `\uFEFF${SECRET}`,
      ['--secret-file: the secret begins with a byte order mark, which is part of it; save it without one.'],
    ],
    ['of 64 KiB', 'x'.repeat(65_536), 'x'.repeat(65_536), []],
  ])('is taken %s', async (_, content, secret, advice) => {
    expect(await secretIn(content)).toEqual({ secret, advice });
  });

  it.each([
    ['empty', '', 'the file secret is empty', 'Write the secret to it.'],
    ['only a newline', '\n', 'the file secret is empty', 'Write the secret to it.'],
    [
      'too large',
      'x'.repeat(65_537),
      'the file secret is larger than 64 KiB',
      'Give a readable file that contains the secret and nothing else.',
    ],
    [
      'binary',
      Buffer.from([0xc3, 0x28]),
      'the file secret is not UTF-8 text',
      'Save the secret as UTF-8 text without NUL.',
    ],
    ['with NUL', 'abc\0def', 'the file secret is not UTF-8 text', 'Save the secret as UTF-8 text without NUL.'],
  ])('is refused when it is %s', async (_, content, what, hint) => {
    expect(await refusal({ flags: { secretFile: 'secret' }, files: { secret: content } })).toEqual({
      code: 'CONFIG_SECRET',
      message: `--secret-file: ${what}`,
      hint,
    });
  });

  it('is refused when there is none, naming the flag and the file', async () => {
    expect(await refusal({ flags: { secretFile: 'keys/a' }, files: { 'keys/b': 'x' } })).toEqual({
      code: 'CONFIG_SECRET',
      message: '--secret-file: the file keys/a does not exist',
      hint: 'Give the path of a file that contains the secret.',
    });
    expect((await refusal({ flags: { apiKeyFile: 'keys' }, files: { 'keys/b': 'x' } })).message).toBe(
      '--api-key-file: the file keys is a directory',
    );
  });

  it.each([
    ['base64', () => randomBytes(32).toString('base64')],
    ['base64 that looks like an absolute path', () => `/${randomBytes(32).toString('base64')}`],
    ['hex', () => randomBytes(32).toString('hex')],
    ['base64url', () => randomBytes(32).toString('base64url')],
  ])('is not shown when the secret (%s) is given instead of the path', async (_, make) => {
    for (const given of [
      { flags: { secretFile: make() } },
      { flags: { apiKeyFile: make() } },
      { yaml: reference(`file:${make()}`) },
    ]) {
      const { message, hint } = await refusal(given);
      expect(message).toMatch(/: the file does not exist$/);
      expect(hint).toMatch(/, not the (?:secret|API key) itself\.$/);
    }
  });

  it('is never waited for: a named pipe is refused', async () => {
    const cwd = workspace();
    execFileSync('sh', ['-c', 'mkfifo "$0"', join(cwd, 'fifo')]);
    const loading = loadConfig({ flags: { url: 'https://a.example/', secretFile: 'fifo' }, env: {}, cwd });
    await expect(loading).rejects.toThrow('--secret-file: the file fifo is a named pipe, expected a regular file');
  });
});

describe('a secret on standard input', () => {
  it('is read like a file', async () => {
    const half = SECRET.slice(0, 10);
    const stdin = Readable.from([Buffer.from(half), `${SECRET.slice(10)}\n`]);
    const config = await load({ flags: { apiKeyFile: '-' }, stdin });
    expect(config.partner.apiKey?.value).toBe(SECRET);
    expect(config.advice.filter((line) => line.includes('newline'))).toEqual([]);
  });

  it.each([
    ['there is none', undefined, 'standard input is not a pipe or a file'],
    [
      'it is a terminal',
      Object.assign(Readable.from([SECRET]), { isTTY: true }),
      'standard input is not a pipe or a file',
    ],
    ['it is empty', Readable.from([]), 'standard input is empty'],
    [
      'it is too large',
      Readable.from(['x'.repeat(60_000), 'x'.repeat(60_000)]),
      'standard input is larger than 64 KiB',
    ],
  ])('is refused when %s', async (_, stdin, what) => {
    expect((await refusal({ flags: { secretFile: '-' }, stdin })).message).toBe(`--secret-file: ${what}`);
  });

  it('is available to only one of the two', async () => {
    const flags = { secretFile: '-', apiKeyFile: '-' };
    expect(await refusal({ flags, stdin: Readable.from([SECRET]) })).toEqual({
      code: 'CONFIG_SECRET',
      message: '--api-key-file: standard input is already read for --secret-file',
      hint: 'Use a file for one of them.',
    });
  });
});

describe('a secret in the environment', () => {
  it('is used unchanged', async () => {
    const config = await load({ env: { HOOKPROOF_SECRET: `${SECRET} ` } });
    expect(config.partner.signing?.secret).toBe(`${SECRET} `);
    expect(config.advice.filter((line) => line.includes('whitespace'))).toHaveLength(1);
  });
});

describe('a reference', () => {
  it('names a variable or a file', async () => {
    const fromVariable = await load({ yaml: reference('env:MINE'), env: { MINE: SECRET } });
    const fromFile = await load({ yaml: reference('file:a b/s'), files: { 'a b/s': SECRET } });
    expect([fromVariable.partner.signing?.secret, fromFile.partner.signing?.secret]).toEqual([SECRET, SECRET]);
  });

  it.each([
    [
      'a variable that is not set',
      'env:MINE',
      'the environment variable MINE is not set',
      'Set it to the secret, or refer to something else.',
    ],
    [
      'an empty variable',
      'env:EMPTY',
      'the environment variable EMPTY is set but empty',
      'Set it to the secret, or refer to something else.',
    ],
    [
      'a missing file',
      'file:./none',
      'the file ./none does not exist',
      'Give the path of a file that contains the secret.',
    ],
  ])('to %s is refused at its place', async (_, target, what, hint) => {
    expect(await refusal({ yaml: reference(target), env: { EMPTY: '' } })).toEqual({
      code: 'CONFIG_SECRET',
      message: `hookproof.yaml:2:11: hmac.secret: ${what}`,
      hint,
    });
  });

  it('may be anywhere in the value of a header, in the file and in a flag, which becomes secret', async () => {
    const config = await load({
      flags: { header: [`Cookie: id=\${file:cookie}; b=1`] },
      yaml: `headers:\n  Authorization: Bearer \${env:TOKEN}\n`,
      env: { TOKEN: SECRET },
      files: { cookie: 'abcdefgh\n' },
    });
    expect(config.partner.headers).toEqual([
      ['Authorization', `Bearer ${SECRET}`],
      ['Cookie', 'id=abcdefgh; b=1'],
    ]);
    expect(config.settings.filter(({ path }) => path.startsWith('headers.')).map(({ value }) => value)).toEqual([
      '[set, 39 characters]',
      '[set, 16 characters]',
    ]);
    expect(config.secrets).toEqual([SECRET, 'abcdefgh']);
  });

  it('is required for credentials in a header flag', async () => {
    expect(await refusal({ flags: { header: [`Authorization: Bearer ${SECRET}`] } })).toMatchObject({
      code: 'CONFIG_LITERAL_SECRET',
      message: '--header: Authorization carries credentials, which must be given by reference',
    });
  });
});
