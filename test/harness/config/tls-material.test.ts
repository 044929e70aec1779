/**
 * Certificates and keys: where they come from, and every bad or unusual file, through the configuration as `run`
 * loads it.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { makeCertificate } from '../../../certs/index.ts';
import { HookproofError } from '../../../contract/index.ts';
import { loadConfig } from '../../../harness/config/index.ts';
import {
  daysFromNow,
  der,
  dsaKey,
  encrypted,
  type Material,
  material,
  openSsh,
  PASSPHRASE,
  pem,
  pfx,
  publicPem,
} from '../../certs/material.ts';
import { load, refusal, workspace } from './workspace.ts';

let m: Material;
beforeAll(async () => {
  m = await material();
});

type Files = Record<string, string | Uint8Array>;
const FLAGS = { url: 'https://partner.example/', clientCert: 'client.pem', clientKey: 'client.key' };

function outcome(files: Files, passphrase?: string) {
  return load({
    flags: FLAGS,
    files: { 'client.pem': m.client.cert, 'client.key': m.client.key, ...files },
    env: passphrase === undefined ? {} : { HOOKPROOF_CLIENT_KEY_PASSPHRASE: passphrase },
  });
}

const cert = (content: string | Uint8Array): Files => ({ 'client.pem': content });
const key = (content: string | Uint8Array): Files => ({ 'client.key': content });
const utf16 = (text: string) => Buffer.from(`\uFEFF${text}`, 'utf16le');
const pair = ({ cert, key }: { cert: string; key: string }): Files => ({ 'client.pem': cert, 'client.key': key });
const derOf = (text: string) => Buffer.from(text.replace(/-----.*-----|\s/g, ''), 'base64');
const CERT = '--client-cert: the file client.pem';
const KEY = '--client-key: the file client.key';
const WANTS_CERT = 'expected a certificate';
const WANTS_KEY = 'expected a private key';

interface Row {
  readonly files: () => Files | Promise<Files>;
  readonly passphrase?: string;
  /** The message, or its beginning. */
  readonly says: string;
  /** A part of the hint. */
  readonly hint: string;
}

/** The content of the file, the message (or its beginning), and a part of the hint. */
type BadFile = readonly [content: () => string | Uint8Array, says: string, hint: string];

