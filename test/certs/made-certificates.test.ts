import 'reflect-metadata';
import { SubjectKeyIdentifierExtension, X509Certificate } from '@peculiar/x509';
import { expect, it } from 'vitest';
import { makeWorkingSet, quickStartCertificate, rogueCertificates, serverFixture } from '../../certs/index.ts';
import { makeKeyPair } from '../../harness/certify/keys.ts';
import { CLIENT_MATERIAL_NAMES, clientMaterial } from './client-material.ts';

async function everyText(): Promise<string[]> {
  const options = { directory: '/certs', hosts: ['localhost'], days: 30, key: 'p256', clientName: 'partner' } as const;
  const [quickStart, { files }, fixture, ...clients] = await Promise.all([
    quickStartCertificate(),
    makeWorkingSet({ ...options, keepCaKeys: true }),
    serverFixture('two-intermediates'),
    ...CLIENT_MATERIAL_NAMES.map(clientMaterial),
  ]);
  const { privatePem, publicPem } = makeKeyPair();
  const rogues = Object.values(rogueCertificates(quickStart.cert)).flatMap(({ cert, key }) => [cert, key]);
  return [
    ...[quickStart.cert, quickStart.key, quickStart.ca.cert, quickStart.ca.key, privatePem, publicPem, ...rogues],
    ...files.filter(({ name }) => name.endsWith('.pem')).map(({ text }) => text),
    ...[fixture.cert, fixture.key, fixture.ca],
    ...clients.flatMap(({ cert, key, authority }) => [cert, key, authority]),
  ];
}

it('every certificate and key ends with a newline, so that files can be joined', async () => {
  for (const text of await everyText()) {
    expect(text).toMatch(/^(-----BEGIN [A-Z ]+-----\n[^-]+\n-----END [A-Z ]+-----\n)+$/);
  }
});

it('every certificate has a key identifier', async () => {
  const blocks = (await everyText()).flatMap(
    (text) => text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [],
  );
  expect(blocks.length).toBeGreaterThan(20);
  for (const block of blocks) {
    expect(new X509Certificate(block).getExtension(SubjectKeyIdentifierExtension)?.keyId).toMatch(/^[0-9a-f]{40}$/);
  }
});
