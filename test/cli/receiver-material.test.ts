/** The files of `hookproof receiver` for HTTPS and mutual TLS: accepted formats, advice, and problems. */
import { createPrivateKey } from 'node:crypto';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type IssuedCertificate, makeCertificate } from '../../certs/index.ts';
import { type TlsFlags, type TlsReading, tlsSettings } from '../../harness/cli/receiver/receiver-tls.ts';
import { startReceiver } from '../../receiver/index.ts';
import { daysFromNow, encrypted, PASSPHRASE, pfx } from '../certs/material.ts';
import { REFUSES_WEAK_KEYS } from '../setup/node-openssl.ts';
import { hookproof } from './hookproof.ts';
import { endReceivers, startedReceiver } from './receivers.ts';

const env = { HOOKPROOF_SECRET: 'a secret of the tests, long enough' };
let folder = '';
let root: IssuedCertificate;
let keys: readonly string[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hookproof-'));
  root = await makeCertificate({ subject: 'CN=root', authority: true });
  const intermediate = await makeCertificate({ subject: 'CN=intermediate', issuer: root, authority: true });
  const server = (more: Partial<Parameters<typeof makeCertificate>[0]> = {}) =>
    makeCertificate({
      subject: 'CN=localhost',
      issuer: intermediate,
      hosts: ['localhost', '127.0.0.1'],
      usages: ['serverAuth'],
      ...more,
    });
  const [right, other, old, soon, client, weak] = await Promise.all([
    server(),
    server(),
    server({ notBefore: new Date(0), notAfter: daysFromNow(-1) }),
    server({ notAfter: daysFromNow(5.5) }),
    server({ usages: ['clientAuth'] }),
    server({ key: 'rsa1024' }),
  ]);
  const key = createPrivateKey(right.key);
  keys = [right, other, old, soon, client, weak].map((pair) => pair.key);
  const files: Record<string, string | Uint8Array> = {
    'right.pem': right.cert + intermediate.cert,
    'right.key': right.key,
    'right.der': right.der,
    'right-key.der': key.export({ format: 'der', type: 'pkcs8' }),
    'sec1.key': key.export({ format: 'pem', type: 'sec1' }),
    'locked.der': encrypted(key, 'der'),
    'passphrase.txt': PASSPHRASE,
    'wrong-passphrase.txt': 'not this one',
    'backwards.pem': root.cert + intermediate.cert + right.cert,
    'other.key': other.key,
    'cut.pem': right.cert.slice(0, 200),
    'empty.pem': '',
    'store.pfx': pfx(),
    'ca.pem': root.cert,
    'ca.der': root.der,
    ...Object.fromEntries(
      Object.entries({ old, soon, client, weak }).flatMap(([name, pair]) => [
        [`${name}.pem`, pair.cert + intermediate.cert],
        [`${name}.key`, pair.key],
      ]),
    ),
  };
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
  await mkdir(join(folder, 'fixtures'));
});
afterAll(async () => {
  endReceivers();
  await rm(folder, { recursive: true });
});

const files = (cert: string, key: string): TlsFlags => ({ tlsCert: cert, tlsKey: key });

/** Reads the files that these flags name. */
async function reading(flags: TlsFlags): Promise<TlsReading> {
  const paths = Object.entries(flags).map(([flag, name]) => [
    flag,
    flag === 'clientCertMode' ? name : join(folder, name),
  ]);
  const { read } = await tlsSettings(Object.fromEntries(paths));
  if (read === null) throw new Error('no TLS');
  return read();
}

/** Returns how many certificates the receiver sends, and the error of a client that trusts the root. */
async function handshake(port: number): Promise<{ sent: number; error: string | null }> {
  const socket = connect({
    port,
    host: '127.0.0.1',
    servername: 'localhost',
    ca: root.cert,
    rejectUnauthorized: false,
  });
  await once(socket, 'secureConnect');
  let sent = 1;
  const error = socket.authorized ? null : String(socket.authorizationError);
  for (let at = socket.getPeerCertificate(true); at.issuerCertificate !== at && sent < 5; sent += 1) {
    if (at.issuerCertificate === undefined) break;
    at = at.issuerCertificate;
  }
  socket.destroy();
  return { sent, error };
}

/** Serves these files, and returns their advice and the error of a client. */
async function served(flags: TlsFlags): Promise<{ advice: readonly string[]; error: string | null }> {
  const { tls, advice } = await reading(flags);
  const open = tls?.clientCertificate === undefined ? { open: true as const } : {};
  const receiver = await startReceiver({ ...open, tls, host: '127.0.0.1', port: 0 });
  const { error } = await handshake(receiver.port);
  await receiver.close();
  return { advice: advice.map((sentence) => sentence.replaceAll(`${folder}/`, '')), error };
}

