/** `hookproof certify` for one endpoint: keys, a certification, its verification by hookproof and OpenSSL, refusals. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeCertificate } from '../../certs/index.ts';
import { isReadByOthers } from '../../harness/cli/certify/signing-key.ts';
import { type RunningReceiver, startReceiver } from '../../receiver/index.ts';
import { lacks } from '../setup/programs.ts';
import { hookproof } from './hookproof.ts';

const SECRET = randomBytes(32).toString('base64');
let cwd = '';
let receiver: RunningReceiver;
let url = '';
let certified: Awaited<ReturnType<typeof hookproof>>;

const env = { HOOKPROOF_SECRET: SECRET };
const certify = (args: readonly string[], given: NodeJS.ProcessEnv = env) =>
  hookproof(['certify', ...args], { cwd, env: given });
const text = (name: string) => readFile(join(cwd, name), 'utf8');
const CERTIFICATE = 'out/certificate.dsse.json';
/** Private addresses are certified only with this flag. */
const LOCAL = ['--allow-private', 'localhost'];
const PUBLIC = ['--key', 'operator.pub.pem'];
const verify = (file = CERTIFICATE, ...args: string[]) => certify(['verify', file, ...PUBLIC, ...args], {});

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'hookproof-certify-'));
  const ca = await makeCertificate({ subject: 'CN=CA', authority: true });
  const { cert, key } = await makeCertificate({
    subject: 'CN=localhost',
    issuer: ca,
    hosts: ['localhost'],
    usages: ['serverAuth'],
  });
  await writeFile(join(cwd, 'ca.pem'), ca.cert);
  receiver = await startReceiver({ signing: { secrets: [SECRET] }, tls: { cert, key }, host: '127.0.0.1', port: 0 });
  url = `https://localhost:${new URL(receiver.url).port}/hooks`;
  await certify(['keygen', 'operator.pem'], {});
  // CI passes the key in the variable, not a path.
  const signingKey = await text('operator.pem');
  certified = await certify([url, '--profile', 'staging', '--ca', 'ca.pem', '-o', 'out', ...LOCAL], {
    ...env,
    HOOKPROOF_CERTIFY_KEY: signingKey,
  });
});
afterAll(async () => {
  await receiver?.close();
  await rm(cwd, { recursive: true, force: true });
});

describe('keygen', () => {
  it('writes a private key that only its owner can read, and a public key', async () => {
    const { code, stdout } = await certify(['keygen', 'mine.pem'], {});
    expect({ code, wrote: stdout.match(/^wrote \S+/gm) }).toEqual({
      code: 0,
      wrote: ['wrote mine.pem', 'wrote mine.pub.pem'],
    });
    const modes = [await stat(join(cwd, 'mine.pem')), await stat(join(cwd, 'mine.pub.pem'))].map(
      ({ mode }) => mode & 0o777,
    );
    expect(modes[0]).toBe(0o600);
    expect(await text('mine.pub.pem')).toMatch(/^-----BEGIN PUBLIC KEY-----/);
    expect(stdout).not.toContain((await text('mine.pem')).split('\n')[1]);
    expect(stdout).toMatch(/key id [0-9a-f]{64}/);
  });

  it.each([['there.pem'], ['there.pub.pem']])('never replaces %s', async (name) => {
    await writeFile(join(cwd, name), 'mine');
    const { code, stderr } = await certify(['keygen', 'there.pem'], {});
    expect({ code, stderr, kept: await text(name) }).toEqual({
      code: 2,
      stderr: expect.stringContaining(`${name} already exists and is never replaced`),
      kept: 'mine',
    });
    await rm(join(cwd, name));
    expect((await readdir(cwd)).filter((file) => file.startsWith('there'))).toEqual([]);
  });

  it('encrypts with a passphrase', async () => {
    await writeFile(join(cwd, 'passphrase.txt'), 'correct horse\n');
    const { code } = await certify(['keygen', 'locked.pem', '--passphrase-file', 'passphrase.txt'], {});
    expect({ code, text: await text('locked.pem') }).toEqual({
      code: 0,
      text: expect.stringMatching(/^-----BEGIN ENCRYPTED PRIVATE KEY-----/),
    });
  });
});

