import type { ConnectionFault } from './fault.ts';
import { servesCertificate } from './served-certificate.ts';

/** Certificates that are not for this endpoint. */
export const certificateNames: readonly ConnectionFault[] = [
  servesCertificate('serves-certificate-of-another-host', 'wrong-host', {
    title: 'The certificate that the endpoint serves is for another host name.',
    seen: 'Default sites of shared servers and ingress controllers, and wildcards that are one level short of the name.',
    why: 'A certificate for another name does not prove who answers, so the sender delivers nothing.',
    fix: 'Issue a certificate that lists the host of the registered URL, and bind it to that name.',
    severity: 'critical',
    forbidden: true,
  }),
  servesCertificate('serves-certificate-without-address', 'ip-missing', {
    title: 'The URL names the endpoint by its address, and the certificate lists only a host name.',
    seen: 'Test installations and internal services that are registered by IP address while the certificate was made for the name.',
    why: 'An address in the URL has to stand in the certificate as an address; a name that resolves to it does not count.',
    fix: 'Register the URL with the host name, or issue the certificate with the address as an alternative name of type IP.',
    severity: 'critical',
    forbidden: true,
  }),
  servesCertificate('serves-certificate-with-common-name-only', 'cn-only', {
    title: 'The certificate names the host in its common name only and has no alternative names.',
    seen: 'Certificates made with old openssl recipes, and private authorities whose templates are older than 2017.',
    why: 'Node still takes it, while Go, Java, Python and browsers refuse it: it works with one sender and stops with the next.',
    fix: 'Issue it again with the host as a subject alternative name of type DNS.',
    severity: 'high',
    forbidden: true,
  }),
  servesCertificate('serves-client-certificate', 'client-purpose', {
    title: 'The certificate that the endpoint serves is meant for clients only.',
    seen: 'Endpoints with mutual TLS where the client certificate was configured on the side of the server as well.',
    why: 'Clients check the extended key usage, and refuse a server that shows a certificate without serverAuth.',
    fix: 'Issue a certificate for the server, with the extended key usage serverAuth.',
    severity: 'critical',
    forbidden: true,
  }),
];
