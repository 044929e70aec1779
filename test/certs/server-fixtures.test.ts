import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  analyseChain,
  makeCertificate,
  SERVER_FIXTURE_NAMES,
  type ServerFixtureName,
  serverFixture,
} from '../../certs/index.ts';
import { REFUSES_WEAK_KEYS } from '../setup/node-openssl.ts';
import { tlsServer, VERSIONS, verdictOnServer } from './talk.ts';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n/g;
const chainOf = (pem: string) => (pem.match(CERTIFICATE) ?? []).map((block) => new X509Certificate(block));
/** Returns the common name without the random end of a root's name. */
const commonName = (certificate: X509Certificate) =>
  /^CN=(.*?)(?:(?<=root) [0-9a-f]{6})?$/m.exec(certificate.subject)?.[1];

const INTER = 'hookproof test intermediate';
const UPPER = 'hookproof test upper intermediate';
const LOWER = 'hookproof test lower intermediate';

const WEAK_KEY = REFUSES_WEAK_KEYS ? 'UNSPECIFIED' : null;

/** The fault that the fixture states, the verdict of Node's client, and the common names after the leaf's. */
const TABLE: Record<ServerFixtureName, [fault: string | null, node: string | null, after: string[]]> = {
  p256: [null, null, [INTER]],
  direct: [null, null, []],
  rsa2048: [null, null, [INTER]],
  rsa4096: [null, null, [INTER]],
  p384: [null, null, [INTER]],
  ed25519: [null, null, [INTER]],
  'two-intermediates': [null, null, [LOWER, UPPER]],
  'no-usages': [null, null, [INTER]],
  expired: ['expired', 'CERT_HAS_EXPIRED', [INTER]],
  'not-yet-valid': ['not-yet-valid', 'CERT_NOT_YET_VALID', [INTER]],
  'expires-soon': ['expires-soon', null, [INTER]],
  'wrong-host': ['host-mismatch', 'ERR_TLS_CERT_ALTNAME_INVALID', [INTER]],
  'ip-missing': ['host-mismatch', 'ERR_TLS_CERT_ALTNAME_INVALID', [INTER]],
  // Node falls back to the common name, so only a separate analysis finds this fault.
  'cn-only': ['no-alternative-name', null, [INTER]],
  'unknown-authority': ['unknown-authority', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY', [INTER]],
  'same-names-root': ['forged-issuer', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', []],
  'issuer-not-authority': ['issuer-not-authority', 'UNSPECIFIED', ['hookproof test no authority']],
  sha1: ['weak-signature', 'UNSPECIFIED', [INTER]],
  'client-purpose': ['wrong-purpose', 'INVALID_PURPOSE', [INTER]],
  'expired-intermediate': ['expired', 'CERT_HAS_EXPIRED', ['hookproof test expired intermediate']],
  'weak-intermediate': ['weak-key', WEAK_KEY, ['hookproof test weak intermediate']],
  rsa1024: ['weak-key', WEAK_KEY, [INTER]],
  'path-too-long': [
    'path-too-long',
    'PATH_LENGTH_EXCEEDED',
    ['hookproof test intermediate too many', 'hookproof test narrow intermediate'],
  ],
  'self-signed': ['self-signed', 'DEPTH_ZERO_SELF_SIGNED_CERT', []],
  'missing-intermediate': ['missing-intermediate', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', []],
  misordered: ['misordered', null, [UPPER, LOWER]],
  duplicate: ['duplicate', null, [INTER, INTER]],
  'unrelated-extra': ['unrelated', null, [INTER, 'hookproof other root']],
  'root-sent': ['root-sent', null, [INTER, 'hookproof test root']],
};

describe('the server fixtures', () => {
  it.each(SERVER_FIXTURE_NAMES)('%s is what it says, and Node sees what can be seen by Node', async (name) => {
    const fixture = await serverFixture(name);
    const [fault, node, after] = TABLE[name];
    const [leaf, ...rest] = chainOf(fixture.cert);
    expect({ name: fixture.name, fault: fixture.fault, after: rest.map(commonName) }).toEqual({ name, fault, after });
    expect(commonName(leaf!)).toBe(name === 'wrong-host' ? 'other.example' : 'localhost');
    const level = ['sha1', 'rsa1024', 'weak-intermediate'].includes(name) ? { ciphers: 'DEFAULT@SECLEVEL=0' } : {};
    const server = await tlsServer({ cert: fixture.cert, key: fixture.key, ...level });
    try {
      for (const version of VERSIONS) {
        const { ca, host } = fixture;
        expect([version, ...(await verdictOnServer(server.port, { version, ca, host }))]).toEqual([
          version,
          node,
          node,
        ]);
      }
    } finally {
      await server.close();
    }
  });

  it.each(SERVER_FIXTURE_NAMES)('%s has its fault, and no other, by the analysis of chains', async (name) => {
    const { cert, ca, host, fault } = await serverFixture(name);
    const sent = chainOf(cert).map(({ raw }) => raw);
    const { faults } = analyseChain({ sent, exact: true, host, trusted: [ca], now: new Date(), oracle: undefined });
    expect(faults.map(({ code }) => code)).toEqual(fault === null ? [] : [fault]);
  });

  it('have the keys that they are named after, and weak ones only where that is the fault', async () => {
    const details = async (name: ServerFixtureName) =>
      chainOf((await serverFixture(name)).cert).map(({ publicKey }) => {
        const { modulusLength, namedCurve } = publicKey.asymmetricKeyDetails ?? {};
        return modulusLength ?? namedCurve ?? publicKey.asymmetricKeyType;
      });
    expect({
      p256: await details('p256'),
      p384: await details('p384'),
      ed25519: await details('ed25519'),
      rsa1024: await details('rsa1024'),
      rsa2048: await details('rsa2048'),
      rsa4096: await details('rsa4096'),
      weak: await details('weak-intermediate'),
    }).toEqual({
      p256: ['prime256v1', 'prime256v1'],
      p384: ['secp384r1', 'prime256v1'],
      ed25519: ['ed25519', 'prime256v1'],
      rsa1024: [1024, 'prime256v1'],
      rsa2048: [2048, 'prime256v1'],
      rsa4096: [4096, 'prime256v1'],
      weak: ['prime256v1', 1024],
    });
  });

  it('have a root with a name of its own in each process, so that a client can trust several', async () => {
    const [root] = chainOf((await serverFixture('p256')).ca);
    expect(root!.subject).toMatch(/^CN=hookproof test root [0-9a-f]{6}$/m);
  });

  it('hold the faults that Node does not see', async () => {
    const [cnOnly] = chainOf((await serverFixture('cn-only')).cert);
    expect([cnOnly!.subjectAltName, cnOnly!.checkHost('localhost', { subject: 'never' })]).toEqual([
      undefined,
      undefined,
    ]);
    const soon = chainOf((await serverFixture('expires-soon')).cert).map(
      ({ validTo }) => Date.parse(validTo) - Date.now(),
    );
    expect(soon.map((left) => Math.round(left / 86_400_000))).toEqual([5, 365]);
    const sibling = await serverFixture('same-names-root');
    const [leaf] = chainOf(sibling.cert);
    const [trusted] = chainOf(sibling.ca);
    expect([leaf!.issuer, leaf!.verify(trusted!.publicKey)]).toEqual([trusted!.subject, false]);
    const unknown = await serverFixture('unknown-authority');
    expect(chainOf(unknown.cert).map(({ issuer }) => issuer)).not.toContain(chainOf(unknown.ca)[0]!.subject);
  });

  it('are made once, by name', async () => {
    const [one, two] = [await serverFixture('direct'), await serverFixture('p256')];
    expect(await serverFixture('direct')).toBe(one);
    // All fixtures except the one with a separate CA trust the same root.
    expect(one.ca).toBe(two.ca);
  });

  it('would not be taken for right by a client of another root', async () => {
    const { cert, key } = await serverFixture('p256');
    const other = await makeCertificate({ subject: 'CN=not asked', authority: true });
    const server = await tlsServer({ cert, key });
    try {
      const said = await verdictOnServer(server.port, { version: 'TLSv1.3', ca: other.cert });
      expect(said).toEqual(['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY']);
    } finally {
      await server.close();
    }
  });
});