const BAD_CERTIFICATES: readonly BadFile[] = [
  [() => '', 'is empty', 'Check that it was written'],
  [() => '\uFEFF', 'is empty', 'Check that it was written'],
  [() => m.client.key, `contains a private key, ${WANTS_CERT}`, 'swapped'],
  [() => ' \r\n\t\n', 'is empty except for whitespace', 'Check that it was written'],
  [
    () => utf16(m.client.cert),
    `is text in UTF-16, ${WANTS_CERT}`,
    'iconv -f UTF-16 -t UTF-8 client.pem > certificate.pem',
  ],
  [() => m.client.cert.replaceAll('\n', '\\n'), 'has the two characters \\n instead of line breaks', "printf '%b'"],
  [() => m.client.cert.replaceAll('\n', ' '), 'has a PEM block on one line', 'Put line breaks back'],
  [() => m.client.cert.replaceAll('\n', '\r'), 'ends its lines with carriage returns only', "tr '\\r' '\\n'"],
  [() => m.client.cert.replaceAll('-----', '—--'), 'has a damaged -----BEGIN line', 'five plain hyphens'],
  [
    () => `${m.client.cert.trimEnd()}${m.intermediate.cert}`,
    'has -----END and -----BEGIN on one line',
    'line break was lost',
  ],
  [() => m.client.cert.slice(0, 400), 'is cut off: a -----BEGIN line has no -----END line', 'file again'],
  [
    () => `${m.client.cert}-----BEGIN CERTIFICATE-----\nMIIB`,
    'is cut off: a -----BEGIN line has no -----END line',
    'file again',
  ],
  [
    () => m.client.cert.replace('END CERTIFICATE', 'END PUBLIC KEY'),
    'has an -----END line that does not match',
    'mixed up',
  ],
  [() => m.client.der.subarray(0, 200), 'contains a certificate that is cut off: it has 200 of ', 'file again'],
  [() => m.client.cert.replace(/(\n.*){3}/, ''), 'contains a certificate that is damaged', 'file again'],
  [
    () => m.client.cert.replace(/(\n.*){2}\n(?=-----END)/, '\n'),
    'contains a certificate that is cut off: it has ',
    'file again',
  ],
  [
    () => m.client.cert.replace(/\n(.{10})./, '\n$1!'),
    'contains a certificate with lines that are not base64',
    'file again',
  ],
  [
    () => Buffer.from(m.client.der).toString('base64'),
    `is base64 without -----BEGIN and -----END lines, ${WANTS_CERT}`,
    'base64 -d < client.pem > certificate.der',
  ],
  [() => derOf(m.client.key), `is a private key, ${WANTS_CERT}`, 'swapped'],
  [() => publicPem(m.ec), `contains a public key, ${WANTS_CERT}`, 'Give the certificate'],
  [
    () => pfx(),
    `is a PKCS#12 container (PFX), ${WANTS_CERT}`,
    'openssl pkcs12 -in client.pem -clcerts -nokeys -out certificate.pem',
  ],
  [
    () => pem('PKCS7', m.pkcs7),
    `contains a PKCS#7 container, ${WANTS_CERT}`,
    'openssl pkcs7 -in client.pem -print_certs',
  ],
  [() => m.pkcs7, `is a PKCS#7 container, ${WANTS_CERT}`, 'openssl pkcs7 -inform DER -in client.pem -print_certs'],
  [() => m.request, `contains a certificate request (CSR), ${WANTS_CERT}`, 'that the CA returned'],
  [() => derOf(m.request), `is a certificate request (CSR), ${WANTS_CERT}`, 'that the CA returned'],
  [() => m.revocationList, `contains a certificate revocation list (CRL), ${WANTS_CERT}`, 'revoked'],
  [() => derOf(m.revocationList), `is a certificate revocation list (CRL), ${WANTS_CERT}`, 'revoked'],
  [
    () => Buffer.concat([Buffer.from('feedfeed00000002', 'hex'), Buffer.alloc(64)]),
    `is a Java keystore (JKS), ${WANTS_CERT}`,
    'keytool -importkeystore -srckeystore client.pem',
  ],
  [() => Buffer.from('504b030414000000', 'hex'), `is a zip archive, ${WANTS_CERT}`, 'Unpack it'],
  [() => '<!DOCTYPE html>\n<html><body>Sign in</body></html>', `is an HTML page, ${WANTS_CERT}`, 'sign-in'],
  [() => '<?xml version="1.0"?><EntityDescriptor/>', `is XML, ${WANTS_CERT}`, 'PEM'],
  [
    () => 'Certificate:\n    Data:\n        Version: 3 (0x2)\n',
    `is a printed description, not the data itself, ${WANTS_CERT}`,
    'PEM',
  ],
  [
    () => Buffer.from('0001020304fffefd', 'hex'),
    `is binary data of unknown type, ${WANTS_CERT}`,
    'A certificate is PEM',
  ],
  [() => Buffer.alloc(1024 * 1024 + 1, 65), 'is larger than 1 MiB', 'PEM or DER'],
];

