/** Reads a certificate: by its bytes what Node does not tell, and by Node what needs cryptography. RFC 5280, 4.1. */
import { X509Certificate } from 'node:crypto';
import { type DerElement, readElement, readParts, readTime } from '../der/read-der.ts';
import { TAG } from '../der/tags.ts';
import { type DistinguishedName, readName } from './distinguished-name.ts';
import { readSignatureAlgorithm } from './object-ids.ts';
import { type CertificateExtensions, listExtensions, readExtensions } from './read-extensions.ts';

export interface ReadCertificate {
  readonly der: Uint8Array;
  /** For signatures and keys. */
  readonly x509: X509Certificate;
  /** 1 or 3; a certificate of version 1 has no extensions. */
  readonly version: number;
  readonly subject: DistinguishedName;
  readonly issuer: DistinguishedName;
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** The DER of the SubjectPublicKeyInfo. */
  readonly publicKeyInfo: Uint8Array;
  /** As {@link readSignatureAlgorithm} names it. */
  readonly signature: string;
  readonly extensions: CertificateExtensions;
}

/** A certificate taken apart. `parts` are those of its body from the serial number on, `extensions` the SEQUENCE of them. */
interface Body {
  readonly version: number;
  readonly parts: readonly DerElement[];
  readonly extensions: DerElement | undefined;
  readonly algorithm: DerElement | undefined;
}

/** Throws a TypeError for what is no certificate. */
export function bodyOf(der: Uint8Array): Body {
  const whole = readElement(der);
  if (whole.bytes.length !== der.length) throw new TypeError('bytes follow after its end');
  const [body, algorithm] = readParts(whole, TAG.sequence, 'the certificate');
  const all = readParts(body, TAG.sequence, 'its body');
  // A certificate of version 1 does not say its version.
  const version = all[0]?.tag === TAG.context0 ? (readElement(all[0].content).content[0] ?? 0) + 1 : 1;
  const parts = all[0]?.tag === TAG.context0 ? all.slice(1) : all;
  const extensions = parts.find(({ tag }) => tag === TAG.context3);
  return { version, parts, extensions: extensions && readElement(extensions.content), algorithm };
}

/** Only the subject: what an index of many certificates needs. Throws a TypeError for what is no certificate. */
export function readSubject(der: Uint8Array): DistinguishedName {
  return readName(bodyOf(der).parts[4], 'its subject');
}

/** Throws an error whose message begins with what is wrong ("it is cut off: ...") for what is no certificate. */
export function readCertificate(der: Uint8Array, known?: X509Certificate): ReadCertificate {
  const { version, parts, extensions, algorithm } = bodyOf(der);
  const [, , issuer, validity, subject, key] = parts;
  const [notBefore, notAfter] = readParts(validity, TAG.sequence, 'its validity');
  const read = {
    der,
    version,
    subject: readName(subject, 'its subject'),
    issuer: readName(issuer, 'its issuer'),
    notBefore: readTime(notBefore, 'the date from which it is valid'),
    notAfter: readTime(notAfter, 'the date until which it is valid'),
    publicKeyInfo: (key ?? readElement(new Uint8Array())).bytes,
    signature: readSignatureAlgorithm(algorithm),
    extensions: readExtensions(listExtensions(extensions)),
  };
  return { ...read, x509: known ?? loadCertificate(der) };
}

function loadCertificate(der: Uint8Array): X509Certificate {
  try {
    return new X509Certificate(der);
  } catch (cause) {
    throw new TypeError('OpenSSL cannot read it', { cause });
  }
}

const READINGS = new WeakMap<X509Certificate, ReadCertificate | null>();

/** What Node does not tell of a certificate, read once. undefined for one that OpenSSL takes although it is not as it should be. */
export function readingOf(certificate: X509Certificate): ReadCertificate | undefined {
  let reading = READINGS.get(certificate);
  if (reading === undefined) {
    try {
      reading = readCertificate(certificate.raw, certificate);
    } catch {
      reading = null;
    }
    READINGS.set(certificate, reading);
  }
  return reading ?? undefined;
}
