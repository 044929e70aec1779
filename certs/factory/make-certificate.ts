/** Creates certificates at run time for tests, demos and probes. Not for production. Specification: TLS. */

import { randomBytes } from 'node:crypto';
import type { CertificateOptions, IssuedCertificate } from './certificate-options.ts';

/**
 * Creates a certificate, valid or faulty depending on the options, and a key unless one is given. Generating an
 * elliptic-curve key takes a few milliseconds, and an RSA key takes a tenth of a second or more.
 */
export async function makeCertificate(options: CertificateOptions): Promise<IssuedCertificate> {
  // Loading the library takes a fifth of a second.
  const { issueCertificate } = await import('./issue-certificate.ts');
  return issueCertificate(options);
}

/** A certificate and its private key, both as PEM. */
export interface KeyedCertificate {
  readonly cert: string;
  readonly key: string;
}

/** A server certificate for localhost, 127.0.0.1 and ::1, and the CA that issued it. */
export interface QuickStartCertificate extends KeyedCertificate {
  /** The CA. Clients must trust `cert`; `key` can issue more certificates. */
  readonly ca: KeyedCertificate;
}

const VALID_MS = 7 * 24 * 3_600_000;
const HOUR_MS = 3_600_000;

/**
 * Creates a new certificate and a new CA in memory. Keys are P-256, signatures use SHA-256, and the validity is one
 * week, starting an hour ago because clocks differ. Each CA has its own name and key identifier, so that a client can
 * trust several. Takes 10 to 50 milliseconds.
 */
export async function quickStartCertificate(): Promise<QuickStartCertificate> {
  const validity = { notBefore: new Date(Date.now() - HOUR_MS), notAfter: new Date(Date.now() + VALID_MS) };
  const subject = `CN=hookproof quick-start CA ${randomBytes(3).toString('hex')}`;
  const ca = await makeCertificate({ subject, authority: true, pathLength: 0, ...validity });
  const hosts = ['localhost', '127.0.0.1', '::1'];
  const leaf = await makeCertificate({
    subject: 'CN=localhost',
    issuer: ca,
    hosts,
    usages: ['serverAuth'],
    ...validity,
  });
  return { cert: leaf.cert, key: leaf.key, ca: { cert: ca.cert, key: ca.key } };
}