const BAD_KEYS: readonly BadFile[] = [
  [() => '', 'is empty', 'Check that it was written'],
  [() => '\n\n', 'is empty except for whitespace', 'Check that it was written'],
  [() => utf16(m.client.key), `is text in UTF-16, ${WANTS_KEY}`, 'iconv -f UTF-16 -t UTF-8 client.key > key.pem'],
  [() => m.client.key.replaceAll('\n', '\\n'), 'has the two characters \\n instead of line breaks', "printf '%b'"],
  [() => m.client.key.replaceAll('\n', ''), 'has a PEM block on one line', 'Put line breaks back'],
  [() => m.client.key.replace(/^/gm, '    '), 'has its PEM lines indented', 'YAML'],
  [() => m.client.key.replaceAll('\n', '\n\n'), 'has empty lines inside a PEM block', 'Remove the empty lines'],
  [() => m.client.key.slice(0, 100), 'is cut off: a -----BEGIN line has no -----END line', 'file again'],
  [() => m.client.key.slice(40), 'is cut off at its start: an -----END line has no -----BEGIN line', 'file again'],
  [() => derOf(m.client.key).subarray(0, 90), 'contains a private key that is cut off: it has 90 of ', 'file again'],
  [
    () => m.client.key.replace(/\n(.{10})./, '\n$1…'),
    'contains a private key with lines that are not base64',
    'file again',
  ],
  [
    () => pem('PRIVATE KEY', der(0x30, Buffer.from('0201003003060155', 'hex'), der(4, Buffer.alloc(40)))),
    'contains a private key that is damaged',
    'file again',
  ],
  [
    () => m.rsa.key.replaceAll('PRIVATE KEY', 'EC PRIVATE KEY'),
    'has the label of an EC private key (EC PRIVATE KEY) but contains a private key',
    'was edited',
  ],
  [
    () => m.client.cert.replaceAll('CERTIFICATE', 'PRIVATE KEY'),
    'has the label of a private key (PRIVATE KEY) but contains a certificate',
    'was edited',
  ],
  [
    () => derOf(m.client.key).toString('base64'),
    `is base64 without -----BEGIN and -----END lines, ${WANTS_KEY}`,
    'base64 -d < client.key > key.der',
  ],
  [
    () => Buffer.from(m.client.key).toString('base64'),
    `is PEM text encoded in base64 again, ${WANTS_KEY}`,
    'Kubernetes',
  ],
  [() => m.client.cert, `contains a certificate, ${WANTS_KEY}`, 'swapped'],
  [() => m.client.der, `is a certificate, ${WANTS_KEY}`, 'swapped'],
  [() => publicPem(m.ec), `contains a public key, ${WANTS_KEY}`, 'cannot sign'],
  [() => pfx(), `is a PKCS#12 container (PFX), ${WANTS_KEY}`, 'openssl pkcs12 -in client.key -nocerts -out key.pem'],
  [() => pem('PKCS7', m.pkcs7), `contains a PKCS#7 container, ${WANTS_KEY}`, 'never a key'],
  [() => m.request, `contains a certificate request (CSR), ${WANTS_KEY}`, 'generated together with the request'],
  [
    () => pem('EC PARAMETERS', Buffer.from('06082a8648ce3d030107', 'hex')),
    `contains key parameters, ${WANTS_KEY}`,
    'contain no key',
  ],
  [
    () => openSsh(),
    `contains a private key in OpenSSH format, ${WANTS_KEY}`,
    'cp client.key key.pem && ssh-keygen -p -m PEM -f key.pem',
  ],
  [
    () => `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${'A'.repeat(43)} somebody\n`,
    `is an SSH public key, ${WANTS_KEY}`,
    'private key that it belongs to',
  ],
  [
    () => 'PuTTY-User-Key-File-3: ssh-rsa\nEncryption: none\n',
    `is a PuTTY key (PPK), ${WANTS_KEY}`,
    'puttygen client.key -O private-openssh',
  ],
  [
    () => '-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQOYBF\n=ab12\n-----END PGP PRIVATE KEY BLOCK-----\n',
    `contains OpenPGP data, ${WANTS_KEY}`,
    'PEM',
  ],
  [
    () => JSON.stringify({ type: 'service_account', private_key: m.rsa.key }, null, 2),
    `is JSON that contains PEM text, ${WANTS_KEY}`,
    'jq -r .private_key client.key > key.pem',
  ],
  [() => JSON.stringify(m.ec.export({ format: 'jwk' })), `is a JSON web key, ${WANTS_KEY}`, 'Convert'],
  [() => '{"a":1}', `is JSON, ${WANTS_KEY}`, 'PEM'],
  [() => 'password123\n', `is text that is not PEM, ${WANTS_KEY}`, 'A key is PEM'],
  [() => encrypted(m.ec, 'pem'), 'is encrypted, but no passphrase is configured', 'HOOKPROOF_CLIENT_KEY_PASSPHRASE'],
  [() => encrypted(m.ec, 'pem', 'sec1'), 'is encrypted, but no passphrase is configured', 'tls.passphrase'],
  [() => encrypted(m.ec, 'der'), 'is encrypted, but no passphrase is configured', 'tls.passphrase'],
  [() => m.client.key + m.other.key, 'contains 2 private keys, expected one', 'its own file'],
  [() => dsaKey(), 'contains a private key (DSA with 2048 bits) that TLS does not support', 'RSA of 2048 bits'],
  [
    () => m.other.key,
    'does not belong to the certificate in the file client.pem',
    'openssl x509 -in client.pem -noout -pubkey; openssl pkey -in client.key -pubout',
  ],
  [
    () => m.rsa.key,
    '(RSA with 2048 bits) differs in type from the key of the certificate in the file client.pem (EC on P-256)',
    'matching pair',
  ],
];

