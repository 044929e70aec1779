import { beforeAll, describe, expect, it } from 'vitest';
import { type IssuedCertificate, makeCertificate } from '../../../certs/index.ts';
import { describeConfig } from '../../../harness/config/index.ts';
import { FIXTURE_NAMES } from '../../../harness/config/settings.ts';
import { CLIENT_FIXTURES, type ClientFixture } from '../../../scenarios/index.ts';
import { daysFromNow, encrypted, type Material, material, PASSPHRASE } from '../../certs/material.ts';
import { load, refusal } from './workspace.ts';

let m: Material;
let right: Record<ClientFixture, IssuedCertificate>;
let foreign: IssuedCertificate;

beforeAll(async () => {
  m = await material();
  right = {
    expired: await m.issue({ notBefore: daysFromNow(-9), notAfter: daysFromNow(-1) }),
    'not-yet-valid': await m.issue({ notBefore: daysFromNow(1), notAfter: daysFromNow(9) }),
    'wrong-purpose': await m.issue({ usages: ['serverAuth'] }),
    revoked: await m.issue({}),
    'other-subject': m.other,
  };
  const authority = await makeCertificate({ subject: 'CN=intermediate', authority: true });
  foreign = await makeCertificate({ subject: 'CN=other', issuer: authority, usages: ['clientAuth'] });
});

type Pairs = Partial<Record<ClientFixture, { cert: string | Uint8Array; key: string | Uint8Array }>>;

/**
 * Creates a configuration file with a client certificate and these fixtures. The files have the names of the fixtures.
 */
function given(pairs: Pairs, more: { yaml?: string; env?: Record<string, string>; client?: boolean } = {}) {
  const names = Object.keys(pairs);
  const lines = names.flatMap((name) => [`    ${name}:`, `      cert: ${name}.pem`, `      key: ${name}.key`]);
  return {
    yaml: [
      'url: https://partner.example/',
      ...(more.client === false ? [] : ['tls: { client-cert: client.pem, client-key: client.key }']),
      'mtls:',
      '  fixtures:',
      ...lines,
      more.yaml ?? '',
      '',
    ].join('\n'),
    files: {
      'client.pem': m.client.cert,
      'client.key': m.client.key,
      ...Object.fromEntries(
        Object.entries(pairs).flatMap(([name, { cert, key }]) => [
          [`${name}.pem`, cert],
          [`${name}.key`, key],
        ]),
      ),
    },
    ...(more.env && { env: more.env }),
  };
}

