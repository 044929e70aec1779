import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import { generate } from 'selfsigned';
import { beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../../harness/config/index.ts';
import { BEGIN_PRIVATE_KEY } from '../../certs/material.ts';
import { type Given, load, refusal, workspace } from './workspace.ts';

async function certificate(notAfterDate?: Date): Promise<{ cert: string; key: string }> {
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'client' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    ...(notAfterDate && { notBeforeDate: new Date(0), notAfterDate }),
  });
  return { cert, key };
}

let client: { cert: string; key: string };
let other: { cert: string; key: string };
let encrypted: string;

beforeAll(async () => {
  client = await certificate();
  other = await certificate();
  encrypted = createPrivateKey(client.key)
    .export({ format: 'pem', type: 'pkcs8', cipher: 'aes-256-cbc', passphrase: 'open sesame' })
    .toString();
});

const PAIR = { clientCert: 'client.pem', clientKey: 'client.key' };
const files = (more: Record<string, string | Uint8Array> = {}) => ({
  'client.pem': client.cert,
  'client.key': client.key,
  ...more,
});
const same = (pem: string | undefined, expected: string) =>
  expect(new X509Certificate(pem ?? '').fingerprint256).toBe(new X509Certificate(expected).fingerprint256);

describe('mutual TLS', () => {
  it('takes PEM, with what stands around it, and several authorities in one file', async () => {
    const bundle = `bag attributes\n${other.cert}\n\n${client.cert}`;
    const config = await load({ flags: { ...PAIR, ca: 'ca.pem' }, files: files({ 'ca.pem': bundle }) });
    same(config.partner.tls?.clientCert, client.cert);
    expect(config.partner.tls?.clientKey).toBe(client.key);
    expect(config.partner.tls?.ca?.match(/BEGIN CERTIFICATE/g)).toHaveLength(2);
    same(config.partner.tls?.ca, other.cert);
    expect(config.settings.filter(({ path }) => path.startsWith('tls.'))).toEqual([
      { path: 'tls.client-cert', value: 'client.pem', source: 'flag --client-cert' },
      { path: 'tls.client-key', value: 'client.key', source: 'flag --client-key' },
      { path: 'tls.passphrase', value: 'not set', source: 'default' },
      { path: 'tls.ca', value: 'ca.pem', source: 'flag --ca' },
    ]);
    expect(config.secrets).toEqual([client.key]);
  });

  it.each(['pkcs8', 'sec1'] as const)('takes DER (%s)', async (type) => {
    const der = createPrivateKey(client.key).export({ format: 'der', type });
    const given = files({ 'client.pem': new X509Certificate(client.cert).raw, 'client.key': der });
    const { partner } = await load({ flags: PAIR, files: given });
    same(partner.tls?.clientCert, client.cert);
    expect(createPrivateKey(partner.tls?.clientKey ?? '').equals(createPrivateKey(client.key))).toBe(true);
  });

  it('takes PEM text from the environment in place of a path', async () => {
    const config = await load({ env: { HOOKPROOF_CLIENT_CERT: client.cert, HOOKPROOF_CLIENT_KEY: client.key } });
    same(config.partner.tls?.clientCert, client.cert);
    expect(config.partner.tls?.clientKey).toBe(client.key);
    const key = config.settings.find(({ path }) => path === 'tls.client-key');
    expect(key?.value).toBe(`[set, ${client.key.length} characters]`);
  });

  it('takes a path from the environment', async () => {
    const env = { HOOKPROOF_CA: 'client.pem' };
    same((await load({ env, files: files() })).partner.tls?.ca, client.cert);
  });

  it('opens an encrypted key with its passphrase', async () => {
    const given: Given = {
      yaml: `tls:\n  client-cert: client.pem\n  client-key: client.key\n  passphrase: \${env:PASS}\n`,
      env: { PASS: 'open sesame' },
      files: files({ 'client.key': encrypted }),
    };
    const config = await load(given);
    expect(config.partner.tls?.clientKey).toBe(client.key);
    expect(config.partner.tls?.passphrase).toBeUndefined();
    expect(config.sources['tls.passphrase']).toBe('hookproof.yaml:4:15');
    expect(config.secrets).toContain('open sesame');
    expect((await refusal({ ...given, env: { PASS: 'shut' } })).message).toBe(
      'hookproof.yaml:3:15: tls.client-key: the file client.key does not open with the passphrase',
    );
  });

  it('wants a certificate and its key', async () => {
    expect(await refusal({ flags: { clientCert: 'client.pem' }, files: files() })).toEqual({
      code: 'CONFIG_TLS',
      message: '--client-cert: the client certificate has no client key',
      hint: 'Give both: --client-cert and --client-key.',
    });
    expect((await refusal({ flags: { clientKey: 'client.key' }, files: files() })).message).toBe(
      '--client-key: the client key has no client certificate',
    );
  });

  it.each([
    [
      'are missing',
      { ...PAIR, clientCert: 'none.pem' },
      '--client-cert: the file none.pem does not exist',
      'Give the path of a PEM or DER file.',
    ],
    [
      'hold something else',
      { ...PAIR, clientCert: 'text' },
      '--client-cert: the file text is text that is no PEM, and a certificate is wanted',
      'A certificate is PEM (-----BEGIN CERTIFICATE-----) or DER.',
    ],
    [
      'are swapped',
      { ca: 'client.key' },
      '--ca: the file client.key holds a private key, and a certificate is wanted',
      'It holds a private key: are certificate and key swapped?',
    ],
    [
      'hold a broken certificate',
      { ca: 'broken.pem' },
      '--ca: the file broken.pem holds a certificate that is damaged',
      'Copy the file again from where it comes from, as a binary file where that can be chosen.',
    ],
    [
      'hold a certificate for a key',
      { ...PAIR, clientKey: 'client.pem' },
      '--client-key: the file client.pem holds a certificate, and a private key is wanted',
      `Are certificate and key swapped? A key is PEM (${BEGIN_PRIVATE_KEY}) or DER.`,
    ],
    [
      'do not belong together',
      { ...PAIR, clientKey: 'other.key' },
      '--client-key: the file other.key does not belong to the certificate in the file client.pem',
      'Give the two that were made together; these two print the same then: openssl x509 -in client.pem -noout -pubkey; openssl pkey -in other.key -pubout.',
    ],
    [
      'need a passphrase',
      { ...PAIR, clientKey: 'encrypted.key' },
      '--client-key: the file encrypted.key is encrypted, and there is no passphrase',
      'Set HOOKPROOF_CLIENT_KEY_PASSPHRASE, or tls.passphrase in the configuration file.',
    ],
  ] as const)('refuses files that %s', async (_, flags, message, hint) => {
    const given = files({
      text: 'hello',
      'broken.pem': client.cert.replace(/[A-Za-z]{20}/, 'A'.repeat(20)),
      'other.key': other.key,
      'encrypted.key': encrypted,
    });
    expect(await refusal({ flags, files: given })).toEqual({ code: 'CONFIG_TLS', message, hint });
  });

  it('refuses PEM text in a flag and does not repeat it', async () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
    expect(await refusal({ flags: { ...PAIR, clientKey: pem }, files: files() })).toEqual({
      code: 'CONFIG_TLS',
      message: '--client-key: is PEM text, expected the path of a file',
      hint: 'Save it to a file and give its path, or put it into the environment variable.',
    });
  });

  it('refuses an expired client certificate', async () => {
    const old = await certificate(new Date('2020-01-02T03:04:05Z'));
    const cwd = workspace({ 'client.pem': old.cert, 'client.key': old.key });
    const flags = { url: 'https://a.example/', clientCert: join(cwd, 'client.pem'), clientKey: 'client.key' };
    await expect(loadConfig({ flags, env: {}, cwd })).rejects.toMatchObject({
      code: 'CONFIG_TLS',
      message: `--client-cert: the certificate in the file ${flags.clientCert} expired on 2020-01-02T03:04:05.000Z`,
    });
  });
});