/** Errors that need both files, another key, or a passphrase. */
const REFUSED: Record<string, Row> = {
  'certificate and key swapped': {
    files: () => ({ 'client.pem': m.client.key, 'client.key': m.client.cert }),
    says: `${CERT} contains a private key, and the file client.key contains a certificate`,
    hint: 'The two are swapped',
  },
  'a wrong passphrase': {
    files: () => key(encrypted(m.ec, 'pem')),
    passphrase: 'shut',
    says: `${KEY} cannot be decrypted with the passphrase`,
    hint: 'Check the passphrase',
  },
  'a wrong passphrase for the old kind': {
    files: () => ({ 'client.pem': m.rsa.cert, 'client.key': encrypted(m.rsaKey, 'pem', 'pkcs1') }),
    passphrase: 'shut',
    says: `${KEY} cannot be decrypted with the passphrase`,
    hint: 'Check the passphrase',
  },
  'a wrong passphrase for DER': {
    files: () => key(encrypted(m.ec, 'der')),
    passphrase: 'shut',
    says: `${KEY} cannot be decrypted with the passphrase`,
    hint: 'Check the passphrase',
  },
  'an encrypted DER key that is cut short': {
    files: () => key(encrypted(m.ec, 'der').subarray(0, 150)),
    passphrase: PASSPHRASE,
    says: `${KEY} contains a private key that is cut off: it has 150 of `,
    hint: 'file again',
  },
  'the key of another certificate of the same RSA size': {
    files: async () => ({
      'client.pem': m.rsa.cert,
      'client.key': (await makeRsa()).key,
    }),
    says: `${KEY} does not belong to the certificate in the file client.pem`,
    hint: 'matching pair',
  },
  'an EC key for an RSA certificate': {
    files: () => cert(m.rsa.cert),
    says: `${KEY} (EC on P-256) differs in type from the key of the certificate in the file client.pem (RSA`,
    hint: 'matching pair',
  },
  'a bundle without the certificate of the key': {
    files: () => cert(m.intermediate.cert + m.root.cert),
    says: `${KEY} belongs to none of the 2 certificates in the file client.pem`,
    hint: 'matching pair',
  },
  'an expired certificate': {
    files: async () => pair(await m.issue({ notBefore: daysFromNow(-9), notAfter: new Date('2026-01-02T03:04:05Z') })),
    says: `--client-cert: the certificate in the file client.pem expired on 2026-01-02T03:04:05.000Z`,
    hint: 'Get a new certificate',
  },
  'an expired certificate in a bundle': {
    files: async () => {
      const old = await m.issue({ notBefore: new Date(0), notAfter: new Date('2026-01-02T03:04:05Z') });
      return { 'client.pem': old.cert + m.intermediate.cert, 'client.key': old.key };
    },
    says: `--client-cert: the certificate in the file client.pem (CN=client) expired on 2026-01-02T03:04:05.000Z`,
    hint: 'Get a new certificate',
  },
  'a certificate that is not valid yet': {
    files: async () =>
      pair(await m.issue({ notBefore: new Date('2090-01-02T03:04:05Z'), notAfter: new Date('2091-01-01') })),
    says: `--client-cert: the certificate in the file client.pem is not valid before 2090-01-02T03:04:05.000Z`,
    hint: 'clock',
  },
  'RSA with 1024 bits': {
    files: async () => pair(await m.issue({ key: 'rsa1024' })),
    says: `--client-cert: the certificate in the file client.pem has a key that is too weak: RSA with 1024 bits`,
    hint: 'RSA key of 2048 bits or more',
  },
  'a certificate for servers only': {
    files: async () => pair(await m.issue({ usages: ['serverAuth'] })),
    says: '--client-cert: the certificate in the file client.pem is for servers, not for clients',
    hint: 'clientAuth',
  },
  'a CA that may only sign certificates': {
    files: () => pair(m.intermediate),
    says:
      '--client-cert: the certificate in the file client.pem cannot be used by clients: ' +
      'its key usage lacks digitalSignature',
    hint: 'digitalSignature',
  },
};

async function makeRsa() {
  return m.issue({ key: 'rsa2048' });
}

async function refusalOf(files: Files, passphrase?: string): Promise<HookproofError> {
  const error = await outcome(files, passphrase).catch((cause: unknown) => cause);
  if (!(error instanceof HookproofError)) throw new Error('expected a HookproofError', { cause: error });
  return error;
}

const same = (text: string | undefined, expected: string) =>
  expect(new X509Certificate(text ?? '').fingerprint256).toBe(new X509Certificate(expected).fingerprint256);