describe('the private key', () => {
  const ROOT = 0;
  const US = 65_532;
  it.each([
    ['of this user, for this user alone', US, 0o600, false],
    ['of this user, for a group', US, 0o640, true],
    ['of this user, for everyone', US, 0o604, true],
    ['of root, for the group of a mounted secret', ROOT, 0o440, false],
    ['of root, for everyone', ROOT, 0o444, true],
    ['of root, which a group can replace', ROOT, 0o460, true],
    ['of a third user, for a group', 1000, 0o440, true],
  ])('%s', (_, uid, mode, isRead) => {
    expect(isReadByOthers({ uid, mode: 0o100_000 | mode }, US)).toBe(isRead);
  });

  it('of root is read by others if a group can read it and the program runs as root', () => {
    expect([0o400, 0o440].map((mode) => isReadByOthers({ uid: ROOT, mode }, ROOT))).toEqual([false, true]);
  });
});

describe('a certification', () => {
  it('writes a certificate with its evidence', async () => {
    expect(certified).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/\n✓ CERTIFIED {2}staging, revision 2, until /),
    });
    expect((await readdir(join(cwd, 'out'))).toSorted()).toEqual([
      'certificate.dsse.json',
      'configuration.json',
      'junit.xml',
      'report.html',
      'run.json',
    ]);
    expect(certified.stdout).toContain('\n  report       out/report.html\n');
    const document = JSON.parse(await text('out/run.json'));
    expect(document).toMatchObject({ profile: 'staging', verdict: 'conformant', scoring: { revision: 2 } });
    expect(document.evidence).toEqual({ level: 0, statement: 'the answers alone' });
  });

  it('writes the HTML report into the default folder, too', async () => {
    const args = [url, '--profile', 'staging', '--ca', 'ca.pem', '--key', 'operator.pem', ...LOCAL];
    const { code, stdout } = await certify(args);
    expect(code).toBe(0);
    expect(stdout).toContain('\n  report       hookproof-certificate/report.html\n');
    expect(await text('hookproof-certificate/report.html')).toMatch(/^<!doctype html>/i);
    await rm(join(cwd, 'hookproof-certificate'), { recursive: true });
  });

  it('contains neither the secret nor the private key anywhere', async () => {
    const key = (await text('operator.pem')).split('\n')[1]!;
    const files = await Promise.all((await readdir(join(cwd, 'out'))).map((name) => text(`out/${name}`)));
    const payload = Buffer.from(JSON.parse(await text(CERTIFICATE)).payload, 'base64').toString();
    const all = [certified.stdout, certified.stderr, payload, ...files].join('\n');
    expect([all.includes(SECRET), all.includes(key)]).toEqual([false, false]);
  });

  it('is valid for its result, endpoint and profile', async () => {
    const { code, stdout } = await verify(
      CERTIFICATE,
      '--result',
      'out/run.json',
      '--url',
      url,
      '--profile',
      'staging',
    );
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^✓ VALID\n/) });
    expect(stdout).toContain('\n  evidence     level 0: the answers alone\n');
    const { stdout: json } = await verify(CERTIFICATE, '--json');
    const sha256 = expect.stringMatching(/^[0-9a-f]{64}$/);
    expect(JSON.parse(json)).toMatchObject({
      valid: true,
      reasons: [],
      warnings: [],
      certificate: {
        result: 'PASSED',
        profile: 'staging',
        evidence: { level: 0, statement: 'the answers alone' },
        endpoint: { url, trust: 'configured' },
        digests: { 'result document': sha256, endpoint: sha256, 'endpoint key': sha256, catalogue: sha256 },
      },
    });
  });

  it('lists every reason why it is not valid', async () => {
    const dates = ['--at', '2999-01-01', '--url', 'https://other.example/'];
    const args = [...dates, '--profile', 'basic', '--result', 'ca.pem', '--evidence-level', '1'];
    const { code, stdout } = await verify(CERTIFICATE, ...args, '--json');
    const said = JSON.parse(stdout).reasons.map((reason: { code: string }) => reason.code);
    expect({ code, said }).toEqual({
      code: 1,
      said: ['expired', 'other-result', 'other-endpoint', 'other-profile', 'lower-evidence'],
    });
  });

  it('is not valid with another key, or with a byte changed', async () => {
    const other = await certify(['verify', CERTIFICATE, '--key', 'mine.pub.pem'], {});
    expect(other).toMatchObject({ code: 1, stdout: expect.stringMatching(/^✗ NOT VALID\n.*\(unknown-key\)/s) });
    await writeFile(join(cwd, 'changed.json'), (await text(CERTIFICATE)).replace('"payload":"e', '"payload":"f'));
    const changed = await verify('changed.json');
    expect(changed).toMatchObject({ code: 1, stdout: expect.stringContaining('(wrong-signature)') });
    expect(changed.stdout).not.toContain('localhost');
  });

  it.each<[string, string[], string]>([
    ['no key', ['verify', CERTIFICATE], '--key'],
    ['a private key', ['verify', CERTIFICATE, '--key', 'operator.pem'], 'is a private key'],
    ['no such certificate', ['verify', 'none.json', ...PUBLIC], 'none.json does not exist'],
    ['an invalid evidence level', ['verify', CERTIFICATE, ...PUBLIC, '--evidence-level', 'x'], 'from 0 to 2'],
    ['an invalid time', ['verify', CERTIFICATE, ...PUBLIC, '--at', 'tomorrow'], '`--at tomorrow` is not a time'],
  ])('cannot be verified with %s: exit 2', async (_, args, says) => {
    const { code, stdout, stderr } = await certify(args, {});
    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: expect.stringContaining(says) });
  });

  it('can be rechecked', async () => {
    const recheck = (args: string[], given: NodeJS.ProcessEnv = env) =>
      certify(['recheck', CERTIFICATE, ...PUBLIC, '--ca', 'ca.pem', ...LOCAL, ...args], given);
    const [steady, other, without, elsewhere] = await Promise.all([
      recheck(['--json']),
      recheck([], { HOOKPROOF_SECRET: 'another secret that is not the right one' }),
      recheck([], {}),
      recheck(['https://localhost:1/hooks']),
    ]);
    expect(steady.code).toBe(0);
    const { steady: said, checks } = JSON.parse(steady.stdout);
    expect([said, checks.length]).toEqual([true, 6]);
    // If only one side has rotated the secret, the plain delivery is rejected.
    expect(other).toMatchObject({ code: 1, stdout: expect.stringMatching(/^✗ DRIFTED\n.*valid\/plain/) });
    expect(without).toMatchObject({ code: 2, stderr: expect.stringContaining('an endpoint with hmac') });
    expect(elsewhere).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/other-endpoint[\s\S]*nothing was sent/),
    });
  });
});

