/** `hookproof receiver` over HTTPS: its flags, and certificates that change while it runs. */
import { createPrivateKey, randomBytes, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type IssuedCertificate, makeCertificate } from '../../certs/index.ts';
import { type TlsFlags, tlsSettings } from '../../harness/cli/receiver/receiver-tls.ts';
import { hookproof } from './hookproof.ts';
import { endReceivers, startedReceiver } from './receivers.ts';

const SECRET = randomBytes(32).toString('base64');
const env = { HOOKPROOF_SECRET: SECRET };
const PASSPHRASE = 'correct horse';

let folder = '';
let ca: IssuedCertificate;
let client: IssuedCertificate;

const makeServer = () =>
  makeCertificate({
    subject: 'CN=localhost',
    issuer: ca,
    hosts: ['localhost', '127.0.0.1'],
    usages: ['serverAuth'],
  });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hookproof-'));
  ca = await makeCertificate({ subject: 'CN=CA', authority: true });
  client = await makeCertificate({ subject: 'CN=sender.example', issuer: ca, usages: ['clientAuth'] });
  const server = await makeServer();
  await writeFile(join(folder, 'ca.pem'), ca.cert);
  await writeFile(join(folder, 'server.pem'), server.cert);
  await writeFile(join(folder, 'server.key'), server.key);
  await writeFile(join(folder, 'client.pem'), client.cert);
  await writeFile(join(folder, 'client.key'), client.key);
  const encrypted = { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: PASSPHRASE } as const;
  await writeFile(join(folder, 'locked.key'), createPrivateKey(server.key).export(encrypted));
  await writeFile(join(folder, 'passphrase.txt'), `${PASSPHRASE}\n`);
});
afterAll(async () => {
  endReceivers();
  await rm(folder, { recursive: true });
});

const started = (args: readonly string[], given: NodeJS.ProcessEnv = env) =>
  startedReceiver(args, { env: given, cwd: folder });

async function shown(port: number): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const pem = new X509Certificate(socket.getPeerCertificate().raw).toString();
  socket.destroy();
  return pem;
}

const trigger = async (url: string, args: readonly string[]) =>
  (await hookproof(['trigger', 'wallet', url, ...args], { env, cwd: folder })).code;
const PAIR = ['--tls-cert', 'server.pem', '--tls-key', 'server.key'];
const CLIENT = ['--ca', 'ca.pem', '--client-cert', 'client.pem', '--client-key', 'client.key'];

describe('mutual TLS', () => {
  it('is required with --client-ca, and restricted to names with --allow-client', async () => {
    const [required, named, other] = await Promise.all([
      started([...PAIR, '--client-ca', 'ca.pem'], {}),
      started([...PAIR, '--client-ca', 'ca.pem', '--allow-client', 'a.example', '--allow-client', 'sender.example']),
      started([...PAIR, '--client-ca', 'ca.pem', '--client-cert-mode', 'optional', '--allow-client', 'a.example']),
    ]);
    const codes = await Promise.all([
      trigger(required.url, CLIENT),
      trigger(required.url, ['--ca', 'ca.pem']),
      trigger(named.url, CLIENT),
      // Exit code 1 means a 401, and 3 means no answer.
      trigger(other.url, CLIENT),
      trigger(other.url, ['--ca', 'ca.pem']),
    ]);
    expect(codes).toEqual([0, 3, 0, 1, 1]);
    await Promise.all([required.stop(), named.stop(), other.stop()]);
    expect(other.output().stdout).toContain('client-certificate-not-allowed (sender.example)');
    expect(other.output().stdout).toContain('client-certificate-missing');
    expect(required.output().stdout).toContain('no client certificate');
  });

  it('is taken from the header of a declared proxy', async () => {
    const flags = ['--proxy-client-header', 'X-SSL-Client-Verify: SUCCESS'];
    const [declared, undeclared] = await Promise.all([
      started(['--proxy', '127.0.0.1', ...flags]),
      started(['--proxy', '192.0.2.1', '--proxy', '::1', ...flags]),
    ]);
    const verified = ['--header', 'X-SSL-Client-Verify: SUCCESS'];
    expect(
      await Promise.all([
        trigger(declared.url, verified),
        trigger(declared.url, []),
        trigger(declared.url, ['--header', 'X-SSL-Client-Verify: NONE']),
        trigger(undeclared.url, verified),
      ]),
    ).toEqual([0, 1, 1, 1]);
    await Promise.all([declared.stop(), undeclared.stop()]);
  });
});

