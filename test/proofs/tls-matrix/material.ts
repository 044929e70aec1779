/**
 * What every endpoint of the matrix shares: credentials, new in every run, and the TLS versions that a server speaks.
 */
import { randomBytes, webcrypto } from 'node:crypto';
import type { SecureContextOptions } from 'node:tls';
import * as x509 from '@peculiar/x509';
import { clientMaterial, makeCertificate, type ServerFixture, serverFixture } from '../../../certs/index.ts';
import type { RunOptions } from '../../../harness/run/index.ts';
import type { Intruder } from './expected.ts';
import 'reflect-metadata';

export const SECRET = randomBytes(32).toString('hex');
export const API_KEY = randomBytes(24).toString('hex');

/** Of the right client certificate: whom it is for, and who issued it. */
export const CLIENT_NAME = 'hookproof client';
export const CLIENT_AUTHORITY = 'hookproof client authority';

/** The versions that a server speaks. */
export const SPOKEN = ['TLS 1.2 only', 'TLS 1.3 only', 'both'] as const;
export type Spoken = (typeof SPOKEN)[number];

/** For a server of Node. */
export function protocolsOf(spoken: Spoken): Pick<SecureContextOptions, 'minVersion' | 'maxVersion'> {
  return {
    minVersion: spoken === 'TLS 1.3 only' ? 'TLSv1.3' : 'TLSv1.2',
    maxVersion: spoken === 'TLS 1.2 only' ? 'TLSv1.2' : 'TLSv1.3',
  };
}

/** For nginx. */
export function nginxProtocolsOf(spoken: Spoken): string {
  const { minVersion, maxVersion } = protocolsOf(spoken);
  return `ssl_protocols ${minVersion === maxVersion ? minVersion : `${minVersion} ${maxVersion}`};`;
}

/** The certificates with which a server is put to the test. Each set is made once. */

/** Certificates as PEM. */
export interface Given {
  readonly server: ServerFixture;
  /** The right certificate, its key, and the authority that issued it. */
  readonly right: { readonly cert: string; readonly key: string; readonly authority: string };
  readonly fixtures: NonNullable<RunOptions['clientFixtures']>;
  /** What the authority has revoked. */
  readonly revocations?: string;
}

/** `rsa` is RSA for everybody, and none of the certificates that only the authority can make, which are elliptic. */
export type GivenName = 'usual' | 'rsa' | 'revoked';

/** What of it is given that a run cannot make by itself. */
export const GIVEN_WORDS: Readonly<Record<GivenName, readonly Intruder[]>> = {
  usual: ['expired', 'not yet valid', 'wrong purpose', 'other subject'],
  rsa: [],
  revoked: ['revoked'],
};

const FIXTURES = ['expired', 'not-yet-valid', 'wrong-purpose', 'other-subject'] as const;

const MAKE: Readonly<Record<GivenName, () => Promise<Given>>> = {
  async usual() {
    const fixtures = await Promise.all(FIXTURES.map(async (name) => [name, await clientMaterial(name)]));
    const [server, right] = await Promise.all([serverFixture('p256'), clientMaterial('right')]);
    return { server, right, fixtures: Object.fromEntries(fixtures) };
  },
  async rsa() {
    const [server, right] = await Promise.all([serverFixture('rsa2048'), clientMaterial('rsa')]);
    return { server, right, fixtures: {} };
  },
  async revoked() {
    const authority = await makeCertificate({ subject: 'CN=revoking authority', authority: true });
    const client = { subject: `CN=${CLIENT_NAME}`, issuer: authority, usages: ['clientAuth'] } as const;
    const [server, right, revoked] = await Promise.all([
      serverFixture('p256'),
      makeCertificate(client),
      makeCertificate(client),
    ]);
    return {
      server,
      right: { cert: right.cert, key: right.key, authority: authority.cert },
      fixtures: { revoked },
      revocations: await revocationsOf(authority, revoked.cert),
    };
  },
};

const made = new Map<GivenName, Promise<Given>>();

export function givenOf(name: GivenName): Promise<Given> {
  const given = made.get(name) ?? MAKE[name]();
  made.set(name, given);
  return given;
}

/** The list of an authority on which one certificate stands. */
async function revocationsOf(authority: { readonly cert: string; readonly key: string }, revoked: string) {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const der = Buffer.from(authority.key.replace(/-----[^-]+-----|\s/g, ''), 'base64');
  const list = await x509.X509CrlGenerator.create({
    issuer: new x509.X509Certificate(authority.cert).subject,
    entries: [{ serialNumber: new x509.X509Certificate(revoked).serialNumber }],
    signingAlgorithm: algorithm,
    signingKey: await webcrypto.subtle.importKey('pkcs8', der, algorithm, false, ['sign']),
  });
  // OpenSSL knows it by this label alone.
  return list.toString('pem').replace(/(BEGIN|END) CRL/g, '$1 X509 CRL');
}
