import { createPrivateKey } from 'node:crypto';
import { createServer, type TLSSocket, connect as tlsConnect } from 'node:tls';
import fc from 'fast-check';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  certificateBlocks,
  type IdentityOptions,
  type MaterialReading,
  makeCertificate,
  readAuthorities,
  readCertificates,
  readIdentity,
  readPrivateKey,
  sniff,
} from '../../certs/index.ts';
import { daysFromNow, encrypted, type Material, material, PASSPHRASE, pfx, publicPem } from './material.ts';

let m: Material;
beforeAll(async () => {
  m = await material();
});

const file = (content: string | Uint8Array, name: string) => ({ bytes: Buffer.from(content), source: { file: name } });
const identity = (pair: { cert: string; key: string }, more: Partial<IdentityOptions> = {}) =>
  readIdentity({ cert: file(pair.cert, 'a.pem'), key: file(pair.key, 'a.key'), purpose: 'client', ...more });
const codes = ({ problems, advice }: MaterialReading<unknown>) => [...problems, ...advice].map(({ code }) => code);

describe('sniff', () => {
  it('detects PEM and its blocks', () => {
    const sniffed = sniff(Buffer.from(`x\n${m.client.cert}${m.client.key}`));
    expect(sniffed.form === 'pem' && sniffed.blocks.map(({ label }) => label)).toEqual(['CERTIFICATE', 'PRIVATE KEY']);
  });

  it.each<[string, () => Uint8Array, string]>([
    ['certificate', () => m.client.der, 'certificate'],
    ['PKCS#8', () => m.rsaKey.export({ format: 'der', type: 'pkcs8' }), 'pkcs8'],
    ['PKCS#1', () => m.rsaKey.export({ format: 'der', type: 'pkcs1' }), 'pkcs1'],
    ['SEC1', () => m.ec.export({ format: 'der', type: 'sec1' }), 'sec1'],
    ['encrypted PKCS#8', () => encrypted(m.ec, 'der'), 'encrypted-pkcs8'],
    ['PKCS#7', () => m.pkcs7, 'pkcs7'],
    ['PFX', pfx, 'pkcs12'],
    ['an empty sequence', () => Buffer.from('3000', 'hex'), 'unknown'],
  ])('detects DER by its structure: %s', (_, bytes, kind) => {
    expect(sniff(bytes())).toMatchObject({ form: 'der', kind });
  });

  it('accepts any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.boolean(), (bytes, asDer) => {
        if (asDer && bytes.length > 0) bytes.set([0x30], 0);
        expect(typeof sniff(bytes).form).toBe('string');
      }),
      { numRuns: 2_000 },
    );
  });

  it('looks at each word of a long line once', () => {
    expect(sniff(Buffer.from('BEGIN '.repeat(100_000)))).toEqual({ form: 'other', kind: 'text' });
  });
});

describe('certificateBlocks', () => {
  it('returns only the certificates in a text', () => {
    const withCrLf = m.client.cert.replaceAll('\n', '\r\n');
    const asX509 = m.root.cert.replaceAll('CERTIFICATE', 'X509 CERTIFICATE');
    const text = `Bag\r\n${withCrLf}${m.client.key}${asX509}`;
    const blocks = certificateBlocks(text);
    expect(blocks.map(({ der }) => der.equals(m.client.der) || der.equals(m.root.der))).toEqual([true, true]);
    expect(blocks[0]?.text).toMatch(/^-----BEGIN CERTIFICATE-----\r\n[^-]*-----END CERTIFICATE-----$/);
    expect(['', m.client.key, m.client.cert.slice(0, -30)].map(certificateBlocks)).toEqual([[], [], []]);
  });
});

