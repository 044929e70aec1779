import type { Request } from 'express';
import type { StageFault } from './fault.ts';
import { alsoLettingIn, MTLS } from './lenient-certificate.ts';

/** How a proxy's headers say that there was a certificate. */
interface Family {
  readonly name: string;
  /** Whose headers these are. */
  readonly of: string;
  readonly claims: (header: (name: string) => string) => boolean;
  /** What the proxy itself has to be told, where there is something to tell. */
  readonly proxy: string;
}

const has = (text: string) => text !== '';

const FAMILIES: readonly Family[] = [
  {
    name: 'x-ssl-client-headers-trusted',
    of: 'X-SSL-Client-Verify and its like, as Apache and nginx are usually set up',
    claims: (header) => header('x-ssl-client-verify') === 'SUCCESS',
    proxy: 'In nginx, `proxy_set_header X-SSL-Client-Verify $ssl_client_verify;` for every location.',
  },
  {
    name: 'x-client-verify-trusted',
    of: 'X-Client-Verify, from recipes for nginx',
    claims: (header) => header('x-client-verify') === 'SUCCESS',
    proxy: 'In nginx, `proxy_set_header X-Client-Verify $ssl_client_verify;` for every location.',
  },
  {
    name: 'ssl-client-headers-trusted',
    of: 'ssl-client-verify, of ingress-nginx',
    claims: (header) => header('ssl-client-verify') === 'SUCCESS',
    proxy:
      'Ask for certificates in the Ingress (`auth-tls-verify-client: "on"`), and let nothing reach the pod beside it.',
  },
  {
    name: 'envoy-client-certificate-trusted',
    of: 'X-Forwarded-Client-Cert, of Envoy and Istio',
    claims: (header) => /Subject=|URI=|Hash=/.test(header('x-forwarded-client-cert')),
    proxy: 'Set `forward_client_cert_details: SANITIZE_SET` in Envoy.',
  },
  {
    name: 'traefik-client-certificate-trusted',
    of: 'X-Forwarded-Tls-Client-Cert, of Traefik',
    claims: (header) => has(header('x-forwarded-tls-client-cert')),
    proxy:
      'Use `RequireAndVerifyClientCert` in the TLS options of Traefik, with its passTLSClientCert middleware on the route.',
  },
  {
    name: 'amazon-client-certificate-trusted',
    of: 'X-Amzn-Mtls-Clientcert, of the load balancers of AWS',
    claims: (header) => has(header('x-amzn-mtls-clientcert')) || has(header('x-amzn-mtls-clientcert-leaf')),
    proxy:
      'Use the mode "verify" with a trust store: the mode "passthrough" verifies nothing. Let the security group admit the load balancer alone.',
  },
  {
    name: 'azure-client-certificate-trusted',
    of: 'X-ARR-ClientCert, of Azure App Service',
    claims: (header) => has(header('x-arr-clientcert')),
    proxy:
      'App Service passes certificates on without verifying them: verify the one in the header against the authority.',
  },
  {
    name: 'google-client-certificate-trusted',
    of: 'X-Client-Cert-Present and X-Client-Cert-Chain-Verified, of the load balancers of Google Cloud',
    claims: (header) => header('x-client-cert-chain-verified') === 'true',
    proxy:
      'Set the client validation mode to reject what does not verify, and let the firewall admit the load balancer alone.',
  },
  {
    name: 'cloudflare-client-certificate-trusted',
    of: 'Cf-Cert-Verified and Cf-Client-Cert-Verified, as Cloudflare is set up to add them',
    claims: (header) => header('cf-cert-verified') === 'true' || header('cf-client-cert-verified') === 'true',
    proxy: 'Let the origin take connections from Cloudflare alone (authenticated origin pulls).',
  },
  {
    name: 'client-cert-header-trusted',
    of: 'Client-Cert, of RFC 9440',
    claims: (header) => has(header('client-cert')),
    proxy: 'RFC 9440 has the proxy remove what the client sent under this name; check that yours does.',
  },
];

function trusting({ name, of, claims, proxy }: Family): StageFault {
  return {
    ...MTLS,
    name,
    title: `A header that claims a verified client certificate is believed, whoever sends it (${of}).`,
    seen: 'Applications that are written for a proxy that ends TLS, and can be reached beside it or behind one that does not overwrite the header (CVE-2026-46579, GHSA-4w7q-wwx4-6973).',
    why: 'A header is a line of text that every client can write. It is then worth as much as the certificate.',
    fix: {
      rule: `Have the proxy replace the header on every request, reach the application only through the proxy, and ignore the header from everybody else. ${proxy}`,
      express:
        'Read such a header only when `req.socket.remoteAddress` is the proxy, and never through `req.ip`, which "trust proxy" can take from another header.',
    },
    replace: alsoLettingIn(
      () =>
        ({ req }) =>
          claims((header) => textOf(req, header)),
    ),
  };
}

function textOf(req: Request, header: string): string {
  return req.get(header) ?? '';
}

/** Receivers that take a line of text for a certificate. */
export const forwardedCertificates: readonly StageFault[] = [
  ...FAMILIES.map(trusting),
  {
    ...MTLS,
    name: 'certificate-not-needed-for-local-claims',
    title: 'Clients that claim in X-Forwarded-For to come from the own machine need no certificate.',
    seen: 'Exceptions for health checks from inside, in frameworks that are told to trust every proxy.',
    why: 'Every client can write this header.',
    fix: {
      rule: 'Give checks from inside a port of their own, and derive no trust from an address that the request names.',
      express:
        'Remove the exception for `req.ip`, and set "trust proxy" to the addresses of your proxies, not to true.',
    },
    replace: alsoLettingIn(
      () =>
        ({ req }) =>
          /\b127\.0\.0\.1\b|::1/.test(textOf(req, 'x-forwarded-for')),
    ),
  },
];
