/** The public authorities, as Node knows them, by name. */
import { X509Certificate } from 'node:crypto';
import { rootCertificates } from 'node:tls';
import { bodyOf } from './read-certificate.ts';

let names: ReadonlySet<string> | undefined;

function nameOf(der: Uint8Array): string {
  return Buffer.from(der).toString('base64');
}

/** Whether a name (DER) is that of a root that every client trusts. The roots are read when it is first asked. */
export function isPublicAuthority(name: Uint8Array): boolean {
  names ??= new Set(
    rootCertificates.map((pem) => nameOf(bodyOf(new X509Certificate(pem).raw).parts[4]?.bytes ?? new Uint8Array())),
  );
  return names.has(nameOf(name));
}