describe('the settings of TLS', () => {
  const files = () => ({ 'client.pem': m.client.cert, 'client.key': m.client.key });

  it('are shown with their sources, and the key is a secret', async () => {
    const bundle = `bag attributes\n${m.other.cert}\n\n${m.root.cert}`;
    const config = await load({ flags: { ...FLAGS, ca: 'ca.pem' }, files: { ...files(), 'ca.pem': bundle } });
    expect(config.partner.tls?.ca?.match(/BEGIN CERTIFICATE/g)).toHaveLength(2);
    same(config.partner.tls?.ca, m.other.cert);
    expect(config.settings.filter(({ path }) => path.startsWith('tls.'))).toEqual([
      { path: 'tls.client-cert', value: 'client.pem', source: 'flag --client-cert' },
      { path: 'tls.client-key', value: 'client.key', source: 'flag --client-key' },
      { path: 'tls.passphrase', value: 'not set', source: 'default' },
      { path: 'tls.ca', value: 'ca.pem', source: 'flag --ca' },
    ]);
    expect(config.secrets).toContain(m.client.key);
  });

  it('are PEM text or a path in the environment', async () => {
    const env = {
      HOOKPROOF_CLIENT_CERT: m.client.cert,
      HOOKPROOF_CLIENT_KEY: m.client.key,
      HOOKPROOF_CA: 'client.pem',
    };
    const config = await load({ env, files: files() });
    same(config.partner.tls?.clientCert, m.client.cert);
    same(config.partner.tls?.ca, m.client.cert);
    const key = config.settings.find(({ path }) => path === 'tls.client-key');
    expect(key?.value).toBe(`[set, ${m.client.key.length} characters]`);
  });

  it('decrypt a key with a passphrase that the file refers to', async () => {
    const given = {
      yaml: `tls:\n  client-cert: client.pem\n  client-key: client.key\n  passphrase: \${env:PASS}\n`,
      files: { ...files(), 'client.key': encrypted(m.ec, 'pem') },
    };
    const config = await load({ ...given, env: { PASS: PASSPHRASE } });
    expect(config.partner.tls?.clientKey).toBe(m.client.key);
    expect(config.sources['tls.passphrase']).toBe('hookproof.yaml:4:15');
    expect(config.secrets).toContain(PASSPHRASE);
    expect((await refusal({ ...given, env: { PASS: 'shut' } })).message).toBe(
      'hookproof.yaml:3:15: tls.client-key: the file client.key cannot be decrypted with the passphrase',
    );
  });

  it('are a certificate and its key', async () => {
    expect(await refusal({ flags: { clientCert: 'client.pem' }, files: files() })).toEqual({
      code: 'CONFIG_TLS',
      message: '--client-cert: the client certificate has no client key',
      hint: 'Give both: `--client-cert` and `--client-key`.',
    });
    expect((await refusal({ flags: { clientKey: 'client.key' }, files: files() })).message).toBe(
      '--client-key: the client key has no client certificate',
    );
  });

  it('reject a key instead of a CA, and PEM text in a flag', async () => {
    expect((await refusal({ flags: { ca: 'client.key' }, files: files() })).message).toBe(
      '--ca: the file client.key contains a private key, expected a certificate',
    );
    expect(await refusal({ flags: { ...FLAGS, clientKey: m.client.key }, files: files() })).toEqual({
      code: 'CONFIG_TLS',
      message: '--client-key: is PEM text, expected the path of a file',
      hint: 'Save it to a file and give its path, or put it into the environment variable.',
    });
  });
});

