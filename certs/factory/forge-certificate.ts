/**
 * Puts certificates together from parts of another one, byte by byte. The library reads a name and writes it anew, which may change its
 * bytes or fail on a name that it does not know; what has to look exactly like another certificate is made here.
 */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign, type X509Certificate } from 'node:crypto';
import { readElement } from '../der/read-der.ts';
import { TAG } from '../der/tags.ts';
import { der, derObjectIdentifier, derTime } from '../der/write-der.ts';
import { EXTENSION_IDS } from '../facts/extension-ids.ts';
import { bodyOf } from '../facts/read-certificate.ts';
import { listExtensions } from '../facts/read-extensions.ts';
import { pemOf } from '../loader/pem.ts';

const { sequence } = TAG;
const ECDSA_SHA256 = der(sequence, derObjectIdentifier('1.2.840.10045.4.3.2'));
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

/** A P-256 key pair. `publicDer` is the SubjectPublicKeyInfo, `pem` the private key in PKCS#8. */
export interface KeyPair {
  readonly privateKey: KeyObject;
  readonly publicDer: Uint8Array;
  readonly pem: string;
}

export function newKeyPair(): KeyPair {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  return {
    privateKey,
    publicDer: publicKey.export({ format: 'der', type: 'spki' }),
    pem: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
  };
}

/** Positive, not zero, and new. */
export function newSerial(): Uint8Array {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x01;
  return der(TAG.integer, bytes);
}

/** A certificate from exactly these parts, for the key of `pair`, signed by `signer`; valid from an hour ago for a week. As PEM. */
export function assembleCertificate(parts: CertificateParts, pair: KeyPair, signer: KeyPair): string {
  const now = Date.now();
  const extensions = [...parts.extensions.values()];
  const body = der(
    sequence,
    VERSION_3,
    parts.serial,
    ECDSA_SHA256,
    parts.issuer,
    der(sequence, derTime(new Date(now - HOUR_MS)), derTime(new Date(now + VALID_DAYS * 24 * HOUR_MS))),
    parts.subject,
    pair.publicDer,
    ...(extensions.length === 0 ? [] : [der(TAG.context3, der(sequence, ...extensions))]),
  );
  // No bit of the last byte is unused.
  const signature = der(TAG.bitString, Uint8Array.of(0), sign('sha256', body, signer.privateKey));
  return pemOf('CERTIFICATE', der(sequence, body, ECDSA_SHA256, signature));
}
