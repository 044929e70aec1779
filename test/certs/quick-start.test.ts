import 'reflect-metadata';
import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get, type RequestOptions } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  AuthorityKeyIdentifierExtension,
  X509Certificate as Certificate,
  SubjectKeyIdentifierExtension,
} from '@peculiar/x509';
import { describe, expect, it } from 'vitest';
import { quickStartCertificate, readCertificates } from '../../certs/index.ts';
import { lacks } from '../setup/programs.ts';
import { tlsServer } from './talk.ts';

/** The DER of the algorithm identifier of ecdsa-with-SHA256 (1.2.840.10045.4.3.2). */
const ECDSA_SHA256 = Buffer.from('06082a8648ce3d040302', 'hex');

const request = (options: RequestOptions): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    get({ ...options, agent: false }, (response) => resolve(response.resume().statusCode)).on('error', reject);
  });

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
    // The only purpose is TLS server authentication.
    expect(leaf.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
    for (const certificate of [authority, leaf]) {
      expect(certificate.publicKey.asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' });
      // The identifier occurs in the signed part, and next to the signature.
      expect(certificate.raw.toString('latin1').split(ECDSA_SHA256.toString('latin1'))).toHaveLength(3);
      const now = Date.now();
      expect(Date.parse(certificate.validFrom)).toBeLessThan(now - 3_500_000);
      expect(Date.parse(certificate.validTo)).toBeGreaterThan(now + 6 * 86_400_000);
      expect(Date.parse(certificate.validTo)).toBeLessThan(now + 8 * 86_400_000);
    }
  });

  it('is trusted next to others: four CAs in one file, whose texts were joined', async () => {
    const all = await Promise.all(Array.from({ length: 4 }, () => quickStartCertificate()));
    const bundle = all.map(({ ca }) => ca.cert).join('');
    expect(readCertificates(Buffer.from(bundle), { file: 'all-ca.pem' }).problems).toEqual([]);
    for (const { cert, key } of all) {
      const server = await tlsServer({ cert, key });
      const answer = await request({ host: 'localhost', port: server.port, ca: bundle });
      expect(answer).toBe(200);
      await server.close();
    }
  });

  it('has key identifiers: that of the leaf names its CA', async () => {
    const { ca, cert } = await quickStartCertificate();
    const [leaf, authority] = [cert, ca.cert].map((pem) => new Certificate(pem));
    const issuer = leaf!.getExtension(AuthorityKeyIdentifierExtension)?.keyId;
    expect(issuer).toMatch(/^[0-9a-f]{40}$/);
    expect(authority!.getExtension(SubjectKeyIdentifierExtension)?.keyId).toBe(issuer);
    expect(leaf!.getExtension(SubjectKeyIdentifierExtension)?.keyId).not.toBe(issuer);
  });

  it.skipIf(lacks('openssl'))('is verified by openssl with the CA of another one in the same file', async () => {
    const [one, two] = await Promise.all([quickStartCertificate(), quickStartCertificate()]);
    const folder = mkdtempSync(join(tmpdir(), 'hookproof-quick-start-'));
    writeFileSync(join(folder, 'all-ca.pem'), `${one.ca.cert}${two.ca.cert}`);
    for (const { cert } of [one, two]) {
      const args = ['verify', '-x509_strict', '-CAfile', 'all-ca.pem'];
      expect(execFileSync('openssl', args, { cwd: folder, input: cert, encoding: 'utf8' })).toBe('stdin: OK\n');
    }
    rmSync(folder, { recursive: true });
  });

  it('is new at each call', async () => {
    const [one, two] = await Promise.all([quickStartCertificate(), quickStartCertificate()]);
    expect(one.ca.key === two.ca.key).toBe(false);
    expect(one.key === two.key).toBe(false);
    expect(new X509Certificate(one.cert).verify(new X509Certificate(two.ca.cert).publicKey)).toBe(false);
  });
});
