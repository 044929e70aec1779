import { X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serverFixture } from '../../certs/index.ts';
import { CLIENT_MATERIAL_NAMES, type ClientMaterialName, clientMaterial } from './client-material.ts';
import { ask, type TlsServer, tlsServer, VERSIONS } from './talk.ts';

/** The fault of each certificate, and the verdict of Node's server. */
const TABLE: Record<ClientMaterialName, [fault: string | null, node: string]> = {
  right: [null, 'authorized'],
  rsa: [null, 'authorized'],
  'no-usages': [null, 'authorized'],
  intermediate: [null, 'authorized'],
  expired: ['expired', 'CERT_HAS_EXPIRED'],
  'not-yet-valid': ['not-yet-valid', 'CERT_NOT_YET_VALID'],
  'wrong-purpose': ['wrong-purpose', 'INVALID_PURPOSE'],
  'self-signed': ['self-signed', 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  'unknown-authority': ['unknown-authority', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  'same-names': ['same-names', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  // The chain is valid: only a server that compares the name can reject it.
  'other-subject': ['other-subject', 'authorized'],
};

describe('the client materials', () => {
  let strict: TlsServer;
  let lenient: TlsServer;
  let serverCa = '';
  beforeAll(async () => {
    const [{ cert, key, ca }, { authority }] = await Promise.all([serverFixture('direct'), clientMaterial('right')]);
    serverCa = ca;
    strict = await tlsServer({ cert, key, ca: authority, requestCert: true, rejectUnauthorized: true });
    lenient = await tlsServer({ cert, key, ca: authority, requestCert: true, rejectUnauthorized: false });
  });
  afterAll(() => Promise.all([strict.close(), lenient.close()]));

  it.each(CLIENT_MATERIAL_NAMES)('%s is what it says to a Node server', async (name) => {
    const { fault, cert, key, authority } = await clientMaterial(name);
    const [expected, node] = TABLE[name];
    expect(fault).toBe(expected);
    expect(authority).toBe((await clientMaterial('right')).authority);
    for (const version of VERSIONS) {
      const options = { version, ca: serverCa, cert, key };
      const said = [version, await ask(lenient.port, options), await ask(strict.port, options)];
      expect(said).toEqual([version, node, node === 'authorized' ? node : 'refused']);
    }
  });

  it('have the names that they are meant to have', async () => {
    const leaf = async (name: ClientMaterialName) => new X509Certificate((await clientMaterial(name)).cert);
    const [right, same, other, self] = await Promise.all(
      (['right', 'same-names', 'other-subject', 'self-signed'] as const).map(leaf),
    );
    expect([same!.subject, same!.issuer]).toEqual([right!.subject, right!.issuer]);
    const authority = new X509Certificate((await clientMaterial('right')).authority);
    expect([right!, same!, other!].map((one) => one.verify(authority.publicKey))).toEqual([true, false, true]);
    expect(other!.subject).not.toBe(right!.subject);
    expect([self!.subject, self!.issuer]).toEqual([right!.subject, right!.subject]);
  });

  it('are made once', async () => {
    expect(await clientMaterial('right')).toBe(await clientMaterial('right'));
  });
});