describe('a file of certificates or keys is refused', () => {
  it.each(BAD_CERTIFICATES)('$#: a certificate file: %s: %s', async (content, says, hint) => {
    const error = await refusalOf(cert(content()));
    expect(error.message.slice(0, CERT.length + says.length + 1)).toBe(`${CERT} ${says}`);
    expect(error.hint).toContain(hint);
  });

  it.each(BAD_KEYS)('$#: a key file: %s: %s', async (content, says, hint) => {
    const error = await refusalOf(key(content()));
    expect(error.message.slice(0, KEY.length + says.length + 1)).toBe(`${KEY} ${says}`);
    expect(error.hint).toContain(hint);
  });

  it.each(Object.entries(REFUSED))('%s', async (_, { files, passphrase, says, hint }) => {
    const error = await refusalOf(await files(), passphrase);
    expect({ code: error.code, kind: error.kind }).toEqual({ code: 'CONFIG_TLS', kind: 'usage' });
    expect(error.message.slice(0, says.length)).toBe(says);
    expect(error.hint).toContain(hint);
  });

  it('that is missing, a directory or a socket', async () => {
    const cwd = workspace({ 'client.key': m.client.key });
    mkdirSync(join(cwd, 'folder'));
    const server = createServer().listen(join(cwd, 'socket'));
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once('listening', resolve));
    const said = async (clientCert: string) => {
      const flags = { ...FLAGS, clientCert };
      const error: HookproofError = await loadConfig({ flags, env: {}, cwd }).catch((cause) => cause);
      return error.message;
    };
    expect(await said('none.pem')).toBe('--client-cert: the file none.pem does not exist');
    expect(await said('client.key/none.pem')).toBe('--client-cert: the file client.key/none.pem does not exist');
    expect(await said('folder')).toBe('--client-cert: the file folder is a directory');
    // root can read every file, so a socket, which the same code rejects, replaces an unreadable file.
    expect(await said('socket')).toBe('--client-cert: the file socket is a socket, expected a regular file');
  });

  it('with several errors, which are all listed', async () => {
    const error = await refusalOf({ 'client.pem': m.request, 'client.key': openSsh() });
    expect(error.code).toBe('CONFIG_INVALID');
    expect(error.message).toContain('certificate request (CSR)');
    expect(error.message).toContain('OpenSSH format');
    const weak = await m.issue({
      key: 'rsa1024',
      usages: ['serverAuth'],
      notBefore: new Date(0),
      notAfter: new Date(1e12),
    });
    expect((await refusalOf(pair(weak))).message).toMatch(
      /^the configuration has 3 problems.*expired on.*for servers.*too weak/s,
    );
  });
});

interface Right {
  readonly files: () => Files | Promise<Files>;
  readonly passphrase?: string;
  /** A part of each piece of advice about the material, in order. Default: none. */
  readonly advice?: readonly string[];
  /** The subjects of the presented certificates. Default: only the client. */
  readonly chain?: readonly string[];
}