describe('an encrypted key', () => {
  const locked = ['--tls-cert', 'server.pem', '--tls-key', 'locked.key'];

  it('is read with a passphrase from the environment or a file', async () => {
    const [byVariable, byFile] = await Promise.all([
      started(locked, { ...env, HOOKPROOF_TLS_KEY_PASSPHRASE: PASSPHRASE }),
      started([...locked, '--tls-passphrase-file', 'passphrase.txt']),
    ]);
    const trust = ['--ca', 'ca.pem'];
    expect([await trigger(byVariable.url, trust), await trigger(byFile.url, trust)]).toEqual([0, 0]);
    await Promise.all([byVariable.stop(), byFile.stop()]);
    for (const { stdout, stderr } of [byVariable.output(), byFile.output()]) {
      expect(stdout + stderr).not.toContain(PASSPHRASE);
      expect(stdout + stderr).not.toContain('PRIVATE KEY');
    }
  });

  it('is rejected without a passphrase', async () => {
    const { code, stderr } = await hookproof(['receiver', ...locked], { env, cwd: folder });
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: [
        'hookproof: --tls-key: the file locked.key is encrypted, but no passphrase is configured',
        '  Name the file of its passphrase with `--tls-passphrase-file`, or set HOOKPROOF_TLS_KEY_PASSPHRASE.',
        '  (CONFIG_TLS)\n',
      ].join('\n'),
    });
  });
});

describe('the temporary certificate', () => {
  it('has its CA written to the file of --tls-quick-start-ca, and nowhere else', async () => {
    const receiver = await started(['--tls-quick-start', '--tls-quick-start-ca', 'quick.pem']);
    const url = receiver.url.replace('127.0.0.1', 'localhost');
    expect(await trigger(url, ['--ca', 'quick.pem'])).toBe(0);
    expect(receiver.output().stderr).toContain('is in quick.pem');
    expect(await readFile(join(folder, 'quick.pem'), 'utf8')).toMatch(
      /^-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----\s*$/,
    );
    await receiver.stop();
    const silent = await started(['--tls-quick-start']);
    expect(silent.output().stderr).toContain('--tls-quick-start-ca FILE');
    await silent.stop();
  });

  it('is trusted by a bundle that `cat` makes of the CAs of four receivers', async () => {
    const names = ['one', 'two', 'three', 'four'];
    const receivers = await Promise.all(
      names.map((name) => started(['--tls-quick-start', '--tls-quick-start-ca', `${name}-ca.pem`])),
    );
    const files = await Promise.all(names.map((name) => readFile(join(folder, `${name}-ca.pem`))));
    await writeFile(join(folder, 'bundle.pem'), Buffer.concat(files));
    for (const receiver of receivers) {
      const url = receiver.url.replace('127.0.0.1', 'localhost');
      expect(await trigger(url, ['--ca', 'bundle.pem'])).toBe(0);
      const options = { env, cwd: folder };
      const doctor = await hookproof(['doctor', url, '--ca', 'bundle.pem'], options);
      expect(doctor).toMatchObject({ code: 0, stdout: expect.stringContaining('expires-soon') });
      const run = await hookproof(['run', url, '--ca', 'bundle.pem', '--suite', 'tls', '--reporter', 'json'], options);
      const { results } = JSON.parse(run.stdout);
      const failed = results.filter(({ verdict }: { verdict: string }) => verdict === 'fail');
      expect([run.code, failed, results.length > 10]).toEqual([0, [], true]);
    }
    await Promise.all(receivers.map((receiver) => receiver.stop()));
  });
});

