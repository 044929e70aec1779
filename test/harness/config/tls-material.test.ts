/** Every bad or odd file of certificates and keys, through the configuration as `run` loads it. */
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
import { load, workspace } from './workspace.ts';

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
const WANTS_CERT = 'and a certificate is wanted';
const WANTS_KEY = 'and a private key is wanted';

interface Row {
  readonly files: () => Files | Promise<Files>;
  readonly passphrase?: string;
  /** The message, or how it begins. */
  readonly says: string;
  /** A part of the hint. */
  readonly hint: string;
}

const REFUSED: Record<string, Row> = {
  'an empty certificate': { files: () => cert(''), says: `${CERT} is empty`, hint: 'Was it written' },
  'an empty key': { files: () => key(''), says: `${KEY} is empty`, hint: 'Was it written' },
  'white space for a certificate': {
    files: () => cert(' \r\n\t\n'),
    says: `${CERT} is empty but for white space`,
    hint: 'Was it written',
  },
  'white space for a key': {
    files: () => key('\n\n'),
    says: `${KEY} is empty but for white space`,
    hint: 'Was it written',
  },
  'a byte order mark alone': {
    files: () => ({ 'client.pem': '\uFEFF', 'client.key': m.client.key }),
    says: `${CERT} is empty`,
    hint: 'Was it written',
  },
  'a certificate in UTF-16': {
    files: () => cert(utf16(m.client.cert)),
    says: `${CERT} is text in UTF-16, ${WANTS_CERT}`,
    hint: 'iconv -f UTF-16 -t UTF-8 client.pem > certificate.pem',
  },
  'a key in UTF-16': {
    files: () => key(utf16(m.client.key)),
    says: `${KEY} is text in UTF-16, ${WANTS_KEY}`,
    hint: 'iconv -f UTF-16 -t UTF-8 client.key > key.pem',
  },
  'a certificate with \\n in place of line breaks': {
    files: () => cert(m.client.cert.replaceAll('\n', '\\n')),
    says: `${CERT} has the two characters \\n in place of line breaks`,
    hint: "printf '%b'",
  },
  'a key with \\n in place of line breaks': {
    files: () => key(m.client.key.replaceAll('\n', '\\n')),
    says: `${KEY} has the two characters \\n in place of line breaks`,
    hint: "printf '%b'",
  },
  'a certificate on one line': {
    files: () => cert(m.client.cert.replaceAll('\n', ' ')),
    says: `${CERT} has a PEM block on one line`,
    hint: 'Put line breaks back',
  },
  'a key on one line': {
    files: () => key(m.client.key.replaceAll('\n', '')),
    says: `${KEY} has a PEM block on one line`,
    hint: 'Put line breaks back',
  },
  'a certificate with carriage returns alone': {
    files: () => cert(m.client.cert.replaceAll('\n', '\r')),
    says: `${CERT} ends its lines with carriage returns alone`,
    hint: "tr '\\r' '\\n'",
  },
  'an indented key': {
    files: () => key(m.client.key.replace(/^/gm, '    ')),
    says: `${KEY} has its PEM lines indented`,
    hint: 'YAML',
  },
  'a key with empty lines in it': {
    files: () => key(m.client.key.replaceAll('\n', '\n\n')),
    says: `${KEY} has empty lines inside a PEM block`,
    hint: 'Remove them',
  },
  'hyphens that a word processor made long': {
    files: () => cert(m.client.cert.replaceAll('-----', '—--')),
    says: `${CERT} has a damaged line BEGIN`,
    hint: 'five plain hyphens',
  },
  'certificates that were joined without a line break': {
    files: () => cert(`${m.client.cert.trimEnd()}${m.intermediate.cert}`),
    says: `${CERT} has -----END and -----BEGIN on one line`,
    hint: 'line break was lost',
  },
  'a certificate without END': {
    files: () => cert(m.client.cert.slice(0, 400)),
    says: `${CERT} is cut off: a line -----BEGIN has no line -----END`,
    hint: 'Copy the file again',
  },
  'a bundle whose last certificate is cut off': {
    files: () => cert(`${m.client.cert}-----BEGIN CERTIFICATE-----\nMIIB`),
    says: `${CERT} is cut off: a line -----BEGIN has no line -----END`,
    hint: 'Copy the file again',
  },
  'a key without END': {
    files: () => key(m.client.key.slice(0, 100)),
    says: `${KEY} is cut off: a line -----BEGIN has no line -----END`,
    hint: 'Copy the file again',
  },
  'a key without BEGIN': {
    files: () => key(m.client.key.slice(40)),
    says: `${KEY} is cut off at its start: a line -----END has no line -----BEGIN`,
    hint: 'Copy the file again',
  },
  'BEGIN and END of two kinds': {
    files: () => cert(m.client.cert.replace('END CERTIFICATE', 'END PUBLIC KEY')),
    says: `${CERT} has a line -----END that names something else`,
    hint: 'mixed up',
  },
  'a truncated DER certificate': {
    files: () => cert(m.client.der.subarray(0, 200)),
    says: `${CERT} holds a certificate that is cut short: 200 of `,
    hint: 'Copy the file again',
  },
  'a truncated DER key': {
    files: () => key(derOf(m.client.key).subarray(0, 90)),
    says: `${KEY} holds a private key that is cut short: 90 of `,
    hint: 'Copy the file again',
  },
  'a certificate that lost lines in the middle': {
    files: () => cert(m.client.cert.replace(/(\n.*){3}/, '')),
    says: `${CERT} holds a certificate that is damaged`,
    hint: 'Copy the file again',
  },
  'a certificate that lost lines at the end': {
    files: () => cert(m.client.cert.replace(/(\n.*){2}\n(?=-----END)/, '\n')),
    says: `${CERT} holds a certificate that is cut short: `,
    hint: 'Copy the file again',
  },
  'a certificate with other characters in its base64': {
    files: () => cert(m.client.cert.replace(/\n(.{10})./, '\n$1!')),
    says: `${CERT} holds a certificate whose lines are not base64`,
    hint: 'Copy the file again',
  },
  'a key with other characters in its base64': {
    files: () => key(m.client.key.replace(/\n(.{10})./, '\n$1…')),
    says: `${KEY} holds a private key whose lines are not base64`,
    hint: 'Copy the file again',
  },
  'a key that is damaged': {
    files: () => key(pem('PRIVATE KEY', der(0x30, Buffer.from('0201003003060155', 'hex'), der(4, Buffer.alloc(40))))),
    says: `${KEY} holds a private key that is damaged`,
    hint: 'Copy the file again',
  },
  'a key under the label of another kind': {
    files: () => key(m.rsa.key.replaceAll('PRIVATE KEY', 'EC PRIVATE KEY')),
    says: `${KEY} says that it holds an EC private key (EC PRIVATE KEY) and holds a private key`,
    hint: 'changed by hand',
  },
  'a certificate under the label of a key': {
    files: () => key(m.client.cert.replaceAll('CERTIFICATE', 'PRIVATE KEY')),
    says: `${KEY} says that it holds a private key (PRIVATE KEY) and holds a certificate`,
    hint: 'changed by hand',
  },
  'a certificate as base64 without its lines': {
    files: () => cert(Buffer.from(m.client.der).toString('base64')),
    says: `${CERT} is base64 without the lines -----BEGIN and -----END, ${WANTS_CERT}`,
    hint: 'base64 -d < client.pem > certificate.der',
  },
  'a key as base64 without its lines': {
    files: () => key(derOf(m.client.key).toString('base64')),
    says: `${KEY} is base64 without the lines -----BEGIN and -----END, ${WANTS_KEY}`,
    hint: 'base64 -d < client.key > key.der',
  },
  'a key that was encoded once more': {
    files: () => key(Buffer.from(m.client.key).toString('base64')),
    says: `${KEY} is PEM text that was encoded in base64 once more, ${WANTS_KEY}`,
    hint: 'Kubernetes',
  },
  'a key for a certificate': {
    files: () => ({ 'client.pem': m.client.key }),
    says: `${CERT} holds a private key, ${WANTS_CERT}`,
    hint: 'swapped',
  },
  'a DER key for a certificate': {
    files: () => cert(derOf(m.client.key)),
    says: `${CERT} is a private key, ${WANTS_CERT}`,
    hint: 'swapped',
  },
  'a certificate for a key': {
    files: () => key(m.client.cert),
    says: `${KEY} holds a certificate, ${WANTS_KEY}`,
    hint: 'swapped',
  },
  'a DER certificate for a key': {
    files: () => key(m.client.der),
    says: `${KEY} is a certificate, ${WANTS_KEY}`,
    hint: 'swapped',
  },
  'certificate and key swapped': {
    files: () => ({ 'client.pem': m.client.key, 'client.key': m.client.cert }),
    says: `${CERT} holds a private key, and the file client.key holds a certificate`,
    hint: 'The two are swapped',
  },
  'a public key for a certificate': {
    files: () => cert(publicPem(m.ec)),
    says: `${CERT} holds a public key, ${WANTS_CERT}`,
    hint: 'A certificate holds the public key',
  },
  'a public key for a key': {
    files: () => key(publicPem(m.ec)),
    says: `${KEY} holds a public key, ${WANTS_KEY}`,
    hint: 'cannot sign',
  },
  'a PFX for a certificate': {
    files: () => cert(pfx()),
    says: `${CERT} is a PKCS#12 container (PFX), ${WANTS_CERT}`,
    hint: 'openssl pkcs12 -in client.pem -clcerts -nokeys -out certificate.pem',
  },
  'a PFX for a key': {
    files: () => key(pfx()),
    says: `${KEY} is a PKCS#12 container (PFX), ${WANTS_KEY}`,
    hint: 'openssl pkcs12 -in client.key -nocerts -out key.pem',
  },
  'PKCS#7 in PEM': {
    files: () => cert(pem('PKCS7', m.pkcs7)),
    says: `${CERT} holds a PKCS#7 container, ${WANTS_CERT}`,
    hint: 'openssl pkcs7 -in client.pem -print_certs',
  },
  'PKCS#7 in DER': {
    files: () => cert(m.pkcs7),
    says: `${CERT} is a PKCS#7 container, ${WANTS_CERT}`,
    hint: 'openssl pkcs7 -inform DER -in client.pem -print_certs',
  },
  'PKCS#7 for a key': {
    files: () => key(pem('PKCS7', m.pkcs7)),
    says: `${KEY} holds a PKCS#7 container, ${WANTS_KEY}`,
    hint: 'never a key',
  },
  'a certificate request': {
    files: () => cert(m.request),
    says: `${CERT} holds a certificate request (CSR), ${WANTS_CERT}`,
    hint: 'that it sent back',
  },
  'a certificate request in DER': {
    files: () => cert(derOf(m.request)),
    says: `${CERT} is a certificate request (CSR), ${WANTS_CERT}`,
    hint: 'that it sent back',
  },
  'a certificate request for a key': {
    files: () => key(m.request),
    says: `${KEY} holds a certificate request (CSR), ${WANTS_KEY}`,
    hint: 'made together with the request',
  },
  'a revocation list': {
    files: () => cert(m.revocationList),
    says: `${CERT} holds a certificate revocation list (CRL), ${WANTS_CERT}`,
    hint: 'revoked',
  },
  'a revocation list in DER': {
    files: () => cert(derOf(m.revocationList)),
    says: `${CERT} is a certificate revocation list (CRL), ${WANTS_CERT}`,
    hint: 'revoked',
  },
  'parameters without the key': {
    files: () => key(pem('EC PARAMETERS', Buffer.from('06082a8648ce3d030107', 'hex'))),
    says: `${KEY} holds key parameters, ${WANTS_KEY}`,
    hint: 'hold none',
  },
  'a key of OpenSSH': {
    files: () => key(openSsh()),
    says: `${KEY} holds a private key in the format of OpenSSH, ${WANTS_KEY}`,
    hint: 'cp client.key key.pem && ssh-keygen -p -m PEM -f key.pem',
  },
  'a public key of SSH': {
    files: () => key(`ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${'A'.repeat(43)} somebody\n`),
    says: `${KEY} is a public key of SSH, ${WANTS_KEY}`,
    hint: 'private key that it belongs to',
  },
  'a key of PuTTY': {
    files: () => key('PuTTY-User-Key-File-3: ssh-rsa\nEncryption: none\n'),
    says: `${KEY} is a key of PuTTY (PPK), ${WANTS_KEY}`,
    hint: 'puttygen client.key -O private-openssh',
  },
  'something of OpenPGP': {
    files: () => key('-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQOYBF\n=ab12\n-----END PGP PRIVATE KEY BLOCK-----\n'),
    says: `${KEY} holds something of OpenPGP, ${WANTS_KEY}`,
    hint: 'PEM',
  },
  'a Java keystore': {
    files: () => cert(Buffer.concat([Buffer.from('feedfeed00000002', 'hex'), Buffer.alloc(64)])),
    says: `${CERT} is a Java keystore (JKS), ${WANTS_CERT}`,
    hint: 'keytool -importkeystore -srckeystore client.pem',
  },
  'a zip archive': {
    files: () => cert(Buffer.from('504b030414000000', 'hex')),
    says: `${CERT} is a zip archive, ${WANTS_CERT}`,
    hint: 'Unpack it',
  },
  'an HTML page': {
    files: () => cert('<!DOCTYPE html>\n<html><body>Sign in</body></html>'),
    says: `${CERT} is an HTML page, ${WANTS_CERT}`,
    hint: 'signing in',
  },
  XML: {
    files: () => cert('<?xml version="1.0"?><EntityDescriptor/>'),
    says: `${CERT} is XML, ${WANTS_CERT}`,
    hint: 'PEM',
  },
  'the JSON of a service account': {
    files: () => key(JSON.stringify({ type: 'service_account', private_key: m.rsa.key }, null, 2)),
    says: `${KEY} is JSON with PEM text in it, ${WANTS_KEY}`,
    hint: 'jq -r .private_key client.key > key.pem',
  },
  'a JSON web key': {
    files: () => key(JSON.stringify(m.ec.export({ format: 'jwk' }))),
    says: `${KEY} is a JSON web key, ${WANTS_KEY}`,
    hint: 'Convert',
  },
  'other JSON': { files: () => key('{"a":1}'), says: `${KEY} is JSON, ${WANTS_KEY}`, hint: 'PEM' },
  'a printed certificate': {
    files: () => cert('Certificate:\n    Data:\n        Version: 3 (0x2)\n'),
    says: `${CERT} is a printed description, which a person can read and a program cannot, ${WANTS_CERT}`,
    hint: 'PEM',
  },
  'other text': {
    files: () => key('password123\n'),
    says: `${KEY} is text that is no PEM, ${WANTS_KEY}`,
    hint: 'A key is PEM',
  },
  'other bytes': {
    files: () => cert(Buffer.from('0001020304fffefd', 'hex')),
    says: `${CERT} is binary data of an unknown kind, ${WANTS_CERT}`,
    hint: 'A certificate is PEM',
  },
  'an encrypted key without a passphrase': {
    files: () => key(encrypted(m.ec, 'pem')),
    says: `${KEY} is encrypted, and there is no passphrase`,
    hint: 'HOOKPROOF_CLIENT_KEY_PASSPHRASE',
  },
  'an encrypted key of the old kind without a passphrase': {
    files: () => key(encrypted(m.ec, 'pem', 'sec1')),
    says: `${KEY} is encrypted, and there is no passphrase`,
    hint: 'tls.passphrase',
  },
  'an encrypted DER key without a passphrase': {
    files: () => key(encrypted(m.ec, 'der')),
    says: `${KEY} is encrypted, and there is no passphrase`,
    hint: 'tls.passphrase',
  },
  'a wrong passphrase': {
    files: () => key(encrypted(m.ec, 'pem')),
    passphrase: 'shut',
    says: `${KEY} does not open with the passphrase`,
    hint: 'Check the passphrase',
  },
  'a wrong passphrase for the old kind': {
    files: () => ({ 'client.pem': m.rsa.cert, 'client.key': encrypted(m.rsaKey, 'pem', 'pkcs1') }),
    passphrase: 'shut',
    says: `${KEY} does not open with the passphrase`,
    hint: 'Check the passphrase',
  },
  'a wrong passphrase for DER': {
    files: () => key(encrypted(m.ec, 'der')),
    passphrase: 'shut',
    says: `${KEY} does not open with the passphrase`,
    hint: 'Check the passphrase',
  },
  'an encrypted DER key that is cut short': {
    files: () => key(encrypted(m.ec, 'der').subarray(0, 150)),
    passphrase: PASSPHRASE,
    says: `${KEY} holds a private key that is cut short: 150 of `,
    hint: 'Copy the file again',
  },
  'two keys': {
    files: () => key(m.client.key + m.other.key),
    says: `${KEY} holds 2 private keys, and one is wanted`,
    hint: 'a file of its own',
  },
  'a DSA key': {
    files: () => key(dsaKey()),
    says: `${KEY} holds a private key (DSA with 2048 bits) that TLS has no use for`,
    hint: 'RSA with 2048 bits',
  },
  'the key of another certificate': {
    files: () => key(m.other.key),
    says: `${KEY} does not belong to the certificate in the file client.pem`,
    hint: 'openssl x509 -in client.pem -noout -pubkey; openssl pkey -in client.key -pubout',
  },
  'the key of another certificate of the same RSA size': {
    files: async () => ({
      'client.pem': m.rsa.cert,
      'client.key': (await makeRsa()).key,
    }),
    says: `${KEY} does not belong to the certificate in the file client.pem`,
    hint: 'made together',
  },
  'an RSA key for an EC certificate': {
    files: () => key(m.rsa.key),
    says: `${KEY} (RSA with 2048 bits) is a key of another kind than that of the certificate in the file client.pem (EC on P-256)`,
    hint: 'made together',
  },
  'an EC key for an RSA certificate': {
    files: () => cert(m.rsa.cert),
    says: `${KEY} (EC on P-256) is a key of another kind than that of the certificate in the file client.pem (RSA with 2048 bits)`,
    hint: 'made together',
  },
  'a bundle without the certificate of the key': {
    files: () => cert(m.intermediate.cert + m.root.cert),
    says: `${KEY} belongs to none of the 2 certificates in the file client.pem`,
    hint: 'made together',
  },
  'an expired certificate': {
    files: async () => pair(await m.issue({ notBefore: daysFromNow(-9), notAfter: new Date('2026-01-02T03:04:05Z') })),
    says: `--client-cert: the certificate in the file client.pem expired on 2026-01-02T03:04:05.000Z`,
    hint: 'Have a new one issued',
  },
  'an expired certificate in a bundle': {
    files: async () => {
      const old = await m.issue({ notBefore: new Date(0), notAfter: new Date('2026-01-02T03:04:05Z') });
      return { 'client.pem': old.cert + m.intermediate.cert, 'client.key': old.key };
    },
    says: `--client-cert: the certificate in the file client.pem (CN=client) expired on 2026-01-02T03:04:05.000Z`,
    hint: 'Have a new one issued',
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
    hint: 'RSA with 2048 bits or more',
  },
  'a certificate for servers only': {
    files: async () => pair(await m.issue({ usages: ['serverAuth'] })),
    says: '--client-cert: the certificate in the file client.pem is meant for servers and not for clients',
    hint: 'clientAuth',
  },
  'an authority that may only sign certificates': {
    files: () => pair(m.intermediate),
    says: '--client-cert: the certificate in the file client.pem may not be used by clients: its key usage has no digital signature',
    hint: 'digitalSignature',
  },
  'a file that is too large': {
    files: () => cert(Buffer.alloc(1024 * 1024 + 1, 65)),
    says: `${CERT} is larger than 1024 KiB`,
    hint: 'PEM or DER',
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

describe('a file of certificates or keys is refused for', () => {
  it.each(Object.entries(REFUSED))('%s', async (_, { files, passphrase, says, hint }) => {
    const error = await refusalOf(await files(), passphrase);
    expect({ code: error.code, kind: error.kind }).toEqual({ code: 'CONFIG_TLS', kind: 'usage' });
    expect(error.message.slice(0, says.length)).toBe(says);
    expect(error.hint).toContain(hint);
  });

  it('enough things, each with words of its own', () => {
    const rows = Object.values(REFUSED);
    expect(rows.length).toBeGreaterThan(70);
    // The same fault in another encoding has the same words.
    expect(new Set(rows.map(({ says }) => says)).size).toBeGreaterThan(65);
  });

  it('being no file: missing, a directory, a socket', async () => {
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
    // A file that this user may not read cannot be made when the user is root; a socket is refused on the same way.
    expect(await said('socket')).toBe('--client-cert: the file socket cannot be read (ENXIO)');
  });

  it('several things at once, all of them said', async () => {
    const error = await refusalOf({ 'client.pem': m.request, 'client.key': openSsh() });
    expect(error.code).toBe('CONFIG_INVALID');
    expect(error.message).toContain('certificate request (CSR)');
    expect(error.message).toContain('format of OpenSSH');
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
  /** A part of each piece of advice about the material, in order; none by default. */
  readonly advice?: readonly string[];
  /** The subjects that are presented; the client alone by default. */
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
    advice: ['the file client.pem does not begin with the certificate of the key'],
  },
  'a bundle with its issuers in the wrong order': {
    files: () => cert(m.client.cert + m.root.cert + m.intermediate.cert),
    chain: ['client', 'intermediate', 'root'],
    advice: ['issuers are out of order'],
  },
  'a certificate twice, and one that has no part': {
    files: () => cert(m.client.cert + m.intermediate.cert + m.client.cert + m.other.cert),
    chain: ['client', 'intermediate'],
    advice: ['holds a certificate twice', 'holds what is no part of the chain: CN=other'],
  },
  'an old certificate for the same key beside the new one': {
    files: async () => {
      const old = await m.issue({ keyOf: m.client, notBefore: new Date(0), notAfter: new Date(1e12) });
      return cert(old.cert + m.client.cert);
    },
    advice: ['holds what is no part of the chain: CN=client'],
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
    advice: ['the file client.key is not encrypted, and a passphrase is given'],
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
    advice: ['has a key of a kind that not everyone takes: Ed25519'],
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

describe('certificates and keys are taken', () => {
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

  it('whichever authority is there too: a missing intermediate is known then', async () => {
    const ca = m.root.cert + m.intermediate.cert;
    const files = { 'client.pem': m.client.cert, 'client.key': m.client.key, 'ca.pem': ca };
    const { advice } = await load({ flags: { ...FLAGS, ca: 'ca.pem' }, files });
    expect(advice).toContainEqual(
      expect.stringContaining('the file client.pem lacks the intermediate certificate CN=intermediate'),
    );
  });
});

describe('extra authorities', () => {
  it.each<[string, () => string, string]>([
    ['a leaf', () => m.client.cert + m.root.cert, 'holds CN=client, which is no authority'],
    ['an intermediate alone', () => m.intermediate.cert, 'holds CN=intermediate, whose own issuer is not there'],
    ['a key', () => m.root.cert + m.root.key, 'holds a private key beside the authority'],
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
      'HOOKPROOF_CLIENT_KEY: the value has the two characters \\n in place of line breaks',
    );
    expect(await refused(derOf(m.client.key).toString('base64'))).toBe(
      'HOOKPROOF_CLIENT_KEY: the value is base64 without the lines -----BEGIN and -----END, and a private key is wanted',
    );
    expect(await refused(m.client.key.replaceAll('-----', '--'))).toBe(
      'HOOKPROOF_CLIENT_KEY: the value has a damaged line BEGIN',
    );
  });

  it('does not belong into a flag', async () => {
    const flags = { ...FLAGS, clientKey: derOf(m.client.key).toString('base64') };
    const error: HookproofError = await load({ flags, files: { 'client.pem': m.client.cert } }).catch((cause) => cause);
    expect(error.message).toBe(
      '--client-key: is not the path of an existing file, and looks like a key or a certificate itself',
    );
  });
});
