/**
 * Issues certificates with @peculiar/x509. Import this module lazily, because loading the library takes a fifth of a
 * second.
 */
import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import * as x509 from '@peculiar/x509';
import { DAY_MS } from '../facts/certificate-facts.ts';
import { pemOf } from '../loader/pem.ts';
import {
  type CertificateOptions,
  type ExtendedKeyUsage,
  type IssuedCertificate,
  type KeyKind,
  keyAlgorithm,
  signingAlgorithm,
} from './certificate-options.ts';
import { positiveSerial } from './forge-certificate.ts';

x509.cryptoProvider.set(webcrypto);

/** The objects of the library that are needed for signing, by certificate. */
const PAIRS = new WeakMap<IssuedCertificate, { keys: webcrypto.CryptoKeyPair; certificate: x509.X509Certificate }>();

function pairOf(issued: IssuedCertificate) {
  const pair = PAIRS.get(issued);
  if (pair === undefined) throw new TypeError('The issuer was not created by makeCertificate.');
  return pair;
}

async function extensionsFor(
  options: CertificateOptions,
  kind: KeyKind,
  publicKey: webcrypto.CryptoKey,
  issuer: x509.X509Certificate | null,
): Promise<x509.Extension[]> {
  const { authority = false, pathLength, hosts = [], usages, issuerUrl } = options;
  const { KeyUsageFlags: Flag } = x509;
  const leafUsage = Flag.digitalSignature | (kind.startsWith('rsa') ? Flag.keyEncipherment : 0);
  const ids: Record<ExtendedKeyUsage, string> = {
    serverAuth: x509.ExtendedKeyUsage.serverAuth,
    clientAuth: x509.ExtendedKeyUsage.clientAuth,
  };
  return [
    new x509.BasicConstraintsExtension(authority, pathLength, true),
    new x509.KeyUsagesExtension(authority ? Flag.keyCertSign | Flag.cRLSign : leafUsage, true),
    ...(usages === undefined ? [] : [new x509.ExtendedKeyUsageExtension(usages.map((usage) => ids[usage]))]),
    ...(hosts.length === 0
      ? []
      : [
          new x509.SubjectAlternativeNameExtension(
            hosts.map((host) => ({ type: isIP(host) === 0 ? ('dns' as const) : ('ip' as const), value: host })),
          ),
        ]),
    await x509.SubjectKeyIdentifierExtension.create(
      publicKey as Parameters<typeof x509.SubjectKeyIdentifierExtension.create>[0],
    ),
    ...(issuer === null ? [] : [await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey)]),
    ...(issuerUrl === undefined ? [] : [new x509.AuthorityInfoAccessExtension({ caIssuers: [issuerUrl] })]),
  ];
}

/** Implements {@link makeCertificate}. */
export async function issueCertificate(options: CertificateOptions): Promise<IssuedCertificate> {
  const { issuer = null, keyOf, notBefore, notAfter, hash = 'SHA-256' } = options;
  const keyKind = keyOf?.keyKind ?? options.key ?? 'p256';
  const keys =
    keyOf === undefined
      ? ((await webcrypto.subtle.generateKey(keyAlgorithm(keyKind), true, [
          'sign',
          'verify',
        ])) as webcrypto.CryptoKeyPair)
      : pairOf(keyOf).keys;
  const signer = issuer === null ? null : pairOf(issuer);
  const subject = new x509.Name(
    typeof options.subject === 'string' ? options.subject : Uint8Array.from(options.subject),
  );
  const now = Date.now();
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: positiveSerial().toString('hex'),
    subject,
    issuer: signer?.certificate.subjectName ?? subject,
    notBefore: notBefore ?? new Date(now - DAY_MS),
    notAfter: notAfter ?? new Date(now + 365 * DAY_MS),
    // The algorithm is that of the issuer's key. An RSA CA can sign a leaf with an elliptic-curve key.
    signingAlgorithm: signingAlgorithm(issuer?.keyKind ?? keyKind, hash),
    publicKey: keys.publicKey,
    signingKey: signer?.keys.privateKey ?? keys.privateKey,
    extensions: await extensionsFor(options, keyKind, keys.publicKey, signer?.certificate ?? null),
  });
  const key = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey));
  const issued: IssuedCertificate = {
    cert: `${certificate.toString('pem')}\n`,
    key: pemOf('PRIVATE KEY', key),
    der: new Uint8Array(certificate.rawData),
    keyKind,
    issuer,
  };
  PAIRS.set(issued, { keys, certificate });
  return issued;
}
