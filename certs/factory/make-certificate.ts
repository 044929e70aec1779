/** Creates certificates at run time for tests, demos and probes, never for production. Specification: TLS. */

import type { CertificateOptions, IssuedCertificate } from './certificate-options.ts';

/**
 * Creates a certificate, valid or faulty according to the options, and a key unless one is given. An elliptic curve key
 * takes a few milliseconds, an RSA key a tenth of a second or more.
 */
export async function makeCertificate(options: CertificateOptions): Promise<IssuedCertificate> {
  // Loading the library takes a fifth of a second.
  const { issueCertificate } = await import('./issue-certificate.ts');
  return issueCertificate(options);
}

/** A certificate and its private key, both PEM. */
export interface KeyedCertificate {
  readonly cert: string;
  readonly key: string;
}

/** A server certificate for localhost, 127.0.0.1 and ::1, and the CA that issued it. */
export interface QuickStartCertificate extends KeyedCertificate {
  /** Clients must trust `cert`; `key` can issue more certificates. */
  readonly ca: KeyedCertificate;
}

const VALID_DAYS = 7;
const HOUR_MS = 3_600_000;

/**
 * Creates a new pair in memory at each call: P-256 keys, SHA-256 signatures, valid from an hour ago (clocks differ) for
 * a week. Takes 10 to 50 milliseconds.
 */
export async function quickStartCertificate(): Promise<QuickStartCertificate> {
  const notBeforeDate = new Date(Date.now() - HOUR_MS);
  const notAfterDate = new Date(Date.now() + VALID_DAYS * 24 * HOUR_MS);
  // Loaded on demand, because few importers of this file need it.
  const { generate } = await import('selfsigned');
  // By default, the library signs with SHA-1, which OpenSSL 3 rejects.
  const common = { keyType: 'ec', curve: 'P-256', algorithm: 'sha256', notBeforeDate, notAfterDate } as const;

  const issuer = await generate([{ name: 'commonName', value: 'hookproof quick-start CA' }], {
    ...common,
    extensions: [
      { name: 'basicConstraints', cA: true, pathLenConstraint: 0, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  const ca: KeyedCertificate = { cert: issuer.cert, key: issuer.private };

  const leaf = await generate([{ name: 'commonName', value: 'localhost' }], {
    ...common,
    ca,
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
          { type: 7, ip: '::1' },
        ],
      },
    ],
  });
  return { cert: leaf.cert, key: leaf.private, ca };
}
