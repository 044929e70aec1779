import type { HeaderLine } from '../../contract/index.ts';
import { presenting } from '../changes/transmitting.ts';
import { certificateRefused } from '../expectations.ts';
import type { Scenario } from '../scenario.ts';
import { family, type Row } from './family.ts';

/** The partner's client certificate, as headers contain it. */
interface EncodedCertificate {
  /** The PEM, percent-encoded. */
  readonly pem: string;
  /** The base64 of the certificate, without the lines around it. */
  readonly base64: string;
}

/** A row about the headers in which a proxy reports what it has verified. `of` names the products that set them. */
function claims(of: string, headers: (certificate: EncodedCertificate) => readonly HeaderLine[]): Row {
  return [
    `(${of})`,
    {
      connect: presenting('none'),
      address: {
        label: `forged headers of ${of}`,
        make: (head, { clientCertificate }) => {
          const pem = encodeURIComponent(clientCertificate);
          const base64 = clientCertificate.replace(/-----[^-]+-----|\s/g, '');
          return { ...head, headers: [...head.headers, ...headers({ pem, base64 })] };
        },
      },
    },
    'certificate-header-unprotected',
  ];
}

const SUBJECT = 'CN=webhook-sender';

/**
 * No certificate, and headers of common proxies that claim one. Each probe needs both changes: with a certificate, the
 * headers would prove nothing.
 */
export const mtlsForgedHeaders: readonly Scenario[] = family(
  {
    suite: 'mtls',
    verb: 'Rejects',
    of: 'a delivery without a certificate but with headers that claim one',
    level: 'must',
    requirements: ['mtls-verified'],
    needs: ['https', 'mtls'],
    expect: certificateRefused,
  },
  {
    'forged-x-ssl-client': claims('common nginx and Apache configurations', ({ pem }) => [
      ['X-SSL-Client-Verify', 'SUCCESS'],
      ['X-SSL-Client-S-DN', SUBJECT],
      ['X-SSL-Client-CN', 'webhook-sender'],
      ['X-SSL-Client-Cert', pem],
      ['X-SSL-Cert', pem],
    ]),
    'forged-x-client-verify': claims('nginx recipes', ({ pem }) => [
      ['X-Client-Verify', 'SUCCESS'],
      ['X-Client-DN', SUBJECT],
      ['X-Client-Cert', pem],
      ['X-Client-Certificate', pem],
    ]),
    'forged-ssl-client': claims('ingress-nginx', ({ pem }) => [
      ['ssl-client-verify', 'SUCCESS'],
      ['ssl-client-subject-dn', SUBJECT],
      ['ssl-client-issuer-dn', 'CN=Client CA'],
      ['ssl-client-cert', pem],
    ]),
    'forged-x-forwarded-client-cert': claims('Envoy and Istio', ({ pem }) => [
      [
        'X-Forwarded-Client-Cert',
        `By=spiffe://cluster.local/ns/default/sa/receiver;Subject="${SUBJECT}";Cert="${pem}"`,
      ],
    ]),
    'forged-x-forwarded-tls-client-cert': claims('Traefik', ({ base64 }) => [
      ['X-Forwarded-Tls-Client-Cert', base64],
      ['X-Forwarded-Tls-Client-Cert-Info', encodeURIComponent(`Subject="${SUBJECT}"`)],
    ]),
    'forged-x-amzn-mtls': claims('AWS load balancers', ({ pem }) => [
      ['X-Amzn-Mtls-Clientcert', pem],
      ['X-Amzn-Mtls-Clientcert-Leaf', pem],
      ['X-Amzn-Mtls-Clientcert-Subject', SUBJECT],
    ]),
    'forged-x-arr-clientcert': claims('Azure App Service', ({ base64 }) => [['X-ARR-ClientCert', base64]]),
    'forged-x-client-cert-google': claims('Google Cloud load balancers', () => [
      ['X-Client-Cert-Present', 'true'],
      ['X-Client-Cert-Chain-Verified', 'true'],
      ['X-Client-Cert-Error', ''],
    ]),
    'forged-cloudflare': claims('Cloudflare', () => [
      ['Cf-Client-Cert-Verified', 'true'],
      ['Cf-Cert-Verified', 'true'],
      ['Cf-Cert-Presented', 'true'],
      ['Cf-Cert-Subject-DN', SUBJECT],
    ]),
    'forged-client-cert': claims('RFC 9440', ({ base64 }) => [['Client-Cert', `:${base64}:`]]),
  },
);
