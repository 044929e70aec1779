/**
 * Mutual TLS: the findings about the certificate, about how the endpoint treats it, and about files that cannot be
 * used.
 */
import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeCertificate, serverFixture } from '../../../certs/index.ts';
import { type ServerTls, startReceiver } from '../../../receiver/index.ts';
import { type ClientMaterialName, clientMaterial } from '../../certs/client-material.ts';
import { examineWith, factsOf, folderWith, found, problems, sectionOf } from './examining.ts';
import { plainServer, tlsServer, validServer } from './servers.ts';

const SECRET = 'correct horse battery staple and more';
const VERSIONS = ['TLSv1.2', 'TLSv1.3'] as const;

type Mode = NonNullable<ServerTls['clientCertificate']>;

/** Starts the reference receiver over HTTPS, and returns the settings for it. */
async function receiver(clientCertificate: Mode | null) {
  const { cert, key, ca } = await serverFixture('p256');
  const { authority } = await clientMaterial('right');
  const asks = clientCertificate === null ? {} : { ca: authority, clientCertificate };
  const running = await startReceiver({ signing: { secrets: [SECRET] }, tls: { cert, key, ...asks } });
  onTestFinished(() => running.close());
  return { url: `https://localhost:${running.port}/`, env: { HOOKPROOF_CA: ca, HOOKPROOF_SECRET: SECRET } };
}

/** Returns the settings for a certificate, or for none. */
async function pairOf(name: ClientMaterialName | null): Promise<Record<string, string>> {
  if (name === null) return {};
  const { cert, key } = await clientMaterial(name);
  return { HOOKPROOF_CLIENT_CERT: cert, HOOKPROOF_CLIENT_KEY: key };
}

describe('the reference receiver', () => {
  it.each(['right', 'rsa', 'no-usages', 'intermediate'] as const)('accepts the certificate %s', async (name) => {
    const { url, env } = await receiver('required');
    const document = await examineWith(url, { env: { ...env, ...(await pairOf(name)) }, deliver: true });
    expect(problems(document)).toEqual([]);
    expect(found(document, 'client-certificate')).toEqual([]);
    expect(factsOf(document, 'client-certificate')).toMatchObject({
      pair: true,
      requested: true,
      caNamed: true,
      with: { outcome: 'answered' },
      without: { outcome: 'refused', evidence: 'TLS alert certificate_required' },
    });
    expect(factsOf(document, 'delivery').status).toBe(200);
  });

  it.each<[ClientMaterialName, string[]]>([
    ['expired', ['problem client-certificate-refused', 'problem client-cert-expired']],
    ['not-yet-valid', ['problem client-certificate-refused', 'problem client-cert-not-yet-valid']],
    ['wrong-purpose', ['problem client-certificate-refused', 'problem client-cert-purpose']],
    ['self-signed', ['problem client-certificate-refused', 'advice client-cert-self-signed']],
    ['unknown-authority', ['problem client-certificate-refused']],
    ['same-names', ['problem client-certificate-refused']],
    ['other-subject', []],
  ])('has findings with the certificate %s: %j', async (name, expected) => {
    const { url, env } = await receiver('required');
    const document = await examineWith(url, { env: { ...env, ...(await pairOf(name)) } });
    expect(found(document, 'client-certificate')).toEqual(expected);
    expect([problems(document, 'tls'), problems(document, 'http')]).toEqual([[], []]);
    const named = name !== 'self-signed' && name !== 'unknown-authority';
    expect(factsOf(document, 'client-certificate').caNamed).toBe(named);
  });

  it('has a problem without a certificate when it requires one', async () => {
    const { url, env } = await receiver('required');
    const document = await examineWith(url, { env, deliver: true });
    expect(problems(document)).toEqual(['problem client-certificate-required', 'problem tls-handshake-fails']);
    const [finding] = sectionOf(document, 'client-certificate').findings;
    expect(finding?.fix).toContain('CN=hookproof client authority');
  });

  it.each<[Mode | null, ClientMaterialName | null, string[]]>([
    ['optional', null, ['info client-certificate-requested']],
    ['optional', 'right', ['advice client-certificate-optional']],
    [null, null, []],
    [null, 'right', ['advice client-certificate-not-requested']],
  ])('in the mode %s with the certificate %s has the findings %j', async (mode, name, expected) => {
    const { url, env } = await receiver(mode);
    const document = await examineWith(url, { env: { ...env, ...(await pairOf(name)) } });
    expect(problems(document)).toEqual([]);
    expect(found(document, 'client-certificate')).toEqual(expected);
    expect(factsOf(document, 'client-certificate').requested).toBe(mode !== null);
  });
});