it.each<[string, TlsFlags, string | null]>([
  ['PEM', files('right.pem', 'right.key'), null],
  ['a SEC1 key', files('right.pem', 'sec1.key'), null],
  ['DER', files('right.der', 'right-key.der'), 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  ['an encrypted DER key', { ...files('right.pem', 'locked.der'), tlsPassphraseFile: 'passphrase.txt' }, null],
  ['CAs in DER', { ...files('right.pem', 'right.key'), clientCa: 'ca.der', clientCertMode: 'optional' }, null],
])('serves %s without advice', async (_, flags, error) => {
  expect(await served(flags)).toEqual({ advice: [], error });
});

const WEAK = 'has a key that is too weak: RSA with 1024 bits. Get a certificate';

it.each<[string, string, string, string | null]>([
  [
    'backwards.pem',
    'right.key',
    '--tls-cert: the file backwards.pem does not start with the certificate of the key',
    null,
  ],
  [
    'old.pem',
    'old.key',
    '--tls-cert: the certificate in the file old.pem (CN=localhost) expired on',
    'CERT_HAS_EXPIRED',
  ],
  ['soon.pem', 'soon.key', '--tls-cert: the certificate in the file soon.pem (CN=localhost) expires in 5 days', null],
  [
    'client.pem',
    'client.key',
    'is for clients, not for servers (no extended key usage serverAuth). Get a certificate',
    'INVALID_PURPOSE',
  ],
  ...(REFUSES_WEAK_KEYS ? [] : ([['weak.pem', 'weak.key', WEAK, null]] as const)).map(
    ([cert, key, says, error]): [string, string, string, null] => [cert, key, says, error],
  ),
])('serves %s with advice', async (cert, key, says, error) => {
  expect(await served(files(cert, key))).toEqual({ advice: [expect.stringContaining(says)], error });
});

it('gives advice about a weak key, which some builds of OpenSSL do not load', async () => {
  const { tls, advice } = await reading(files('weak.pem', 'weak.key'));
  expect(advice).toEqual([expect.stringContaining(WEAK)]);
  const started = startReceiver({ open: true, tls, host: '127.0.0.1', port: 0 });
  if (REFUSES_WEAK_KEYS) await expect(started).rejects.toMatchObject({ code: 'RECEIVER_TLS' });
  else await (await started).close();
});

const locked = files('right.pem', 'locked.der');

it.each<[string, TlsFlags, string[]]>([
  ['an empty certificate', files('empty.pem', 'right.key'), ['--tls-cert: the file empty.pem is empty']],
  ['a truncated certificate', files('cut.pem', 'right.key'), ['--tls-cert: the file cut.pem is cut off']],
  ['a directory', files('fixtures', 'right.key'), ['--tls-cert: the file fixtures is a directory']],
  ['a missing key', files('right.pem', 'no.key'), ['--tls-key: the file no.key does not exist']],
  ['a PFX', files('store.pfx', 'right.key'), ['is a PKCS#12 container (PFX)', 'openssl pkcs12 -in store.pfx -clcerts']],
  [
    'swapped files',
    files('right.key', 'right.pem'),
    ['the file right.key contains a private key, and the file right.pem'],
  ],
  ['another key', files('right.pem', 'other.key'), ['--tls-key: the file other.key belongs to none of the 2']],
  ['no passphrase', locked, ['--tls-key: the file locked.der is encrypted', 'HOOKPROOF_TLS_KEY_PASSPHRASE']],
  [
    'a wrong passphrase',
    { ...locked, tlsPassphraseFile: 'wrong-passphrase.txt' },
    ['--tls-key: the file locked.der cannot be decrypted with the passphrase'],
  ],
  [
    'two invalid files',
    files('empty.pem', 'store.pfx'),
    ['the configuration has 2 problems', '--tls-cert: the file empty.pem', '--tls-key: the file store.pfx'],
  ],
  [
    'a CA that is a PFX',
    { ...files('right.pem', 'right.key'), clientCa: 'store.pfx' },
    ['--client-ca: the file store.pfx is a PKCS#12 container'],
  ],
])('rejects %s', async (_, flags, says) => {
  const error = await reading(flags).catch((caught) => caught);
  expect(error).toMatchObject({ name: 'HookproofError', kind: 'usage' });
  const text = `${error.message} ${error.hint}`.replaceAll(`${folder}/`, '');
  for (const words of says) expect(text).toContain(words);
  for (const line of keys.join('').split('\n')) {
    if (line !== '' && !line.startsWith('-----')) expect(text).not.toContain(line);
  }
});

it('rejects PEM text instead of a path', async () => {
  const args = ['receiver', '--port', '0', '--tls-cert', '-----BEGIN CERTIFICATE-----', '--tls-key', 'right.key'];
  const { code, stdout, stderr } = await hookproof(args, { env, cwd: folder });
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain('--tls-cert: is PEM text, expected the path of a file');
});

it('keeps the old certificate when new files are invalid, and prints advice about a new one', async () => {
  // Files are renamed into place, so that the receiver never reads half a file.
  const place = async (name: string, from: string) => {
    await copyFile(join(folder, from), join(folder, `${name}.new`));
    await rename(join(folder, `${name}.new`), join(folder, name));
  };
  await place('live.pem', 'right.pem');
  await place('live.key', 'right.key');
  const { port, says, stop, output } = await startedReceiver(['--tls-cert', 'live.pem', '--tls-key', 'live.key'], {
    env,
    cwd: folder,
  });
  const refused = /certificates not reloaded, the old ones remain in use: (.*)\n/;
  await place('live.pem', 'empty.pem');
  expect(await says(refused)).toMatch(/^--tls-cert: the file live\.pem is empty\. Check that it was written\./);
  expect(await handshake(port)).toMatchObject({ error: null });
  await place('live.pem', 'old.pem');
  expect(await says(refused)).toContain('--tls-key: the file live.key belongs to none of the 2 certificates');
  expect(await handshake(port)).toMatchObject({ error: null });
  await place('live.key', 'old.key');
  expect(await says(/advice: (.*)\ncertificates reloaded\n/)).toContain(
    '--tls-cert: the certificate in the file live.pem',
  );
  expect(await handshake(port)).toMatchObject({ error: 'CERT_HAS_EXPIRED' });
  await stop();
  expect(output().stdout).toContain('--tls-key: the file live.key belongs to none');
});
