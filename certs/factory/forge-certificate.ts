/**
 * Assembles certificates from the parts of another certificate, byte by byte. An X.509 library would re-encode names,
 * which can change their bytes or fail.
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
/** Signature algorithms that are supported, by key type. */
const SIGNATURES: Readonly<Record<string, { readonly algorithm: Uint8Array; readonly hash: string | null }>> = {
  ec: { algorithm: der(sequence, derObjectIdentifier('1.2.840.10045.4.3.2')), hash: 'sha256' },
  rsa: { algorithm: der(sequence, derObjectIdentifier('1.2.840.113549.1.1.11'), der(0x05)), hash: 'sha256' },
  ed25519: { algorithm: der(sequence, derObjectIdentifier('1.3.101.112')), hash: null },
};
/** Version 3 of X.509, which is encoded as 2. */
const VERSION_3 = der(TAG.context0, der(TAG.integer, Uint8Array.of(2)));
const HOUR_MS = 3_600_000;
const VALID_DAYS = 7;

/** The parts of a certificate that can be copied. */
export interface CertificateParts {
  readonly serial: Uint8Array;
  readonly issuer: Uint8Array;
  readonly subject: Uint8Array;
  /** The extensions, each with all its bytes, by object identifier. */
  readonly extensions: ReadonlyMap<string, Uint8Array>;
}

/** Splits a certificate into its parts (RFC 5280, 4.1). */
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

/** Encodes an extension with this DER value. */
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

/** Returns the identifier of a key (RFC 5280, 4.2.1.2). */
export function subjectKeyId(pair: KeyPair): Uint8Array {
  return extension(EXTENSION_IDS.subjectKeyIdentifier, der(TAG.octetString, keyId(pair)));
}

/**
 * Returns the value of the authority key identifier for a self-signed issuer: key, name and serial number (RFC 5280,
 * 4.2.1.1).
 */
export function authorityKeyId(pair: KeyPair, { subject, serial }: CertificateParts): Uint8Array {
  const value = der(
    sequence,
    der(0x80, keyId(pair)),
    der(0xa1, der(0xa4, subject)),
    der(0x82, readElement(serial).content),
  );
  return extension(EXTENSION_IDS.authorityKeyIdentifier, value);
}

/** A key pair. `publicDer` is the SubjectPublicKeyInfo as DER, and `pem` is the private key as PKCS#8. */
export interface KeyPair {
  readonly privateKey: KeyObject;
  readonly publicDer: Uint8Array;
  readonly pem: string;
}

/**
 * Generates a key pair of the same type as `like` if that type is supported, otherwise P-256. RSA keys have 2048 bits.
 */
export function newKeyPair(like?: KeyObject): KeyPair {
  return keyPairOf(newKeys(like).privateKey);
}

export function keyPairOf(privateKey: KeyObject): KeyPair {
  return {
    privateKey,
    publicDer: createPublicKey(privateKey).export({ format: 'der', type: 'spki' }),
    pem: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
  };
}

/** Returns true when signing with this key type is supported. */
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

/** Returns a new serial number. It is positive, as RFC 5280 (4.1.2.2) requires. */
export function positiveSerial(): Buffer {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x01;
  return bytes;
}

export function newSerial(): Uint8Array {
  return der(TAG.integer, positiveSerial());
}

function signatureOf({ privateKey }: KeyPair) {
  const signature = SIGNATURES[privateKey.asymmetricKeyType ?? ''];
  if (signature === undefined)
    throw new RangeError(`Signing with a key of type ${privateKey.asymmetricKeyType} is not supported.`);
  return signature;
}

/**
 * Assembles a certificate from these parts, for the key of `pair`, signed by `signer` and valid for a week. Returns
 * PEM.
 */
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
  // The zero byte states that all bits of the last byte are used.
  const signature = der(TAG.bitString, Uint8Array.of(0), sign(hash, body, signer.privateKey));
  return pemOf('CERTIFICATE', der(sequence, body, algorithm, signature));
}
