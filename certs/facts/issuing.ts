/** Who issued a certificate, and who may issue. RFC 5280, 4.2.1.3, 4.2.1.9 and 6.1.4. */
import type { X509Certificate } from 'node:crypto';
import { EXTENSION_IDS } from './extension-ids.ts';
import { bodyOf, type ReadCertificate, readingOf } from './read-certificate.ts';
import { listExtensions } from './read-extensions.ts';

/** Whether the key of `issuer` made the signature of `certificate`. */
export function isSignedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  try {
    return certificate.verify(issuer.publicKey);
  } catch {
    return false;
  }
}

/** Whether the name of `issuer` is that of the certificate's issuer. */
export function isNamedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  const [below, above] = [readingOf(certificate), readingOf(issuer)];
  if (below === undefined || above === undefined) return certificate.issuer === issuer.subject;
  return below.issuer.key === above.subject.key;
}

/** Whether subject and issuer are the same name. */
export function isSelfIssued(certificate: X509Certificate): boolean {
  return isNamedBy(certificate, certificate);
}

/** Whether a certificate is signed with its own key, which one of an authority may be and one of a leaf too. */
export function isSelfSigned(certificate: X509Certificate): boolean {
  return isSelfIssued(certificate) && isSignedBy(certificate, certificate);
}

/**
 * Whether one certificate is signed with the key of another and names it, by its name and by the identifier of its key, as OpenSSL
 * follows a chain. The analysis of what a server sent follows signatures alone, and then says which step OpenSSL does not take.
 */
export function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && isSignedBy(certificate, issuer);
}

/** Why the certificate may not issue others, or null when it may. OpenSSL is lenient with roots of X.509 version 1, which cannot say it. */
export function whyNoAuthority({ version, extensions }: ReadCertificate, selfSigned: boolean): string | null {
  const { basicConstraints, keyUsage } = extensions;
  if (keyUsage?.signsCertificates === false) return 'its key usage does not include the signing of certificates';
  if (basicConstraints !== null) return basicConstraints.authority ? null : 'its basic constraints say CA:FALSE';
  const old = version === 1 && selfSigned;
  return old || keyUsage !== null ? null : 'it has no basic constraints that say CA:TRUE';
}

/** Whether the certificate may issue others. */
export function isAuthority(certificate: X509Certificate): boolean {
  const read = readingOf(certificate);
  return read === undefined ? certificate.ca : whyNoAuthority(read, isSelfSigned(certificate)) === null;
}

/** The identifier of the key that signed the certificate, in hexadecimal, when the certificate has one. */
export function authorityKeyId(certificate: X509Certificate): string | undefined {
  try {
    const { extensions } = bodyOf(certificate.raw);
    const found = listExtensions(extensions).find(({ id }) => id === EXTENSION_IDS.authorityKeyIdentifier);
    return found && Buffer.from(found.value).toString('hex');
  } catch {
    return undefined;
  }
}