const RIGHT: Record<string, Right> = {
  'PEM and PKCS#8': { files: () => ({}) },
  CRLF: {
    files: () => ({
      'client.pem': m.client.cert.replaceAll('\n', '\r\n'),
      'client.key': m.client.key.replaceAll('\n', '\r\n'),
    }),
  },
  'a byte order mark': {
    files: () => ({ 'client.pem': `\uFEFF${m.client.cert}`, 'client.key': `\uFEFF${m.client.key}` }),
  },
  'no newline at the end': {
    files: () => ({ 'client.pem': m.client.cert.trimEnd(), 'client.key': m.client.key.trimEnd() }),
  },
  'white space after the lines': {
    files: () => ({
      'client.pem': m.client.cert.replaceAll('\n', '  \n'),
      'client.key': m.client.key.replaceAll('\n', '\t\n'),
    }),
  },
  'the base64 of a block on one line': {
    files: () =>
      cert(m.client.cert.replace(/-----\n([^-]*)\n-----/, (_, body) => `-----\n${body.replaceAll('\n', '')}\n-----`)),
  },
  'bag attributes before both': {
    files: () => ({
      'client.pem': `Bag Attributes\n    localKeyID: 01 02\nsubject=CN = client\n${m.client.cert}`,
      'client.key': `Bag Attributes\n    friendlyName: x\nKey Attributes: <No Attributes>\n${m.client.key}`,
    }),
  },
  'a DER certificate named .pem': { files: () => cert(m.client.der) },
  'a DER certificate with a newline after it': { files: () => cert(Buffer.concat([m.client.der, Buffer.from('\n')])) },
  'a DER key': { files: () => key(derOf(m.client.key)) },
  'SEC1 in PEM': { files: () => key(m.ec.export({ format: 'pem', type: 'sec1' })) },
  'SEC1 with its parameters': {
    files: () =>
      key(
        pem('EC PARAMETERS', Buffer.from('06082a8648ce3d030107', 'hex')) + m.ec.export({ format: 'pem', type: 'sec1' }),
      ),
  },
  'SEC1 in DER': { files: () => key(m.ec.export({ format: 'der', type: 'sec1' })) },
  'PKCS#1 in PEM': {
    files: () => ({ 'client.pem': m.rsa.cert, 'client.key': m.rsaKey.export({ format: 'pem', type: 'pkcs1' }) }),
  },
  'PKCS#1 in DER': {
    files: () => ({ 'client.pem': m.rsa.cert, 'client.key': m.rsaKey.export({ format: 'der', type: 'pkcs1' }) }),
  },
  'encrypted PKCS#8': { files: () => key(encrypted(m.ec, 'pem')), passphrase: PASSPHRASE },
  'encrypted PKCS#8 in DER': { files: () => key(encrypted(m.ec, 'der')), passphrase: PASSPHRASE },
  'encrypted SEC1': { files: () => key(encrypted(m.ec, 'pem', 'sec1')), passphrase: PASSPHRASE },
  'encrypted PKCS#1': {
    files: () => ({ 'client.pem': m.rsa.cert, 'client.key': encrypted(m.rsaKey, 'pem', 'pkcs1') }),
    passphrase: PASSPHRASE,
  },
  'encrypted SEC1 with CRLF': {
    files: () => key(encrypted(m.ec, 'pem', 'sec1').toString().replaceAll('\n', '\r\n')),
    passphrase: PASSPHRASE,
  },
  'a trusted certificate of OpenSSL': {
    files: () =>
      cert(
        pem('TRUSTED CERTIFICATE', Buffer.concat([m.client.der, Buffer.from('300c300a06082b06010505070302', 'hex')])),
      ),
  },
  'the old label': { files: () => cert(m.client.cert.replaceAll('CERTIFICATE', 'X509 CERTIFICATE')) },
  'certificate and key in one file': {
    files: () => ({ 'client.pem': m.client.key + m.client.cert, 'client.key': m.client.key + m.client.cert }),
  },
  'a bundle in order, with text between': {
    files: () => cert(`${m.client.cert}\nthe intermediate:\n${m.intermediate.cert}`),
    chain: ['client', 'intermediate'],
  },
  'a bundle with the root': {
    files: () => cert(m.client.cert + m.intermediate.cert + m.root.cert),
    chain: ['client', 'intermediate', 'root'],
  },
  'a bundle in the wrong order': {
    files: () => cert(m.root.cert + m.intermediate.cert + m.client.cert),
    chain: ['client', 'intermediate', 'root'],
    advice: ['the file client.pem does not start with the certificate of the key'],
  },
  'a bundle with its issuers in the wrong order': {
    files: () => cert(m.client.cert + m.root.cert + m.intermediate.cert),
    chain: ['client', 'intermediate', 'root'],
    advice: ['issuers are out of order'],
  },
  'a certificate twice, and one that has no part': {
    files: () => cert(m.client.cert + m.intermediate.cert + m.client.cert + m.other.cert),
    chain: ['client', 'intermediate'],
    advice: ['contains a certificate twice', 'contains certificates outside the chain: CN=other'],
  },
  'an old certificate for the same key next to the new one': {
    files: async () => {
      const old = await m.issue({ keyOf: m.client, notBefore: new Date(0), notAfter: new Date(1e12) });
      return cert(old.cert + m.client.cert);
    },
    advice: ['contains certificates outside the chain: CN=client'],
  },
  'an intermediate that has expired': {
    files: async () => {
      const old = await m.issue({
        subject: 'CN=old',
        issuer: m.root,
        authority: true,
        notBefore: new Date(0),
        notAfter: new Date(1e12),
      });
      const leaf = await m.issue({ issuer: old });
      return { 'client.pem': leaf.cert + old.cert, 'client.key': leaf.key };
    },
    chain: ['client', 'old'],
    advice: ['has CN=old in its chain, which expired on 2001-09-09T01:46:40.000Z'],
  },
  'a passphrase that is not needed': {
    files: () => ({}),
    passphrase: PASSPHRASE,
    advice: ['the file client.key is not encrypted, but a passphrase is configured'],
  },
  'a certificate that expires soon': {
    files: async () => pair(await m.issue({ notAfter: daysFromNow(5.5) })),
    advice: ['expires in 5 days'],
  },
  'a certificate without an extended key usage': {
    files: async () => pair(await makeCertificate({ subject: 'CN=client', issuer: m.intermediate })),
  },
  Ed25519: {
    files: async () => pair(await m.issue({ key: 'ed25519' })),
    advice: ['has a key of a type that is not widely supported: Ed25519'],
  },
  'P-384': { files: async () => pair(await m.issue({ key: 'p384' })) },
  'SHA-1': {
    files: async () => pair(await m.issue({ hash: 'SHA-1' })),
    advice: ['is signed with SHA-1'],
  },
  'a self-signed certificate': {
    files: async () => pair(await makeCertificate({ subject: 'CN=client' })),
    advice: ['is self-signed'],
  },
  'a certificate that says where its issuer is': {
    files: async () => pair(await m.issue({ issuerUrl: 'http://ca.example/i.cer' })),
    advice: ['may lack the intermediate certificate CN=intermediate'],
  },
};

