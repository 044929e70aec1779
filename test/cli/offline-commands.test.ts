import { execFileSync } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FOREIGN_SCHEMES, SIGNING_MISTAKES } from '../../contract/signing/index.ts';
import { lacks } from '../setup/programs.ts';
import { hookproof } from './hookproof.ts';

const BODY = Buffer.from('{ "id": "7e57ca5e-é", "amount": 1.0, "url": "a/b" }\n');
/** Finds a secret whose signature of the body differs between base64 and base64url. */
function secretWithSpecialSignature(): string {
  for (;;) {
    const secret = randomBytes(32).toString('base64');
    if (/[+/]/.test(createHmac('sha256', secret).update(BODY).digest('base64'))) return secret;
  }
}
const SECRET = secretWithSpecialSignature();
const env = { HOOKPROOF_SECRET: SECRET };

let cwd = '';
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'hookproof-'));
  await writeFile(join(cwd, 'body.json'), BODY);
  await writeFile(join(cwd, 'secret.txt'), SECRET);
});
afterAll(() => rm(cwd, { recursive: true }));

const digest = (secret = SECRET) => createHmac('sha256', secret).update(BODY).digest();

describe('sign', () => {
  it.skipIf(lacks('openssl'))('prints the same signature as openssl, for a file and for standard input', async () => {
    // The secret goes through the environment of a shell, not through an argument of this process.
    const theirs = execFileSync('sh', ['-c', 'openssl dgst -sha256 -hmac "$S" -binary | openssl base64 -A'], {
      input: BODY,
      env: { ...process.env, S: SECRET },
    }).toString();
    const [file, pipe, secretFile] = await Promise.all([
      hookproof(['sign', 'body.json'], { cwd, env }),
      hookproof(['sign'], { cwd, env, input: BODY.toString() }),
      hookproof(['sign', 'body.json', '--secret-file', 'secret.txt'], { cwd }),
    ]);
    expect([file, pipe, secretFile].map(({ code, stdout }) => ({ code, stdout }))).toEqual(
      [1, 2, 3].map(() => ({ code: 0, stdout: `${theirs}\n` })),
    );
  });

  it('says that the line feed at the end of a file is signed, and so does trigger', async () => {
    const note = 'the line feed at the end is part of the body, and is signed';
    await writeFile(join(cwd, 'no-line-feed.json'), '{}');
    const of = async (...args: string[]) => (await hookproof(args, { cwd, env })).stderr;
    expect(await of('sign', 'body.json')).toContain(`body.json: ${note}`);
    expect(await of('sign', 'no-line-feed.json')).toBe('');
    expect(await of('trigger', '--body', 'body.json', 'http://127.0.0.1:9/', '--dry-run')).toContain(note);
  });

  it('prints the header line that curl takes with --header-line', async () => {
    const line = async (...name: string[]) =>
      (await hookproof(['sign', 'body.json', '--header-line', ...name], { cwd, env })).stdout;
    const signature = digest().toString('base64');
    expect([await line(), await line('X-Own')]).toEqual([
      `X-Service-Signature: ${signature}\n`,
      `X-Own: ${signature}\n`,
    ]);
  });

  it('makes a signing mistake with --as', async () => {
    const { code, stdout } = await hookproof(['sign', 'body.json', '--as', 'hex'], { cwd, env });
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${digest().toString('hex')}\n` });
    const list = await hookproof(['sign', '--as', 'list']);
    const [longest] = SIGNING_MISTAKES.toSorted((a, b) => b.name.length - a.name.length);
    expect({ code: list.code, hex: /^hex\s/m.test(list.stdout) }).toEqual({ code: 0, hex: true });
    expect(list.stdout).toContain(`${longest?.name}  ${longest?.title}\n`);
  });

  it.each<[string, string[], NodeJS.ProcessEnv, string]>([
    ['no secret', ['sign', 'body.json'], {}, 'no HMAC secret was given'],
    ['no such file', ['sign', 'nothing.json'], env, 'nothing.json does not exist'],
    ['an unknown encoding', ['sign', 'body.json', '--as', 'hexx'], env, 'Did you mean "hex"?'],
    [
      'body and secret from standard input',
      ['sign', '-', '--secret-file', '-'],
      {},
      'cannot both come from standard input',
    ],
  ])('refuses %s with exit 2', async (_, args, given, says) => {
    const { code, stdout, stderr } = await hookproof(args, { cwd, env: given, input: '' });
    expect({ code, stdout, says: stderr.includes(says) ? says : stderr }).toEqual({ code: 2, stdout: '', says });
  });
});

describe('verify', () => {
  it('accepts the signature that `sign` prints', async () => {
    const signed = await hookproof(['sign', 'body.json'], { cwd, env });
    const { code, stdout } = await hookproof(['verify', 'body.json', '--signature', signed.stdout.trim()], {
      cwd,
      env,
    });
    expect({ code, stdout }).toEqual({ code: 0, stdout: `✓ the signature matches (${BODY.length} bytes)\n` });
  });

  it('explains why it does not match', async () => {
    const args = ['verify', 'body.json', `--signature=${digest().toString('hex')}`];
    const [human, json] = await Promise.all([
      hookproof(args, { cwd, env }),
      hookproof([...args, '--json'], { cwd, env }),
    ]);
    const { matches, explanation } = JSON.parse(json.stdout);
    expect({ codes: [human.code, json.code], matches, fault: explanation.fault }).toEqual({
      codes: [1, 1],
      matches: false,
      fault: 'hex',
    });
    expect(human.stdout).toMatch(/^✗ the signature does not match\n[\s\S]* {2}Why {2}.*\n {2}Fix {2}/);
  });

  it('does not report the length of a value that a mistake explains', async () => {
    const lengthOf = async (value: string) =>
      (await hookproof(['verify', 'body.json', `--signature=${value}`], { cwd, env })).stdout.includes(
        'not of 32 bytes',
      );
    const ofHex = Buffer.from(digest().toString('hex')).toString('base64');
    expect([await lengthOf(ofHex), await lengthOf(randomBytes(48).toString('base64'))]).toEqual([false, true]);
  });

  it('reports a signature that no known mistake explains', async () => {
    const other = digest('another secret').toString('base64');
    const { code, stdout } = await hookproof(['verify', 'body.json', `--signature=${other}`], { cwd, env });
    expect({ code, says: stdout.includes('it was made with another secret, or from another body') }).toEqual({
      code: 1,
      says: true,
    });
  });
});

describe('another scheme', () => {
  const given = { HOOKPROOF_SECRET: `whsec_${randomBytes(24).toString('base64')}` };
  const both = {
    env: given,
    get cwd() {
      return cwd;
    },
  };
  const headerArgs = (stdout: string) =>
    stdout
      .trim()
      .split('\n')
      .flatMap((line) => ['--header', line]);

  it.each(FOREIGN_SCHEMES.filter(({ algorithm }) => algorithm !== 'ed25519').map(({ name }) => name))(
    '%s: verify accepts the headers that sign prints, and names what is different',
    async (name) => {
      const url = ['--url', 'https://a.test/hook'];
      const signed = await hookproof(['sign', 'body.json', '--scheme', name, ...url], both);
      const verify = (args: string[]) => hookproof(['verify', 'body.json', '--scheme', name, ...url, ...args], both);
      const good = await verify(headerArgs(signed.stdout));
      expect({ code: good.code, stdout: good.stdout }).toEqual({
        code: 0,
        stdout: expect.stringMatching(/^✓ the signature matches in the .+ scheme \(\d+ bytes\)\n$/),
      });
      const none = await verify([]);
      expect({ code: none.code, stdout: none.stdout }).toEqual({
        code: 1,
        stdout: expect.stringMatching(
          /^✗ the signature does not match in the .+ scheme\n {2}The header .+ is missing\./,
        ),
      });
    },
  );

  it('says that a delivery is too old, and prints the report as JSON', async () => {
    const args = ['sign', 'body.json', '--scheme', 'stripe', '--timestamp', '1700000000'];
    const line = headerArgs((await hookproof(args, both)).stdout);
    const check = (...more: string[]) =>
      hookproof(['verify', 'body.json', '--scheme', 'stripe', ...line, ...more], both);
    expect((await check()).stdout).toMatch(/✓ [\s\S]*Its timestamp is \d+ s old: a receiver must reject it by now\./);
    expect(JSON.parse((await check('--json')).stdout)).toMatchObject({ scheme: 'stripe', matches: true, problems: [] });
  });

  it.each<[string, string[], string]>([
    [
      'an unknown scheme',
      ['sign', 'body.json', '--scheme', 'strip'],
      "'strip' is invalid. Allowed choices are standard-webhooks, ",
    ],
    ['no URL where it is signed', ['sign', 'body.json', '--scheme', 'square'], 'Give it with `--url`'],
    [
      'a timestamp that is none',
      ['sign', 'body.json', '--scheme', 'slack', '--timestamp', 'now'],
      'seconds since 1970',
    ],
    ['an id without a scheme', ['sign', 'body.json', '--id', 'x'], 'need `--scheme`'],
    ['a mistake of this service', ['sign', 'body.json', '--scheme', 'slack', '--as', 'hex'], 'Leave `--as` or'],
    ['neither a signature nor a scheme', ['verify', 'body.json'], 'give `--signature`, or `--scheme`'],
    ['half a header', ['verify', 'body.json', '--scheme', 'slack', '--header', 'x'], 'Name: value'],
  ])('refuses %s with exit 2', async (_, args, says) => {
    const { code, stdout, stderr } = await hookproof(args, both);
    expect({ code, stdout, says: stderr.includes(says) ? says : stderr }).toEqual({ code: 2, stdout: '', says });
  });
});

describe('verify, given a printed form of a notification', () => {
  it.each([
    ['json-buffer-body', JSON.stringify(BODY)],
    ['python-bytes-body', `b'${BODY.toString('latin1')}'`],
    ['base64-body', BODY.toString('base64')],
    ['hex-body', BODY.toString('hex')],
    ['quoted-body', JSON.stringify(BODY.toString())],
  ])('names it although the signature matches: %s', async (form, text) => {
    const file = join(cwd, `${form}.txt`);
    await writeFile(file, text);
    const signature = createHmac('sha256', SECRET).update(text).digest('base64');
    const { code, stdout } = await hookproof(['verify', file, `--signature=${signature}`], { cwd, env });
    expect({
      code,
      starts: stdout.startsWith('✗ the signature matches, but this file is not a notification\n'),
    }).toEqual({
      code: 1,
      starts: true,
    });
    expect(stdout).toContain(`(${form})\n  Why  `);
    const other = await hookproof(['verify', file, `--signature=${digest().toString('base64')}`], { cwd, env });
    expect([other.code, other.stdout.includes(`(${form})\n  Why  `)]).toEqual([1, true]);
  });
});

describe('verify, given another text than a signature', () => {
  const verify = (signature: string, file = 'body.json') =>
    hookproof(['verify', file, `--signature=${signature}`], { cwd, env });

  it('says that the header is empty', async () => {
    for (const value of ['', '  ']) {
      const { code, stdout } = await verify(value);
      expect(code).toBe(1);
      expect(stdout).toMatch(
        /^✗ the signature header is empty: there is nothing to compare\n\n {2}Fix {2}Check the name/,
      );
      expect(stdout).not.toContain('None of');
    }
  });

  it('says once what is around a correct signature', async () => {
    const right = digest().toString('base64');
    const around = [`X-Service-Signature: ${right}`, `X-Service-Signature:${right}`, `"${right}"`];
    for (const value of around) {
      const { stdout } = await verify(value);
      expect([value, stdout.includes('The signature inside it is correct.')]).toEqual([value, true]);
      expect(stdout).not.toContain('Header: ');
    }
    expect((await verify(`${right}\n`)).code).toBe(0);
  });

  it('says that the body is empty, and what is unusual about the header, each with a fix', async () => {
    await writeFile(join(cwd, 'nothing.json'), '');
    const { stdout } = await verify('nonsense words', 'nothing.json');
    expect(stdout).toContain('\nThe body is empty (0 bytes).\n  Fix  Check that the file holds the received body.\n');
    expect(stdout).toContain('\nHeader: The value is not standard base64.\n  Fix  ');
  });

  it('names a file that is not there', async () => {
    const { code, stderr } = await verify('x', 'nowhere.json');
    expect([code, stderr.split('\n')[0]]).toEqual([2, 'hookproof: the file nowhere.json does not exist']);
  });
});

describe('config', () => {
  it('schema prints a JSON Schema', async () => {
    const { code, stdout } = await hookproof(['config', 'schema']);
    expect({ code, schema: JSON.parse(stdout).$schema }).toEqual({
      code: 0,
      schema: 'https://json-schema.org/draft/2020-12/schema',
    });
  });

  it('show prints settings with their sources, and no secret', async () => {
    await writeFile(join(cwd, 'hookproof.yaml'), 'url: https://partner.example/hooks\ntimeout: 3s\n');
    const { code, stdout } = await hookproof(['config', 'show', '--strict'], { cwd, env });
    expect(code).toBe(0);
    expect(stdout).toMatch(/timeout\s+3s?.*hookproof\.yaml/);
    expect(stdout).toMatch(/hmac\.secret.*HOOKPROOF_SECRET/);
    expect(stdout).toMatch(/strict.*--strict/);
    expect(stdout.includes(SECRET)).toBe(false);
  });

  it('show prints the position of a mistake in the file', async () => {
    await writeFile(join(cwd, 'wrong.yaml'), 'url: https://partner.example/hooks\ntimeoutt: 3s\n');
    const { code, stderr } = await hookproof(['config', 'show', '--config', 'wrong.yaml'], { cwd });
    expect(code).toBe(2);
    expect(stderr).toMatch(/wrong\.yaml:2:1/);
    expect(stderr).toContain('timeout');
  });
});