describe('readIdentity', () => {
  it('checks the dates at the given time', () => {
    const codesAt = (days: number) => codes(identity(m.client, { now: daysFromNow(days) }));
    expect([codesAt(0), codesAt(-5), codesAt(340), codesAt(400)]).toEqual([
      [],
      ['CERT_NOT_YET_VALID'],
      ['CERT_EXPIRES_SOON'],
      ['CERT_EXPIRED'],
    ]);
  });

  it('checks the purpose', async () => {
    const server = await m.issue({ usages: ['serverAuth'] });
    const both = await m.issue({ usages: ['serverAuth', 'clientAuth'] });
    const found = (pair: typeof server) =>
      (['client', 'server'] as const).map((purpose) => codes(identity(pair, { purpose })));
    expect([found(server), found(m.client), found(both)]).toEqual([
      [['CERT_PURPOSE'], []],
      [[], ['CERT_PURPOSE']],
      [[], []],
    ]);
  });

  it('returns a value with its problems, and none if certificate and key do not belong together', async () => {
    const old = await m.issue({ notBefore: new Date(0), notAfter: new Date(1e12) });
    expect(identity(old).value?.chain).toHaveLength(1);
    expect(identity({ cert: old.cert, key: m.other.key })).toMatchObject({
      value: undefined,
      problems: [{ code: 'KEY_OTHER_PAIR', about: 'key' }],
    });
  });

  it('accepts certificates with unknown key types, which trust stores contain', () => {
    const bytes = Buffer.from(
      Buffer.from(m.root.der).toString('hex').replace('2a8648ce3d030107', '2a8648ce3d03017f'),
      'hex',
    );
    const source = { file: 'x' };
    expect(readAuthorities(bytes, { source }).value).toHaveLength(1);
    const key = { bytes: Buffer.from(m.client.key), source: { file: 'k' } };
    const { problems } = readIdentity({ cert: { bytes, source }, key, purpose: 'client' });
    expect(problems.map(({ what }) => what)).toEqual([
      'the file k (EC on P-256) differs in type from the key of the certificate in the file x (of an unknown type)',
    ]);
  });

  it('mentions no file if there is none', () => {
    const { problems } = readIdentity({
      cert: { bytes: Buffer.from(m.client.key), source: { name: 'the client certificate' } },
      key: { bytes: pfx(), source: { name: 'the client key' } },
      purpose: 'client',
    });
    expect(problems.map(({ what }) => what)).toEqual([
      'the client certificate contains a private key, expected a certificate',
      'the client key is a PKCS#12 container (PFX), expected a private key',
    ]);
    expect(problems[1]?.hint).toContain('openssl pkcs12 -in FILE');
  });

  it('quotes file names in commands', () => {
    const { problems } = readPrivateKey(pfx(), { source: { file: "it's; rm -rf ~" } });
    expect(problems[0]?.hint).toContain(`-in 'it'\\''s; rm -rf ~' -nocerts`);
    expect(readPrivateKey(pfx(), { source: { file: '-x' } }).problems[0]?.hint).toContain(`-in '-x' -nocerts`);
  });

  it('accepts a long chain with a loop', async () => {
    const loop = await makeCertificate({
      subject: 'CN=intermediate',
      issuer: m.intermediate,
      keyOf: m.intermediate,
      authority: true,
    });
    const { value, problems } = identity({ cert: m.client.cert + loop.cert + m.intermediate.cert, key: m.client.key });
    expect(problems).toEqual([]);
    expect(value?.chain.length).toBeLessThanOrEqual(3);
  });
});

