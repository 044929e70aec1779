/** Mutants that serve a faulty certificate. */
import type { ConnectionFault } from './fault.ts';

type Text = Omit<ConnectionFault, 'area' | 'stage' | 'certificate' | 'name' | 'fix'> & {
  /** The rule, which also holds for Express behind whatever ends TLS. */
  readonly fix: string;
};

/** Where the files go in Node, for every fault of the certificate that is served. */
const IN_NODE =
  'Express has no part in it: give the new files to `https.createServer({ cert, key })`, the own certificate first in `cert`, or to the proxy in front, and reload it.';

/** A mutant that serves a faulty certificate and is right in everything else. */
function servesCertificate(name: string, certificate: string, { fix, ...text }: Text): ConnectionFault {
  return { name, area: 'tls', ...text, fix: { rule: fix, express: IN_NODE }, stage: 'connection', certificate };
}

export const tlsCertificatesFaults: readonly ConnectionFault[] = [
  // Certificates that are served outside their time.
  servesCertificate('serves-expired-certificate', 'expired', {
    title: 'The certificate that the endpoint serves has expired.',
    seen: 'Renewals that failed for weeks without anybody looking, and renewals that worked while the server was never told to load the new file.',
    why: 'The sender refuses the connection, so every delivery fails from that minute on, and retries run out before somebody notices.',
    fix: 'Renew the certificate, reload the server in the same job, and watch the date from outside.',
    severity: 'critical',
    forbidden: true,
  }),
  servesCertificate('serves-certificate-too-early', 'not-yet-valid', {
    title: 'The certificate that the endpoint serves is not valid yet.',
    seen: 'Certificates that were put in place ahead of time, and private authorities on machines whose clock is ahead.',
    why: 'The sender treats it like an expired one and delivers nothing until the first day of validity.',
    fix: 'Serve the old certificate until the new one is valid, and keep the clock of the issuing machine right.',
    severity: 'critical',
    forbidden: true,
  }),
  servesCertificate('serves-certificate-about-to-expire', 'expires-soon', {
    title: 'The certificate that the endpoint serves expires within days.',
    seen: 'Installations whose automatic renewal stopped working after a move of the site or a change of its DNS.',
    why: 'Everything works today, and nothing will at a known hour. Renewal normally happens weeks before this.',
    fix: 'Look at the log of the renewal, repair it, and renew now by hand.',
    severity: 'medium',
    forbidden: false,
  }),
  servesCertificate('serves-expired-intermediate', 'expired-intermediate', {
    title: 'An intermediate certificate that the endpoint serves has expired.',
    seen: 'Servers whose chain file was copied once by hand: the own certificate is renewed every year and the chain beside it never.',
    why: 'The own certificate looks fine in every monitor, and the sender still refuses the connection.',
    fix: 'Serve the chain that came with the last renewal, and check the dates of every certificate in it.',
    severity: 'critical',
    forbidden: true,
  }),
  // Certificates that are not for this endpoint.
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
  // Certificates whose issuer is not to be trusted.
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
  // Right certificates in the wrong list.
  servesCertificate('leaves-out-intermediate', 'missing-intermediate', {
    title: 'The endpoint sends its own certificate without the intermediate that issued it.',
    seen: 'Web servers configured with `cert.pem` in place of `fullchain.pem`; reported against webhooks of Telegram, Go and Node clients alike.',
    why: 'Browsers fetch or remember the missing one, so the site looks right to people. Node, Go, curl and Python do not, and refuse the connection.',
    fix: 'Serve one file with the own certificate and every intermediate after it, without the root.',
    severity: 'critical',
    forbidden: true,
  }),
  servesCertificate('sends-chain-out-of-order', 'misordered', {
    title: 'The endpoint sends its intermediates in the wrong order.',
    seen: 'Chain files that were joined by hand, often after an authority changed its hierarchy.',
    why: 'Most clients sort it out and a few embedded ones and older Java versions do not, so it fails with some senders only.',
    fix: 'Put the own certificate first, then its issuer, then the issuer of that one.',
    severity: 'low',
    forbidden: false,
  }),
  servesCertificate('sends-intermediate-twice', 'duplicate', {
    title: 'The endpoint sends the same intermediate twice.',
    seen: 'Configurations that add a chain file to a certificate file that holds the chain already.',
    why: 'Each connection carries it for nothing, strict clients refuse it, and the next renewal is likely to update only one of the copies.',
    fix: 'Leave either the chain file or the second copy out.',
    severity: 'low',
    forbidden: false,
  }),
  servesCertificate('sends-unrelated-certificate', 'unrelated-extra', {
    title: 'The endpoint sends a certificate that belongs to no link of its chain.',
    seen: 'Bundles that carry the intermediates of a former authority along, or every root that somebody thought might help.',
    why: 'It costs bytes on each connection, and hides which intermediate is really needed at the next renewal.',
    fix: 'Serve only the own certificate and the intermediates that lead from it to the root.',
    severity: 'low',
    forbidden: false,
  }),
  // Certificates that can be broken.
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
