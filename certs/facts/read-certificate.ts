/** Reads a certificate. Node provides keys and signatures; the rest is read from the bytes (RFC 5280, 4.1). */

import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import {
  type DerElement,
  readElement,
  readElements,
  readObjectId,
  readParts,
  readSmallInteger,
  readTime,
  TAG,
} from '../der.ts';
import { type DistinguishedName, readName } from './distinguished-name.ts';
import { readSignatureAlgorithm, usageName } from './key-facts.ts';

export interface ReadCertificate {
  readonly der: Uint8Array;
  /** The certificate as Node parsed it, for signatures and keys. */
  readonly x509: X509Certificate;
  /** 1 or 3. A version 1 certificate has no extensions. */
  readonly version: number;
  readonly subject: DistinguishedName;
  readonly issuer: DistinguishedName;
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** The SubjectPublicKeyInfo as DER. */
  readonly publicKeyInfo: Uint8Array;
  /** Name of the signature algorithm. See {@link readSignatureAlgorithm}. */
  readonly signature: string;
  readonly extensions: CertificateExtensions;
}

/** The parts of a certificate. `parts` starts with the serial number; `extensions` is their SEQUENCE. */
interface Body {
  readonly version: number;
  readonly parts: readonly DerElement[];
  readonly extensions: DerElement | undefined;
  readonly algorithm: DerElement | undefined;
}

/**
 * Splits a certificate into its parts.
 *
 * @throws TypeError if the bytes are not a certificate
 */
export function bodyOf(der: Uint8Array): Body {
  const certificate = readElement(der);
  if (certificate.bytes.length !== der.length) throw new TypeError('it has trailing bytes');
  const [body, algorithm] = readParts(certificate, TAG.sequence, 'the certificate');
  const all = readParts(body, TAG.sequence, 'its body');
  // A version 1 certificate does not contain its version.
  const version = all[0]?.tag === TAG.context0 ? (readElement(all[0].content).content[0] ?? 0) + 1 : 1;
  const parts = all[0]?.tag === TAG.context0 ? all.slice(1) : all;
  const extensions = parts.find(({ tag }) => tag === TAG.context3);
  return { version, parts, extensions: extensions && readElement(extensions.content), algorithm };
}

/**
 * Reads only the subject, in order to index many certificates quickly.
 *
 * @throws TypeError if the bytes are not a certificate
 */
export function readSubject(der: Uint8Array): DistinguishedName {
  return readName(bodyOf(der).parts[4], 'its subject');
}

/**
 * Reads a certificate. Pass `known` if Node has already parsed it.
 *
 * @throws TypeError with the reason ("it is cut off: ...") if the bytes are not a certificate
 */
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

/**
 * Reads a certificate, and caches the result. Returns undefined when the certificate is malformed, although OpenSSL
 * accepts it.
 */
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

/**
 * A subject alternative name. A DNS name is kept as written; an IP address is canonical, or null when it is invalid.
 */
export type AlternativeName =
  | { readonly kind: 'dns'; readonly name: string }
  | { readonly kind: 'ip'; readonly name: string | null };

/** The key usages that matter for TLS and for CAs. */
interface KeyUsage {
  readonly signsCertificates: boolean;
  /** Digital signature or key agreement. A TLS client needs one of them. */
  readonly client: boolean;
  /** Digital signature, key agreement or key encipherment. A TLS server needs one of them. */
  readonly server: boolean;
}

export interface CertificateExtensions {
  readonly basicConstraints: { readonly authority: boolean; readonly pathLength: number | null } | null;
  readonly keyUsage: KeyUsage | null;
  readonly extendedKeyUsage: readonly string[] | null;
  /** DNS names and IP addresses of the subject alternative name. Null when the extension is absent. */
  readonly alternativeNames: readonly AlternativeName[] | null;
  readonly issuerUrl: string | null;
  readonly mustStaple: boolean;
}

