/**
 * The files of `hookproof receiver` for HTTPS and mutual TLS: every form is taken, and what is wrong is said as
 * everywhere else.
 */
import { createPrivateKey } from 'node:crypto';
import { once } from 'node:events';
import { copyFile, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type IssuedCertificate, makeCertificate } from '../../certs/index.ts';
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
});
afterAll(async () => {
  endReceivers();
  await rm(folder, { recursive: true });
});

const flags = (cert: string, key: string) => ['--tls-cert', cert, '--tls-key', key];
const started = (args: readonly string[]) => startedReceiver(args, { env, cwd: folder });

/** How many certificates it sends, and what a client that trusts the root says of them. */
async function look(port: number): Promise<{ sent: number; error: string | null }> {
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

describe('every form is taken, and nothing has to be said', () => {
  it.each([
    ['PEM', flags('right.pem', 'right.key'), null],
    ['a key as SEC1', flags('right.pem', 'sec1.key'), null],
    ['DER', flags('right.der', 'right-key.der'), 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
    ['an encrypted key in DER', [...flags('right.pem', 'locked.der'), '--tls-passphrase-file', 'passphrase.txt'], null],
    [
      'authorities in DER',
      [...flags('right.pem', 'right.key'), '--client-ca', 'ca.der', '--client-cert-mode', 'optional'],
      null,
    ],
  ])('%s', async (_, args, error) => {
    const receiver = await started(args);
    expect((await look(receiver.port)).error).toBe(error);
    expect(receiver.output().stderr).not.toContain('advice');
    await receiver.stop();
  });
});

const WEAK = 'has a key that is too weak: RSA with 1024 bits. Get a certificate';
const WEAK_SERVED: [string, string, string, null] = ['weak.pem', 'weak.key', WEAK, null];
const WEAK_REFUSED: [string, string[], string[]] = ['a weak key', flags('weak.pem', 'weak.key'), [WEAK]];

describe('what a right client would not like is served, and said', () => {
  it.each<[string, string, string, string | null]>([
    [
      'backwards.pem',
      'right.key',
      '--tls-cert: the file backwards.pem does not start with the certificate of the key, or its issuers are out of order. hookproof uses the correct order',
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
    ...(REFUSES_WEAK_KEYS ? [] : [WEAK_SERVED]),
  ])('%s', async (cert, key, says, error) => {
    const receiver = await started(flags(cert, key));
    expect((await look(receiver.port)).error).toBe(error);
    const advice = receiver
      .output()
      .stderr.split('\n')
      .filter((line) => line.startsWith('advice: '));
    expect(advice).toEqual([expect.stringContaining(says)]);
    await receiver.stop();
  });
});

describe('what cannot be served ends it with exit 2, the flag, the file and the way out', () => {
  const locked = flags('right.pem', 'locked.der');
  it.each<[string, string[], string[]]>([
    ['an empty certificate', flags('empty.pem', 'right.key'), ['--tls-cert: the file empty.pem is empty']],
    ['a certificate that is cut off', flags('cut.pem', 'right.key'), ['--tls-cert: the file cut.pem is cut off']],
    ['a directory', flags('.', 'right.key'), ['--tls-cert: the file . is a directory']],
    ['a key that is not there', flags('right.pem', 'no.key'), ['--tls-key: the file no.key does not exist']],
    [
      'a PFX',
      flags('store.pfx', 'right.key'),
      ['is a PKCS#12 container (PFX)', 'openssl pkcs12 -in store.pfx -clcerts'],
    ],
    [
      'the two swapped',
      flags('right.key', 'right.pem'),
      ['the file right.key contains a private key, and the file right.pem'],
    ],
    ['a key of another', flags('right.pem', 'other.key'), ['--tls-key: the file other.key belongs to none of the 2']],
    ['no passphrase', locked, ['--tls-key: the file locked.der is encrypted', 'HOOKPROOF_TLS_KEY_PASSPHRASE']],
    [
      'a wrong passphrase',
      [...locked, '--tls-passphrase-file', 'wrong-passphrase.txt'],
      ['--tls-key: the file locked.der cannot be decrypted with the passphrase'],
    ],
    [
      'both of them wrong',
      flags('empty.pem', 'store.pfx'),
      [
        'the configuration has 2 problems',
        '--tls-cert: the file empty.pem',
        '--tls-key: the file store.pfx',
        'All problems are listed',
      ],
    ],
    [
      'an authority that is a PFX',
      [...flags('right.pem', 'right.key'), '--client-ca', 'store.pfx'],
      ['--client-ca: the file store.pfx is a PKCS#12 container'],
    ],
    [
      'a certificate in place of its file',
      ['--tls-cert', '-----BEGIN CERTIFICATE-----', '--tls-key', 'right.key'],
      ['--tls-cert: is PEM text, expected the path of a file'],
    ],
    ...(REFUSES_WEAK_KEYS ? [WEAK_REFUSED] : []),
  ])('%s', async (_, args, says) => {
    const { code, stdout, stderr } = await hookproof(['receiver', '--port', '0', ...args], { env, cwd: folder });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    for (const words of says) expect(stderr).toContain(words);
    for (const line of keys.join('').split('\n')) {
      if (line !== '' && !line.startsWith('-----')) expect(stderr).not.toContain(line);
    }
  });
});

describe('when the files change', () => {
  it('what cannot be served is said in the same words and the old certificate stays, and advice comes with the new one', async () => {
    // By a rename, so that the receiver never reads half a file.
    const place = async (name: string, from: string) => {
      await copyFile(join(folder, from), join(folder, `${name}.new`));
      await rename(join(folder, `${name}.new`), join(folder, name));
    };
    await place('live.pem', 'right.pem');
    await place('live.key', 'right.key');
    const { port, says, stop, output } = await started(flags('live.pem', 'live.key'));
    const refused = /certificates not reloaded, the old ones stay in use: (.*)\n/;
    await place('live.pem', 'empty.pem');
    expect(await says(refused)).toMatch(/^--tls-cert: the file live\.pem is empty\. Check that it was written\./);
    expect(await look(port)).toMatchObject({ error: null });
    await place('live.pem', 'old.pem');
    expect(await says(refused)).toContain('--tls-key: the file live.key belongs to none of the 2 certificates');
    expect(await look(port)).toMatchObject({ error: null });
    await place('live.key', 'old.key');
    expect(await says(/advice: (.*)\ncertificates reloaded\n/)).toContain(
      '--tls-cert: the certificate in the file live.pem',
    );
    expect(await look(port)).toMatchObject({ error: 'CERT_HAS_EXPIRED' });
    await stop();
    expect(output().stdout).toContain('--tls-key: the file live.key belongs to none');
  });
});
