/**
 * Material that the servers of the matrix share: credentials, which are generated for each run, TLS versions and
 * certificates.
 */
import 'reflect-metadata';
import { randomBytes, webcrypto } from 'node:crypto';
import type { SecureContextOptions } from 'node:tls';
import * as x509 from '@peculiar/x509';
import { makeCertificate, type ServerFixture, serverFixture } from '../../../certs/index.ts';
import type { RunOptions } from '../../../harness/run/index.ts';
import { clientMaterial } from '../../certs/client-material.ts';
import type { InvalidClient } from './expected.ts';

export const SECRET = randomBytes(32).toString('hex');
export const API_KEY = randomBytes(24).toString('hex');

/** Subject and issuer of the valid client certificate. */
export const CLIENT_NAME = 'hookproof client';
export const CLIENT_CA = 'hookproof client authority';

/** The TLS versions that a server supports. */
export const TLS_VERSIONS = ['TLS 1.2 only', 'TLS 1.3 only', 'both'] as const;
export type TlsVersions = (typeof TLS_VERSIONS)[number];

/** Returns the TLS versions as options of a Node server. */
export function protocolsOf(tlsVersions: TlsVersions): Pick<SecureContextOptions, 'minVersion' | 'maxVersion'> {
  return {
    minVersion: tlsVersions === 'TLS 1.3 only' ? 'TLSv1.3' : 'TLSv1.2',
    maxVersion: tlsVersions === 'TLS 1.2 only' ? 'TLSv1.2' : 'TLSv1.3',
  };
}

/** Returns the TLS versions as a directive of nginx. */
export function nginxProtocolsOf(tlsVersions: TlsVersions): string {
  const { minVersion, maxVersion } = protocolsOf(tlsVersions);
  return `ssl_protocols ${minVersion === maxVersion ? minVersion : `${minVersion} ${maxVersion}`};`;
}

/** The certificates of a server and its clients, in PEM. */
export interface CertificateSet {
  readonly server: ServerFixture;
  /** The valid client certificate, and the CA that issued it. */
  readonly client: { readonly cert: string; readonly key: string; readonly ca: string };
  readonly fixtures: NonNullable<RunOptions['clientFixtures']>;
  /** The revocation list of that CA. */
  readonly revocations?: string;
}

/** `rsa` has only RSA certificates, and therefore none of the fixtures, which use elliptic curves. */
export type CertificateSetName = 'usual' | 'rsa' | 'revoked';

/** The fixtures of each set. A run cannot create them itself. */
export const FIXTURES_IN: Readonly<Record<CertificateSetName, readonly InvalidClient[]>> = {
  usual: ['expired', 'not yet valid', 'wrong purpose', 'other subject'],
  rsa: [],
  revoked: ['revoked'],
};

const FIXTURES = ['expired', 'not-yet-valid', 'wrong-purpose', 'other-subject'] as const;

const MAKE: Readonly<Record<CertificateSetName, () => Promise<CertificateSet>>> = {
  async usual() {
    const fixtures = await Promise.all(FIXTURES.map(async (name) => [name, await clientMaterial(name)]));
    const [server, client] = await Promise.all([serverFixture('p256'), validClient('right')]);
    return { server, client, fixtures: Object.fromEntries(fixtures) };
  },
  async rsa() {
    const [server, client] = await Promise.all([serverFixture('rsa2048'), validClient('rsa')]);
    return { server, client, fixtures: {} };
  },
  async revoked() {
    const ca = await makeCertificate({ subject: 'CN=revoking authority', authority: true });
    const request = { subject: `CN=${CLIENT_NAME}`, issuer: ca, usages: ['clientAuth'] } as const;
    const [server, valid, revoked] = await Promise.all([
      serverFixture('p256'),
      makeCertificate(request),
      makeCertificate(request),
    ]);
    return {
      server,
      client: { cert: valid.cert, key: valid.key, ca: ca.cert },
      fixtures: { revoked },
      revocations: await revocationList(ca, revoked.cert),
    };
  },
};

async function validClient(name: 'right' | 'rsa'): Promise<CertificateSet['client']> {
  const { cert, key, authority } = await clientMaterial(name);
  return { cert, key, ca: authority };
}

const made = new Map<CertificateSetName, Promise<CertificateSet>>();

/** Returns a set of certificates. Each set is created once. */
export function certificateSet(name: CertificateSetName): Promise<CertificateSet> {
  const set = made.get(name) ?? MAKE[name]();
  made.set(name, set);
  return set;
}

/** Creates the revocation list of a CA with one revoked certificate. */
async function revocationList(ca: { readonly cert: string; readonly key: string }, revoked: string) {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const der = Buffer.from(ca.key.replace(/-----[^-]+-----|\s/g, ''), 'base64');
  const list = await x509.X509CrlGenerator.create({
    issuer: new x509.X509Certificate(ca.cert).subject,
    entries: [{ serialNumber: new x509.X509Certificate(revoked).serialNumber }],
    signingAlgorithm: algorithm,
    signingKey: await webcrypto.subtle.importKey('pkcs8', der, algorithm, false, ['sign']),
  });
  // OpenSSL accepts only this label.
  return list.toString('pem').replace(/(BEGIN|END) CRL/g, '$1 X509 CRL');
}
