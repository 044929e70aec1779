/** What the OpenSSL of this build of Node refuses, found by loading certificates: version and security level differ. */
import { createSecureContext } from 'node:tls';
import { makeCertificate } from '../../certs/index.ts';

const issuer = await makeCertificate({ subject: 'CN=authority', authority: true });

async function loads(more: Partial<Parameters<typeof makeCertificate>[0]>): Promise<boolean> {
  const { cert, key } = await makeCertificate({ subject: 'CN=localhost', issuer, ...more });
  try {
    createSecureContext({ cert, key });
    return true;
  } catch {
    return false;
  }
}

/** Clients and servers refuse keys of less than 112 bits of security, such as RSA with 1024 bits. */
export const REFUSES_WEAK_KEYS = !(await loads({ key: 'rsa1024' }));
/** A server loads a certificate that is signed with SHA-1, and leaves its rejection to clients. */
export const LOADS_SHA1 = await loads({ hash: 'SHA-1' });
