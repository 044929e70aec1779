/** What a certificate says about itself, in plain data. Specification: TLS. */
import { createHash } from 'node:crypto';
import { HookproofError } from '../../contract/index.ts';
import { type KeyFacts, keyFactsOf, publicKeyOf } from './key-facts.ts';
import { type ReadCertificate, readCertificate } from './read-certificate.ts';
import { visibleText } from './visible-text.ts';

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
