/** The contents of a certificate as plain data: names, dates, purposes. Specification: TLS. */

import { createHash, type X509Certificate } from 'node:crypto';
import { rootCertificates } from 'node:tls';
import { EXPIRY_WARNING_DAYS, HookproofError } from '../../contract/index.ts';
import type { DistinguishedName } from './distinguished-name.ts';
import { type KeyFacts, keyFactsOf, publicKeyOf } from './key-facts.ts';
import { type CertificateExtensions, type ReadCertificate, readCertificate, readingOf } from './read-certificate.ts';
import { visibleText } from './wording.ts';

/**
 * Facts about a certificate. All texts are safe to print: control characters are escaped, and long texts are truncated.
 */
export interface CertificateFacts {
  /** Subject on one line, in the order of the certificate: `C=US, O=Example, CN=hooks.example`. */
  readonly subject: string;
  readonly issuer: string;
  /** DNS names and IP addresses of the subject alternative name. */
  readonly hosts: readonly string[];
  readonly commonName: string | null;
  /** Start and end of the validity, as ISO 8601. */
  readonly notBefore: string;
  readonly notAfter: string;
  readonly key: KeyFacts;
  /** Signature algorithm: `ecdsa-sha256`, `rsa-sha1`, `rsa-pss-sha256`, `ed25519`, or the object identifier. */
  readonly signature: string;
  /** True when the basic constraints contain CA:TRUE. */
  readonly authority: boolean;
  /** Maximum number of CAs between this certificate and a leaf. Null for no limit. */
  readonly pathLength: number | null;
  /** Extended key usages by name, or by object identifier; null if the extension is absent, which allows all. */
  readonly usages: readonly string[] | null;
  /** SHA-256 of the certificate, in lower-case hexadecimal. */
  readonly fingerprint: string;
  /** SHA-256 of the SubjectPublicKeyInfo. */
  readonly keyFingerprint: string;
  /** URL of the issuer's certificate. */
  readonly issuerUrl: string | null;
  /** True when subject and issuer have the same name. The certificate need not be self-signed. */
  readonly selfIssued: boolean;
  /** True when the server must staple an OCSP response (RFC 7633). */
  readonly mustStaple: boolean;
}

const TEXT_CHARACTERS = 255;
/** Maximum number of names and of usages in the facts. The check of the host uses all names. */
const MAX_ENTRIES = 1000;

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

export function hostsOf({ extensions }: ReadCertificate): string[] {
  const names = (extensions.alternativeNames ?? []).slice(0, MAX_ENTRIES);
  return names.map(({ name }) => visibleText(name ?? '(no address)', TEXT_CHARACTERS));
}

export function factsOf(read: ReadCertificate): CertificateFacts {
  const { subject, issuer, extensions } = read;
  const optional = (text: string | null) => (text === null ? null : visibleText(text, TEXT_CHARACTERS));
  return {
    subject: subject.text,
    issuer: issuer.text,
    hosts: hostsOf(read),
    commonName: optional(subject.commonName),
    notBefore: read.notBefore.toISOString(),
    notAfter: read.notAfter.toISOString(),
    key: keyFactsOf(publicKeyOf(read.x509)),
    signature: read.signature,
    authority: extensions.basicConstraints?.authority ?? false,
    pathLength: extensions.basicConstraints?.pathLength ?? null,
    usages: extensions.extendedKeyUsage?.slice(0, MAX_ENTRIES) ?? null,
    fingerprint: sha256(read.der),
    keyFingerprint: sha256(read.publicKeyInfo),
    issuerUrl: optional(extensions.issuerUrl),
    selfIssued: subject.key === issuer.key,
    mustStaple: extensions.mustStaple,
  };
}

/**
 * Reads the facts of one certificate, given as DER.
 *
 * @throws HookproofError CERTIFICATE_UNREADABLE
 */
export function certificateFacts(der: Uint8Array): CertificateFacts {
  try {
    return factsOf(readCertificate(der));
  } catch (cause) {
    throw new HookproofError(
      'CERTIFICATE_UNREADABLE',
      `The certificate cannot be read: ${whyUnreadable(der, cause)}.`,
      { hint: 'Give an X.509 certificate in DER; convert PEM with `openssl x509 -in cert.pem -outform der`.', cause },
    );
  }
}

