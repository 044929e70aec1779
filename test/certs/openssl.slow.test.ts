/** Files as openssl writes them, and the commands in hints, whose results the loader must read. */
import { execSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readCertificates, readIdentity, readPrivateKey } from '../../certs/index.ts';
import { lacks } from '../setup/programs.ts';
import { type Material, material, PASSPHRASE } from './material.ts';

describe.skipIf(lacks('openssl'))('files made by openssl', () => {
  let m: Material;
  let directory: string;

  beforeAll(async () => {
    m = await material();
    directory = mkdtempSync(join(tmpdir(), 'hookproof-openssl-'));
    writeFileSync(join(directory, 'client.pem'), m.client.cert);
    writeFileSync(join(directory, 'client.key'), m.client.key);
    writeFileSync(join(directory, 'ca.pem'), m.intermediate.cert);
    // A command that asks for two passphrases reads one line for each.
    writeFileSync(join(directory, 'pass'), `${PASSPHRASE}\n${PASSPHRASE}\n`);
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  const shell = (command: string) =>
    execSync(command, { cwd: directory, stdio: ['ignore', 'pipe', 'pipe'], shell: '/bin/sh' });
  const read = (name: string) => readFileSync(join(directory, name));
  const hintOf = (name: string, kind: 'certificate' | 'key'): string => {
    const source = { file: name };
    const { problems } =
      kind === 'certificate' ? readCertificates(read(name), source) : readPrivateKey(read(name), { source });
    return problems[0]?.hint ?? '';
  };
  /** Returns the first command of a hint as a user would run it, with the passphrases that it asks for. */
  const commandIn = (hint: string) => {
    const command = /(?:openssl|iconv|base64) [^;]*?(?=\.(?: |$))/.exec(hint)?.[0] ?? '';
    return command.includes('pkcs12') ? `${command} -passin file:pass -passout file:pass` : command;
  };

  it.each([
    [
      'a PFX',
      'certificate',
      'openssl pkcs12 -export -in client.pem -inkey client.key -certfile ca.pem -passout file:pass -out made',
    ],
    ['PKCS#7', 'certificate', 'openssl crl2pkcs7 -nocrl -certfile client.pem -out made'],
    ['PKCS#7 in DER', 'certificate', 'openssl crl2pkcs7 -nocrl -certfile client.pem -outform DER -out made'],
    ['bare base64', 'certificate', 'openssl x509 -in client.pem -outform DER | openssl base64 -out made'],
    ['UTF-16', 'certificate', 'iconv -t UTF-16 client.pem > made'],
    ['a PFX', 'key', 'openssl pkcs12 -export -in client.pem -inkey client.key -passout file:pass -out made'],
    ['base64 of PEM', 'key', 'openssl base64 -A -in client.key -out made'],
  ] as const)('%s is refused with a command that turns it into a %s', (_, kind, make) => {
    shell(make);
    const command = commandIn(hintOf('made', kind));
    shell(command);
    const out = /(?:-out |> )(\S+)/.exec(command)?.[1] ?? '';
    const cert = kind === 'certificate' ? read(out) : m.client.cert;
    const key = kind === 'key' ? read(out) : m.client.key;
    const { value, problems } = readIdentity({
      cert: { bytes: Buffer.from(cert), source: { file: 'c' } },
      key: { bytes: Buffer.from(key), source: { file: 'k' } },
      ...(kind === 'key' && key.includes('ENCRYPTED') && { passphrase: PASSPHRASE }),
      purpose: 'client',
    });
    expect(problems).toEqual([]);
    expect(value?.chain[0].subject).toBe('CN=client');
  });

  it.each([
    ['PKCS#1', 'openssl genrsa -traditional -out made 2048', 'rsa'],
    ['SEC1 with parameters', 'openssl ecparam -name prime256v1 -genkey -out made', 'ec'],
    ['PKCS#8 encrypted with scrypt', 'openssl pkcs8 -topk8 -in client.key -scrypt -passout file:pass -out made', 'ec'],
    [
      'PKCS#8 encrypted with triple DES',
      'openssl pkcs8 -topk8 -in client.key -v1 PBE-SHA1-3DES -passout file:pass -out made',
      'ec',
    ],
    ['the old encryption', 'openssl ec -in client.key -aes128 -passout file:pass -out made', 'ec'],
    ['encrypted DER', 'openssl pkcs8 -topk8 -in client.key -outform DER -passout file:pass -out made', 'ec'],
    ['Ed25519', 'openssl genpkey -algorithm ed25519 -out made', 'ed25519'],
  ])('a key is read: %s', (_, make, type) => {
    shell(make);
    const passphrase = make.includes('pass') ? PASSPHRASE : undefined;
    const { value, problems } = readPrivateKey(read('made'), { source: { file: 'made' }, passphrase });
    expect(problems).toEqual([]);
    expect(value?.key.asymmetricKeyType).toBe(type);
  });

  it('a trusted certificate is read, with its text before it', () => {
    shell('openssl x509 -in client.pem -text -trustout -addtrust clientAuth -setalias me -out made');
    expect(readCertificates(read('made'), { file: 'made' }).value?.[0]?.subject).toBe('CN=client');
  });

  it('a key with a legacy cipher is distinguished from a wrong passphrase', () => {
    try {
      shell(
        'openssl pkcs8 -provider legacy -provider default -topk8 -in client.key -v1 PBE-MD5-DES -passout ' +
          'file:pass -out made',
      );
    } catch {
      console.warn('skipped: a key with an old cipher (openssl has no legacy provider here)');
      return;
    }
    const { problems } = readPrivateKey(read('made'), { source: { file: 'made' }, passphrase: PASSPHRASE });
    expect(problems[0]).toMatchObject({
      code: 'KEY_CIPHER',
      what: 'the file made is encrypted with an old cipher that OpenSSL 3 does not support',
    });
    shell(`${commandIn(problems[0]?.hint ?? '')} -passin file:pass -passout file:pass`);
    expect(readPrivateKey(read('key.pem'), { source: { file: 'k' }, passphrase: PASSPHRASE }).problems).toEqual([]);
  });
});
