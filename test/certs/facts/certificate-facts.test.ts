import 'reflect-metadata';
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { rootCertificates } from 'node:tls';
import * as x509 from '@peculiar/x509';
import { describe, expect, it } from 'vitest';
import { certificateFacts, makeCertificate } from '../../../certs/index.ts';
import { EXTENSION, handmade, name, pem, SIGNATURES, validity } from '../chain/handmade.ts';

const bytesOf = (text: string) => new X509Certificate(text).raw;
const { privateKey: ec } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });

/** Reads the same facts with a library. */
function byLibrary(der: Uint8Array) {
  const certificate = new x509.X509Certificate(Uint8Array.from(der));
  const { name: algorithm, hash } = certificate.signatureAlgorithm as unknown as {
    name: string;
    hash?: string | { name: string };
  };
  const digest = (typeof hash === 'string' ? hash : (hash?.name ?? '')).replace('-', '').toLowerCase();
  const scheme = {
    'RSASSA-PKCS1-v1_5': 'rsa',
    ECDSA: 'ecdsa',
    'RSA-PSS': 'rsa-pss',
    Ed25519: 'ed25519',
    Ed448: 'ed448',
  }[algorithm];
  const basic = certificate.getExtension(x509.BasicConstraintsExtension);
  const usages = certificate.getExtension(x509.ExtendedKeyUsageExtension);
  const alternative = certificate.getExtension(x509.SubjectAlternativeNameExtension);
  return {
    signature: digest === '' ? scheme : `${scheme}-${digest}`,
    authority: basic?.ca ?? false,
    pathLength: basic?.pathLength ?? null,
    usages: usages === null ? null : usages.usages.length,
    hosts:
      alternative?.names.items.filter(({ type }) => type === 'dns' || type === 'ip').map(({ value }) => value) ?? [],
    notBefore: certificate.notBefore.toISOString(),
    notAfter: certificate.notAfter.toISOString(),
  };
}

function byUs(der: Uint8Array) {
  const { signature, authority, pathLength, usages, hosts, notBefore, notAfter } = certificateFacts(der);
  return { signature, authority, pathLength, usages: usages?.length ?? null, hosts: [...hosts], notBefore, notAfter };
}