describe.each(VERSIONS)('a server of Node with %s only', (version) => {
  const server = async () => {
    const { authority } = await clientMaterial('right');
    const limits = { minVersion: version, maxVersion: version, ca: authority };
    return validServer(undefined, { ...limits, requestCert: true, rejectUnauthorized: true });
  };

  it.each<[ClientMaterialName | null, string[]]>([
    ['right', []],
    [null, ['problem client-certificate-required']],
    ['unknown-authority', ['problem client-certificate-refused']],
    ['expired', ['problem client-certificate-refused', 'problem client-cert-expired']],
  ])('has findings with the certificate %s: %j', async (name, expected) => {
    const { port, ca } = await server();
    const env = { HOOKPROOF_CA: ca, ...(await pairOf(name)) };
    const document = await examineWith(`https://localhost:${port}/`, { env });
    expect(found(document, 'client-certificate')).toEqual(expected);
    expect([problems(document, 'tls'), problems(document, 'http')]).toEqual([[], []]);
    // In TLS 1.3, the certificate request is encrypted, so only a rejection reveals it.
    const asked = version === 'TLSv1.2' || expected.length > 0 || name === 'right';
    expect(factsOf(document, 'client-certificate').requested).toBe(asked ? true : null);
  });
});

it('detects a rejection over HTTP, as nginx answers', async () => {
  const page = '<html><head><title>400 No required SSL certificate was sent</title></head></html>';
  const { port, ca } = await validServer((request, response) => {
    request.resume();
    response.writeHead(400).end(page);
  });
  const document = await examineWith(`https://localhost:${port}/`, { env: { HOOKPROOF_CA: ca } });
  expect(problems(document, 'client-certificate')).toEqual(['problem client-certificate-required']);
});

it('advises when an accepted certificate is not from a CA that the endpoint names', async () => {
  const { cert, key, ca } = await serverFixture('p256');
  const { cert: other } = await makeCertificate({ subject: 'CN=Somebody else, O=Elsewhere', authority: true });
  const port = await tlsServer({ cert, key, ca: other, requestCert: true, rejectUnauthorized: false });
  const document = await examineWith(`https://localhost:${port}/`, {
    env: { HOOKPROOF_CA: ca, ...(await pairOf('right')) },
  });
  expect(found(document, 'client-certificate')).toEqual([
    'advice client-certificate-optional',
    'advice client-authority-not-named',
  ]);
  expect(factsOf(document, 'tls').requestedCas).toEqual(['CN=Somebody else, O=Elsewhere']);
});

