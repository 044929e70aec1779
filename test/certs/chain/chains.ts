/**
 * Valid and faulty chains, each with the verdict of Node's client and the faults of the analysis. A chain with faults
 * for which Node's verdict is null shows why the analysis is needed: Node accepts it.
 */
import { generateKeyPairSync } from 'node:crypto';
import { REFUSES_WEAK_KEYS } from '../../setup/node-openssl.ts';
import { type Authorities, DAY, fromNow, HOST, oddLeaf, type Sent } from './authorities.ts';
import { EXTENSION, handmade, name, validity } from './handmade.ts';

const WEAK_KEY = REFUSES_WEAK_KEYS ? 'UNSPECIFIED' : null;

type Trusted = readonly Pick<Sent, 'cert'>[];

export interface Chain {
  readonly sent: (made: Authorities) => Promise<readonly Sent[]> | readonly Sent[];
  /** The trusted certificates. Default: the test root. */
  readonly trusted?: (made: Authorities) => Trusted | Promise<Trusted>;
  readonly host?: string;
  /** Node's error code. Null if Node accepts the chain. */
  readonly node: string | null;
  /** The faults as `code@index`. */
  readonly faults: readonly string[];
}

const ec = (namedCurve = 'prime256v1') => generateKeyPairSync('ec', { namedCurve }).privateKey;
const CA = [EXTENSION.authority(), EXTENSION.keyUsage(5)];

/** Creates one of several certificates for the same CA. */
const cross = (m: Authorities, change: Partial<Parameters<typeof handmade>[0]> = {}) =>
  handmade({
    subject: name({ CN: 'Cross' }),
    issuer: name({ CN: 'Test Root R1', O: 'Test Trust' }),
    key: m.fakeInter.key,
    signer: m.root.key,
    extensions: CA,
    ...change,
  });

