import { UNSIGNED } from './consequences.ts';
import { ids, mistakes } from './mistake.ts';

/** Mistakes in how an endpoint with mutual TLS requests, verifies and uses client certificates. */
export const MTLS_MISTAKES = mistakes({
  'client-without-certificate-accepted': {
    title: 'Does not require a client certificate',
    seen:
      'A second load balancer without mutual TLS, nginx `ssl_verify_client optional` without a check of ' +
      '`$ssl_client_verify`, Node `rejectUnauthorized: false` without a check of `socket.authorized`, Spring ' +
      '`client-auth=want`, and Go `VerifyClientCertIfGiven`.',
    why:
      'An attacker leaves the certificate out and connects. The agreed protection is missing, and every delivery ' +
      'still works.',
    fix: {
      rule:
        'Request the certificate in the handshake, for the whole port, verify it there against the one CA that ' +
        'issues it, and refuse the connection otherwise: nginx `ssl_verify_client on` with `ssl_client_certificate`. ' +
        'If that CA has other clients, also compare the name (nginx `$ssl_client_s_dn`).',
      express:
        'Use `https.createServer({ requestCert: true, rejectUnauthorized: true, ca })`; if the handshake has to ' +
        'accept everyone, reject in middleware unless `req.socket.authorized` is true and `getPeerCertificate()` is ' +
        'not empty.',
      spring: 'Set `server.ssl.client-auth=need`, and a trust store that contains only that CA.',
      go: 'Set `ClientAuth: tls.RequireAndVerifyClientCert` and `ClientCAs`.',
      dotnet:
        'Set `ClientCertificateMode.RequireCertificate`, and do not install a validation callback that returns true.',
    },
    severity: 'critical',
    cwe: 306,
    implies: ids(
      'client-certificate-not-verified certificate-check-conditional certificate-header-unprotected',
      'recorded-before-certificate-check resumed-session-unverified verification-error-tolerated',
      'hand-written-certificate-check client-name-not-compared',
    ),
  },
  'client-certificate-not-verified': {
    title: 'Accepts client certificates from any issuer',
    seen:
      'nginx `optional_no_ca`, verification callbacks that return true, Go `RequireAnyClientCert`, code that only ' +
      'checks that `getPeerCertificate()` is not empty, and one machine of a cluster with another configuration.',
    why:
      'Anyone can create a CA and a certificate with any name in a second. A certificate is requested and sent, so ' +
      'the check seems to work.',
    fix: {
      rule:
        'Verify the certificate where TLS ends, on every machine, against the one CA that issues it: nginx ' +
        '`ssl_verify_client on` with `ssl_client_certificate`.',
      node:
        'Use `https.createServer({ requestCert: true, rejectUnauthorized: true, ca })`, and also reject unless ' +
        '`req.socket.authorized` is true.',
      spring: 'Set `server.ssl.client-auth=need`, and a trust store that contains only that CA.',
      go: 'Set `ClientAuth: tls.RequireAndVerifyClientCert` and `ClientCAs`; `RequireAnyClientCert` does not verify.',
      dotnet:
        'Set `ClientCertificateMode.RequireCertificate`, and do not install a validation callback that returns true.',
    },
    severity: 'critical',
    cwe: 295,
    implies: ['hand-written-certificate-check', 'resumed-session-unverified', 'public-client-ca'],
  },
  'hand-written-certificate-check': {
    title: 'Identifies client certificates by names or individual values, or verifies the chain with its own code',
    seen:
      'Middleware that compares `subject.CN`, `issuer.CN`, the fingerprint of the issuer or a serial number while ' +
      'the handshake accepts everyone, and chains that are verified signature by signature without basicConstraints.',
    why:
      'Names and serial numbers are public and can be copied into a forged certificate. A client certificate that ' +
      'counts as a CA can sign others with any name.',
    fix: {
      rule:
        'Let the TLS library verify the chain up to the one trusted CA, and compare names only in verified ' +
        'certificates. A custom check must require CA:TRUE and keyCertSign of every issuer. Cache verification ' +
        'results by the SHA-256 fingerprint of the whole certificate, or not at all.',
      node:
        'Set `rejectUnauthorized: true`, or reject unless `req.socket.authorized` is true; then compare the whole ' +
        '`getPeerCertificate().subject.CN`. Use `fingerprint256` as the key of a cache, and do not rely on ' +
        '`X509Certificate.verify` alone.',
      go: 'Read names from `VerifiedChains`, never from `PeerCertificates` alone.',
    },
    severity: 'critical',
    cwe: 296,
    implies: ['verification-error-tolerated', 'client-name-not-compared', 'client-certificate-revocation-ignored'],
  },
  'verification-error-tolerated': {
    title: 'Tolerates errors of the certificate verification, such as an expired or self-signed client certificate',
    seen:
      'Callbacks that tolerate `CERT_HAS_EXPIRED` after a late renewal or `DEPTH_ZERO_SELF_SIGNED_CERT` for tests, ' +
      'and verification without dates or purpose (Go `ExtKeyUsageAny`, OpenSSL `-purpose any`).',
    why:
      'Each exception also lets an attacker in: with a self-signed certificate, a lost key after its expiry, or the ' +
      'certificate of a server. A tolerated start date often hides a wrong clock.',
    fix: {
      rule:
        'Leave dates and purpose (extended key usage clientAuth) to the TLS library, and do not override its result. ' +
        'Renew in time, let the old and the new certificate overlap, and synchronise the clock (NTP). Accept ' +
        'self-signed certificates only by their individual fingerprints.',
      node:
        'Set `rejectUnauthorized: true`, or reject unless `req.socket.authorized` is true; do not tolerate ' +
        'individual codes of `authorizationError`.',
      spring: 'Set `server.ssl.client-auth=need`, and a trust store that contains only that CA.',
      go:
        'Set `ClientAuth: tls.RequireAndVerifyClientCert`; in your own verification, set `KeyUsages: ' +
        '[]x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}`.',
      dotnet:
        'Set `ClientCertificateMode.RequireCertificate`, and do not install a validation callback that returns true.',
    },
    severity: 'high',
    cwe: 295,
  },
  'client-certificate-revocation-ignored': {
    title: 'Accepts revoked client certificates',
    seen: 'Servers without a revocation list, and sessions that are resumed after the certificate was revoked.',
    why: 'A stolen key works until the certificate expires or the session ends.',
    fix: {
      rule:
        'Load the revocation list of the CA (nginx `ssl_crl`) and renew it, or use short-lived certificates. For ' +
        'immediate revocation, also shorten the lifetime of sessions or turn off tickets.',
      node: 'Pass the list as `crl` to `https.createServer`.',
    },
    severity: 'medium',
    cwe: 299,
  },
  'public-client-ca': {
    title: 'Trusts public CAs for client certificates',
    seen:
      'Servers whose CA list for clients is the system bundle (`ssl_client_certificate ' +
      '/etc/ssl/certs/ca-certificates.crt`), or that have no list and fall back to it.',
    why: 'Anyone who owns a domain can get a certificate from a public CA within a minute, and connect with it.',
    fix: {
      rule:
        'Use a separate list for client certificates that contains only the issuing CA (nginx ' +
        '`ssl_client_certificate`), never the system bundle.',
      node: 'Pass `ca` with that one CA to `https.createServer`; it replaces the system list.',
      spring: 'Set `server.ssl.trust-store` to a store that contains only that CA.',
      go: 'Fill `ClientCAs` with a new pool instead of `x509.SystemCertPool()`.',
    },
    severity: 'high',
    cwe: 295,
  },
  'client-name-not-compared': {
    title: 'Accepts certificates that the CA issued to other clients',
    seen:
      'CAs of a company or a platform that are trusted as a whole, `subject.includes(name)`, and regular expressions ' +
      'without anchors, such as `if ($ssl_client_s_dn ~ name)` in nginx.',
    why: 'Another client of the same CA can deliver in the name of the sender.',
    fix: {
      rule:
        'After verification, compare the whole subject name with the agreed one (nginx `if ($ssl_client_s_dn != ' +
        '"CN=sender") { return 403; }`), or use a CA that issues only to this client.',
      node: 'Compare with `===`, not with `includes`, `startsWith` or a regular expression without anchors.',
    },
    severity: 'medium',
    cwe: 863,
  },
  'resumed-session-unverified': {
    title: 'Does not check the client certificate of resumed sessions',
    seen:
      'Checks in the verification callback, which does not run for a resumed session (such as CVE-2025-23419 in ' +
      'nginx and CVE-2025-23048 in Apache), and checks of `socket.authorized` alone in Node.',
    why:
      'A client without a valid certificate connects twice: the first connection is rejected, and the second resumes ' +
      'its session and is accepted.',
    fix: {
      rule:
        'Check the verification result and the certificate on every request (nginx `$ssl_client_verify`), and keep ' +
        'sessions of different settings separate.',
      node:
        'Reject unless `req.socket.authorized` is true and `req.socket.getPeerCertificate().raw` is present ' +
        '(`authorized` is also true for TLS 1.3 sessions resumed without a certificate), or set `rejectUnauthorized: ' +
        'true`. Use a `sessionIdContext` for each configuration, and store nothing in the handshake.',
      go: 'Check in `VerifyConnection`, which also runs for resumed sessions, instead of `VerifyPeerCertificate`.',
    },
    severity: 'critical',
    cwe: 287,
  },
  'certificate-check-conditional': {
    title: 'Requires the client certificate only for some connections or requests',
    seen:
      'Policies for one TLS version or one server name, gateway rules for one exact URL, method or media type, ' +
      'checks inside the handler of one type, and exceptions for internal addresses.',
    why:
      'The client chooses the version, the URL and the headers. An attacker without a certificate chooses those that ' +
      'are not covered.',
    fix: {
      rule:
        'Require the certificate unconditionally, for the whole port and in the handshake, or before any part of ' +
        'the request is read. Require it on the default site too, and use a separate port for internal checks.',
      express:
        'Set `requestCert: true, rejectUnauthorized: true` for the whole server, or check `req.socket.authorized` in ' +
        'the first middleware. Make no exception for `req.ip`, and set "trust proxy" to the addresses of your ' +
        'proxies.',
    },
    severity: 'critical',
    cwe: 288,
    implies: ids(
      'verification-error-tolerated resumed-session-unverified hand-written-certificate-check',
      'client-certificate-not-verified recorded-before-certificate-check client-name-not-compared',
    ),
  },
  'certificate-header-unprotected': {
    title: 'Trusts a header that claims a verified client certificate, from any sender',
    seen:
      'Applications with a TLS proxy that can also be reached directly, or whose proxy does not overwrite the header ' +
      '(CVE-2026-46579, GHSA-4w7q-wwx4-6973).',
    why: 'Any client can set the header, and then needs no certificate.',
    fix: {
      rule:
        'Read one header only in the application, and remove the code that accepts others. Let the proxy overwrite ' +
        'this header on every request (nginx, in every location: `proxy_set_header X-SSL-Client-Verify ' +
        '$ssl_client_verify;`; HAProxy: `http-request del-header X-SSL -m beg` first), and make the application ' +
        'reachable only through the proxy. A certificate that a client can send in a header proves nothing, even if ' +
        'its chain is verified: certificates are public.',
      go:
        'Reject unless `r.Header.Get("X-SSL-Client-Verify") == "SUCCESS"`, look at no other header, and listen on ' +
        '`127.0.0.1` or a Unix socket.',
      express:
        'Read such a header only if `req.socket.remoteAddress` is the proxy, and do not rely on `req.ip`, which ' +
        '"trust proxy" can take from another header.',
    },
    severity: 'critical',
    cwe: 290,
  },
  'certificate-replaces-credentials': {
    title: 'Skips the check of the signature or the API key if the client has a valid certificate',
    seen:
      'Lists of authenticators of which the first success is enough, and gateways that mark a client with a ' +
      'certificate as known.',
    why:
      'The certificate identifies the connection but does not protect the delivery. An attacker with the ' +
      'certificate, or with access behind the TLS termination, can deliver anything.',
    fix: {
      rule:
        'Check the certificate, the API key and the signature one after the other on every connection, and let none ' +
        'of them replace another.',
      express: 'Do not return early if `req.socket.authorized` is true: use separate middleware for every check.',
    },
    severity: 'critical',
    cwe: 304,
    implies: [
      ...UNSIGNED,
      ...ids(
        'no-signature-verification unchecked-key raw-body-fallback signed-part-of-body key-from-other-place',
        'one-credential-enough well-known-secret partial-key-comparison base64-variant signature-check-throws',
        'partial-comparison conditional-key-check altered-key unset-key other-hmac-hash confused-credentials',
        'absent-signature-passes wrong-digest-encoding key-exempt-claims key-as-pattern hash-instead-of-hmac',
        'foreign-signature-format failures-lock-out converted-secret body-left-unread signature-used-as-pattern',
        'several-signatures lossy-body-text key-check-throws hand-written-comparison digest-handled-as-text',
        'verification-fails-open verdict-kept-by-id unread-body-verified swapped-hmac-arguments',
        'surrounding-text-ignored signature-letter-case shortened-secret secret-with-extra-characters optional-key',
        'key-as-list cached-verification signature-format-only signature-treated-as-url-text serial-body-reads',
        'known-id-revealed imitated-body-format decoded-body body-as-c-string unread-key request-chooses-credentials',
        'named-expected-key key-in-sql key-checked-late key-as-property derived-key-comparison',
      ),
    ],
  },
  'unverified-certificate-read': {
    title: 'Fails with an exception or an endless loop on a missing or unverified client certificate',
    seen:
      'Code that reads `getPeerCertificate().subject.CN` of an empty object, or follows `issuerCertificate`, which ' +
      'in Node never ends for a self-signed certificate.',
    why:
      'Anyone who connects without a valid certificate, such as a scanner, causes the failure: an answer with 500, ' +
      'or the end of the process.',
    fix: {
      rule:
        'Refuse in the handshake, so that your code never sees an unverified certificate, or treat a missing one as ' +
        'an ordinary case and answer 401 or 403.',
      node:
        'Set `rejectUnauthorized: true`; or check `getPeerCertificate()?.raw` before you read any of it, and answer ' +
        '401. Stop following the chain when a fingerprint repeats.',
    },
    severity: 'high',
    cwe: 755,
    implies: ids(
      'client-without-certificate-accepted uncaught-error certificate-header-unprotected',
      'certificate-check-conditional resumed-session-unverified recorded-before-certificate-check',
    ),
  },
  'misleading-certificate-refusal': {
    title: 'Answers a missing or invalid client certificate with a success, a redirect or 404',
    seen:
      'Handlers that answer first and check afterwards, nginx `error_page 496 = /login`, single sign-on for the ' +
      'whole site, and routes that exist only for clients with a certificate.',
    why:
      'If the certificate of the sender is missing or new, the sender does not notice: it looks for a mistake ' +
      'in the URL, or treats the delivery as accepted, and the notification is lost.',
    fix: {
      rule:
        'Refuse in the handshake, or answer 401 or 403, and treat a missing or invalid certificate as an ordinary ' +
        'case.',
      node:
        'Set `rejectUnauthorized: true`; or check `req.socket.authorized` and `getPeerCertificate()?.raw` before ' +
        'anything else, and answer 401.',
    },
    severity: 'medium',
    cwe: 393,
    implies: ids(
      'client-without-certificate-accepted certificate-header-unprotected certificate-check-conditional',
      'resumed-session-unverified recorded-before-certificate-check',
    ),
  },
  'valid-certificate-rejected': {
    title: 'Rejects the valid client certificate on some or all connections',
    seen:
      'Lists of subjects in another format (`/CN=sender`), fingerprints of the previous certificate, trust stores ' +
      'without the issuing CA, settings for each TLS version, and libraries that store no certificate with a session.',
    why:
      'Deliveries fail at once, or when the sender renews its certificate, resumes a session or changes its TLS ' +
      'settings.',
    fix: {
      rule:
        'Trust the CA that issued the certificate, with its intermediates (nginx `ssl_client_certificate`), instead ' +
        'of one certificate. Use one trust store and one set of algorithms for every TLS version, and compare names ' +
        'instead of their formatting. Take the certificate from the session (nginx `$ssl_client_verify`), or issue ' +
        'no sessions.',
      node:
        'Pass the CA with its intermediates as `ca`, leave `sigalgs` and `ecdhCurve` of `https.createServer` at ' +
        'their defaults, and read `req.socket.getPeerCertificate()` for each request, not in the handshake.',
    },
    severity: 'critical',
    cwe: 684,
  },
  'recorded-before-certificate-check': {
    title: 'Records a delivery before it checks the client certificate',
    seen: 'Deduplication in a proxy or in outer middleware, which answers 409 to a known id.',
    why: 'An attacker who guesses or sees ids blocks the real deliveries one by one.',
    fix: {
      rule: 'Check the certificate first, and do not store any part of a rejected delivery.',
      express: 'Put the deduplication middleware after the checks of certificate, key and signature.',
    },
    severity: 'critical',
    cwe: 696,
  },
});
