/**
 * Puts certificates together from parts of another one, byte by byte. The library reads a name and writes it anew, which may change its
 * bytes or fail on a name that it does not know; what has to look exactly like another certificate is made here.
 */
import {
  createHash,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  type X509Certificate,
} from 'node:crypto';
import { der, derObjectIdentifier, derTime, readElement, TAG } from '../der.ts';
import { bodyOf, EXTENSION_IDS, listExtensions } from '../facts/read-certificate.ts';
import { pemOf } from '../loader/pem.ts';

const { sequence } = TAG;
/** Algorithms of signatures by the kind of the key, each with its hash. Anything else is not signed with here. */
const SIGNATURES: Readonly<Record<string, { readonly algorithm: Uint8Array; readonly hash: string | null }>> = {
  ec: { algorithm: der(sequence, derObjectIdentifier('1.2.840.10045.4.3.2')), hash: 'sha256' },
  rsa: { algorithm: der(sequence, derObjectIdentifier('1.2.840.113549.1.1.11'), der(0x05)), hash: 'sha256' },
  ed25519: { algorithm: der(sequence, derObjectIdentifier('1.3.101.112')), hash: null },
};
/** Version 3, which is counted from 0. */
const VERSION_3 = der(TAG.context0, der(TAG.integer, Uint8Array.of(2)));
const HOUR_MS = 3_600_000;
const VALID_DAYS = 7;

/** The parts of a certificate that can be copied, each as it stands there. */
export interface CertificateParts {
  readonly serial: Uint8Array;
  readonly issuer: Uint8Array;
  readonly subject: Uint8Array;
  /** By object identifier, dotted; each is the whole extension with its identifier. */
  readonly extensions: ReadonlyMap<string, Uint8Array>;
}

/** Takes a certificate apart (RFC 5280, 4.1). */
export function partsOf(certificate: X509Certificate): CertificateParts {
  const { parts, extensions } = bodyOf(certificate.raw);
  const [serial, , issuer, , subject] = parts;
  if (serial === undefined || issuer === undefined || subject === undefined) {
    throw new TypeError('it lacks a serial number or a name');
  }
  return {
    serial: serial.bytes,
    issuer: issuer.bytes,
    subject: subject.bytes,
    extensions: new Map(listExtensions(extensions).map(({ id, bytes }) => [id, bytes])),
  };
}

/** One extension from the DER of its value. */
export function extension(id: string, value: Uint8Array, critical = false): Uint8Array {
  return der(
    sequence,
    derObjectIdentifier(id),
    ...(critical ? [der(TAG.boolean, Uint8Array.of(0xff))] : []),
    der(TAG.octetString, value),
  );
}

function keyId(pair: KeyPair): Uint8Array {
  return createHash('sha1').update(pair.publicDer).digest();
}

/** The subject key identifier of a key (RFC 5280, 4.2.1.2). */
export function subjectKeyId(pair: KeyPair): Uint8Array {
  return extension(EXTENSION_IDS.subjectKeyIdentifier, der(TAG.octetString, keyId(pair)));
}

/** The authority key identifier that names a self-signed issuer by its key, its name and its serial number (RFC 5280, 4.2.1.1). */
export function authorityKeyId(pair: KeyPair, { subject, serial }: CertificateParts): Uint8Array {
  const value = der(
    sequence,
    der(0x80, keyId(pair)),
    der(0xa1, der(0xa4, subject)),
    der(0x82, readElement(serial).content),
  );
  return extension(EXTENSION_IDS.authorityKeyIdentifier, value);
}

/** A key pair. `publicDer` is the SubjectPublicKeyInfo, `pem` the private key in PKCS#8. */
export interface KeyPair {
  readonly privateKey: KeyObject;
  readonly publicDer: Uint8Array;
  readonly pem: string;
}

/** A new pair, of the kind of another key where it is one that certificates usually have, and P-256 otherwise. RSA has 2048 bits. */
export function newKeyPair(like?: KeyObject): KeyPair {
  return keyPairOf(newKeys(like).privateKey);
}

/** The pair of a private key. */
export function keyPairOf(privateKey: KeyObject): KeyPair {
  return {
    privateKey,
    publicDer: createPublicKey(privateKey).export({ format: 'der', type: 'spki' }),
    pem: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
  };
}

/** Whether a key is of a kind that certificates are signed with here. */
export function canSign({ asymmetricKeyType }: KeyObject): boolean {
  return Object.hasOwn(SIGNATURES, asymmetricKeyType ?? '');
}

function newKeys(like: KeyObject | undefined): { privateKey: KeyObject; publicKey: KeyObject } {
  switch (like?.asymmetricKeyType) {
    case 'rsa':
    case 'rsa-pss':
      return generateKeyPairSync('rsa', { modulusLength: 2048 });
    case 'ed25519':
      return generateKeyPairSync('ed25519');
    default:
      return generateKeyPairSync('ec', { namedCurve: like?.asymmetricKeyDetails?.namedCurve ?? 'prime256v1' });
  }
}

/** Positive, not zero, and new. */
export function newSerial(): Uint8Array {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x01;
  return der(TAG.integer, bytes);
}

function signatureOf({ privateKey }: KeyPair) {
  const signature = SIGNATURES[privateKey.asymmetricKeyType ?? ''];
  if (signature === undefined) throw new RangeError(`Nothing is signed with a key of ${privateKey.asymmetricKeyType}.`);
  return signature;
}

/** A certificate from exactly these parts, for the key of `pair`, signed by `signer`; valid from an hour ago for a week. As PEM. */
export function assembleCertificate(parts: CertificateParts, pair: KeyPair, signer: KeyPair): string {
  const now = Date.now();
  const extensions = [...parts.extensions.values()];
  const { algorithm, hash } = signatureOf(signer);
  const body = der(
    sequence,
    VERSION_3,
    parts.serial,
    algorithm,
    parts.issuer,
    der(sequence, derTime(new Date(now - HOUR_MS)), derTime(new Date(now + VALID_DAYS * 24 * HOUR_MS))),
    parts.subject,
    pair.publicDer,
    ...(extensions.length === 0 ? [] : [der(TAG.context3, der(sequence, ...extensions))]),
  );
  // No bit of the last byte is unused.
  const signature = der(TAG.bitString, Uint8Array.of(0), sign(hash, body, signer.privateKey));
  return pemOf('CERTIFICATE', der(sequence, body, algorithm, signature));
}