export const CHAINS: Readonly<Record<string, Chain>> = {
  // Valid chains.
  'leaf and intermediate': { sent: (m) => [m.leaf, m.inter], node: null, faults: [] },
  'a leaf directly under the root': { sent: async (m) => [await m.leafOf(m.root)], node: null, faults: [] },
  'RSA 2048': { sent: async (m) => [await m.leafOf(m.inter, { key: 'rsa2048' }), m.inter], node: null, faults: [] },
  'P-384': { sent: async (m) => [await m.leafOf(m.inter, { key: 'p384' }), m.inter], node: null, faults: [] },
  'P-521 signed over SHA-512': {
    sent: async (m) => [await m.leafOf(m.inter, { key: 'p521', hash: 'SHA-512' }), m.inter],
    node: null,
    faults: [],
  },
  'a leaf and a root with Ed25519': {
    sent: async (m) => [await m.leafOf(m.edRoot, { key: 'ed25519' })],
    trusted: (m) => [m.edRoot],
    node: null,
    faults: [],
  },
  'an elliptic leaf under an RSA root': {
    sent: async (m) => [await m.leafOf(m.rsaRoot)],
    trusted: (m) => [m.rsaRoot],
    node: null,
    faults: [],
  },
  'a leaf signed with RSA-PSS': {
    sent: (m) => [oddLeaf(m.rsaRoot, name({ CN: 'RSA Root' }), { key: ec(), signature: 'rsa-pss-sha256' })],
    trusted: (m) => [m.rsaRoot],
    node: null,
    faults: [],
  },
  'an empty list of extended key usages': {
    sent: async (m) => [await m.leafOf(m.inter, { usages: [] as never }), m.inter],
    node: 'INVALID_PURPOSE',
    faults: ['wrong-purpose@0'],
  },
  'no extended key usage': {
    sent: (m) => [oddLeaf(m.root, name({ CN: 'Test Root R1', O: 'Test Trust' }), { key: ec() })],
    node: null,
    faults: [],
  },
  'the name of the issuer in another type of string and in capitals': {
    sent: (m) => [oddLeaf(m.root, name({ CN: 'TEST  root r1', O: 'Test Trust ' }, 0x13), { key: ec() })],
    node: null,
    faults: [],
  },
  'a wildcard': {
    sent: async (m) => [await m.leafOf(m.inter, { hosts: ['*.hooks.example'] }), m.inter],
    host: 'a.hooks.example',
    node: null,
    faults: [],
  },
  'an IPv4 address': { sent: (m) => [m.leaf, m.inter], host: '127.0.0.1', node: null, faults: [] },
  'a root of X.509 version 1': {
    sent: (m) => [oddLeaf(m.inter, name({ CN: 'V1 Root' }), { key: ec() })],
    trusted: (m) => [handmade({ subject: name({ CN: 'V1 Root' }), key: m.inter.key, extensions: null })],
    node: null,
    faults: [],
  },
  'a self-signed leaf that is trusted': {
    sent: (m) => [m.selfSigned],
    trusted: (m) => [m.selfSigned],
    node: null,
    faults: [],
  },

  // Faults in the list of certificates. Node accepts all of them.
  'the root sent too': { sent: (m) => [m.leaf, m.inter, m.root], node: null, faults: ['root-sent@2'] },
  'an intermediate twice': { sent: (m) => [m.leaf, m.inter, m.inter], node: null, faults: ['duplicate@2'] },
  misordered: {
    sent: async (m) => [await m.leafOf(m.lowerInter), m.upperInter, m.lowerInter],
    node: null,
    faults: ['misordered@1'],
  },
  'misordered and too long': {
    sent: async (m) => [await m.leafOf(m.belowInter), m.inter, m.belowInter],
    node: 'PATH_LENGTH_EXCEEDED',
    faults: ['path-too-long@1', 'misordered@1'],
  },
  'two intermediates': {
    sent: async (m) => [await m.leafOf(m.lowerInter), m.lowerInter, m.upperInter],
    node: null,
    faults: [],
  },
  'two intermediates of which the second is missing': {
    sent: async (m) => [await m.leafOf(m.lowerInter), m.lowerInter],
    node: 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
    faults: ['missing-intermediate@1'],
  },
  'misordered, root first': {
    sent: (m) => [m.leaf, m.root, m.inter],
    node: null,
    faults: ['misordered@1', 'root-sent@1'],
  },
  'an unrelated certificate': { sent: (m) => [m.leaf, m.inter, m.wrongInter], node: null, faults: ['unrelated@2'] },

  // Trust.
  'an intermediate missing': {
    sent: (m) => [m.leaf],
    node: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    faults: ['missing-intermediate@0'],
  },
  'an intermediate missing that has an address': {
    sent: async (m) => [await m.leafOf(m.wrongInter, { issuerUrl: 'http://ca.example/ca.der' })],
    node: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    faults: ['missing-intermediate@0'],
  },
  'the intermediate of another certificate': {
    sent: async (m) => [await m.leafOf(m.wrongInter), m.inter],
    node: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    faults: ['missing-intermediate@0', 'unrelated@1'],
  },
  'an intermediate that the trust list has': {
    sent: (m) => [m.leaf],
    trusted: (m) => [m.inter, m.root],
    node: null,
    faults: ['missing-intermediate@0'],
  },
  'an intermediate trusted and not its root': {
    sent: (m) => [m.leaf, m.inter],
    trusted: (m) => [m.inter],
    node: 'UNABLE_TO_GET_ISSUER_CERT',
    faults: ['unknown-authority@1'],
  },
  'an unknown authority, leaf only': {
    sent: async (m) => [await m.leafOf(m.wrongRoot)],
    node: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    faults: ['unknown-authority@0'],
  },
  'an unknown authority with its intermediate': {
    sent: async (m) => [await m.leafOf(m.wrongInter), m.wrongInter],
    node: 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
    faults: ['unknown-authority@1'],
  },
  'an unknown authority with its root': {
    sent: async (m) => [await m.leafOf(m.wrongInter), m.wrongInter, m.wrongRoot],
    node: 'SELF_SIGNED_CERT_IN_CHAIN',
    faults: ['unknown-authority@2'],
  },
  'self-signed': { sent: (m) => [m.selfSigned], node: 'DEPTH_ZERO_SELF_SIGNED_CERT', faults: ['self-signed@0'] },
  'a forged root, leaf only': {
    sent: async (m) => [await m.leafOf(m.fakeRoot)],
    node: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    faults: ['forged-issuer@0'],
  },
  'a forged root that is sent': {
    sent: async (m) => [await m.leafOf(m.fakeRoot), m.fakeRoot],
    node: 'SELF_SIGNED_CERT_IN_CHAIN',
    faults: ['forged-issuer@1'],
  },
  'an intermediate of the same name with another key': {
    sent: (m) => [m.leaf, m.fakeInter],
    node: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    faults: ['forged-issuer@0'],
  },

  // Dates.
  'an expired leaf': {
    sent: async (m) => [await m.leafOf(m.inter, { notBefore: fromNow(-90), notAfter: fromNow(-1) }), m.inter],
    node: 'CERT_HAS_EXPIRED',
    faults: ['expired@0'],
  },
  'an expired intermediate': {
    sent: async (m) => [await m.leafOf(m.expiredInter), m.expiredInter],
    node: 'CERT_HAS_EXPIRED',
    faults: ['expired@1'],
  },
  'an expired root': {
    sent: async (m) => [await m.leafOf(m.expiredRoot)],
    trusted: (m) => [m.expiredRoot],
    node: 'CERT_HAS_EXPIRED',
    faults: ['expired@null'],
  },
  'a leaf of tomorrow': {
    sent: async (m) => [await m.leafOf(m.inter, { notBefore: fromNow(1) }), m.inter],
    node: 'CERT_NOT_YET_VALID',
    faults: ['not-yet-valid@0'],
  },
  'an intermediate of tomorrow': {
    sent: async (m) => [await m.leafOf(m.futureInter), m.futureInter],
    node: 'CERT_NOT_YET_VALID',
    faults: ['not-yet-valid@1'],
  },
  'a leaf with five days left': {
    sent: async (m) => [await m.leafOf(m.inter, { notAfter: fromNow(5) }), m.inter],
    node: null,
    faults: ['expires-soon@0'],
  },
  'an intermediate with twelve days left': {
    sent: async (m) => [await m.leafOf(m.soonInter), m.soonInter],
    node: null,
    faults: ['expires-soon@1'],
  },
  'expired and self-signed': {
    sent: async (m) => [await m.leafOf(undefined as never, { notBefore: fromNow(-9), notAfter: fromNow(-1) })],
    node: 'CERT_HAS_EXPIRED',
    faults: ['self-signed@0', 'expired@0'],
  },

  // Names.
  'another host': {
    sent: async (m) => [await m.leafOf(m.inter, { hosts: ['other.example'] }), m.inter],
    node: 'ERR_TLS_CERT_ALTNAME_INVALID',
    faults: ['host-mismatch@0'],
  },
  'an address that is not a name': {
    sent: async (m) => [await m.leafOf(m.inter, { hosts: [HOST] }), m.inter],
    host: '127.0.0.1',
    node: 'ERR_TLS_CERT_ALTNAME_INVALID',
    faults: ['host-mismatch@0'],
  },
  'a wildcard two labels up': {
    sent: async (m) => [await m.leafOf(m.inter, { hosts: ['*.example'] }), m.inter],
    host: 'a.b.example',
    node: 'ERR_TLS_CERT_ALTNAME_INVALID',
    faults: ['host-mismatch@0'],
  },
  'only a common name': {
    sent: async (m) => [await m.leafOf(m.inter, { hosts: [] }), m.inter],
    node: null,
    faults: ['no-alternative-name@0'],
  },
  'only a common name, and another': {
    sent: async (m) => [await m.leafOf(m.inter, { hosts: [], subject: 'CN=other.example' }), m.inter],
    node: 'ERR_TLS_CERT_ALTNAME_INVALID',
    faults: ['no-alternative-name@0', 'host-mismatch@0'],
  },

  // Keys and signatures.
  'a leaf with RSA 1024': {
    sent: async (m) => [await m.leafOf(m.inter, { key: 'rsa1024' }), m.inter],
    node: WEAK_KEY,
    faults: ['weak-key@0'],
  },
  'an intermediate with RSA 1024': {
    sent: async (m) => [await m.leafOf(m.weakInter), m.weakInter],
    node: WEAK_KEY,
    faults: ['weak-key@1'],
  },
  'a root with RSA 1024': {
    sent: async (m) => [await m.leafOf(m.weakRoot)],
    trusted: (m) => [m.weakRoot],
    node: WEAK_KEY,
    faults: ['weak-key@null'],
  },
  'a leaf on secp224r1': {
    sent: (m) => [oddLeaf(m.root, name({ CN: 'Test Root R1', O: 'Test Trust' }), { key: ec('secp224r1') })],
    node: 'EPROTO',
    faults: ['unexplained@null'],
  },
  'a leaf on prime192v1': {
    sent: (m) => [oddLeaf(m.root, name({ CN: 'Test Root R1', O: 'Test Trust' }), { key: ec('prime192v1') })],
    node: 'EPROTO',
    faults: ['weak-key@0'],
  },
  'a leaf signed with SHA-1': {
    sent: async (m) => [await m.leafOf(m.inter, { hash: 'SHA-1' }), m.inter],
    node: 'UNSPECIFIED',
    faults: ['weak-signature@0'],
  },
  'an intermediate signed with SHA-1': {
    sent: async (m) => [await m.leafOf(m.sha1Inter), m.sha1Inter],
    node: 'UNSPECIFIED',
    faults: ['weak-signature@1'],
  },
  'a root signed with SHA-1': {
    sent: async (m) => [await m.leafOf(m.sha1Root)],
    trusted: (m) => [m.sha1Root],
    node: null,
    faults: [],
  },
  'a leaf signed with MD5': {
    sent: (m) => [oddLeaf(m.rsaRoot, name({ CN: 'RSA Root' }), { key: ec(), signature: 'rsa-md5' })],
    trusted: (m) => [m.rsaRoot],
    node: 'UNSPECIFIED',
    faults: ['weak-signature@0'],
  },
  'a leaf signed with RSA-PSS over SHA-1': {
    sent: (m) => [oddLeaf(m.rsaRoot, name({ CN: 'RSA Root' }), { key: ec(), signature: 'rsa-pss-sha1' })],
    trusted: (m) => [m.rsaRoot],
    node: 'UNSPECIFIED',
    faults: ['weak-signature@0'],
  },

  // The permissions of CAs.
  'an issuer with CA:FALSE': {
    sent: async (m) => [await m.leafOf(m.notCa), m.notCa],
    node: 'UNSPECIFIED',
    faults: ['issuer-not-authority@1'],
  },
  'an issuer that may not sign certificates': {
    sent: (m) => {
      const middle = oddLeaf(m.root, name({ CN: 'Test Root R1', O: 'Test Trust' }), {
        subject: name({ CN: 'No Sign' }),
        key: ec(),
        extensions: [EXTENSION.authority(), EXTENSION.keyUsage(0)],
      });
      return [oddLeaf(middle, name({ CN: 'No Sign' }), { key: ec() }), middle];
    },
    node: 'UNSPECIFIED',
    faults: ['issuer-not-authority@1'],
  },
  'a path that is too long': {
    sent: async (m) => [await m.leafOf(m.belowInter), m.belowInter, m.inter],
    node: 'PATH_LENGTH_EXCEEDED',
    faults: ['path-too-long@2'],
  },
  'a certificate for clients': {
    sent: async (m) => [await m.leafOf(m.inter, { usages: ['clientAuth'] }), m.inter],
    node: 'INVALID_PURPOSE',
    faults: ['wrong-purpose@0'],
  },
  'an intermediate for clients': {
    sent: async (m) => [await m.leafOf(m.clientInter), m.clientInter],
    node: 'INVALID_PURPOSE',
    faults: ['wrong-purpose@1'],
  },
  'a certificate for any purpose': {
    sent: (m) => [
      oddLeaf(m.root, name({ CN: 'Test Root R1', O: 'Test Trust' }), {
        key: ec(),
        extensions: [EXTENSION.hosts(HOST), EXTENSION.usages('2.5.29.37.0')],
      }),
    ],
    node: 'INVALID_PURPOSE',
    faults: ['wrong-purpose@0'],
  },
  'a CA as the server': {
    sent: async (m) => [await m.leafOf(m.inter, { authority: true }), m.inter],
    node: 'INVALID_PURPOSE',
    faults: ['wrong-purpose@0'],
  },

  // Two paths.
  'two cross-certificates, one up to a trusted root that has expired': {
    sent: (m) => {
      const [good, old] = [cross(m), cross(m, { issuer: name({ CN: 'Old Root' }), signer: m.expiredRoot.key })];
      return [oddLeaf(m.fakeInter, name({ CN: 'Cross' }), { key: ec() }), old, good];
    },
    trusted: (m) => [m.root, m.expiredRoot],
    node: 'CERT_HAS_EXPIRED',
    faults: ['unexplained@null'],
  },
  'an expired cross-certificate next to a valid one': {
    sent: (m) => {
      const past = validity(new Date(Date.now() - 90 * DAY), new Date(Date.now() - DAY));
      const [good, old] = [cross(m), cross(m, { validity: past })];
      return [oddLeaf(m.fakeInter, name({ CN: 'Cross' }), { key: ec() }), old, good];
    },
    node: null,
    faults: [],
  },
  'a root cross-signed by an old one that has expired': {
    // Many servers sent this chain in 2021. The path to the trusted root counts, not the one to the expired root.
    sent: async (m) => [
      m.leaf,
      m.inter,
      handmade({
        subject: name({ CN: 'Test Root R1', O: 'Test Trust' }),
        issuer: name({ CN: 'Old Root' }),
        key: m.root.key,
        signer: m.expiredRoot.key,
        extensions: CA,
      }),
    ],
    trusted: (m) => [m.root, m.expiredRoot],
    node: null,
    faults: [],
  },

  // Faults that only OpenSSL detects.
  'a signature by an unknown algorithm': {
    sent: (m) => [oddLeaf(m.root, name({ CN: 'Test Root R1', O: 'Test Trust' }), { key: ec(), signature: '1.2.3.4' })],
    node: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    faults: ['unexplained@0'],
  },
  'names that a CA may not certify': {
    sent: (m) => {
      const middle = handmade({
        subject: name({ CN: 'Constrained' }),
        issuer: name({ CN: 'Test Root R1', O: 'Test Trust' }),
        key: ec(),
        signer: m.root.key,
        extensions: [...CA, EXTENSION.permittedNames('elsewhere.example')],
      });
      return [oddLeaf(middle, name({ CN: 'Constrained' }), { key: ec() }), middle];
    },
    node: 'UNSPECIFIED',
    faults: ['unexplained@null'],
  },
  'a key identifier of the issuer that is not its own': {
    sent: (m) => {
      const middle = handmade({
        subject: name({ CN: 'Renamed' }),
        issuer: name({ CN: 'Test Root R1', O: 'Test Trust' }),
        key: ec(),
        signer: m.root.key,
        extensions: [...CA, EXTENSION.subjectKey(Buffer.from('one'))],
      });
      const extensions = [EXTENSION.hosts(HOST), EXTENSION.authorityKey(Buffer.from('two'))];
      return [oddLeaf(middle, name({ CN: 'Renamed' }), { key: ec(), extensions }), middle];
    },
    node: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    faults: ['unexplained@null'],
  },
  'a leaf with the name of its CA': {
    sent: (m) => [oddLeaf(m.inter, name({ CN: HOST }), { key: ec() })],
    trusted: (m) => [handmade({ subject: name({ CN: HOST }), key: m.inter.key, extensions: CA })],
    node: 'DEPTH_ZERO_SELF_SIGNED_CERT',
    faults: ['unexplained@null'],
  },
};