describe('certificates', () => {
  const pemOf = ({ cert }: IssuedCertificate) => new X509Certificate(cert).toString();
  async function place(name: string, pair: IssuedCertificate): Promise<string> {
    const at = join(folder, name);
    await mkdir(at, { recursive: true });
    await writeFile(join(at, 'cert.pem'), pair.cert);
    await writeFile(join(at, 'key.pem'), pair.key);
    return at;
  }
  async function swapLink(target: string, link: string): Promise<void> {
    await symlink(target, `${link}.new`);
    await rename(`${link}.new`, link);
  }
  const flags = (name: string) => ['--tls-cert', `${name}/cert.pem`, '--tls-key', `${name}/key.pem`];
  const RELOADED = /certificates reloaded\n/;
  const REFUSED = /certificates not reloaded, the old ones remain in use: (.*)\n/;

  it('are reloaded when the files are overwritten, but not while certificate and key do not match', async () => {
    const [first, second] = await Promise.all([makeServer(), makeServer()]);
    const at = await place('plain', first);
    const { child, port, says, stop, output } = await started(flags('plain'));
    expect(await shown(port)).toBe(pemOf(first));
    await writeFile(join(at, 'cert.pem'), second.cert);
    // A file may be empty while it is overwritten.
    await says(
      /in use: --tls-key: the file plain\/key.pem does not belong to the certificate in the file plain\/cert.pem. Give/,
    );
    expect(await shown(port)).toBe(pemOf(first));
    await writeFile(join(at, 'key.pem'), second.key);
    await says(RELOADED);
    expect(await shown(port)).toBe(pemOf(second));
    await rm(join(at, 'cert.pem'));
    expect(await says(REFUSED)).toContain('--tls-cert: the file plain/cert.pem does not exist');
    expect(await shown(port)).toBe(pemOf(second));
    await writeFile(join(at, 'cert.pem'), second.cert);
    // Content that has not changed is not reloaded by itself.
    child.kill('SIGHUP');
    await says(RELOADED);
    await stop();
    const events = output()
      .stdout.trim()
      .split('\n')
      .map((line) => JSON.parse(line).event as string)
      .filter((event) => event.startsWith('tls-reload'));
    const changes = events.filter((event, at) => event !== events[at - 1]);
    expect(changes).toEqual(['tls-reload-failed', 'tls-reloaded', 'tls-reload-failed', 'tls-reloaded']);
  });

  it('are reloaded when the links to the files are swapped, as certbot does', async () => {
    const [first, second, third] = await Promise.all([makeServer(), makeServer(), makeServer()]);
    const archive = await place('archive', first);
    const live = join(folder, 'live');
    await mkdir(live);
    await symlink('../archive/cert.pem', join(live, 'cert.pem'));
    await symlink('../archive/key.pem', join(live, 'key.pem'));
    const { port, says, stop } = await started(flags('live'));
    expect(await shown(port)).toBe(pemOf(first));
    await place('archive2', second);
    await swapLink('../archive2/cert.pem', join(live, 'cert.pem'));
    await swapLink('../archive2/key.pem', join(live, 'key.pem'));
    await says(RELOADED);
    expect(await shown(port)).toBe(pemOf(second));
    // The new target of the links is watched too.
    await place('archive2', third);
    await says(RELOADED);
    expect(await shown(port)).toBe(pemOf(third));
    await rm(archive, { recursive: true });
    await stop();
  });

  it('are reloaded when the link to their folder is swapped, or the folder is replaced', async () => {
    const [first, second, third] = await Promise.all([makeServer(), makeServer(), makeServer()]);
    await place('release-1', first);
    await place('release-2', second);
    await symlink('release-1', join(folder, 'current'));
    const { port, says, stop } = await started(flags('current'));
    await swapLink('release-2', join(folder, 'current'));
    await says(RELOADED);
    expect(await shown(port)).toBe(pemOf(second));
    await place('release-2-new', third);
    await rename(join(folder, 'release-2'), join(folder, 'release-2-old'));
    await rename(join(folder, 'release-2-new'), join(folder, 'release-2'));
    await says(RELOADED);
    expect(await shown(port)).toBe(pemOf(third));
    await stop();
  });

  it('are reloaded on SIGHUP, even when they have not changed', async () => {
    await place('signal', await makeServer());
    const { child, port, says, stop } = await started(flags('signal'));
    const before = await shown(port);
    child.kill('SIGHUP');
    await says(RELOADED);
    expect(await shown(port)).toBe(before);
    await stop();
  });
});