const CA_ISSUERS = '1.3.6.1.5.5.7.48.2';
/** Number of the TLS extension status_request. In a certificate, it requires OCSP stapling (RFC 7633). */
const STATUS_REQUEST = 5;

const latin1 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');

function basicConstraints(value: DerElement): CertificateExtensions['basicConstraints'] {
  const parts = readParts(value, TAG.sequence, 'its basic constraints');
  const authority = parts[0]?.tag === TAG.boolean && parts[0].content[0] !== 0;
  const length = parts.find(({ tag }) => tag === TAG.integer);
  return { authority, pathLength: length === undefined ? null : readSmallInteger(length, 'its path length') };
}

function keyUsage(value: DerElement): KeyUsage {
  if (value.tag !== TAG.bitString) throw new TypeError('its key usage is not a bit string');
  // Bit 0, the highest, is digitalSignature; bit 2 keyEncipherment; bit 4 keyAgreement; bit 5 keyCertSign.
  const bits = value.content[1] ?? 0;
  return { signsCertificates: (bits & 0x04) !== 0, client: (bits & 0x88) !== 0, server: (bits & 0xa8) !== 0 };
}

function alternativeNames(value: DerElement): AlternativeName[] {
  const names: AlternativeName[] = [];
  for (const { tag, content } of readParts(value, TAG.sequence, 'its subject alternative name')) {
    if (tag === 0x82) names.push({ kind: 'dns', name: latin1(content) });
    if (tag === 0x87) names.push({ kind: 'ip', name: ipFromBytes(content) });
  }
  return names;
}

function issuerUrl(value: DerElement): string | null {
  const urls: string[] = [];
  for (const description of readParts(value, TAG.sequence, 'its authority information access')) {
    const [method, location] = readElements(description.content);
    if (readObjectId(method, 'an access method') !== CA_ISSUERS || location?.tag !== 0x86) continue;
    urls.push(latin1(location.content));
  }
  return urls.find((url) => /^https?:/i.test(url)) ?? urls[0] ?? null;
}

function mustStaple(value: DerElement): boolean {
  const features = readParts(value, TAG.sequence, 'its TLS feature extension');
  return features.some((feature) => readSmallInteger(feature, 'a TLS feature') === STATUS_REQUEST);
}

/** An extension: its object identifier, all its bytes, and its value as DER. */
interface DerExtension {
  readonly id: string;
  readonly bytes: Uint8Array;
  readonly value: Uint8Array;
}

/** Returns the extensions in order. The list is empty when the certificate has none. */
export function listExtensions(sequence: DerElement | undefined): DerExtension[] {
  if (sequence === undefined) return [];
  return readParts(sequence, TAG.sequence, 'its list of extensions').map((extension) => {
    const parts = readParts(extension, TAG.sequence, 'an extension');
    const id = readObjectId(parts[0], 'the name of an extension');
    const octets = parts.at(-1);
    if (octets?.tag !== TAG.octetString) throw new TypeError(`its extension ${id} has no value`);
    return { id, bytes: extension.bytes, value: octets.content };
  });
}

/** Reads the extensions that are used here. If one occurs several times, the first counts. */
function readExtensions(extensions: readonly DerExtension[]): CertificateExtensions {
  const read = <T>(name: keyof typeof EXTENSION_IDS, reader: (value: DerElement) => T): T | null => {
    const found = extensions.find(({ id }) => id === EXTENSION_IDS[name]);
    return found === undefined ? null : reader(readElement(found.value));
  };
  return {
    basicConstraints: read('basicConstraints', basicConstraints),
    keyUsage: read('keyUsage', keyUsage),
    extendedKeyUsage: read('extendedKeyUsage', (value) =>
      readParts(value, TAG.sequence, 'its extended key usage').map((id) => usageName(readObjectId(id, 'a key usage'))),
    ),
    alternativeNames: read('subjectAlternativeName', alternativeNames),
    issuerUrl: read('authorityInformationAccess', issuerUrl),
    mustStaple: read('tlsFeature', mustStaple) ?? false,
  };
}

