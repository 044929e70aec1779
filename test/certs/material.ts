/** Valid and faulty certificates and keys for the tests of the loader, created once per process. */
import 'reflect-metadata';
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import { type IssuedCertificate, makeCertificate } from '../../certs/index.ts';

export const PASSPHRASE = 'open sesame, please';
const DAY = 86_400_000;

export interface Material {
  readonly root: IssuedCertificate;
  readonly intermediate: IssuedCertificate;
  /** A valid client certificate, issued by the intermediate. */
  readonly client: IssuedCertificate;
  readonly rsa: IssuedCertificate;
  readonly other: IssuedCertificate;
  readonly ec: KeyObject;
  readonly rsaKey: KeyObject;
  readonly request: string;
  readonly revocationList: string;
  readonly pkcs7: Buffer;
  issue(options: Partial<Parameters<typeof makeCertificate>[0]>): Promise<IssuedCertificate>;
}

let made: Promise<Material> | undefined;

export function material(): Promise<Material> {
  made ??= make();
  return made;
}

async function make(): Promise<Material> {
  const root = await makeCertificate({ subject: 'CN=root', authority: true });
  const intermediate = await makeCertificate({ subject: 'CN=intermediate', issuer: root, authority: true });
  const issue: Material['issue'] = (options) =>
    makeCertificate({ subject: 'CN=client', issuer: intermediate, usages: ['clientAuth'], ...options });
  const [client, rsa, other] = [await issue({}), await issue({ key: 'rsa2048' }), await issue({ subject: 'CN=other' })];
  x509.cryptoProvider.set(webcrypto);
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: 'CN=client',
    keys: keys as Parameters<typeof x509.Pkcs10CertificateRequestGenerator.create>[0]['keys'],
    signingAlgorithm: algorithm,
  });
  const revocationList = await x509.X509CrlGenerator.create({
    issuer: 'CN=root',
    signingAlgorithm: algorithm,
    signingKey: (keys as Parameters<typeof x509.Pkcs10CertificateRequestGenerator.create>[0]['keys']).privateKey,
  });
  const bundle = new x509.X509Certificates([new x509.X509Certificate(client.cert)]);
  return {
    root,
    intermediate,
    client,
    rsa,
    other,
    ec: createPrivateKey(client.key),
    rsaKey: createPrivateKey(rsa.key),
    request: `${request.toString('pem')}\n`,
    revocationList: `${revocationList.toString('pem')}\n`,
    pkcs7: Buffer.from(bundle.export('raw')),
    issue,
  };
}

export const daysFromNow = (days: number) => new Date(Date.now() + days * DAY);

/** Joined from two parts, so that a search for private keys does not find this line. */
export const BEGIN_PRIVATE_KEY = ['-----BEGIN', 'PRIVATE KEY-----'].join(' ');

export function pem(label: string, der: Uint8Array): string {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n');
}

/** Encodes a DER element. */
export function der(tag: number, ...content: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(content);
  const size = body.length < 128 ? [body.length] : [0x82, body.length >> 8, body.length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), body]);
}

/** Creates the outline of a PFX file: version 3, and a data container. */
export function pfx(): Buffer {
  const data = der(0x06, Buffer.from('2a864886f70d010701', 'hex'));
  return der(0x30, der(0x02, Buffer.from([3])), der(0x30, data, der(0xa0, der(0x04, Buffer.alloc(300, 7)))));
}

/** Creates the beginning of a key in OpenSSH format, which is enough to recognise it. */
export function openSsh(): string {
  return pem('OPENSSH PRIVATE KEY', Buffer.concat([Buffer.from('openssh-key-v1\0none'), Buffer.alloc(120, 5)]));
}

export function encrypted(key: KeyObject, format: 'pem' | 'der', type: 'pkcs8' | 'pkcs1' | 'sec1' = 'pkcs8'): Buffer {
  const locked = { cipher: 'aes-256-cbc', passphrase: PASSPHRASE };
  return Buffer.from(
    format === 'der'
      ? key.export({ format, type: 'pkcs8', ...locked })
      : key.export({ format, type: type as 'pkcs8', ...locked }),
  );
}

export function publicPem(key: KeyObject): string {
  return createPublicKey(key).export({ format: 'pem', type: 'spki' }).toString();
}

export function dsaKey(): string {
  const { privateKey } = generateKeyPairSync('dsa', { modulusLength: 2048, divisorLength: 256 });
  return privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
}