/** Explains why {@link readCertificate} rejected the bytes. The text continues a sentence. */
export function whyUnreadable(der: Uint8Array, error: unknown): string {
  if (der.length === 0) return 'it is empty';
  if (Buffer.from(der.subarray(0, 11)).toString('latin1') === '-----BEGIN ') return 'it is PEM, expected DER';
  return error instanceof TypeError ? error.message : 'it is not a certificate';
}

interface Validity {
  readonly notBefore: Date;
  /** Last moment at which the certificate is valid. */
  readonly notAfter: Date;
}

export const DAY_MS = 86_400_000;

type ValidityState = 'expired' | 'not-yet-valid' | 'expires-soon' | 'valid';

/** Returns the validity as Node parses it, which works for every certificate that Node can load. */
export function validityOf({ validFrom, validTo }: X509Certificate): Validity {
  return { notBefore: new Date(validFrom), notAfter: new Date(validTo) };
}

export function validityAt({ notBefore, notAfter }: Validity, now: Date): ValidityState {
  if (now > notAfter) return 'expired';
  if (now < notBefore) return 'not-yet-valid';
  return daysBetween(now, notAfter) < EXPIRY_WARNING_DAYS ? 'expires-soon' : 'valid';
}

/** Returns true when the certificate is valid at this time. */
export function isInForce(certificate: X509Certificate, now: Date): boolean {
  const state = validityAt(validityOf(certificate), now);
  return state === 'valid' || state === 'expires-soon';
}

/** Returns the number of days from one time to another, rounded down. Negative when `to` is earlier. */
export function daysBetween(from: Date, to: Date): number {
  return Math.floor((to.getTime() - from.getTime()) / DAY_MS);
}

export type Purpose = 'client' | 'server';

/** The extended key usage that each purpose requires (RFC 5280, 4.2.1.12), and a word for its users. */
export const PURPOSES = {
  client: { usage: 'clientAuth', users: 'clients' },
  server: { usage: 'serverAuth', users: 'servers' },
} as const;

/**
 * Returns why OpenSSL rejects the certificate for this purpose, or null when it accepts it. A certificate without these
 * extensions is valid for every purpose.
 *
 * - `other-purpose`: the extended key usage does not include the purpose.
 * - `any-purpose`: the extended key usage is "any", which OpenSSL and public CAs do not accept for clients or servers.
 * - `no-signing`: the key usage does not allow what TLS requires of a leaf.
 */
export function purposeFault(
  purpose: Purpose,
  { extendedKeyUsage, keyUsage }: Pick<CertificateExtensions, 'extendedKeyUsage' | 'keyUsage'>,
): 'other-purpose' | 'any-purpose' | 'no-signing' | null {
  if (extendedKeyUsage !== null && !extendedKeyUsage.includes(PURPOSES[purpose].usage)) {
    return extendedKeyUsage.includes('anyExtendedKeyUsage') ? 'any-purpose' : 'other-purpose';
  }
  return keyUsage === null || keyUsage[purpose] ? null : 'no-signing';
}

let publicRoots: readonly Buffer[] | undefined;

/** Minimum size of a name in bytes. An empty name has two bytes, which occur everywhere. */
const MIN_NAME_BYTES = 3;

/**
 * Returns true when a name (DER, including tag and length) belongs to one of Node's built-in roots. To avoid parsing
 * the roots, their bytes are searched for the bytes of the name. They are decoded on first use.
 */
export function isPublicAuthority(name: Uint8Array): boolean {
  if (name.length < MIN_NAME_BYTES) return false;
  publicRoots ??= rootCertificates.map((pem) => Buffer.from(pem.replace(/-----[^-]+-----|\s/g, ''), 'base64'));
  const bytes = Buffer.from(name);
  return publicRoots.some((root) => root.includes(bytes));
}

const NAME_CHARACTERS = 100;

function nameText(name: DistinguishedName | undefined): string {
  if (name === undefined) return 'with a name that cannot be read';
  return name.text === '' ? 'without a name' : visibleText(name.text, NAME_CHARACTERS);
}

/** Returns the subject on one line, truncated and safe to print. */
export function subjectInWords(certificate: X509Certificate): string {
  return nameText(readingOf(certificate)?.subject);
}

/** Returns the issuer on one line, truncated and safe to print. */
export function issuerInWords(certificate: X509Certificate): string {
  return nameText(readingOf(certificate)?.issuer);
}
