/** Mutants that do not verify client certificates, or only partly. */
import { X509Certificate } from 'node:crypto';
import { type PeerCertificate, rootCertificates, type Server as TlsServer } from 'node:tls';
import { secureContextOptions } from '../receiver/server/tls.ts';
import type { Fault, FaultParts, StageFault } from './fault.ts';
import {
  alsoAcceptClients,
  type Client,
  handleClients,
  hasUntrustedIssuer,
  MTLS,
  trustedCaOf,
} from './lenient-certificate.ts';

const VERIFY = {
  rule:
    'Request the certificate in the handshake, verify it there against the one CA that issues it, and refuse the ' +
    'connection otherwise.',
  express:
    'Use `https.createServer({ requestCert: true, rejectUnauthorized: true, ca })`; if the handshake has to accept ' +
    'everyone, reject in middleware unless `req.socket.authorized` is true and `getPeerCertificate()` is not empty.',
  spring: 'Set `server.ssl.client-auth=need`, and a trust store that contains only that CA.',
  go: 'Set `ClientAuth: tls.RequireAndVerifyClientCert` and `ClientCAs`; `RequireAnyClientCert` does not verify.',
  dotnet: 'Set `ClientCertificateMode.RequireCertificate`, and do not install a validation callback that returns true.',
} as const;

const always = () => true;

/** A mutant that tolerates one verification error, by Node's code, in a certificate with the agreed name. */
function tolerate(
  code: string,
  text: Pick<StageFault, 'name' | 'title' | 'seen' | 'why' | 'fix'> & Partial<StageFault>,
): StageFault {
  return {
    ...MTLS,
    severity: 'high',
    replace: alsoAcceptClients(
      () =>
        ({ certificate, fault, named }) =>
          certificate !== null && named && fault === code,
    ),
    ...text,
  };
}

const LEAVE = 'Reject unless `req.socket.authorized` is true; do not tolerate single codes of `authorizationError`.';

const AFTER = {
  rule: 'Verify the chain first, up to the one trusted CA, and compare names only in verified certificates.',
  express:
    'Reject unless `req.socket.authorized` is true; then compare the whole `getPeerCertificate().subject.CN` with ' +
    'the agreed name.',
  go: 'Read names from `VerifiedChains`, never from `PeerCertificates` alone.',
} as const;

const EXACT = {
  rule: 'After verification, compare the whole name with the agreed one, or use a CA that issues only to this client.',
  express: 'Compare with `===`, not with `includes`, `startsWith` or a regular expression without anchors.',
} as const;

/** Whether the certificate names the receiver's CA as its issuer. */
function namesTrustedIssuer(parts: FaultParts): (client: Client) => boolean {
  const subject = trustedCaOf(parts)?.toLegacyObject().subject;
  return ({ certificate }) => certificate !== null && same(certificate.issuer, subject);
}