describe('no message repeats any part of a key', () => {
  /** Returns everything that the loader reports about these bytes, in each role that they can have. */
  const said = (bytes: Uint8Array, passphrase?: string): string => {
    const source = { file: 'x' };
    const other = { bytes: Buffer.from(m.client.cert), source: { file: 'y' } };
    const readings: MaterialReading<unknown>[] = [
      readCertificates(bytes, source),
      readAuthorities(bytes, { source }),
      readPrivateKey(bytes, { source, passphrase }),
      readIdentity({ cert: { bytes, source }, key: { bytes, source }, passphrase, purpose: 'client' }),
      readIdentity({ cert: other, key: { bytes, source }, passphrase, purpose: 'client' }),
      readIdentity({ cert: { bytes, source }, key: other, passphrase, purpose: 'server' }),
    ];
    return JSON.stringify(readings.map(({ problems, advice }) => [problems, advice]));
  };

  it('for any damaged key', () => {
    const keys = [
      m.client.key,
      m.rsa.key,
      encrypted(m.ec, 'pem').toString(),
      encrypted(m.rsaKey, 'pem', 'pkcs1').toString(),
    ];
    const damage = fc.oneof(
      fc.record({ from: fc.nat(2000), drop: fc.nat(40) }).map(
        ({ from, drop }) =>
          (text: string) =>
            text.slice(0, from) + text.slice(from + drop),
      ),
      fc.nat(2000).map((from) => (text: string) => text.slice(from)),
      fc.tuple(fc.nat(2000), fc.string({ maxLength: 6 })).map(
        ([at, extra]) =>
          (text: string) =>
            text.slice(0, at) + extra + text.slice(at),
      ),
      fc
        .constantFrom('', ' ', '\r', '\\n', '\n\n', '\n  ')
        .map((line) => (text: string) => text.replaceAll('\n', line)),
      fc.constant((text: string) => JSON.stringify({ key: text })),
      fc.constant((text: string) => text.replaceAll('PRIVATE KEY', text.slice(40, 70).replaceAll('\n', ''))),
      fc.constant((text: string) => Buffer.from(text).toString('base64')),
    );
    fc.assert(
      fc.property(fc.constantFrom(...keys), fc.array(damage, { maxLength: 3 }), (key, damages) => {
        const text = damages.reduce((current, change) => change(current), key);
        const words = said(Buffer.from(text), PASSPHRASE);
        const pieces = text.match(/[A-Za-z0-9+/=]{12,}/g) ?? [];
        expect(
          pieces.filter((piece) => !/^(?:BEGIN|END|PRIVATE|ENCRYPTED)/.test(piece) && words.includes(piece)),
        ).toEqual([]);
        expect(words).not.toContain(PASSPHRASE);
      }),
      { numRuns: 400 },
    );
  });

  it('which this test would notice', () => {
    expect(said(Buffer.from(publicPem(m.ec)))).toContain('a public key');
  });
});

describe('a correct server rejects what the loader rejects', () => {
  /** Returns `authorized` if Node's TLS server accepts a client certificate, otherwise the name of the fault. */
  async function verdictOf(cert: string, key: string): Promise<string> {
    const server = await makeCertificate({ subject: 'CN=localhost', issuer: m.root, hosts: ['localhost'] });
    const listener = createServer({
      cert: server.cert,
      key: server.key,
      ca: m.root.cert,
      requestCert: true,
      rejectUnauthorized: false,
    });
    onTestFinished(() => void listener.close());
    const accepted = new Promise<TLSSocket>((resolve) => listener.once('secureConnection', resolve));
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    const address = listener.address();
    const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
    const client = tlsConnect({ port, host: '127.0.0.1', servername: 'localhost', ca: m.root.cert, cert, key });
    client.on('error', () => undefined);
    const socket = await accepted;
    const { authorized, authorizationError } = socket;
    client.destroy();
    socket.destroy();
    return authorized ? 'accepted' : String(authorizationError);
  }

  it.each<[string, () => Promise<{ cert: string; key: string }>, string[], string]>([
    ['a valid certificate', async () => m.client, [], 'accepted'],
    [
      'an expired one',
      () => m.issue({ notBefore: new Date(0), notAfter: daysFromNow(-1) }),
      ['CERT_EXPIRED'],
      'CERT_HAS_EXPIRED',
    ],
    ['one for servers', () => m.issue({ usages: ['serverAuth'] }), ['CERT_PURPOSE'], 'INVALID_PURPOSE'],
    ['a CA', async () => m.intermediate, ['CERT_PURPOSE', 'CERT_IS_AUTHORITY'], 'INVALID_PURPOSE'],
    ['one without usages', () => makeCertificate({ subject: 'CN=c', issuer: m.intermediate }), [], 'accepted'],
    ['Ed25519', () => m.issue({ key: 'ed25519' }), ['CERT_KEY_KIND'], 'accepted'],
  ])('%s', async (_, make, expected, verdict) => {
    const { cert, key } = await make();
    const chain = cert === m.intermediate.cert ? cert : cert + m.intermediate.cert;
    expect(codes(identity({ cert: chain, key }))).toEqual(expected);
    expect(await verdictOf(chain, key)).toBe(verdict);
  });

  it('and accepts a bundle that the loader has reordered', async () => {
    const { value } = identity({ cert: m.root.cert + m.intermediate.cert + m.client.cert, key: m.client.key });
    const presented = value?.chain.map((one) => one.toString()).join('') ?? '';
    expect(await verdictOf(presented, value?.keyPem ?? '')).toBe('accepted');
    expect(createPrivateKey(value?.keyPem ?? '').equals(m.ec)).toBe(true);
  });
});
