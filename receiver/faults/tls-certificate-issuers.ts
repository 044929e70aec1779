import type { ConnectionFault } from './fault.ts';
import { servesCertificate } from './served-certificate.ts';

/** Certificates whose issuer is not to be trusted. */
export const certificateIssuers: readonly ConnectionFault[] = [
  servesCertificate('serves-self-signed-certificate', 'self-signed', {
    title: 'The certificate that the endpoint serves is signed with its own key.',
    seen: 'Development certificates that went along to production, and the certificates that proxies make for themselves when none is configured.',
    why: 'Anybody can make the same certificate, so the sender cannot tell the endpoint from an impostor and delivers nothing.',
    fix: 'Get the certificate from a public authority, which costs nothing with ACME.',
    severity: 'critical',
    forbidden: true,
  }),
  servesCertificate('serves-certificate-of-unknown-authority', 'unknown-authority', {
    title: 'The certificate that the endpoint serves was issued by an authority that the sender does not trust.',
    seen: 'Company authorities, the staging environment of ACME services, and proxies that inspect TLS and sign with a root of their own.',
    why: 'It works from every machine inside the company and from none outside, the sender included.',
    fix: 'Get the certificate from a public authority; a private one serves only those who were given its root.',
    severity: 'critical',
    forbidden: true,
  }),
  servesCertificate('serves-certificate-of-recreated-authority', 'same-names-root', {
    title: 'The certificate names the trusted authority as its issuer, and another key has signed it.',
    seen: 'Private authorities that were set up again under the same name after their key was lost, or once for each environment.',
    why: 'The names match, so people look for the fault elsewhere; the signature does not verify, so no client connects.',
    fix: 'Issue with the key that belongs to the trusted root, or hand out the new root under a new name.',
    severity: 'critical',
    forbidden: true,
  }),
  servesCertificate('serves-certificate-signed-by-no-authority', 'issuer-not-authority', {
    title: 'The certificate was signed with one that is itself no authority.',
    seen: 'Home-made chains in which a server certificate signs others, and openssl commands without the extensions for an authority.',
    why: 'Clients must refuse this, or the owner of any site could make certificates for every other. The program that made it says nothing.',
    fix: 'Sign with a certificate that has CA:TRUE and the key usage keyCertSign.',
    severity: 'critical',
    forbidden: true,
  }),
  servesCertificate('serves-chain-that-is-too-long', 'path-too-long', {
    title: 'The chain has one authority more than the authority above it allows.',
    seen: 'Company authorities with a path length of zero, under which a department has set up one of its own.',
    why: 'Clients refuse the chain, while tools that look at each certificate by itself find nothing wrong.',
    fix: 'Issue from the authority with the limit itself, or have its certificate issued again with a longer path length.',
    severity: 'critical',
    forbidden: true,
  }),
];