describe('mtls.fixtures', () => {
  it('has the names that the scenarios have', () => {
    expect(FIXTURE_NAMES).toEqual(CLIENT_FIXTURES);
  });

  it('are empty without an entry', async () => {
    const config = await load({});
    expect(config.clientFixtures).toEqual({});
    expect(config.sources['mtls.fixtures']).toBe('default');
  });

  it('accepts all five, and treats their keys as secrets', async () => {
    const config = await load(given(right));
    expect(config.clientFixtures).toEqual(
      Object.fromEntries(
        Object.entries(right).map(([name, { cert, key }]) => [name, { cert: withNewline(cert), key }]),
      ),
    );
    for (const { key } of Object.values(right)) expect(config.secrets).toContain(key);
    expect(config.advice.filter((line) => line.includes('fixture'))).toEqual([]);
    const shown = describeConfig(config);
    expect(shown).toContain('mtls.fixtures.expired.cert  expired.pem');
    expect(shown).not.toMatch(/mtls\.fixtures +none/);
    expect(shown).not.toContain('PRIVATE');
  });

  it('accepts DER, bundles and keys with a passphrase', async () => {
    const cert = m.intermediate.cert + right.expired.cert;
    const key = encrypted((await import('node:crypto')).createPrivateKey(right.expired.key), 'der');
    const yaml = `      passphrase: \${env:FIXTURE_PASSPHRASE}`;
    const config = await load(given({ expired: { cert, key } }, { yaml, env: { FIXTURE_PASSPHRASE: PASSPHRASE } }));
    expect(config.clientFixtures.expired).toEqual({
      cert: withNewline(right.expired.cert) + withNewline(m.intermediate.cert),
      key: right.expired.key,
    });
    expect(config.secrets).toContain(PASSPHRASE);
    expect(describeConfig(config)).toContain(
      `mtls.fixtures.expired.passphrase  [set, ${PASSPHRASE.length} characters]`,
    );
  });

  it.each<[ClientFixture, () => IssuedCertificate | Promise<IssuedCertificate>, string, string]>([
    ['expired', () => right.revoked, 'the fixture expired has not expired: it is valid until 20', 'in the past'],
    ['not-yet-valid', () => right.revoked, 'the fixture not-yet-valid is already valid: since 20', 'in the future'],
    ['wrong-purpose', () => right.revoked, 'the fixture wrong-purpose is valid for clients', 'serverAuth'],
    ['expired', () => right['not-yet-valid'], 'the certificate in the file expired.pem is not valid before', 'clock'],
    [
      'not-yet-valid',
      () => right.expired,
      'the certificate in the file not-yet-valid.pem expired on',
      'new certificate',
    ],
    ['revoked', () => right.expired, 'the certificate in the file revoked.pem expired on', 'new certificate'],
    [
      'other-subject',
      () => right['wrong-purpose'],
      'the certificate in the file other-subject.pem is for servers',
      'clientAuth',
    ],
    [
      'expired',
      () => m.issue({ notBefore: daysFromNow(-9), notAfter: daysFromNow(-1), key: 'rsa1024' }),
      'the certificate in the file expired.pem has a key that is too weak',
      '2048',
    ],
    ['revoked', () => m.client, 'the fixture revoked is the client certificate itself', 'another one'],
    ['other-subject', () => m.client, 'the fixture other-subject is the client certificate itself', 'another subject'],
    [
      'other-subject',
      () => right.revoked,
      'the fixture other-subject has the subject of the client certificate (CN=client)',
      'another subject',
    ],
  ])('%s that is something else is refused: %#', async (name, make, message, hint) => {
    const refused = await refusal(given({ [name]: await make() }));
    // A second message may report a fault that the certificate should not have.
    const [first = ''] = refused.message.split('\n').filter((line) => line.includes(message));
    expect(first, refused.message).toContain(`hookproof.yaml:6:13: mtls.fixtures.${name}.cert: ${message}`);
    expect(`${refused.message} ${refused.hint}`).toContain(hint);
  });

  it('advises on a certificate of another CA, by name and by key', async () => {
    const { advice } = await load(given({ 'other-subject': foreign }));
    expect(advice).toContainEqual(
      expect.stringContaining(
        'the fixture other-subject is issued by CN=intermediate, with another key, so an endpoint may reject',
      ),
    );
    const direct = await m.issue({ subject: 'CN=third', issuer: m.root });
    expect((await load(given({ 'other-subject': direct }))).advice).toContainEqual(
      expect.stringContaining('is issued by CN=root and not by CN=intermediate, so an endpoint may reject'),
    );
  });

  it('advises on one without a client certificate', async () => {
    const { advice } = await load(given({ revoked: right.revoked }, { client: false }));
    expect(advice).toContainEqual(expect.stringContaining('is not used: it also needs a valid client certificate'));
  });

  it.each<[string, string, string]>([
    [
      '{ cert: client.pem }',
      'hookproof.yaml:4:22: mtls.fixtures.expired.cert: the fixture expired has no key',
      'Give both',
    ],
    [
      '{ key: client.key }',
      'hookproof.yaml:4:21: mtls.fixtures.expired.key: the fixture expired has no cert',
      'Give both',
    ],
    [`{ passphrase: "\${env:PASS}" }`, 'has no cert and no key', 'Give both'],
    ['{ cert: "", key: client.key }', 'mtls.fixtures.expired.cert: is empty', 'omit it'],
    ['{ cert: none.pem, key: client.key }', 'the file none.pem does not exist', 'Give the path'],
    [
      '{ cert: client.pem, key: client.key, passphrase: secret }',
      'mtls.fixtures.expired.passphrase: a secret must not be written into this file',
      'Write ${env',
    ],
    [
      '{ certificate: client.pem }',
      'unknown key "certificate" in mtls.fixtures.expired; did you mean `cert`?',
      'Rename',
    ],
    ['client.pem', 'mtls.fixtures.expired: the value is not a group of settings', 'Indent'],
  ])('refuses expired: %s', async (value, message, hint) => {
    const { yaml, files } = given({}, { yaml: `    expired: ${value}` });
    const refused = await refusal({ yaml: yaml.replace(/^tls.*\n/m, ''), files, env: { PASS: 'x' } });
    expect(refused.message).toContain(message);
    expect(refused.hint).toContain(hint);
  });

  it.each([
    ['    expird: {}', 'unknown key "expird" in mtls.fixtures; did you mean `expired`?'],
    ['  fixture: {}', 'unknown key "fixture" in mtls; did you mean `fixtures`?'],
    ['  zzz: {}', 'unknown key "zzz" in mtls'],
  ])('knows its keys: %s', async (line, message) => {
    const yaml = line.startsWith('    ') ? `mtls:\n  fixtures:\n${line}\n` : `mtls:\n${line}\n`;
    expect((await refusal({ yaml })).message).toContain(message);
  });

  it('has its own hint for an encrypted key', async () => {
    const { createPrivateKey } = await import('node:crypto');
    const key = encrypted(createPrivateKey(right.expired.key), 'pem');
    expect(await refusal(given({ expired: { cert: right.expired.cert, key } }))).toEqual({
      code: 'CONFIG_TLS',
      message:
        'hookproof.yaml:7:12: mtls.fixtures.expired.key: ' +
        'the file expired.key is encrypted, but no passphrase is configured',
      hint: `Add \`passphrase\`, as \${env:NAME} or \${file:PATH}, next to \`cert\` and \`key\`.`,
    });
  });
});

function withNewline(pem: string): string {
  return `${pem.trimEnd()}\n`;
}
