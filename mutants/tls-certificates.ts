/** Mutants that serve a faulty certificate and are otherwise correct. */
import { family } from './family.ts';
import type { ConnectionFault } from './fault.ts';

export const tlsCertificatesFaults: readonly ConnectionFault[] = family<ConnectionFault>(
  { area: 'tls', stage: 'connection' },
  [
    // Certificates outside their validity period.
    [
      'serves-expired-certificate',
      'Serves an expired certificate',
      'certificate-not-renewed',
      { certificate: 'expired' },
    ],
    [
      'serves-certificate-too-early',
      'Serves a certificate that is not valid yet',
      'premature-certificate',
      { certificate: 'not-yet-valid' },
    ],
    [
      'serves-certificate-about-to-expire',
      'Serves a certificate that expires within days',
      'certificate-not-renewed',
      { certificate: 'expires-soon' },
      {
        note: 'It still works today. Often a move of the site or a DNS change stopped the renewal.',
        forbidden: false,
      },
    ],
    [
      'serves-expired-intermediate',
      'Serves an expired intermediate certificate',
      'outdated-intermediates',
      { certificate: 'expired-intermediate' },
    ],
    // Certificates that are not for this endpoint.
    [
      'serves-certificate-of-another-host',
      'Serves a certificate for another host name',
      'host-not-in-certificate',
      { certificate: 'wrong-host' },
    ],
    [
      'serves-certificate-without-address',
      'Serves a certificate with a host name only, while the URL contains an IP address',
      'host-not-in-certificate',
      { certificate: 'ip-missing' },
      {
        note: 'A name that resolves to the address does not count: register the host name, or list the IP.',
        equivalentTo: {
          name: 'serves-certificate-of-another-host',
          reason:
            'Neither certificate is for the host of the URL; whether that host is a name or an address is up to ' +
            'the URL.',
        },
      },
    ],
    [
      'serves-certificate-with-common-name-only',
      'Serves a certificate that names the host only in its common name, without alternative names',
      'host-not-in-certificate',
      { certificate: 'cn-only' },
      { note: 'Node still accepts it, while Go, Java, Python and browsers refuse it.' },
    ],
    [
      'serves-client-certificate',
      'Serves a certificate that is for clients only',
      'certificate-without-server-usage',
      { certificate: 'client-purpose' },
    ],
    // Certificates with an untrusted or invalid issuer.
    [
      'serves-self-signed-certificate',
      'Serves a self-signed certificate',
      'untrusted-certificate',
      { certificate: 'self-signed' },
    ],
    [
      'serves-certificate-of-unknown-authority',
      'Serves a certificate of a CA that the sender does not trust',
      'untrusted-certificate',
      { certificate: 'unknown-authority' },
    ],
    [
      'serves-certificate-of-recreated-authority',
      'Serves a certificate that names the trusted CA as its issuer but is signed by another key',
      'recreated-issuer',
      { certificate: 'same-names-root' },
    ],
    [
      'serves-certificate-signed-by-no-authority',
      'Serves a certificate signed by one that is not a CA',
      'issuer-without-permission',
      { certificate: 'issuer-not-authority' },
    ],
    [
      'serves-chain-that-is-too-long',
      'Serves a chain with more CAs than a path length limit allows',
      'issuer-without-permission',
      { certificate: 'path-too-long' },
      { note: 'Tools that check each certificate separately find nothing wrong.' },
    ],
    // Correct certificates in an incorrect chain.
    [
      'leaves-out-intermediate',
      'Serves its certificate without the intermediate that issued it',
      'incomplete-chain',
      { certificate: 'missing-intermediate' },
    ],
    [
      'sends-chain-out-of-order',
      'Serves its intermediates in the wrong order',
      'untidy-chain-file',
      { certificate: 'misordered' },
      { note: 'A few embedded clients and older Java versions do not sort the certificates.', forbidden: false },
    ],
    [
      'sends-intermediate-twice',
      'Serves the same intermediate twice',
      'untidy-chain-file',
      { certificate: 'duplicate' },
      { forbidden: false },
    ],
    [
      'sends-unrelated-certificate',
      'Serves a certificate that is not part of its chain',
      'untidy-chain-file',
      { certificate: 'unrelated-extra' },
      { forbidden: false },
    ],
    // Certificates that can be broken.
    [
      'serves-rsa-1024-key',
      'Serves a certificate with a 1024-bit RSA key',
      'weak-certificate-key',
      { certificate: 'rsa1024' },
    ],
    [
      'serves-weak-intermediate',
      'Serves an intermediate certificate with a 1024-bit RSA key',
      'weak-certificate-key',
      { certificate: 'weak-intermediate' },
      { note: 'The key of the server certificate may be strong: the chain is as strong as its weakest key.' },
    ],
    [
      'serves-sha-1-signature',
      'Serves a certificate that is signed with SHA-1',
      'weak-certificate-hash',
      // By default, OpenSSL does not even load such a certificate.
      { certificate: 'sha1', options: { ciphers: 'DEFAULT@SECLEVEL=0' } },
    ],
  ],
);
