import { X509Certificate } from 'node:crypto';
import { rootCertificates } from 'node:tls';
import { expect, it } from 'vitest';
import { derCommonName } from '../../certs/der.ts';
import { partsOf } from '../../certs/factory/forge-certificate.ts';
import { isPublicAuthority } from '../../certs/index.ts';

it('knows every public root by its name, and no other', () => {
  const names = rootCertificates.map((pem) => partsOf(new X509Certificate(pem)).subject);
  expect(names.length).toBeGreaterThan(100);
  expect(names.every(isPublicAuthority)).toBe(true);
  expect(isPublicAuthority(derCommonName('private CA'))).toBe(false);
  expect(isPublicAuthority(new Uint8Array())).toBe(false);
});
