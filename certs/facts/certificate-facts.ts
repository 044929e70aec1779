/** What a certificate says about itself, in plain data. Specification: TLS. */
import { createHash } from 'node:crypto';
import { HookproofError } from '../../contract/index.ts';
import { type ReadCertificate, readCertificate } from './read-certificate.ts';
import { visibleText } from './visible-text.ts';

export interface KeyFacts {
  readonly kind: 'rsa' | 'ec' | 'ed25519' | 'ed448' | 'dsa' | 'other';
  /** Of the modulus, or of the curve; null when it is not known. */
  readonly bits: number | null;
  /** `P-256`, or as OpenSSL calls it (`secp256k1`); null for a key that is not elliptic. */
  readonly curve: string | null;
}

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

const CURVES: Readonly<Record<string, string>> = { prime256v1: 'P-256', secp384r1: 'P-384', secp521r1: 'P-521' };
const KINDS: Readonly<Record<string, KeyFacts['kind']>> = {
  rsa: 'rsa',
  'rsa-pss': 'rsa',
  ec: 'ec',
  ed25519: 'ed25519',
  ed448: 'ed448',
  dsa: 'dsa',
};

const TEXT_CHARACTERS = 255;
/** More names or usages than this are left out of the facts; the comparison with the host's name sees all of them. */
const HOSTS = 1000;

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Kind and size of the key. */
export function keyFactsOf({ x509 }: ReadCertificate): KeyFacts {
  try {
    const { asymmetricKeyType, asymmetricKeyDetails } = x509.publicKey;
    const kind = KINDS[asymmetricKeyType ?? ''] ?? 'other';
    const { modulusLength, namedCurve } = asymmetricKeyDetails ?? {};
    // The size of a curve is in its name: prime256v1, secp384r1, brainpoolP224r1.
    const size = modulusLength ?? /\d{3}/.exec(namedCurve ?? '')?.[0];
    const curve = namedCurve === undefined ? null : (CURVES[namedCurve] ?? namedCurve);
    return { kind, bits: size === undefined ? null : Number(size), curve };
  } catch {
    return { kind: 'other', bits: null, curve: null };
  }
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
    key: keyFactsOf(read),
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
