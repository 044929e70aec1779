import type { ConnectionFault } from './fault.ts';
import { servesCertificate } from './served-certificate.ts';

/** Certificates that can be broken. */
export const weakCertificates: readonly ConnectionFault[] = [
  servesCertificate('serves-rsa-1024-key', 'rsa1024', {
    title: 'The certificate that the endpoint serves has an RSA key of 1024 bits.',
    seen: 'Keys that have been carried from renewal to renewal for many years, and hardware that can make no larger ones.',
    why: 'A key of this size can be broken by who has the means. Node and others connect without a word, so only a check of the size finds it.',
    fix: 'Make a new key, RSA with 2048 bits or P-256, and have the certificate issued for it.',
    severity: 'high',
    forbidden: true,
  }),
  servesCertificate('serves-weak-intermediate', 'weak-intermediate', {
    title: 'An intermediate certificate that the endpoint serves has an RSA key of 1024 bits.',
    seen: 'Company authorities from before 2010 that still issue strong server certificates.',
    why: 'Who breaks the weak key in the middle signs certificates for every name, however strong the last key is.',
    fix: 'Have the certificate issued by an authority whose own keys are strong.',
    severity: 'high',
    forbidden: true,
  }),
  {
    ...servesCertificate('serves-sha-1-signature', 'sha1', {
      title: 'The certificate that the endpoint serves is signed with SHA-1.',
      seen: 'Private authorities with old defaults, and the `selfsigned` package of Node unless it is told otherwise.',
      why: 'SHA-1 signatures can be forged, and current clients refuse them with errors that do not say so.',
      fix: 'Have the certificate issued again with SHA-256, and name the hash in scripts of your own.',
      severity: 'high',
      forbidden: true,
    }),
    // As it is, OpenSSL does not even load such a certificate.
    options: { ciphers: 'DEFAULT@SECLEVEL=0' },
  },
];
