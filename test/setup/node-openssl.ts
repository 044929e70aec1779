/** Determines what this Node's OpenSSL rejects by loading certificates, because versions and security levels differ. */
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

/** True if clients and servers reject keys with less than 112 bits of security, such as RSA with 1024 bits. */
export const REFUSES_WEAK_KEYS = !(await loads({ key: 'rsa1024' }));
/** True if a server loads a certificate signed with SHA-1, which clients then reject. */
export const LOADS_SHA1 = await loads({ hash: 'SHA-1' });