describe('a file that cannot be used is a finding, and the rest is examined', () => {
  const file = async (name: ClientMaterialName, part: 'cert' | 'key') => (await clientMaterial(name))[part];
  const [cert, key, otherKey] = [file('right', 'cert'), file('right', 'key'), file('rsa', 'key')];
  const cases: [string, () => Promise<Record<string, string | Uint8Array>>, string[]][] = [
    ['of another pair', async () => ({ cert: await cert, key: await otherKey }), ['client-key-other-pair']],
    ['swapped', async () => ({ cert: await key, key: await cert }), ['client-pair-swapped']],
    ['empty', async () => ({ cert: '', key: '' }), ['client-cert-empty', 'client-key-empty']],
    ['encrypted', async () => ({ cert: await cert, key: locked(await key) }), ['client-key-encrypted']],
    ['absent', async () => ({ cert: await cert }), ['client-key-unreadable']],
    [
      'garbage',
      async () => ({ cert: 'hello', key: Buffer.from([1, 2, 3, 0]) }),
      ['client-cert-is-other', 'client-key-is-other'],
    ],
  ];

  function locked(pem: string): string {
    return createPrivateKey(pem)
      .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'pp' })
      .toString();
  }

  it.each(cases)('%s', async (_, files, expected) => {
    const cwd = await folderWith(await files());
    const { url, env } = await receiver('required');
    const flags = { clientCert: 'cert', clientKey: 'key' };
    const document = await examineWith(url, {
      flags,
      cwd,
      env,
      deliver: true,
    });
    expect(found(document, 'client-certificate')).toEqual(
      ['client-certificate-required', ...expected].map((code) => `problem ${code}`),
    );
    expect(sectionOf(document, 'delivery')).toMatchObject({ state: 'skipped', reason: expect.stringContaining('run') });
    expect(problems(document, 'tls')).toEqual([]);
    expect(factsOf(document, 'tls').trusted).toBe(true);
  });

  it('a directory, a file that everyone may read, a certificate without a key', async () => {
    const { cert, key } = await clientMaterial('right');
    const cwd = await folderWith({ cert, key });
    mkdirSync(join(cwd, 'folder'));
    const codes = async (flags: Record<string, string>) =>
      found(await examineWith(null, { flags, cwd }), 'client-certificate');
    expect(await codes({ clientCert: 'folder', clientKey: 'key' })).toEqual(['problem client-cert-unreadable']);
    expect(await codes({ clientCert: 'cert' })).toEqual(['problem client-key-missing']);
    expect(await codes({ clientKey: 'key' })).toEqual(['problem client-certificate-missing']);
    await chmod(join(cwd, 'key'), 0o644);
    expect(await codes({ clientCert: 'cert', clientKey: 'key' })).toEqual(['advice client-key-file-open']);
  });

  it('an encrypted key with another passphrase', async () => {
    const { cert, key } = await clientMaterial('right');
    const cwd = await folderWith({ cert, key: locked(key) });
    const codes = async (passphrase: string) =>
      found(
        await examineWith(null, {
          flags: { clientCert: 'cert', clientKey: 'key' },
          cwd,
          env: { HOOKPROOF_CLIENT_KEY_PASSPHRASE: passphrase },
        }),
      );
    expect([await codes('pp'), await codes('other')]).toEqual([[], ['problem client-key-wrong-passphrase']]);
  });

  it('a CA file without a certificate', async () => {
    const { url, env } = await receiver(null);
    const cwd = await folderWith({ wrong: 'hello', right: env.HOOKPROOF_CA });
    const codes = async (file: string) => {
      const document = await examineWith(url, { flags: { ca: file }, cwd });
      return [found(document, 'extra-cas'), problems(document, 'tls')];
    };
    expect(await codes('wrong')).toEqual([['problem ca-cert-is-other'], ['problem unknown-authority']]);
    expect(await codes('right')).toEqual([[], []]);
  });

  it('a key that is too small for OpenSSL', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 512 });
    const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const document = await examineWith(null, {
      env: { HOOKPROOF_CLIENT_CERT: (await clientMaterial('rsa')).cert, HOOKPROOF_CLIENT_KEY: key },
    });
    expect(problems(document)).toEqual(['problem client-key-other-pair']);
  });

  it('a certificate that plain HTTP does not use', async () => {
    const document = await examineWith(`http://127.0.0.1:${await plainServer()}/`, { env: await pairOf('right') });
    expect(found(document, 'tls')).toEqual(['advice material-not-used', 'info plain-http']);
    expect(factsOf(document, 'client-certificate').pair).toBe(true);
  });
});
