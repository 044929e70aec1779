/** The public authorities, as Node knows them, by name. */
import { rootCertificates } from 'node:tls';

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
