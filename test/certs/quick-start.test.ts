import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { quickStartCertificate } from '../../certs/index.ts';

/** The DER of the algorithm identifier of ecdsa-with-SHA256 (1.2.840.10045.4.3.2). */
const ECDSA_SHA256 = Buffer.from('06082a8648ce3d040302', 'hex');

describe('the quick-start certificate', () => {
  it('is a P-256 authority and a leaf for this machine, signed with SHA-256, valid now and not for long', async () => {
    const { ca, cert } = await quickStartCertificate();
    const authority = new X509Certificate(ca.cert);
    const leaf = new X509Certificate(cert);

    expect([authority.ca, leaf.ca]).toEqual([true, false]);
    expect([authority.verify(authority.publicKey), leaf.verify(authority.publicKey)]).toEqual([true, true]);
    expect(leaf.checkIssued(authority)).toBe(true);
    expect(leaf.subjectAltName).toBe('DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1');
    expect([leaf.checkHost('localhost'), leaf.checkHost('example.com')]).toEqual(['localhost', undefined]);
    // TLS server authentication, and nothing else.
    expect(leaf.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
    for (const certificate of [authority, leaf]) {
      expect(certificate.publicKey.asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' });
      // In the signed body, and next to the signature.
      expect(certificate.raw.toString('latin1').split(ECDSA_SHA256.toString('latin1'))).toHaveLength(3);
      const now = Date.now();
      expect(Date.parse(certificate.validFrom)).toBeLessThan(now - 3_500_000);
      expect(Date.parse(certificate.validTo)).toBeGreaterThan(now + 6 * 86_400_000);
      expect(Date.parse(certificate.validTo)).toBeLessThan(now + 8 * 86_400_000);
    }
  });

  it('is new at each call', async () => {
    const [one, two] = await Promise.all([quickStartCertificate(), quickStartCertificate()]);
    expect(one.ca.key === two.ca.key).toBe(false);
    expect(one.key === two.key).toBe(false);
    expect(new X509Certificate(one.cert).verify(new X509Certificate(two.ca.cert).publicKey)).toBe(false);
  });
});