describe('TLS flags', () => {
  const at = (name: string) => join(folder, name);
  const pair = () => ({ tlsCert: at('server.pem'), tlsKey: at('server.key') });

  it.each<[string, () => TlsFlags, string]>([
    ['a client CA without HTTPS', () => ({ clientCa: at('ca.pem') }), '`--client-ca` needs HTTPS'],
    ['a mode without CA', () => ({ ...pair(), clientCertMode: 'optional' }), '`--client-cert-mode` needs'],
    [
      'an unknown mode',
      () => ({ ...pair(), clientCa: at('ca.pem'), clientCertMode: 'on' }),
      '`--client-cert-mode on` is not known',
    ],
    ['names without CA', () => ({ ...pair(), allowClient: ['x'] }), '`--allow-client` needs `--client-ca`'],
    [
      'a proxy without header',
      () => ({ proxy: ['127.0.0.1'] }),
      '`--proxy` and `--proxy-client-header` must be given together',
    ],
    [
      'a header without proxy',
      () => ({ proxyClientHeader: 'A: b' }),
      '`--proxy` and `--proxy-client-header` must be given together',
    ],
    ['a header without value', () => ({ proxy: ['127.0.0.1'], proxyClientHeader: 'A' }), 'is not a header line'],
    [
      'names behind a proxy',
      () => ({ proxy: ['127.0.0.1'], proxyClientHeader: 'A: b', allowClient: ['x'] }),
      '`--allow-client` cannot be combined with `--proxy`',
    ],
    ['a certificate without key', () => ({ tlsCert: 'c.pem' }), '`--tls-cert` and `--tls-key` must be given together'],
    ['two certificates', () => ({ ...pair(), tlsQuickStart: true }), '`--tls-quick-start` cannot be combined'],
    ['a CA file without use', () => ({ ...pair(), tlsQuickStartCa: 'x.pem' }), 'needs `--tls-quick-start`'],
    ['a CA that is a key', () => ({ ...pair(), clientCa: at('server.key') }), 'server.key contains a private key'],
    ['the key of another certificate', () => ({ ...pair(), tlsCert: at('client.pem') }), 'does not belong'],
    ['a certificate that does not exist', () => ({ ...pair(), tlsCert: at('no.pem') }), 'no.pem does not exist'],
    [
      'a passphrase file that does not exist',
      () => ({ ...pair(), tlsPassphraseFile: at('no.txt') }),
      '--tls-passphrase-file: the file ',
    ],
  ])('reject %s', async (_, flags, says) => {
    const error = await tlsSettings(flags())
      .then(({ read }) => read?.())
      .catch((caught) => caught);
    expect(error).toMatchObject({ kind: 'usage', message: expect.stringContaining(says) });
  });

  it('end the command with exit 2', async () => {
    const args = ['receiver', '--port', '0', '--proxy', 'nginx', '--proxy-client-header', 'A: b'];
    const { code, stdout, stderr } = await hookproof(args, { env, cwd: folder });
    expect({ code, stdout, stderr }).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('not a list of IP addresses'),
    });
  });
});