describe.skipIf(lacks('bash', 'openssl'))('the OpenSSL commands of docs/certification.md', () => {
  let commands = '';
  beforeAll(async () => {
    const page = await readFile(new URL('../../docs/certification.md', import.meta.url), 'utf8');
    commands = /\*\*By hand, with OpenSSL 3\*\*[^\n]*\n\n```sh\n([\s\S]*?)```/.exec(page)?.[1] ?? '';
    await mkdir(join(cwd, 'by-hand'));
    await copyFile(join(cwd, 'operator.pub.pem'), join(cwd, 'by-hand/hookproof-certify.pub.pem'));
  });

  /** Runs the documented commands on this certificate. */
  async function byHand(certificate: string): Promise<{ code: number; says: string }> {
    const folder = join(cwd, 'by-hand');
    await writeFile(join(folder, 'certificate.dsse.json'), certificate);
    try {
      const { stdout } = await promisify(execFile)('bash', ['-euc', commands], { cwd: folder });
      return { code: 0, says: stdout.trim() };
    } catch (error) {
      const { code, stdout } = error as { code: number; stdout: string };
      return { code, says: stdout.trim() };
    }
  }

  it('verify the certificate and extract its statement', async () => {
    expect(commands.split('\n').length).toBeGreaterThan(4);
    expect(await byHand(await text(CERTIFICATE))).toEqual({ code: 0, says: 'Signature Verified Successfully' });
    const statement = JSON.parse(await text('by-hand/payload.json'));
    expect(statement.predicateType).toBe('https://in-toto.io/attestation/test-result/v0.1');
    const { stdout } = await promisify(execFile)('sha256sum', ['out/run.json'], { cwd });
    expect(stdout).toContain(statement.subject[0].digest.sha256);
  });

  it('reject a changed payload', async () => {
    const changed = JSON.parse(await text(CERTIFICATE));
    changed.payload = Buffer.from(
      Buffer.from(changed.payload, 'base64').toString().replace('staging', 'stagint'),
    ).toString('base64');
    expect(await byHand(JSON.stringify(changed))).toEqual({ code: 1, says: 'Signature Verification Failure' });
  });
});

