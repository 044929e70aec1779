/** Mutants that serve a faulty certificate and are otherwise correct. */
import { family } from './family.ts';
import type { ConnectionFault } from './fault.ts';

export const tlsCertificatesFaults: readonly ConnectionFault[] = family<ConnectionFault>(
  { area: 'tls', stage: 'connection', mistake: 'host-not-in-certificate' },
  {
    // Certificates outside their validity period.
    'serves-expired-certificate': [
      'Serves an expired certificate',
      { certificate: 'expired' },
      'certificate-not-renewed',
    ],
    'serves-certificate-too-early': [
      'Serves a certificate that is not valid yet',
      { certificate: 'not-yet-valid' },
      'premature-certificate',
    ],
    'serves-certificate-about-to-expire': [
      'Serves a certificate that expires within days',
      { certificate: 'expires-soon' },
      'certificate-not-renewed',
      {
        note: 'It still works today. Often a move of the site or a DNS change stopped the renewal.',
        forbidden: false,
      },
    ],
    'serves-expired-intermediate': [
      'Serves an expired intermediate certificate',
      { certificate: 'expired-intermediate' },
      'outdated-intermediates',
    ],
    // Certificates that are not for this endpoint.
    'serves-certificate-of-another-host': ['Serves a certificate for another host name', { certificate: 'wrong-host' }],
    'serves-certificate-without-address': [
      'Serves a certificate with a host name only, while the URL contains an IP address',
      { certificate: 'ip-missing' },
      {
        note: 'A name that resolves to the address does not count: register the host name, or list the IP.',
        equivalentTo: {
          name: 'serves-certificate-of-another-host',
          reason:
            'Neither certificate is for the host of the URL; whether that host is a name or an address depends on ' +
            'the URL.',
        },
      },
    ],
    'serves-certificate-with-common-name-only': [
      'Serves a certificate that names the host only in its common name, without alternative names',
      { certificate: 'cn-only' },
      { note: 'Node still accepts it, while Go, Java, Python and browsers refuse it.' },
    ],
    'serves-client-certificate': [
      'Serves a certificate that is for clients only',
      { certificate: 'client-purpose' },
      'certificate-without-server-usage',
    ],
    // Certificates with an untrusted or invalid issuer.
    'serves-self-signed-certificate': [
      'Serves a self-signed certificate',
      { certificate: 'self-signed' },
      'untrusted-certificate',
    ],
    'serves-certificate-of-unknown-authority': [
      'Serves a certificate from a CA that the sender does not trust',
      { certificate: 'unknown-authority' },
      'untrusted-certificate',
    ],
    'serves-certificate-of-recreated-authority': [
      'Serves a certificate that names the trusted CA as its issuer but is signed by another key',
      { certificate: 'same-names-root' },
      'recreated-issuer',
    ],
    'serves-certificate-signed-by-no-authority': [
      'Serves a certificate signed by one that is not a CA',
      { certificate: 'issuer-not-authority' },
      'issuer-without-permission',
    ],
    'serves-chain-that-is-too-long': [
      'Serves a chain with more CAs than a path length limit allows',
      { certificate: 'path-too-long' },
      'issuer-without-permission',
      { note: 'Tools that check each certificate separately find nothing wrong.' },
    ],
    // Valid certificates in an invalid chain.
    'leaves-out-intermediate': [
      'Serves its certificate without the intermediate that issued it',
      { certificate: 'missing-intermediate' },
      'incomplete-chain',
    ],
    'sends-chain-out-of-order': [
      'Serves its intermediates in the wrong order',
      { certificate: 'misordered' },
      'untidy-chain-file',
      { note: 'A few embedded clients and older Java versions do not sort the certificates.', forbidden: false },
    ],
    'sends-intermediate-twice': [
      'Serves the same intermediate twice',
      { certificate: 'duplicate' },
      'untidy-chain-file',
      { forbidden: false },
    ],
    'sends-unrelated-certificate': [
      'Serves a certificate that is not part of its chain',
      { certificate: 'unrelated-extra' },
      'untidy-chain-file',
      { forbidden: false },
    ],
    // Certificates with broken cryptography.
    'serves-rsa-1024-key': [
      'Serves a certificate with a 1024-bit RSA key',
      { certificate: 'rsa1024' },
      'weak-certificate-key',
    ],
    'serves-weak-intermediate': [
      'Serves an intermediate certificate with a 1024-bit RSA key',
      { certificate: 'weak-intermediate' },
      'weak-certificate-key',
      { note: 'The key of the server certificate may be strong: the chain is as strong as its weakest key.' },
    ],
    'serves-sha-1-signature': [
      'Serves a certificate that is signed with SHA-1',
      { certificate: 'sha1', options: { ciphers: 'DEFAULT@SECLEVEL=0' } },
      'weak-certificate-hash',
    ],
  },
);