describe('the facts of a certificate', () => {
  it('are those of the library and of Node, for every root of Node', () => {
    expect(rootCertificates.length).toBeGreaterThan(100);
    for (const root of rootCertificates) {
      const der = bytesOf(root);
      const node = new X509Certificate(root);
      expect(byUs(der)).toEqual(byLibrary(der));
      const facts = certificateFacts(der);
      expect(facts.fingerprint).toBe(node.fingerprint256.replaceAll(':', '').toLowerCase());
      expect(facts.selfIssued).toBe(true);
      expect(facts.commonName ?? undefined).toBe(node.toLegacyObject().subject.CN);
      expect(new Date(facts.notAfter)).toEqual(new Date(node.validTo));
      expect(facts.key.bits).toBe(
        node.publicKey.asymmetricKeyDetails?.modulusLength ??
          { prime256v1: 256, secp384r1: 384, secp521r1: 521 }[node.publicKey.asymmetricKeyDetails?.namedCurve ?? ''],
      );
    }
  });

  it.each([
    ['p256', 'SHA-256', undefined, 'ec', 256, 'P-256'],
    ['p384', 'SHA-384', 0, 'ec', 384, 'P-384'],
    ['p521', 'SHA-512', 3, 'ec', 521, 'P-521'],
    ['rsa1024', 'SHA-1', undefined, 'rsa', 1024, null],
    ['rsa2048', 'SHA-256', 200, 'rsa', 2048, null],
    ['ed25519', 'SHA-256', undefined, 'ed25519', null, null],
  ] as const)(
    'are those of the library for %s with %s and path length %s',
    async (key, hash, pathLength, kind, bits, curve) => {
      const { der } = await makeCertificate({
        subject: 'CN=hooks.example, O=Example',
        key,
        hash,
        authority: pathLength !== undefined,
        ...(pathLength === undefined
          ? { hosts: ['hooks.example', '*.hooks.example', '127.0.0.1', '::1'] }
          : { pathLength }),
        ...(pathLength === undefined ? { usages: ['serverAuth', 'clientAuth'] as const } : {}),
        issuerUrl: 'http://ca.example/ca.der',
      });
      expect(byUs(der)).toEqual(byLibrary(der));
      const facts = certificateFacts(der);
      expect(facts.key).toEqual({ kind, bits, curve });
      expect(facts.issuerUrl).toBe('http://ca.example/ca.der');
      expect(facts.usages).toEqual(pathLength === undefined ? ['serverAuth', 'clientAuth'] : null);
      expect([facts.subject, facts.issuer]).toEqual(['CN=hooks.example, O=Example', 'CN=hooks.example, O=Example']);
      const spki = new X509Certificate(der).publicKey.export({ type: 'spki', format: 'der' });
      const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', spki));
      expect(facts.keyFingerprint).toBe(Buffer.from(digest).toString('hex'));
    },
  );

  it.each(Object.keys(SIGNATURES) as (keyof typeof SIGNATURES)[])('name the signature %s', (signature) => {
    const key = signature.startsWith('rsa')
      ? generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey
      : signature.startsWith('dsa')
        ? generateKeyPairSync('dsa', { modulusLength: 1024, divisorLength: 160 }).privateKey
        : signature === 'ed448'
          ? generateKeyPairSync('ed448').privateKey
          : ec;
    const facts = certificateFacts(handmade({ subject: name({ CN: 'a' }), key, signature }).der);
    expect(facts.signature).toBe(signature);
    expect(facts.key.kind).toBe(
      { rsa: 'rsa', dsa: 'dsa', ed4: 'ed448', ecd: 'ec', '1.2': 'ec' }[signature.slice(0, 3)],
    );
  });

  it('say OCSP must-staple, unknown usages, a version without extensions and a curve by its own name', () => {
    const key = generateKeyPairSync('ec', { namedCurve: 'secp224r1' }).privateKey;
    const facts = certificateFacts(
      handmade({
        subject: name({ CN: 'a' }),
        key,
        extensions: [EXTENSION.mustStaple(), EXTENSION.usages('1.3.6.1.5.5.7.3.1', '1.2.840.3')],
      }).der,
    );
    expect([facts.mustStaple, facts.usages]).toEqual([true, ['serverAuth', '1.2.840.3']]);
    expect(facts.key).toEqual({ kind: 'ec', bits: 224, curve: 'secp224r1' });
    const old = certificateFacts(handmade({ subject: name({ CN: 'a' }), key: ec, extensions: null }).der);
    expect(old).toMatchObject({ authority: false, usages: null, hosts: [], mustStaple: false });
  });

  it('read names of every type of string, and show what is none as it stands', () => {
    const of = (subject: Uint8Array) => certificateFacts(handmade({ subject, key: ec }).der);
    expect(of(name({ CN: 'Zoë' })).commonName).toBe('Zoë');
    expect(of(name({ CN: 'Zoë' }, 0x14)).commonName).toBe('Zoë');
    expect(of(name({ CN: '\0Z\0o\0\xeb' }, 0x1e)).commonName).toBe('Zoë');
    expect(of(name({ CN: '\0bit' }, 0x03))).toMatchObject({ subject: 'CN=#030400626974', commonName: null });
    expect(of(name({ CN: '123' }, 0x12)).subject).toBe('CN=123');
    expect(of(name({ '1.2.3': 'a' })).subject).toBe('1.2.3=a');
    expect(of(name({})).subject).toBe('');
  });

  it('read dates before 1950, after 2049 and in both forms', () => {
    const far = validity(new Date('1949-12-31T23:59:59Z'), new Date('9999-12-31T23:59:59Z'));
    const facts = certificateFacts(handmade({ subject: name({ CN: 'a' }), key: ec, validity: far }).der);
    expect([facts.notBefore, facts.notAfter]).toEqual(['1949-12-31T23:59:59.000Z', '9999-12-31T23:59:59.000Z']);
  });

  it.each([
    ['nothing', Buffer.alloc(0), 'it is empty'],
    ['PEM', Buffer.from(pem(Buffer.from('abc'))), 'it is PEM, expected DER'],
    ['text', Buffer.from('hello, this is no certificate'), 'it is cut off'],
    ['a cut one', bytesOf(rootCertificates[0]!).subarray(0, 200), 'it is cut off'],
    [
      'one with more behind it',
      Buffer.concat([bytesOf(rootCertificates[0]!), Buffer.from('x')]),
      'it has trailing bytes',
    ],
    [
      'a wrong date',
      handmade({ subject: name({ CN: 'a' }), key: ec, validity: name({ CN: 'x' }) }).der,
      'is not a date',
    ],
    [
      'an extension that is not DER',
      handmade({
        subject: name({ CN: 'a' }),
        key: ec,
        extensions: [EXTENSION.subjectKey(Buffer.from('x')), Buffer.from('300a0603551d1304030401ff', 'hex')],
      }).der,
      'its basic constraints has an unexpected type',
    ],
  ])('say why %s is unreadable', (_, bytes, why) => {
    let error: unknown;
    try {
      certificateFacts(bytes);
    } catch (caught) {
      error = caught;
    }
    expect(error).toMatchObject({ code: 'CERTIFICATE_UNREADABLE', message: expect.stringContaining(why) });
  });
});