describe('a certification is rejected before anything is sent', () => {
  let requests = 0;
  let listening = '';
  const silent = createServer((socket) => {
    requests += 1;
    socket.destroy();
  });
  beforeAll(async () => {
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const address = silent.address();
    listening = typeof address === 'object' ? `://127.0.0.1:${address?.port}/` : '';
  });
  afterAll(() => silent.close());

  const key = ['--key', 'operator.pem'];
  it.each<[string, string, string[], NodeJS.ProcessEnv, string[]]>([
    ['over plain HTTP', 'http', ['--profile', 'staging', ...key], env, ['requires https, which is not configured']],
    [
      'for every reason at once',
      'https',
      [
        '--profile',
        'production',
        '--ca',
        'ca.pem',
        '--suite',
        'signature',
        '--shard',
        '1/2',
        '--bail',
        '--baseline',
        'none.yaml',
        ...key,
      ],
      { ...env, NODE_EXTRA_CA_CERTS: 'ca.pem', NODE_TLS_REJECT_UNAUTHORIZED: '0' },
      [
        'only part of the catalogue is selected (signature)',
        'a shard is only part of a run',
        'a run with `--bail` is not complete',
        'a baseline is configured',
        'NODE_TLS_REJECT_UNAUTHORIZED=0 is set',
        '`--ca` adds another',
        'NODE_EXTRA_CA_CERTS adds others',
      ],
    ],
    [
      'with an evidence level whose sources are not configured',
      'https',
      ['--profile', 'staging', ...key, '--evidence-level', '2'],
      env,
      [
        'evidence level 2 is required, but no effects window or restart command or log is configured',
        '`--effects URL` (its token in HOOKPROOF_EFFECTS_TOKEN) and `--restart-command COMMAND` and `--log FILE`',
      ],
    ],
    ['with an unknown evidence level', 'https', [...key, '--evidence-level', '3'], env, ['whole number from 0 to 2']],
    ['without a key', 'https', ['--profile', 'staging'], env, ['no key for signing the certificate was given']],
    [
      'with a locked key',
      'https',
      ['--profile', 'staging', '--key', 'locked.pem'],
      env,
      ['no passphrase is configured'],
    ],
    ['for too long', 'https', ['--profile', 'staging', ...key, '--valid-for', '399d'], env, ['from 1d to 398d']],
    [
      'with an unknown revision',
      'https',
      ['--profile', 'staging', ...key, '--revision', '99'],
      env,
      ['there is no revision 99'],
    ],
    [
      'at a private address that is not allowed',
      'https',
      ['--profile', 'staging', ...key],
      env,
      ['127.0.0.1', '--allow-private'],
    ],
    [
      'where a certificate exists',
      'https',
      ['--profile', 'staging', ...key, '-o', 'out'],
      env,
      ['certificate.dsse.json already exists'],
    ],
  ])('%s', async (_, scheme, args, given, says) => {
    const { code, stdout, stderr } = await certify([`${scheme}${listening}`, ...args], given);
    expect({ code, stdout, requests }).toEqual({ code: 2, stdout: '', requests: 0 });
    for (const words of says) expect(stderr).toContain(words);
    expect(stderr).not.toMatch(/internal error|\n {4}at /);
  });

  it('with a public key in the variable', async () => {
    const given = { ...env, HOOKPROOF_CERTIFY_KEY: await text('operator.pub.pem') };
    const { code, stderr } = await certify([`https${listening}`, '--profile', 'staging'], given);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining('HOOKPROOF_CERTIFY_KEY is a public key'),
    });
  });

  it('with the key itself on the command line, which is not printed', async () => {
    const pem = await text('operator.pem');
    const { code, stdout, stderr } = await certify([`https${listening}`, '--profile', 'staging', '--key', pem]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('--key takes the path of a file, but a key was given');
    expect(stderr).not.toContain(pem.split('\n')[1]);
  });
});
