/** The certificates of the tests, created once for each test file. */
import { createPrivateKey } from 'node:crypto';
import {
  analyseChain,
  type CertificateOptions,
  type ChainAnalysis,
  chainLines,
  makeCertificate,
} from '../../../certs/index.ts';
import { EXTENSION, handmade, name } from './handmade.ts';

export const HOST = 'hooks.example';
export const DAY = 86_400_000;
export const fromNow = (days: number) => new Date(Date.now() + days * DAY);

/** A certificate of a chain. Only the leaf needs `key`. */
export interface Sent {
  readonly der: Uint8Array;
  readonly cert: string;
  readonly key: string;
}

const SERVER = { subject: `CN=${HOST}`, hosts: [HOST, '127.0.0.1', '::1'], usages: ['serverAuth'] } as const;

export async function makeAuthorities() {
  const authority = (options: CertificateOptions) => makeCertificate({ authority: true, ...options });
  const root = await authority({ subject: 'CN=Test Root R1, O=Test Trust' });
  const rsaRoot = await authority({ subject: 'CN=RSA Root', key: 'rsa2048' });
  const inter = await authority({ subject: 'CN=Test CA 1, O=Test Trust', issuer: root, pathLength: 0 });
  const wrongRoot = await authority({ subject: 'CN=Wrong Root, O=Unknown' });
  const wrongInter = await authority({ subject: 'CN=Wrong CA, O=Unknown', issuer: wrongRoot });
  const fakeRoot = await authority({ subject: 'CN=Test Root R1, O=Test Trust' });
  const fakeInter = await authority({ subject: 'CN=Test CA 1, O=Test Trust', issuer: root });
  const notCa = await makeCertificate({ subject: 'CN=Not A CA', issuer: root });
  const expiredInter = await authority({
    subject: 'CN=Old CA',
    issuer: root,
    notBefore: fromNow(-90),
    notAfter: fromNow(-3),
  });
  const futureInter = await authority({ subject: 'CN=Coming CA', issuer: root, notBefore: fromNow(5) });
  const soonInter = await authority({ subject: 'CN=Going CA', issuer: root, notAfter: fromNow(12.5) });
  const weakInter = await authority({ subject: 'CN=Weak CA', issuer: root, key: 'rsa1024' });
  const sha1Inter = await authority({ subject: 'CN=SHA-1 CA', issuer: root, hash: 'SHA-1' });
  const clientInter = await authority({ subject: 'CN=Client CA', issuer: root, usages: ['clientAuth'] });
  const belowInter = await authority({ subject: 'CN=Too Deep CA', issuer: inter });
  const upperInter = await authority({ subject: 'CN=Upper CA, O=Test Trust', issuer: root });
  const lowerInter = await authority({ subject: 'CN=Lower CA, O=Test Trust', issuer: upperInter });
  const weakRoot = await authority({ subject: 'CN=Weak Root', key: 'rsa1024' });
  const expiredRoot = await authority({ subject: 'CN=Old Root', notBefore: fromNow(-90), notAfter: fromNow(-2) });
  const edRoot = await authority({ subject: 'CN=Ed Root', key: 'ed25519' });
  const sha1Root = await authority({ subject: 'CN=SHA-1 Root', hash: 'SHA-1' });
  const leafOf = (issuer: typeof root, options: Partial<CertificateOptions> = {}) =>
    makeCertificate({ ...SERVER, issuer, ...options });
  return {
    root,
    rsaRoot,
    inter,
    wrongRoot,
    wrongInter,
    fakeRoot,
    fakeInter,
    notCa,
    expiredInter,
    futureInter,
    soonInter,
    weakInter,
    sha1Inter,
    clientInter,
    belowInter,
    upperInter,
    lowerInter,
    weakRoot,
    expiredRoot,
    edRoot,
    sha1Root,
    leafOf,
    leaf: await leafOf(inter),
    selfSigned: await makeCertificate({ ...SERVER }),
  };
}

export type Authorities = Awaited<ReturnType<typeof makeAuthorities>>;

/** Creates a server certificate by hand, directly under `issuer`. */
export function oddLeaf(
  issuer: { readonly key: string },
  issuerName: Uint8Array,
  options: Partial<Parameters<typeof handmade>[0]> & { key: Parameters<typeof handmade>[0]['key'] },
): Sent {
  return handmade({
    subject: name({ CN: HOST }),
    issuer: issuerName,
    signer: createPrivateKey(issuer.key),
    extensions: [EXTENSION.hosts(HOST)],
    ...options,
  });
}

export interface Circumstances {
  readonly trusted?: readonly Pick<Sent, 'cert'>[];
  readonly host?: string;
  readonly exact?: boolean;
  readonly now?: Date;
  readonly oracle?: string | null | undefined;
}

export function analyse(sent: readonly Pick<Sent, 'der'>[], circumstances: Circumstances = {}): ChainAnalysis {
  const { trusted = [], host = HOST, exact = true, now = new Date(), oracle } = circumstances;
  return analyseChain({
    sent: sent.map(({ der }) => der),
    trusted: trusted.map(({ cert }) => cert),
    host,
    exact,
    now,
    oracle,
  });
}

/** Returns the faults as `expired@0`, in the order in which they were found. */
export function codes({ faults }: ChainAnalysis): string[] {
  return faults.map(({ code, at }) => `${code}@${at}`);
}

export function drawChain(analysis: ChainAnalysis, options: { readonly ascii?: boolean } = {}): string[] {
  return chainLines(analysis, options).map(({ lead, text }) => lead + text);
}
