import type { ChainFaultCode } from '../tls.ts';
import { mistakes } from './mistake.ts';

/** How an application that terminates TLS itself installs a certificate. */
const INSTALL =
  'Pass the new files to `https.createServer({ cert, key })`, with the server certificate first in `cert`, or to the ' +
  'proxy, and reload it.';

/** Mistakes in the certificates that an endpoint serves, and in its TLS configuration. */
export const TLS_MISTAKES = mistakes({
  'certificate-not-renewed': {
    title: 'Serves a certificate that was not renewed in time',
    seen: 'Automatic renewals that failed unnoticed, and successful ones after which the server was not reloaded.',
    why: 'From the expiry date on, the sender refuses the connection, and every delivery fails.',
    fix: {
      rule:
        'Check the log of the renewal and renew manually if it failed. Reload the server in the same job, and ' +
        'monitor the expiry date from outside.',
      node: INSTALL,
    },
    severity: 'critical',
    cwe: 324,
  },
  'outdated-intermediates': {
    title: 'Serves an expired intermediate or root certificate',
    seen: 'A chain file that was copied once by hand: the server certificate is renewed every year, the chain is not.',
    why: 'The server certificate looks valid in every monitor, and the sender still refuses the connection.',
    fix: {
      rule:
        'Serve the intermediates that come with each renewal (`fullchain.pem`), and check the dates of every ' +
        'certificate in the file.',
      node: INSTALL,
    },
    severity: 'critical',
    cwe: 324,
  },
  'premature-certificate': {
    title: 'Serves a certificate that is not valid yet',
    seen: 'Certificates that were installed too early, and private CAs on machines whose clock is ahead.',
    why: 'The sender rejects it like an expired one and delivers nothing until it becomes valid.',
    fix: {
      rule: 'Serve the old certificate until the new one is valid, and synchronise the clock of the issuing machine.',
      node: INSTALL,
    },
    severity: 'critical',
    cwe: 295,
  },
  'untrusted-certificate': {
    title: 'Serves a certificate that does not lead to a trusted CA',
    seen:
      'Self-signed development certificates, default certificates of proxies, company CAs, the staging environment ' +
      'of ACME services, and proxies that inspect TLS.',
    why:
      'The sender cannot distinguish the endpoint from an impostor and delivers nothing. Machines that have the CA ' +
      'installed connect, so tests inside the company pass.',
    fix: {
      rule:
        "If an intermediate CA issued the certificate, put that CA's certificate after it in the file that the " +
        'server reads (nginx `ssl_certificate`). Otherwise get the certificate from a public CA (free with ACME). ' +
        'For a test endpoint with a private CA, pass its root with `--ca FILE`.',
      node: INSTALL,
    },
    severity: 'critical',
    cwe: 295,
  },
  'recreated-issuer': {
    title: 'Serves a certificate that its named issuer did not sign',
    seen:
      'Private CAs that were regenerated under the same name, after their key was lost or once per environment, and ' +
      'an intermediate of the same name with another key.',
    why: 'The names match, but the signature does not verify with the key of the issuer, so no client connects.',
    fix: {
      rule:
        'Use a certificate issued with the key of the trusted CA, and serve the intermediate that issued it. If the ' +
        'CA was regenerated, distribute its new root, under a new name.',
      node: INSTALL,
    },
    severity: 'critical',
    cwe: 295,
  },
  'incomplete-chain': {
    title: 'Serves its certificate without the intermediates',
    seen: 'Web servers configured with `cert.pem` instead of `fullchain.pem`.',
    why:
      'Browsers download or cache the missing intermediate, so the page works there. Node, Go, curl and Python do ' +
      'not, and refuse the connection.',
    fix: {
      rule:
        'Serve one file with the server certificate first, then each intermediate, without the root: `fullchain.pem` ' +
        'of an ACME client. nginx `ssl_certificate` takes one file with all of them.',
      node: INSTALL,
    },
    severity: 'critical',
    cwe: 295,
  },
  'untidy-chain-file': {
    title: 'Serves a chain file with misplaced or unneeded content',
    seen:
      'Files that were concatenated by hand: a chain that was added twice, intermediates of a former CA, additional ' +
      'roots, or text that is not a certificate.',
    why:
      'Most clients sort the certificates and ignore the rest, but strict ones refuse the connection. Everything ' +
      'unneeded costs bytes on each connection and hides which certificates must be replaced at the next renewal.',
    fix: {
      rule:
        'Serve the certificate first, then its issuer, then the issuer of that one, each once, without the root ' +
        'or anything else: `fullchain.pem` of an ACME client.',
      node: INSTALL,
    },
    severity: 'low',
    cwe: 684,
  },
  'host-not-in-certificate': {
    title: 'Serves a certificate that does not list the host of the URL as an alternative name',
    seen:
      'Default sites of shared servers and ingress controllers, wildcards that are one level too short, URLs with an ' +
      'IP address, and old openssl recipes that set only the common name.',
    why:
      'A certificate for another name does not authenticate the endpoint, and the common name does not count as a ' +
      'host name. A sender that follows these rules delivers nothing.',
    fix: {
      rule:
        'Issue a certificate with the host of the registered URL as a subject alternative name (`DNS:your.host`, for ' +
        'an address `IP:`), and bind it to that name.',
      node: INSTALL,
    },
    severity: 'critical',
    cwe: 297,
  },
  'weak-certificate-key': {
    title: 'Serves a chain with a weak key',
    seen: 'Keys that were reused at every renewal for many years, and company CAs from before 2010.',
    why:
      'An attacker who breaks a 1024-bit RSA key can impersonate the endpoint, or, with the key of a CA, any name. ' +
      'Node and many other clients connect without a warning.',
    fix: {
      rule:
        'Generate a new key, RSA with 2048 bits or P-256, and get the certificate from a CA whose keys are at least ' +
        'as strong.',
      node: INSTALL,
    },
    severity: 'high',
    cwe: 326,
  },
  'weak-certificate-hash': {
    title: 'Serves a certificate signed with SHA-1 or MD5',
    seen: 'Private CAs with old defaults, and older versions of the `selfsigned` package for Node.',
    why: 'Such signatures can be forged, and current clients refuse them with unspecific errors.',
    fix: {
      rule: 'Have the certificate reissued with SHA-256, and request the hash explicitly in your own tools.',
      node: INSTALL,
    },
    severity: 'high',
    cwe: 328,
  },
  'issuer-without-permission': {
    title: 'Serves a certificate from an issuer that may not issue it',
    seen:
      'Home-made chains in which a server certificate signs others, openssl commands without the CA extensions, and ' +
      'department CAs below a company CA with a path length of zero.',
    why:
      'Clients must reject such a chain: otherwise, the owner of any site could issue certificates for every other. ' +
      'The tools that issue it report nothing.',
    fix: {
      rule:
        'Sign with a certificate that is marked as a CA (CA:TRUE, keyCertSign), and within the path length of its ' +
        'issuers, or have the limiting CA certificate reissued.',
      node: INSTALL,
    },
    severity: 'critical',
    cwe: 295,
  },
  'certificate-without-server-usage': {
    title: 'Serves a certificate that is not for servers',
    seen: 'Endpoints with mutual TLS where the client certificate was also configured for the server.',
    why: 'Clients check the usage extensions and reject a server certificate without serverAuth.',
    fix: {
      rule:
        'Issue a certificate for the server, with the extended key usage serverAuth and the key usage ' +
        'digitalSignature.',
      node: INSTALL,
    },
    severity: 'critical',
    cwe: 295,
  },
  'obsolete-tls-version': {
    title: 'Accepts SSL 3.0, TLS 1.0 or TLS 1.1',
    seen:
      'Appliances, load balancers with an old compatibility policy, and Java or Windows servers with their original ' +
      'settings.',
    why:
      'SSL 3.0, TLS 1.0 and TLS 1.1 have known weaknesses and were withdrawn (RFC 7568, RFC 8996). A man in the ' +
      'middle can downgrade a connection to them.',
    fix: {
      rule:
        'Set the minimum version to TLS 1.2 wherever TLS ends: nginx `ssl_protocols TLSv1.2 TLSv1.3;`, or the ' +
        'security policy of the load balancer.',
      node:
        'Leave `minVersion` of `https.createServer` at its default, TLS 1.2, and remove `@SECLEVEL=0` from ' +
        '`ciphers`.',
      spring: 'Set `server.ssl.enabled-protocols=TLSv1.2,TLSv1.3`.',
      go: 'Leave `tls.Config.MinVersion` at its default or set it to `tls.VersionTLS12`.',
      dotnet:
        'Set `SslProtocols.Tls12 | SslProtocols.Tls13` in the HTTPS options of Kestrel, or leave it to the system.',
    },
    severity: 'high',
    cwe: 327,
  },
  'narrow-tls-support': {
    title: 'Supports only some of the clients that use current TLS',
    seen: 'Endpoints with only one of TLS 1.2 and TLS 1.3, and sites that are selected by the server name (SNI).',
    why: 'Such an endpoint is correct, but older or simple clients may fail to connect, or may reach another site.',
    fix: { rule: 'No change needed. Consider enabling both versions: nginx `ssl_protocols TLSv1.2 TLSv1.3;`.' },
    severity: 'low',
    cwe: 684,
  },
  'outdated-cipher-suites': {
    title: 'Accepts weak or outdated cipher suites',
    seen:
      'Cipher lists with `ALL`, `eNULL` or `@SECLEVEL=0`, often left over from debugging, and the original settings ' +
      'of old Java, Windows and embedded servers.',
    why:
      'The sender may negotiate such a suite, or a man in the middle may force it. Then API keys and payloads can ' +
      'be read, now or from recorded traffic.',
    fix: {
      rule:
        'Use the cipher list of a current server or a current policy of the load balancer, only with ECDHE suites, ' +
        'and remove additions to it (`ALL`, `@SECLEVEL=0`, `+RC4`).',
      node:
        'Leave `ciphers` of `https.createServer` unchanged, without `ALL` or `@SECLEVEL=0`; with nginx, use a ' +
        'currently recommended `ssl_ciphers` line.',
    },
    severity: 'medium',
    cwe: 327,
  },
  'tls-level-compression': {
    title: 'Compresses data at the TLS level',
    seen: 'Servers with OpenSSL builds from before 2013 with zlib (CVE-2012-4929, known as CRIME).',
    why: 'The compressed length reveals secrets in headers to an attacker who can trigger requests.',
    fix: {
      rule: 'Disable TLS compression, or update the TLS library: current servers have it off by default.',
      node: 'Node has no TLS compression: check the proxy (`SSLCompression off` in Apache).',
    },
    severity: 'medium',
    cwe: 203,
  },
  'http-1-1-not-offered': {
    title: 'Does not serve HTTP/1.1 to every client that needs it',
    seen:
      'gRPC gateways, HTTP/2 servers in Node without `allowHTTP1`, and proxies with only h2 in their protocol list ' +
      'or without a handler when no protocol was negotiated.',
    why:
      'The sender uses HTTP/1.1. Where it is missing, the handshake fails or the connection closes, and nothing is ' +
      'delivered.',
    fix: {
      rule:
        'Offer http/1.1 in addition to h2 in the protocol list (ALPN), and use HTTP/1.1 if no protocol was ' +
        'negotiated.',
      node:
        'Use `https.createServer`, or `http2.createSecureServer({ allowHTTP1: true })` without your own handler for ' +
        '`unknownProtocol`.',
      go: 'Do not set `NextProtos` to h2 alone; `http.Server` offers both by default.',
    },
    severity: 'critical',
    cwe: 684,
  },
  'plain-http-served': {
    title: 'Accepts plain HTTP on the TLS port',
    seen:
      'Servers that detect the protocol by the first byte, development servers in production, and load balancers ' +
      'with a TCP listener that falls back.',
    why: 'A sender that is configured with http:// sends everything, including the API key, unencrypted and unnoticed.',
    fix: {
      rule: 'Accept only TLS on this port. On an HTTP port, answer with a redirect, or close it.',
      node: 'Serve the app with `https.createServer` only, and remove protocol detection.',
    },
    severity: 'high',
    cwe: 319,
  },
});

/** The mistake to which each fault of a certificate chain points. */
export const CHAIN_MISTAKES = {
  unreadable: 'untidy-chain-file',
  expired: 'certificate-not-renewed',
  'not-yet-valid': 'premature-certificate',
  'expires-soon': 'certificate-not-renewed',
  'host-mismatch': 'host-not-in-certificate',
  'no-alternative-name': 'host-not-in-certificate',
  'self-signed': 'untrusted-certificate',
  'unknown-authority': 'untrusted-certificate',
  'missing-intermediate': 'incomplete-chain',
  'forged-issuer': 'recreated-issuer',
  misordered: 'untidy-chain-file',
  duplicate: 'untidy-chain-file',
  unrelated: 'untidy-chain-file',
  'root-sent': 'untidy-chain-file',
  'weak-key': 'weak-certificate-key',
  'weak-signature': 'weak-certificate-hash',
  'issuer-not-authority': 'issuer-without-permission',
  'path-too-long': 'issuer-without-permission',
  'wrong-purpose': 'certificate-without-server-usage',
  unexplained: 'untrusted-certificate',
} as const satisfies Record<ChainFaultCode, keyof typeof TLS_MISTAKES>;