function same(a: PeerCertificate['issuer'], b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

export const mtlsCertificatesFaults: readonly Fault[] = [
  // Receivers that do not verify the client certificate, or not its owner.
  {
    ...MTLS,
    name: 'client-certificate-never-asked-for',
    title: 'Does not request a client certificate',
    seen:
      'Endpoints whose mutual TLS was configured on one load balancer, while another one serves the same name ' +
      'without it.',
    why: 'Anyone who knows the URL can connect. The agreed protection is missing, and every delivery still works.',
    fix: VERIFY,
    options: { requestCert: false },
    replace: handleClients(() => () => (_req, _res, next) => next()),
  },
  {
    ...MTLS,
    name: 'client-certificate-asked-for-only',
    title: 'Requests a client certificate but does not check it',
    seen:
      '`requestCert: true, rejectUnauthorized: false` without a check of `socket.authorized`, and nginx ' +
      '`optional_no_ca` without a check behind it.',
    why:
      'Traces show a certificate request and a certificate, so the check seems to work. It accepts any certificate ' +
      'or none.',
    fix: VERIFY,
    replace: alsoAcceptClients(() => always),
  },
  {
    ...MTLS,
    name: 'client-certificate-optional',
    title: 'Rejects an invalid client certificate but accepts a missing one',
    seen:
      'nginx `ssl_verify_client optional` without a check of `$ssl_client_verify`, Spring `client-auth=want`, and ' +
      'Go `VerifyClientCertIfGiven`.',
    why:
      'An attacker leaves the certificate out. Tests with an invalid certificate pass, so the gap is hard to ' +
      'notice.',
    fix: VERIFY,
    replace: alsoAcceptClients(
      () =>
        ({ certificate }) =>
          certificate === null,
    ),
  },
  {
    ...MTLS,
    name: 'client-certificate-presence-is-enough',
    title: 'Accepts any client certificate',
    seen:
      'Verify callbacks that return true, Go `RequireAnyClientCert`, and code that only checks that ' +
      '`getPeerCertificate()` is not empty.',
    why: 'Anyone can make a certificate with any name and any dates in a second.',
    fix: VERIFY,
    replace: alsoAcceptClients(
      () =>
        ({ certificate }) =>
          certificate !== null,
    ),
  },
  {
    ...MTLS,
    name: 'any-authority-accepted',
    title: 'Accepts a client certificate of any CA if its dates and its purpose are valid',
    seen:
      'nginx `optional_no_ca`, which checks dates but not the issuer, and callbacks that tolerate an unknown issuer ' +
      'because the CA is private.',
    why: 'An attacker creates their own CA. Tests with an expired certificate pass, so the check seems to work.',
    fix: VERIFY,
    replace: alsoAcceptClients(() => hasUntrustedIssuer),
  },
  {
    ...MTLS,
    name: 'self-signed-client-accepted',
    title: 'Accepts self-signed client certificates in addition to those of the CA',
    seen: 'Callbacks that tolerate `DEPTH_ZERO_SELF_SIGNED_CERT`, written for a partner without a CA, or for tests.',
    why: 'Anyone can make a self-signed certificate with the agreed name.',
    fix: {
      ...VERIFY,
      rule: 'Accept self-signed certificates only by their individual fingerprints, and all others through the CA.',
    },
    replace: alsoAcceptClients(
      () =>
        ({ fault }) =>
          fault === 'DEPTH_ZERO_SELF_SIGNED_CERT',
    ),
  },
  // Receivers that tolerate errors found by the TLS library.
  tolerate('CERT_HAS_EXPIRED', {
    name: 'expired-client-certificate-accepted',
    title: 'Accepts expired client certificates',
    seen: 'Callbacks that tolerate the expiry after a late renewal, and hand-written verification without the dates.',
    why: 'Expiry limits the damage of a lost key.',
    fix: {
      rule: 'Leave the dates to the TLS library. Renew in time, and let the old and the new certificate overlap.',
      express: LEAVE,
    },
  }),
  tolerate('CERT_NOT_YET_VALID', {
    name: 'early-client-certificate-accepted',
    title: 'Accepts client certificates that are not valid yet',
    seen: 'Callbacks that tolerate it because of clock differences, and containers with a wrong clock.',
    why: 'A tolerated start date often hides a wrong clock, and then expiry does not work either.',
    fix: {
      rule: 'Leave the dates to the TLS library, and synchronise the clock (NTP).',
      express: LEAVE,
    },
  }),
  tolerate('INVALID_PURPOSE', {
    name: 'server-certificate-accepted-from-client',
    title: 'Accepts a server certificate of the CA from a client',
    seen: 'Verification against the CA without the extended key usage (Go `ExtKeyUsageAny`, OpenSSL `-purpose any`).',
    why: 'Every server with a certificate of this CA can deliver.',
    severity: 'medium',
    forbidden: false,
    fix: {
      rule: 'Require the extended key usage clientAuth. TLS libraries do so by default.',
      express: LEAVE,
      go: 'Verify with `KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}`.',
    },
  }),
  // Which issuers of client certificates the receiver trusts.
  {
    name: 'public-authorities-trusted-for-clients',
    area: 'mtls',
    title: 'Accepts client certificates of every public CA, because the system trusts them',
    seen:
      'Servers whose CA list for clients is the system bundle (`ssl_client_certificate ' +
      '/etc/ssl/certs/ca-certificates.crt`), or that have no list and fall back to it.',
    why: 'Anyone who owns a domain gets a certificate from a public CA in a minute and can connect with it.',
    fix: {
      rule: 'Use a separate list for client certificates that contains only the issuing CA.',
      express: 'Pass `ca` with that one CA to `https.createServer`; it replaces the system list.',
      spring: 'Set `server.ssl.trust-store` to a store that contains only that CA.',
      go: 'Fill `ClientCAs` with a new pool instead of `x509.SystemCertPool()`.',
    },
    severity: 'high',
    forbidden: false,
    stage: 'connection',
    server(server, { tls }) {
      if (tls?.ca === undefined) return;
      const ca = [tls.ca, ...rootCertificates].join('\n');
      (server as unknown as TlsServer).setSecureContext(secureContextOptions({ ...tls, ca }));
    },
  },
  {
    ...MTLS,
    name: 'client-certificate-taken-for-authority',
    title: 'Accepts a certificate signed by another client certificate, which is not a CA',
    seen:
      'Chains that are verified by hand, signature by signature, without basicConstraints (CVE-2002-0862, and ' +
      'CVE-2021-3450 in OpenSSL with strict checks).',
    why: 'Every client of the CA can sign certificates with any name and deliver as anyone.',
    fix: {
      rule: 'Leave the chain to the TLS library. Otherwise check every issuer for CA:TRUE and keyCertSign.',
      express: 'Set `rejectUnauthorized: true`, and do not rely on `X509Certificate.verify` alone.',
    },
    replace: alsoAcceptClients(() => {
      const clients = new Map<string, X509Certificate>();
      return ({ certificate, fault }) => {
        if (certificate === null) return false;
        const { fingerprint256, raw } = certificate;
        if (fault === null) {
          if (!clients.has(fingerprint256)) clients.set(fingerprint256, new X509Certificate(raw));
          return false;
        }
        const shown = new X509Certificate(raw);
        return [...clients.values()].some((client) => shown.verify(client.publicKey));
      };
    }),
  },
  // Receivers that trust names in a certificate, which anyone can write.
  {
    ...MTLS,
    name: 'only-subject-name-compared',
    title: 'Compares the client name in the certificate but not its issuer',
    seen:
      'Middleware that reads `subject.CN` while the handshake accepts everyone, and proxies that forward the ' +
      'subject without the verification result.',
    why: 'The name is known or guessed, and anyone can put it into their own certificate.',
    fix: AFTER,
    replace: alsoAcceptClients(
      () =>
        ({ named }) =>
          named,
    ),
  },
  {
    ...MTLS,
    name: 'only-issuer-name-compared',
    title: 'Compares the issuer name in the certificate but not its signature',
    seen: 'Middleware that compares `issuer.CN`, and firewall rules on the text of the issuer.',
    why: 'Anyone can create a CA with the same name in a second, and its certificates pass.',
    fix: AFTER,
    replace: alsoAcceptClients(namesTrustedIssuer),
  },
  {
    ...MTLS,
    name: 'only-both-names-compared',
    title: 'Compares the names of client and issuer but not the signature',
    seen: 'Lists of allowed clients by subject and issuer in gateways that do not verify certificates.',
    why: 'Both names are visible in the certificate and can be copied together.',
    fix: AFTER,
    replace: alsoAcceptClients((parts) => {
      const namesIssuer = namesTrustedIssuer(parts);
      return (client) => client.named && namesIssuer(client);
    }),
  },
  {
    ...MTLS,
    name: 'only-issuer-certificate-compared',
    title: 'Compares the fingerprint of the issuer certificate and checks nothing else',
    seen:
      'Code that follows `issuerCertificate` and compares its fingerprint with a constant, without dates and ' +
      'purpose.',
    why:
      'Every certificate that the CA has issued passes: those of other clients, of servers, expired or not valid ' +
      'yet.',
    fix: AFTER,
    replace: alsoAcceptClients((parts) => {
      const fingerprint = trustedCaOf(parts)?.fingerprint256;
      return ({ certificate, socket }) =>
        certificate !== null && socket.getPeerCertificate(true).issuerCertificate?.fingerprint256 === fingerprint;
    }),
  },
  {
    ...MTLS,
    name: 'certificate-remembered-by-serial-number',
    title: 'Recognises a previously verified certificate by its serial number alone',
    seen: 'Caches for an expensive verification (OCSP, a directory) with the serial number as the key.',
    why: 'The serial number is public. A forged certificate with it passes as the cached one.',
    fix: {
      rule: 'Cache verification results by the SHA-256 fingerprint of the whole certificate, or not at all.',
      express:
        'Use `getPeerCertificate().fingerprint256` as the key, and reject unless `req.socket.authorized` is true.',
    },
    replace: alsoAcceptClients(() => {
      const known = new Set<string>();
      return ({ certificate, fault, named }) => {
        if (certificate === null) return false;
        if (fault === null && named) known.add(certificate.serialNumber);
        return known.has(certificate.serialNumber);
      };
    }),
  },
  {
    ...MTLS,
    name: 'every-client-of-authority-accepted',
    title: 'Accepts every client certificate of the CA, regardless of its subject',
    seen: 'CAs of a company or a platform that issue to many clients and are trusted as a whole.',
    why: 'Every other client of that CA can deliver in the name of the service.',
    fix: EXACT,
    severity: 'medium',
    forbidden: false,
    replace: alsoAcceptClients(
      () =>
        ({ certificate, fault }) =>
          certificate !== null && fault === null,
    ),
  },
  {
    ...MTLS,
    name: 'part-of-subject-compared',
    title: 'Accepts a certificate whose subject contains the agreed name anywhere',
    seen: '`subject.includes(name)`, regular expressions without anchors, and `if ($ssl_client_s_dn ~ name)` in nginx.',
    why: 'Anyone who gets a certificate of the same CA for a longer name that contains this one can deliver.',
    fix: EXACT,
    severity: 'medium',
    forbidden: false,
    equivalentTo: {
      name: 'every-client-of-authority-accepted',
      reason:
        'The harness presents one certificate of another client, and its name contains the agreed one, so it ' +
        'reveals both faults.',
    },
    replace: alsoAcceptClients(({ config }) => {
      const allowed = config.clientCertificate?.from === 'connection' ? (config.clientCertificate.allowed ?? []) : [];
      return ({ certificate, fault }) =>
        certificate !== null &&
        fault === null &&
        allowed.some((name) => JSON.stringify(certificate.subject).includes(name));
    }),
  },
];
