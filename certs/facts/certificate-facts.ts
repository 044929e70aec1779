/** What a certificate says about itself, in plain data. Specification: TLS. */
import { createHash, type X509Certificate } from 'node:crypto';
import { rootCertificates } from 'node:tls';
import { EXPIRY_WARNING_DAYS, HookproofError } from '../../contract/index.ts';
import type { DistinguishedName } from './distinguished-name.ts';
import { type KeyFacts, keyFactsOf, publicKeyOf } from './key-facts.ts';
import { type CertificateExtensions, type ReadCertificate, readCertificate, readingOf } from './read-certificate.ts';
import { visibleText } from './wording.ts';

/** Every text is safe to print: control characters are escaped, and what is very long is cut. */
export interface CertificateFacts {
  /** In one line, in the order of the certificate: `C=US, O=Example, CN=hooks.example`. */
  readonly subject: string;
  readonly issuer: string;
  /** DNS names and addresses of the subject alternative name. */
  readonly hosts: readonly string[];
  readonly commonName: string | null;
  /** ISO 8601. */
  readonly notBefore: string;
  readonly notAfter: string;
  readonly key: KeyFacts;
  /** `ecdsa-sha256`, `rsa-sha1`, `rsa-pss-sha256`, `ed25519`, or the object identifier. */
  readonly signature: string;
  /** The basic constraints say CA:TRUE. */
  readonly authority: boolean;
  /** How many authorities may stand below it; null for no limit. */
  readonly pathLength: number | null;
  /** Extended key usages by name, or by object identifier; null when the extension is absent, which allows all. */
  readonly usages: readonly string[] | null;
  /** SHA-256 of the certificate, lower-case hexadecimal. */
  readonly fingerprint: string;
  /** SHA-256 of its SubjectPublicKeyInfo. */
  readonly keyFingerprint: string;
  /** Where the issuer's certificate can be had. */
  readonly issuerUrl: string | null;
  /** Subject and issuer are the same name. Whether it is self-signed is another question. */
  readonly selfIssued: boolean;
  /** The server has to staple an OCSP answer (RFC 7633). */
  readonly mustStaple: boolean;
}

const TEXT_CHARACTERS = 255;
/** More names or usages than this are left out of the facts; the comparison with the host's name sees all of them. */
const HOSTS = 1000;

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

export function hostsOf({ extensions }: ReadCertificate): string[] {
  const names = (extensions.alternativeNames ?? []).slice(0, HOSTS);
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
    usages: extensions.extendedKeyUsage?.slice(0, HOSTS) ?? null,
    fingerprint: sha256(read.der),
    keyFingerprint: sha256(read.publicKeyInfo),
    issuerUrl: optional(extensions.issuerUrl),
    selfIssued: subject.key === issuer.key,
    mustStaple: extensions.mustStaple,
  };
}

/**
 * Reads one certificate in DER. Throws a {@link HookproofError} with the code `CERTIFICATE_UNREADABLE` for what is no certificate.
 */
export function certificateFacts(der: Uint8Array): CertificateFacts {
  try {
    return factsOf(readCertificate(der));
  } catch (cause) {
    throw new HookproofError(
      'CERTIFICATE_UNREADABLE',
      `The certificate cannot be read: ${whyUnreadable(der, cause)}.`,
      {
        hint: 'Give one X.509 certificate in DER, for example from `openssl x509 -in cert.pem -outform der`.',
        cause,
      },
    );
  }
}

/** What is wrong with bytes that {@link readCertificate} refused, as the end of a sentence. */
export function whyUnreadable(der: Uint8Array, error: unknown): string {
  if (der.length === 0) return 'it is empty';
  if (Buffer.from(der.subarray(0, 11)).toString('latin1') === '-----BEGIN ') return 'it is PEM where DER is expected';
  return error instanceof TypeError ? error.message : 'it is no certificate';
}

/** When a certificate is valid. RFC 5280, 4.1.2.5. */

interface Validity {
  readonly notBefore: Date;
  /** The last moment at which it is valid. */
  readonly notAfter: Date;
}

export const DAY_MS = 86_400_000;

type ValidityState = 'expired' | 'not-yet-valid' | 'expires-soon' | 'valid';

/** From Node, which knows it of every certificate that it can read. */
export function validityOf({ validFrom, validTo }: X509Certificate): Validity {
  return { notBefore: new Date(validFrom), notAfter: new Date(validTo) };
}

export function validityAt({ notBefore, notAfter }: Validity, now: Date): ValidityState {
  if (now > notAfter) return 'expired';
  if (now < notBefore) return 'not-yet-valid';
  return daysBetween(now, notAfter) < EXPIRY_WARNING_DAYS ? 'expires-soon' : 'valid';
}

/** Whether a certificate may be used at that moment. */
export function isInForce(certificate: X509Certificate, now: Date): boolean {
  const state = validityAt(validityOf(certificate), now);
  return state === 'valid' || state === 'expires-soon';
}

/** Whole days, rounded down; negative when `to` comes first. */
export function daysBetween(from: Date, to: Date): number {
  return Math.floor((to.getTime() - from.getTime()) / DAY_MS);
}

/** What a certificate may be used for, by its key usage and its extended key usage. RFC 5280, 4.2.1.3 and 4.2.1.12. */

export type Purpose = 'client' | 'server';

/** The extended key usage that each needs, and who uses it. */
export const PURPOSES = {
  client: { usage: 'clientAuth', users: 'clients' },
  server: { usage: 'serverAuth', users: 'servers' },
} as const;

/**
 * Why OpenSSL refuses the purpose, or null when it does not; a certificate without the extensions is good for everything.
 *
 * - `other-purpose`: its usages name something else;
 * - `any-purpose`: its usages name "any", which does not stand for clients or servers with OpenSSL and with public authorities;
 * - `no-signing`: its key may not do what TLS needs. Only a leaf has to be able to.
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

/** The public authorities, as Node knows them, by name. */

let roots: readonly Buffer[] | undefined;

/** A name without any part has two bytes, and stands anywhere. */
const LEAST_BYTES = 3;

/**
 * Whether a name (DER, with its tag and length) is that of a root that every client trusts. The roots are decoded when it is first asked, and not
 * read: a name stands in a certificate byte by byte.
 */
export function isPublicAuthority(name: Uint8Array): boolean {
  if (name.length < LEAST_BYTES) return false;
  roots ??= rootCertificates.map((pem) => Buffer.from(pem.replace(/-----[^-]+-----|\s/g, ''), 'base64'));
  const bytes = Buffer.from(name);
  return roots.some((root) => root.includes(bytes));
}

const CHARACTERS = 100;

function inWords(name: DistinguishedName | undefined): string {
  if (name === undefined) return 'with a name that cannot be read';
  return name.text === '' ? 'without a name' : visibleText(name.text, CHARACTERS);
}

/** The subject in one line that is safe to print and not longer than a message can bear. */
export function subjectInWords(certificate: X509Certificate): string {
  return inWords(readingOf(certificate)?.subject);
}

/** The issuer, as {@link subjectInWords}. */
export function issuerInWords(certificate: X509Certificate): string {
  return inWords(readingOf(certificate)?.issuer);
}