/** Object identifiers of the extensions that are used here (RFC 5280, 4.2; RFC 6962, 3.3; RFC 7633). */
export const EXTENSION_IDS = {
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAlternativeName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  crlDistributionPoints: '2.5.29.31',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  freshestCrl: '2.5.29.46',
  authorityInformationAccess: '1.3.6.1.5.5.7.1.1',
  tlsFeature: '1.3.6.1.5.5.7.1.24',
  signedTimestamps: '1.3.6.1.4.1.11129.2.4.2',
} as const;

/** Returns the canonical spelling of an IP address, without brackets or a zone. Returns null for any other text. */
export function canonicalIp(text: string): string | null {
  const bare = text.replace(/^\[(.*)\]$/, '$1').split('%', 1)[0] ?? '';
  const kind = isIP(bare);
  if (kind !== 6) return kind === 4 ? bare : null;
  return new URL(`http://[${bare}]`).hostname.slice(1, -1);
}

/** Returns the IP address of an iPAddress name (4 or 16 bytes). Returns null for any other length. */
function ipFromBytes(bytes: Uint8Array): string | null {
  if (bytes.length === 4) return bytes.join('.');
  if (bytes.length !== 16) return null;
  const groups = Array.from({ length: 8 }, (_, index) => {
    return (((bytes[index * 2] ?? 0) << 8) | (bytes[index * 2 + 1] ?? 0)).toString(16);
  });
  return canonicalIp(groups.join(':'));
}

/** Returns true when the key of `issuer` signed `certificate`. */
export function isSignedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  try {
    return certificate.verify(issuer.publicKey);
  } catch {
    return false;
  }
}

/** Returns true when `certificate` names `issuer` as its issuer. */
export function isNamedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  const [below, above] = [readingOf(certificate), readingOf(issuer)];
  if (below === undefined || above === undefined) return certificate.issuer === issuer.subject;
  return below.issuer.key === above.subject.key;
}

/** Returns true when the subject and the issuer have the same name. */
export function isSelfIssued(certificate: X509Certificate): boolean {
  return isNamedBy(certificate, certificate);
}

/** Returns true when a certificate is signed with its own key. */
export function isSelfSigned(certificate: X509Certificate): boolean {
  return isSelfIssued(certificate) && isSignedBy(certificate, certificate);
}

/**
 * Returns true when `issuer` signed `certificate`, and the certificate refers to the issuer by name and, if present,
 * key identifier, as OpenSSL requires. The chain analysis only follows signatures, and reports what OpenSSL rejects.
 */
export function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && isSignedBy(certificate, issuer);
}

/**
 * Explains why the certificate is not a CA. Returns null when it is one. Accepts roots of X.509 version 1, which have
 * no extensions, as OpenSSL does.
 */
export function whyNotCa({ version, extensions }: ReadCertificate, selfSigned: boolean): string | null {
  const { basicConstraints, keyUsage } = extensions;
  if (keyUsage?.signsCertificates === false) return 'its key usage does not allow signing certificates';
  if (basicConstraints !== null) return basicConstraints.authority ? null : 'its basic constraints contain CA:FALSE';
  const old = version === 1 && selfSigned;
  return old || keyUsage !== null ? null : 'it has no basic constraints with CA:TRUE';
}

/** Returns true when the certificate may issue other certificates. */
export function isCa(certificate: X509Certificate): boolean {
  const read = readingOf(certificate);
  return read === undefined ? certificate.ca : whyNotCa(read, isSelfSigned(certificate)) === null;
}

/** Returns the authority key identifier in hexadecimal, if there is one. */
export function authorityKeyId(certificate: X509Certificate): string | undefined {
  try {
    const { extensions } = bodyOf(certificate.raw);
    const found = listExtensions(extensions).find(({ id }) => id === EXTENSION_IDS.authorityKeyIdentifier);
    return found && Buffer.from(found.value).toString('hex');
  } catch {
    return undefined;
  }
}
