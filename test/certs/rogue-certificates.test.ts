import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { der, derCommonName, derObjectIdentifier, TAG } from '../../certs/der.ts';
import * as forge from '../../certs/factory/forge-certificate.ts';
import { EXTENSION_IDS } from '../../certs/facts/read-certificate.ts';
import {
  type IssuedCertificate,
  issuedByClient,
  makeCertificate,
  ROGUE_CERTIFICATES,
  rogueCertificates,
  serverFixture,
} from '../../certs/index.ts';
import { clientMaterial } from './client-material.ts';
import { pem } from './material.ts';
import { ask, type TlsServer, tlsServer, VERSIONS } from './talk.ts';

const { partsOf } = forge;
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n/g;
const chainOf = (pem: string) => (pem.match(CERTIFICATE) ?? []).map((block) => new X509Certificate(block));

/** A careless server, which accepts any certificate with the expected names. */
function namesOnly(right: X509Certificate) {
  return (socket: TLSSocket) => {
    const given = socket.getPeerX509Certificate();
    const same = given?.issuer === right.issuer && given.subject === right.subject;
    return same ? 'accepted' : 'rejected';
  };
}

/** Creates a CA and a client whose certificates have no key identifiers. */
async function bareAuthority() {
  const { newKeyPair, newSerial, assembleCertificate } = forge;
  const [signer, pair] = [newKeyPair(), newKeyPair()];
  const issuer = derCommonName('bare authority');
  const like = await makeCertificate({ subject: 'CN=x', authority: true });
  const extensions = new Map(
    [...partsOf(new X509Certificate(like.cert)).extensions].filter(([id]) => id !== EXTENSION_IDS.subjectKeyIdentifier),
  );
  const client = { serial: newSerial(), issuer, subject: derCommonName('bare client'), extensions: new Map() };
  const authority = { serial: newSerial(), issuer, subject: issuer, extensions };
  return {
    authority: assembleCertificate(authority, signer, signer),
    client: { cert: assembleCertificate(client, pair, signer), key: pair.pem },
  };
}

