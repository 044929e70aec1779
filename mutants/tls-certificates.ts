/** Mutants that serve a faulty certificate. */
import type { ConnectionFault } from './fault.ts';

type Text = Omit<ConnectionFault, 'area' | 'stage' | 'certificate' | 'name' | 'fix'> & {
  /** The rule, which also holds for Express behind a TLS proxy. */
  readonly fix: string;
};

/** Where the files go in Node, for every faulty server certificate. */
const IN_NODE =
  'Nothing to do in Express: pass the new files to `https.createServer({ cert, key })`, with the server certificate ' +
  'first in `cert`, or to the proxy, and reload it.';

/** A mutant that serves a faulty certificate and is otherwise correct. */
function servesCertificate(name: string, certificate: string, { fix, ...text }: Text): ConnectionFault {
  return { name, area: 'tls', ...text, fix: { rule: fix, express: IN_NODE }, stage: 'connection', certificate };
}

export const tlsCertificatesFaults: readonly ConnectionFault[] = [
  // Certificates outside their validity period.
  servesCertificate('serves-expired-certificate', 'expired', {
    title: 'Serves an expired certificate',
    seen: 'Renewals that failed unnoticed for weeks, and successful renewals after which the server was not reloaded.',
    why:
      'The sender refuses the connection, so every delivery fails from that minute on, and retries may run out ' +
      'before anyone notices.',
    fix: 'Renew the certificate, reload the server in the same job, and monitor the date from outside.',
    severity: 'critical',
    forbidden: true,
  }),
  servesCertificate('serves-certificate-too-early', 'not-yet-valid', {
    title: 'Serves a certificate that is not valid yet',
    seen: 'Certificates that were installed too early, and private CAs on machines whose clock is ahead.',
    why: 'The sender treats it like an expired one and delivers nothing until it becomes valid.',
    fix: 'Serve the old certificate until the new one is valid, and synchronise the clock of the CA.',
    severity: 'critical',
    forbidden: true,
  }),
  servesCertificate('serves-certificate-about-to-expire', 'expires-soon', {
    title: 'Serves a certificate that expires within days',
    seen: 'Installations whose automatic renewal stopped after a move of the site or a change of its DNS.',
    why: 'Everything works today, and nothing will work after that date. Renewal normally happens weeks earlier.',
    fix: 'Check the log of the renewal, repair it, and renew manually now.',
    severity: 'medium',
    forbidden: false,
  }),
  servesCertificate('serves-expired-intermediate', 'expired-intermediate', {
    title: 'Serves an expired intermediate certificate',
    seen:
      'Servers whose chain file was copied once by hand: the server certificate is renewed every year, but not the ' +
      'chain.',
    why: 'The server certificate looks fine in every monitor, and the sender still refuses the connection.',
    fix: 'Serve the chain that came with the last renewal, and check the dates of every certificate in it.',
    severity: 'critical',
    forbidden: true,
  }),
  // Certificates that are not for this endpoint.
  servesCertificate('serves-certificate-of-another-host', 'wrong-host', {
    title: 'Serves a certificate for another host name',
    seen: 'Default sites of shared servers and ingress controllers, and wildcards that are one level too short.',
    why: 'A certificate for another name does not authenticate the endpoint, so the sender delivers nothing.',
    fix: 'Issue a certificate that lists the host of the registered URL, and bind it to that name.',
    severity: 'critical',
    forbidden: true,
  }),
  servesCertificate('serves-certificate-without-address', 'ip-missing', {
    title: 'Serves a certificate with a host name only, while the URL contains an IP address',
    seen: 'Test installations and internal services registered by IP address with a certificate for the name.',
    why: 'The certificate has to list an address of the URL as an address; a name that resolves to it does not count.',
    fix:
      'Register the URL with the host name, or issue the certificate with the address as an alternative name of ' +
      'type IP.',
    severity: 'critical',
    forbidden: true,
    equivalentTo: {
      name: 'serves-certificate-of-another-host',
      reason:
        'Neither certificate is for the host of the URL; whether that host is a name or an address is up to the URL.',
    },
  }),
  servesCertificate('serves-certificate-with-common-name-only', 'cn-only', {
    title: 'Serves a certificate that names the host only in its common name, without alternative names',
    seen: 'Certificates made with old openssl recipes, and private CAs with templates from before 2017.',
    why:
      'Node still accepts it, while Go, Java, Python and browsers refuse it: it works with one sender and fails ' +
      'with the next.',
    fix: 'Issue it again with the host as a subject alternative name of type DNS.',
    severity: 'high',
    forbidden: true,
  }),
  servesCertificate('serves-client-certificate', 'client-purpose', {
    title: 'Serves a certificate that is for clients only',
    seen: 'Endpoints with mutual TLS where the client certificate was also configured for the server.',
    why: 'Clients check the extended key usage and refuse a server certificate without serverAuth.',
    fix: 'Issue a certificate for the server, with the extended key usage serverAuth.',
    severity: 'critical',
    forbidden: true,
  }),
  // Certificates with an untrusted or invalid issuer.
  servesCertificate('serves-self-signed-certificate', 'self-signed', {
    title: 'Serves a self-signed certificate',
    seen: 'Development certificates that reached production, and default certificates that proxies generate.',
    why: 'Anyone can make the same certificate, so the sender cannot recognise an impostor and delivers nothing.',
    fix: 'Get the certificate from a public CA, which is free with ACME.',
    severity: 'critical',
    forbidden: true,
  }),
  servesCertificate('serves-certificate-of-unknown-authority', 'unknown-authority', {
    title: 'Serves a certificate of a CA that the sender does not trust',
    seen:
      'Company CAs, the staging environment of ACME services, and proxies that inspect TLS and sign with their own ' +
      'root.',
    why: 'It works on every machine inside the company and on none outside, including the sender.',
    fix: 'Get the certificate from a public CA; only clients with its root trust a private one.',
    severity: 'critical',
    forbidden: true,
  }),
  servesCertificate('serves-certificate-of-recreated-authority', 'same-names-root', {
    title: 'Serves a certificate that names the trusted CA as its issuer but is signed by another key',
    seen: 'Private CAs that were created again under the same name after their key was lost, or once per environment.',
    why: 'The names match, so the search starts elsewhere; the signature is invalid, so no client connects.',
    fix: 'Issue with the key of the trusted root, or distribute the new root under a new name.',
    severity: 'critical',
    forbidden: true,
  }),
  servesCertificate('serves-certificate-signed-by-no-authority', 'issuer-not-authority', {
    title: 'Serves a certificate signed by one that is not a CA',
    seen:
      'Home-made chains in which a server certificate signs others, and openssl commands without the CA ' +
      'extensions.',
    why:
      'Clients must refuse it, or the owner of any site could issue certificates for every other. The tool that ' +
      'made it reports nothing.',
    fix: 'Sign with a certificate that has CA:TRUE and the key usage keyCertSign.',
    severity: 'critical',
    forbidden: true,
  }),
  servesCertificate('serves-chain-that-is-too-long', 'path-too-long', {
    title: 'Serves a chain with more CAs than a path length limit allows',
    seen: 'Company CAs with a path length of zero, under which a department has created its own CA.',
    why: 'Clients refuse the chain, while tools that check each certificate separately find nothing wrong.',
    fix: 'Issue from the CA with the limit itself, or have its certificate reissued with a longer path length.',
    severity: 'critical',
    forbidden: true,
  }),
  // Correct certificates in an incorrect chain.
  servesCertificate('leaves-out-intermediate', 'missing-intermediate', {
    title: 'Serves its certificate without the intermediate that issued it',
    seen:
      'Web servers configured with `cert.pem` instead of `fullchain.pem`; reported against webhooks of Telegram, Go ' +
      'and Node clients alike.',
    why:
      'Browsers fetch or cache the missing one, so the site looks correct. Node, Go, curl and Python do not, and ' +
      'refuse the connection.',
    fix: 'Serve one file with the server certificate and every intermediate after it, without the root.',
    severity: 'critical',
    forbidden: true,
  }),
  servesCertificate('sends-chain-out-of-order', 'misordered', {
    title: 'Serves its intermediates in the wrong order',
    seen: 'Chain files that were concatenated by hand, often after a CA changed its hierarchy.',
    why:
      'Most clients sort them, but a few embedded ones and older Java versions do not, so it fails with some ' +
      'senders only.',
    fix: 'Put the server certificate first, then its issuer, then the issuer of that one.',
    severity: 'low',
    forbidden: false,
  }),
  servesCertificate('sends-intermediate-twice', 'duplicate', {
    title: 'Serves the same intermediate twice',
    seen: 'Configurations that add a chain file to a certificate file that already contains the chain.',
    why: 'It wastes bytes, strict clients refuse it, and the next renewal may update only one of the copies.',
    fix: 'Remove either the chain file or the second copy.',
    severity: 'low',
    forbidden: false,
  }),
  servesCertificate('sends-unrelated-certificate', 'unrelated-extra', {
    title: 'Serves a certificate that is not part of its chain',
    seen: 'Bundles with intermediates of a former CA, or with additional roots that were expected to help.',
    why: 'It costs bytes on each connection, and hides which intermediate is needed at the next renewal.',
    fix: 'Serve only the server certificate and the intermediates that lead from it to the root.',
    severity: 'low',
    forbidden: false,
  }),
  // Certificates that can be broken.
  servesCertificate('serves-rsa-1024-key', 'rsa1024', {
    title: 'Serves a certificate with a 1024-bit RSA key',
    seen: 'Keys that were reused at every renewal for many years, and hardware that cannot make larger ones.',
    why:
      'A well-funded attacker can break such a key. Node and others connect without a warning, so only a check of ' +
      'the size finds it.',
    fix: 'Generate a new key, RSA with 2048 bits or P-256, and have the certificate issued for it.',
    severity: 'high',
    forbidden: true,
  }),
  servesCertificate('serves-weak-intermediate', 'weak-intermediate', {
    title: 'Serves an intermediate certificate with a 1024-bit RSA key',
    seen: 'Company CAs from before 2010 that still issue strong server certificates.',
    why: 'An attacker who breaks the weak key can sign certificates for every name, however strong the server key is.',
    fix: 'Have the certificate issued by a CA with strong keys.',
    severity: 'high',
    forbidden: true,
  }),
  {
    ...servesCertificate('serves-sha-1-signature', 'sha1', {
      title: 'Serves a certificate that is signed with SHA-1',
      seen: 'Private CAs with old defaults, and older versions of the `selfsigned` package for Node.',
      why: 'SHA-1 signatures can be forged, and current clients refuse them with unspecific errors.',
      fix: 'Have the certificate reissued with SHA-256, and name the hash in your own scripts.',
      severity: 'high',
      forbidden: true,
    }),
    // By default, OpenSSL does not even load such a certificate.
    options: { ciphers: 'DEFAULT@SECLEVEL=0' },
  },
];