describe('certificates and keys are accepted', () => {
  it.each(Object.entries(RIGHT))('with %s', async (_, { files, passphrase, advice = [], chain = ['client'] }) => {
    const config = await outcome(await files(), passphrase);
    const { clientCert = '', clientKey = '' } = config.partner.tls ?? {};
    const presented = clientCert.match(/-----BEGIN [^-]+-----[^-]+-----END CERTIFICATE-----/g) ?? [];
    expect(presented.map((one) => new X509Certificate(one).subject)).toEqual(chain.map((name) => `CN=${name}`));
    expect(new X509Certificate(clientCert).checkPrivateKey(createPrivateKey(clientKey))).toBe(true);
    expect(config.secrets).toContain(clientKey);
    const said = config.advice.filter((line) => line.startsWith('--client-'));
    expect(said).toHaveLength(advice.length);
    for (const [at, part] of advice.entries()) expect(said[at]).toContain(part);
  });

  it('with any CA: a missing intermediate is then known', async () => {
    const ca = m.root.cert + m.intermediate.cert;
    const files = { 'client.pem': m.client.cert, 'client.key': m.client.key, 'ca.pem': ca };
    const { advice } = await load({ flags: { ...FLAGS, ca: 'ca.pem' }, files });
    expect(advice).toContainEqual(
      expect.stringContaining('the file client.pem lacks the intermediate certificate CN=intermediate'),
    );
  });
});

describe('extra CAs', () => {
  it.each<[string, () => string, string]>([
    ['a leaf', () => m.client.cert + m.root.cert, 'contains CN=client, which is not a CA'],
    ['an intermediate alone', () => m.intermediate.cert, 'contains CN=intermediate, whose issuer is missing'],
    ['a key', () => m.root.cert + m.root.key, 'contains a private key in addition to the CA certificate'],
  ])('get advice about %s', async (_, ca, part) => {
    const { advice, partner, secrets } = await load({ flags: { ca: 'ca.pem' }, files: { 'ca.pem': ca() } });
    expect(advice.filter((line) => line.startsWith('--ca: the file ca.pem'))).toEqual([expect.stringContaining(part)]);
    expect(partner.tls?.ca).not.toContain('PRIVATE');
    if (ca().includes('PRIVATE')) expect(secrets.join()).toContain(m.root.key.trim());
  });

  it('may be a whole trust store', async () => {
    const { rootCertificates } = await import('node:tls');
    const { partner } = await load({ flags: { ca: 'ca.pem' }, files: { 'ca.pem': rootCertificates.join('\n') } });
    expect(partner.tls?.ca?.match(/BEGIN/g)).toHaveLength(rootCertificates.length);
  });
});

describe('material in the environment', () => {
  const refused = async (value: string) => {
    const error: HookproofError = await load({
      env: { HOOKPROOF_CLIENT_KEY: value, HOOKPROOF_CLIENT_CERT: m.client.cert },
    }).catch((cause) => cause);
    return error.message;
  };

  it('has the same messages as a file', async () => {
    expect(await refused(m.client.key.replaceAll('\n', '\\n'))).toBe(
      'HOOKPROOF_CLIENT_KEY: the value has the two characters \\n instead of line breaks',
    );
    expect(await refused(derOf(m.client.key).toString('base64'))).toBe(
      'HOOKPROOF_CLIENT_KEY: the value is base64 without -----BEGIN and -----END lines, ' + 'expected a private key',
    );
    expect(await refused(m.client.key.replaceAll('-----', '--'))).toBe(
      'HOOKPROOF_CLIENT_KEY: the value has a damaged -----BEGIN line',
    );
  });

  it('is rejected in a flag', async () => {
    const flags = { ...FLAGS, clientKey: derOf(m.client.key).toString('base64') };
    const error: HookproofError = await load({ flags, files: { 'client.pem': m.client.cert } }).catch((cause) => cause);
    expect(error.message).toBe(
      '--client-key: is not the path of an existing file, and looks like a key or a certificate itself',
    );
  });
});