describe('rogue certificates', () => {
  const servers: TlsServer[] = [];
  let authority: IssuedCertificate;
  let partner: IssuedCertificate;
  let base: { cert: string; key: string };
  let serverCa = '';
  beforeAll(async () => {
    const { cert, key, ca } = await serverFixture('direct');
    [base, serverCa] = [{ cert, key }, ca];
    authority = await makeCertificate({ subject: 'CN=Partner CA, O="Acme, Inc", C=DE', authority: true });
    partner = await makeCertificate({
      subject: 'CN=partner, OU=webhooks, O="Acme, Inc"',
      issuer: authority,
      hosts: ['client.partner.example', '192.0.2.7'],
      usages: ['clientAuth', 'serverAuth'],
      issuerUrl: 'http://ca.partner.example/ca.cer',
      notAfter: new Date(Date.now() + 86_400_000),
    });
  });
  afterAll(() => Promise.all(servers.map((server) => server.close())));
  const server = async (ca: string, rejectUnauthorized: boolean, judge?: (socket: TLSSocket) => string) => {
    const made = await tlsServer({ ...base, ca, requestCert: true, rejectUnauthorized }, judge);
    servers.push(made);
    return made.port;
  };
  /**
   * Returns the server's answer to the partner and to each rogue, by name. It must be the same with each TLS version.
   */
  const table = async (port: number, right: { cert: string; key: string }) => {
    const rogues = rogueCertificates(right.cert);
    const versions = await Promise.all(
      VERSIONS.map(async (version) => {
        const said: [string, string][] = [];
        for (const [name, given] of [
          ['right', right] as const,
          ...ROGUE_CERTIFICATES.map((n) => [n, rogues[n]] as const),
        ]) {
          said.push([name, await ask(port, { version, ca: serverCa, cert: given.cert, key: given.key })]);
        }
        return Object.fromEntries(said);
      }),
    );
    expect(versions[0]).toEqual(versions[1]);
    return versions[0];
  };

  it('are refused by a server that requires a right certificate, which takes the right one', async () => {
    expect(await table(await server(authority.cert, true), partner)).toEqual({
      right: 'authorized',
      'self-signed': 'refused',
      'unknown-authority': 'refused',
      'same-names': 'refused',
    });
  });

  it('are not authorised by a server that only asks', async () => {
    expect(await table(await server(authority.cert, false), partner)).toEqual({
      right: 'authorized',
      'self-signed': 'DEPTH_ZERO_SELF_SIGNED_CERT',
      'unknown-authority': 'SELF_SIGNED_CERT_IN_CHAIN',
      'same-names': 'SELF_SIGNED_CERT_IN_CHAIN',
    });
  });

  it('are taken by a server that checks nothing', async () => {
    // A forgery that makes OpenSSL try the key of the partner's CA would break the connection by accident.
    const port = await server(authority.cert, false, () => 'accepted');
    const all = {
      right: 'accepted',
      'self-signed': 'accepted',
      'unknown-authority': 'accepted',
      'same-names': 'accepted',
    };
    expect(await table(port, partner)).toEqual(all);
  });

  it('of the same names are taken by a server that compares names, and the others are not', async () => {
    const port = await server(authority.cert, false, namesOnly(new X509Certificate(partner.cert)));
    expect(await table(port, partner)).toEqual({
      right: 'accepted',
      'self-signed': 'rejected',
      'unknown-authority': 'rejected',
      'same-names': 'accepted',
    });
  });

  it('are refused, and by nothing else than a check, for a partner of another kind', async () => {
    const bare = await bareAuthority();
    const [self, expired, below] = await Promise.all([
      makeCertificate({ subject: 'CN=own', usages: ['clientAuth'] }),
      clientMaterial('expired'),
      clientMaterial('intermediate'),
    ]);
    for (const [partner, ca] of [
      [self, self.cert],
      [expired, expired.authority],
      [below, below.authority],
      [bare.client, bare.authority],
    ] as const) {
      const right = partner === expired ? 'refused' : 'authorized';
      expect(await table(await server(ca, true), partner)).toEqual({
        right,
        'self-signed': 'refused',
        'unknown-authority': 'refused',
        'same-names': 'refused',
      });
      expect(await table(await server(ca, false, () => 'accepted'), partner)).toEqual({
        right: 'accepted',
        'self-signed': 'accepted',
        'unknown-authority': 'accepted',
        'same-names': 'accepted',
      });
    }
  });

  it.each(['rsa2048', 'p384', 'ed25519', 'p256'] as const)(
    'that a client has signed verify with its key and are refused all the same: %s',
    async (key) => {
      const right = await makeCertificate({ subject: 'CN=partner', issuer: authority, usages: ['clientAuth'], key });
      const rogue = issuedByClient(right.cert, right);
      const [leaf, issuer] = chainOf(rogue.cert);
      expect(issuer!.fingerprint256).toBe(new X509Certificate(right.cert).fingerprint256);
      expect([leaf!.issuer, leaf!.subject]).toEqual(['CN=partner', 'CN=partner\nOU=signed by a client']);
      expect(leaf!.verify(issuer!.publicKey)).toBe(true);
      const offered = { ca: serverCa, ...rogue };
      const strict = await server(authority.cert, true);
      const open = await server(authority.cert, false, ({ authorized }) => String(authorized));
      for (const version of VERSIONS) {
        expect(await ask(strict, { version, ...offered })).toBe('refused');
        expect(await ask(open, { version, ...offered })).toBe('false');
      }
    },
  );

  it('cannot be signed without the key of the client', () => {
    expect(() => issuedByClient(partner.cert, { key: 'no key' })).toThrowError(
      expect.objectContaining({ code: 'ROGUE_UNREADABLE' }),
    );
  });

  it.each(['rsa2048', 'p384', 'ed25519', 'p256'] as const)(
    'have a key of the kind of the partner, or a server that takes no other would never see them: %s',
    async (key) => {
      const right = await makeCertificate({ subject: 'CN=partner', issuer: authority, usages: ['clientAuth'], key });
      const kind = ({ publicKey: { asymmetricKeyType, asymmetricKeyDetails } }: X509Certificate) => [
        asymmetricKeyType,
        asymmetricKeyDetails?.namedCurve ?? asymmetricKeyDetails?.modulusLength,
      ];
      const rogues = rogueCertificates(right.cert);
      for (const name of ROGUE_CERTIFICATES) {
        const [leaf, issuer = leaf] = chainOf(rogues[name].cert);
        expect(kind(leaf!)).toEqual(kind(new X509Certificate(right.cert)));
        expect(leaf!.verify(issuer!.publicKey)).toBe(true);
      }
      expect(await table(await server(authority.cert, false, () => 'accepted'), right)).toEqual({
        right: 'accepted',
        'self-signed': 'accepted',
        'unknown-authority': 'accepted',
        'same-names': 'accepted',
      });
    },
  );

  it('copy what is public, byte by byte, and have different keys', () => {
    const of = partsOf(new X509Certificate(partner.cert));
    const rogues = rogueCertificates(partner.cert);
    const [same, forged] = chainOf(rogues['same-names'].cert);
    const copied = partsOf(same!);
    expect([copied.issuer, copied.subject, copied.serial]).toEqual([of.issuer, of.subject, of.serial]);
    expect(partsOf(forged!).subject).toEqual(of.issuer);
    expect([forged!.ca, same!.ca, same!.verify(forged!.publicKey)]).toEqual([true, false, true]);
    expect(same!.checkIssued(forged!)).toBe(true);
    expect([same!.subjectAltName, same!.keyUsage]).toEqual([
      'DNS:client.partner.example, IP Address:192.0.2.7',
      new X509Certificate(partner.cert).keyUsage,
    ]);
    // A forgery does not refer to the partner's CA.
    expect([new X509Certificate(partner.cert).infoAccess === undefined, same!.infoAccess]).toEqual([false, undefined]);

    const [self, nothing] = chainOf(rogues['self-signed'].cert);
    expect([partsOf(self!).subject, partsOf(self!).issuer, nothing]).toEqual([of.subject, of.subject, undefined]);
    expect([self!.verify(self!.publicKey), self!.subjectAltName]).toEqual([true, same!.subjectAltName]);

    const [unknown, unknownAuthority] = chainOf(rogues['unknown-authority'].cert);
    expect(unknown!.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
    expect([unknown!.subject, unknownAuthority!.subject]).toEqual([
      'CN=hookproof unknown client',
      'CN=hookproof unknown authority',
    ]);

    for (const name of ROGUE_CERTIFICATES) {
      const { cert, key } = rogues[name];
      const [leaf] = chainOf(cert);
      expect(leaf!.checkPrivateKey(createPrivateKey(key))).toBe(true);
      expect(leaf!.verify(new X509Certificate(authority.cert).publicKey)).toBe(false);
      expect([Date.parse(leaf!.validFrom) < Date.now(), Date.parse(leaf!.validTo) > Date.now()]).toEqual([true, true]);
    }
    expect(new Set(ROGUE_CERTIFICATES.map((name) => rogues[name].key)).size).toBe(3);
  });

  it('are made of certificates with odd names and with no extensions', async () => {
    // A T61String, an unknown attribute, two values in one set, and an empty value, which no library needs to support.
    const oid = derObjectIdentifier;
    const attribute = (id: string, tag: number, text: string) =>
      der(TAG.sequence, oid(id), der(tag, Buffer.from(text)));
    const odd = der(
      TAG.sequence,
      der(TAG.set, attribute('2.5.4.3', 0x14, 'M\xfcller \\, "x"')),
      der(TAG.set, attribute('1.3.6.1.4.1.99999.1.2', 0x16, 'a@b'), attribute('2.5.4.11', 0x0c, '')),
    );
    const plain = partsOf(new X509Certificate((await makeCertificate({ subject: 'CN=x' })).cert));
    const keys = forge.newKeyPair();
    for (const extensions of [plain.extensions, new Map<string, Uint8Array>()]) {
      const of = forge.assembleCertificate({ ...plain, subject: odd, issuer: odd, extensions }, keys, keys);
      const [leaf, forged] = chainOf(rogueCertificates(of)['same-names'].cert);
      expect([partsOf(leaf!).subject, partsOf(leaf!).issuer, partsOf(forged!).subject]).toEqual(
        [odd, odd, odd].map((n) => Buffer.from(n)),
      );
      expect(leaf!.verify(forged!.publicKey)).toBe(true);
    }
  });

  it.each([
    ['a key', pem('PRIVATE KEY', Buffer.from('AAAA', 'base64'))],
    ['nothing', ''],
  ])('cannot be made of %s, and say so', (_, of) => {
    expect(() => rogueCertificates(of)).toThrowError(expect.objectContaining({ code: 'ROGUE_UNREADABLE' }));
  });
});
