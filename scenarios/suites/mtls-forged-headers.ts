import type { HeaderLine } from '../../contract/index.ts';
import { presenting } from '../changes/transmitting.ts';
import { certificateRefused } from '../expectations.ts';
import type { Kit, ProbeScenario } from '../scenario.ts';

/** The base64 of the certificate, without the lines around it. */
function bareBase64(pem: string): string {
  return pem.replace(/-----[^-]+-----|\s/g, '');
}

interface Family {
  readonly slug: string;
  /** The products that set these headers. */
  readonly of: string;
  readonly headers: (kit: Kit) => readonly HeaderLine[];
}

const SUBJECT = 'CN=webhook-sender';

/** Headers in which common proxies report what they have verified. */
const FAMILIES: readonly Family[] = [
  {
    slug: 'x-ssl-client',
    of: 'common nginx and Apache configurations',
    headers: (kit) => [
      ['X-SSL-Client-Verify', 'SUCCESS'],
      ['X-SSL-Client-S-DN', SUBJECT],
      ['X-SSL-Client-CN', 'webhook-sender'],
      ['X-SSL-Client-Cert', encodeURIComponent(kit.clientCertificate)],
      ['X-SSL-Cert', encodeURIComponent(kit.clientCertificate)],
    ],
  },
  {
    slug: 'x-client-verify',
    of: 'nginx recipes',
    headers: (kit) => [
      ['X-Client-Verify', 'SUCCESS'],
      ['X-Client-DN', SUBJECT],
      ['X-Client-Cert', encodeURIComponent(kit.clientCertificate)],
      ['X-Client-Certificate', encodeURIComponent(kit.clientCertificate)],
    ],
  },
  {
    slug: 'ssl-client',
    of: 'ingress-nginx',
    headers: (kit) => [
      ['ssl-client-verify', 'SUCCESS'],
      ['ssl-client-subject-dn', SUBJECT],
      ['ssl-client-issuer-dn', 'CN=Client CA'],
      ['ssl-client-cert', encodeURIComponent(kit.clientCertificate)],
    ],
  },
  {
    slug: 'x-forwarded-client-cert',
    of: 'Envoy and Istio',
    headers: (kit) => [
      [
        'X-Forwarded-Client-Cert',
        'By=spiffe://cluster.local/ns/default/sa/receiver;' +
          `Subject="${SUBJECT}";Cert="${encodeURIComponent(kit.clientCertificate)}"`,
      ],
    ],
  },
  {
    slug: 'x-forwarded-tls-client-cert',
    of: 'Traefik',
    headers: (kit) => [
      ['X-Forwarded-Tls-Client-Cert', bareBase64(kit.clientCertificate)],
      ['X-Forwarded-Tls-Client-Cert-Info', encodeURIComponent(`Subject="${SUBJECT}"`)],
    ],
  },
  {
    slug: 'x-amzn-mtls',
    of: 'AWS load balancers',
    headers: (kit) => [
      ['X-Amzn-Mtls-Clientcert', encodeURIComponent(kit.clientCertificate)],
      ['X-Amzn-Mtls-Clientcert-Leaf', encodeURIComponent(kit.clientCertificate)],
      ['X-Amzn-Mtls-Clientcert-Subject', SUBJECT],
    ],
  },
  {
    slug: 'x-arr-clientcert',
    of: 'Azure App Service',
    headers: (kit) => [['X-ARR-ClientCert', bareBase64(kit.clientCertificate)]],
  },
  {
    slug: 'x-client-cert-google',
    of: 'Google Cloud load balancers',
    headers: () => [
      ['X-Client-Cert-Present', 'true'],
      ['X-Client-Cert-Chain-Verified', 'true'],
      ['X-Client-Cert-Error', ''],
    ],
  },
  {
    slug: 'cloudflare',
    of: 'Cloudflare',
    headers: () => [
      ['Cf-Client-Cert-Verified', 'true'],
      ['Cf-Cert-Verified', 'true'],
      ['Cf-Cert-Presented', 'true'],
      ['Cf-Cert-Subject-DN', SUBJECT],
    ],
  },
  {
    slug: 'client-cert',
    of: 'RFC 9440',
    headers: (kit) => [['Client-Cert', `:${bareBase64(kit.clientCertificate)}:`]],
  },
];

/**
 * No certificate, and headers that claim one. Each probe needs both changes: with a certificate, the headers would
 * prove nothing.
 */
export const mtlsForgedHeaders: readonly ProbeScenario[] = FAMILIES.map(({ slug, of, headers }) => ({
  id: `mtls/forged-${slug}`,
  title: `Rejects a delivery without a certificate but with headers that claim one (${of})`,
  level: 'must',
  requirements: ['mtls-verified'],
  needs: ['https', 'mtls'],
  change: {
    connect: presenting('none'),
    address: {
      label: `forged headers of ${of}`,
      make: (head, kit) => ({ ...head, headers: [...head.headers, ...headers(kit)] }),
    },
  },
  expect: certificateRefused,
  why:
    'A proxy that terminates TLS reports its verification in a header. If the application accepts this header ' +
    'from anyone, it replaces a certificate.',
  fix:
    'Let the proxy overwrite these headers on every request, make the application reachable only through it, and ' +
    'ignore them otherwise.',
}));
