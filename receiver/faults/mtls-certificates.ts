/** Mutants that do not verify client certificates, or only partly. */
import { X509Certificate } from 'node:crypto';
import { type PeerCertificate, rootCertificates, type Server as TlsServer } from 'node:tls';
import { secureContextOptions } from '../server-tls.ts';
import type { Fault, FaultParts, StageFault } from './fault.ts';
import { alsoLettingIn, authorityOf, type Client, dealing, isOfNobody, MTLS } from './lenient-certificate.ts';

const VERIFY = {
  rule: 'Ask for the certificate in the handshake, verify it there against the one authority that issues it, and refuse the connection otherwise.',
  express:
    'Use `https.createServer({ requestCert: true, rejectUnauthorized: true, ca })`; where the handshake has to let everyone in, refuse in a middleware unless `req.socket.authorized` is true and `getPeerCertificate()` is not empty.',
  spring: 'Set `server.ssl.client-auth=need` and a trust store that holds that authority alone.',
  go: 'Set `ClientAuth: tls.RequireAndVerifyClientCert` and `ClientCAs`; `RequireAnyClientCert` does not verify.',
  dotnet: 'Set `ClientCertificateMode.RequireCertificate` and do not install a validation callback that returns true.',
} as const;

const always = () => true;

/** A mutant that forgives one thing that is wrong with a certificate of the right client, by Node's code for it. */
function forgiving(
  code: string,
  text: Pick<StageFault, 'name' | 'title' | 'seen' | 'why' | 'fix'> & Partial<StageFault>,
): StageFault {
  return {
    ...MTLS,
    severity: 'high',
    replace: alsoLettingIn(
      () =>
        ({ certificate, fault, named }) =>
          certificate !== null && named && fault === code,
    ),
    ...text,
  };
}

const LEAVE =
  'Refuse unless `req.socket.authorized` is true; do not look at `authorizationError` to let single codes pass.';

const AFTER = {
  rule: 'Verify the chain first, up to the one authority that is trusted, and compare names only of what has verified.',
  express:
    'Refuse unless `req.socket.authorized` is true; then compare `getPeerCertificate().subject.CN` with the agreed name, as a whole.',
  go: 'Read names from `VerifiedChains`, never from `PeerCertificates` alone.',
} as const;

const EXACT = {
  rule: 'After verification, compare the whole name with the agreed one, or use an authority that issues to this client alone.',
  express: 'Compare with `===`, not with `includes`, `startsWith` or an expression without anchors.',
} as const;

/** Whether the certificate says that the receiver's authority has issued it. */
function saysRightIssuer(parts: FaultParts): (client: Client) => boolean {
  const subject = authorityOf(parts)?.toLegacyObject().subject;
  return ({ certificate }) => certificate !== null && same(certificate.issuer, subject);
}

function same(a: PeerCertificate['issuer'], b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

export const mtlsCertificatesFaults: readonly Fault[] = [
  // Receivers that do not verify the client certificate, or not whose it is.
  {
    ...MTLS,
    name: 'client-certificate-never-asked-for',
    title: 'No client certificate is asked for, and none is needed.',
    seen: 'Endpoints whose mutual TLS was set up on one load balancer while another one, without it, serves the same name.',
    why: 'Whoever knows the URL connects. What was agreed on as a lock is not there, and every delivery still works.',
    fix: VERIFY,
    options: { requestCert: false },
    replace: dealing(() => () => (_req, _res, next) => next()),
  },
  {
    ...MTLS,
    name: 'client-certificate-asked-for-only',
    title: 'A client certificate is asked for, and what comes is not looked at.',
    seen: '`requestCert: true, rejectUnauthorized: false` without a look at `socket.authorized`, and nginx `optional_no_ca` without a check behind it.',
    why: 'Traces show a request for a certificate and a right answer to it, so the check seems to work. It takes everybody, with any certificate or none.',
    fix: VERIFY,
    replace: alsoLettingIn(() => always),
  },
  {
    ...MTLS,
    name: 'client-certificate-optional',
    title: 'A wrong client certificate is refused, and a missing one is not.',
    seen: 'nginx `ssl_verify_client optional` without a check of `$ssl_client_verify`, Spring `client-auth=want`, and Go `VerifyClientCertIfGiven`.',
    why: 'A forger leaves the certificate out. Tests with a wrong certificate pass, so the gap is hard to notice.',
    fix: VERIFY,
    replace: alsoLettingIn(
      () =>
        ({ certificate }) =>
          certificate === null,
    ),
  },
  {
    ...MTLS,
    name: 'client-certificate-presence-is-enough',
    title: 'Any client certificate is taken, as long as there is one.',
    seen: 'Verify callbacks that return true, Go `RequireAnyClientCert`, and code that asks whether `getPeerCertificate()` is empty.',
    why: 'Anybody makes a certificate in a second, with any name and any dates.',
    fix: VERIFY,
    replace: alsoLettingIn(
      () =>
        ({ certificate }) =>
          certificate !== null,
    ),
  },
  {
    ...MTLS,
    name: 'any-authority-accepted',
    title: 'A client certificate of any authority is taken, if its dates and its purpose are right.',
    seen: 'nginx `optional_no_ca`, which checks dates and not the issuer, and callbacks that forgive an unknown issuer because the authority is private.',
    why: 'A forger sets up an authority of their own. Tests with an expired certificate pass, so the check seems to work.',
    fix: VERIFY,
    replace: alsoLettingIn(() => isOfNobody),
  },
  {
    ...MTLS,
    name: 'self-signed-client-accepted',
    title: 'Self-signed client certificates are taken beside those of the authority.',
    seen: 'Callbacks that forgive `DEPTH_ZERO_SELF_SIGNED_CERT`, written for a partner who had no authority, or for tests.',
    why: 'A self-signed certificate is vouched for by nobody: anybody makes one with the right name.',
    fix: {
      ...VERIFY,
      rule: 'Take self-signed certificates only by their fingerprint, one by one, and everything else through the authority.',
    },
    replace: alsoLettingIn(
      () =>
        ({ fault }) =>
          fault === 'DEPTH_ZERO_SELF_SIGNED_CERT',
    ),
  },
  // Receivers that forgive what the TLS library has found.
  forgiving('CERT_HAS_EXPIRED', {
    name: 'expired-client-certificate-accepted',
    title: 'Client certificates are taken after they have expired.',
    seen: 'Callbacks that forgive the expiry after a renewal was late once, and verification written by hand without the dates.',
    why: 'Expiry is what limits the harm of a key that was lost without anybody noticing.',
    fix: {
      rule: 'Leave the dates to the TLS library. Renew in time, and let the old and the new certificate overlap.',
      express: LEAVE,
    },
  }),
  forgiving('CERT_NOT_YET_VALID', {
    name: 'early-client-certificate-accepted',
    title: 'Client certificates are taken before they are valid.',
    seen: 'Callbacks that forgive it because of clocks that differ, and containers whose clock is wrong.',
    why: 'Where the beginning is not looked at, the clock is often wrong as well, and then expiry does not work either.',
    fix: {
      rule: 'Leave the dates to the TLS library, and keep the clock right (NTP).',
      express: LEAVE,
    },
  }),
  forgiving('INVALID_PURPOSE', {
    name: 'server-certificate-accepted-from-client',
    title: 'A certificate of the authority that is meant for servers is taken from a client.',
    seen: 'Verification against the authority alone, with the extended key usage left out (Go `ExtKeyUsageAny`, OpenSSL `-purpose any`).',
    why: 'Every server that has a certificate of this authority can deliver.',
    severity: 'medium',
    forbidden: false,
    fix: {
      rule: 'Ask for the extended key usage clientAuth. TLS libraries do so unless told otherwise.',
      express: LEAVE,
      go: 'Verify with `KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}`.',
    },
  }),
  // Whom the receiver trusts to issue client certificates.
  {
    name: 'public-authorities-trusted-for-clients',
    area: 'mtls',
    title: 'Client certificates of every public authority are taken, because the system trusts them.',
    seen: 'Servers whose list of authorities for clients is the bundle of the system (`ssl_client_certificate /etc/ssl/certs/ca-certificates.crt`), or that were given none and fell back to it.',
    why: 'Whoever owns a domain gets a certificate from a public authority in a minute, and connects with it.',
    fix: {
      rule: 'Trust for client certificates only the authority that issues them, in a list of its own.',
      express: 'Give `ca` with that one authority to `https.createServer`; it then takes the place of the system list.',
      spring: 'Set `server.ssl.trust-store` to a store that holds that authority alone.',
      go: 'Fill `ClientCAs` with a new pool, and not with `x509.SystemCertPool()`.',
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
    title: 'A certificate that another client certificate has signed is taken, although that one is no authority.',
    seen: 'Chains that are followed by hand, signature by signature, without a look at basicConstraints (CVE-2002-0862, and CVE-2021-3450 in OpenSSL with strict checks).',
    why: 'Every client of the authority can sign certificates with any name, and deliver as anybody.',
    fix: {
      rule: 'Leave the chain to the TLS library. Whoever follows it by hand has to ask each issuer for CA:TRUE and keyCertSign.',
      express: 'Set `rejectUnauthorized: true`, and do not verify with `X509Certificate.verify` alone.',
    },
    replace: alsoLettingIn(() => {
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
  // Receivers that go by the words in a certificate, which anybody can write.
  {
    ...MTLS,
    name: 'only-subject-name-compared',
    title: 'The name of the client in the certificate is compared, and not who signed it.',
    seen: 'Middlewares that read `subject.CN` where the handshake lets everyone in, and proxies that pass the subject on without the outcome of the verification.',
    why: 'The name is known or guessed, and anybody can write it into a certificate of their own.',
    fix: AFTER,
    replace: alsoLettingIn(
      () =>
        ({ named }) =>
          named,
    ),
  },
  {
    ...MTLS,
    name: 'only-issuer-name-compared',
    title: 'The name of the issuer in the certificate is compared, and not its signature.',
    seen: 'Middlewares that compare `issuer.CN`, and rules of firewalls on the text of the issuer.',
    why: 'An authority with the same name is made in a second, and what it issues passes.',
    fix: AFTER,
    replace: alsoLettingIn(saysRightIssuer),
  },
  {
    ...MTLS,
    name: 'only-both-names-compared',
    title: 'The names of the client and of the issuer are compared, and not the signature.',
    seen: 'Lists of allowed clients by subject and issuer in gateways that do not verify themselves.',
    why: 'Both names stand in the certificate that the forger has seen, and can be copied together.',
    fix: AFTER,
    replace: alsoLettingIn((parts) => {
      const right = saysRightIssuer(parts);
      return (client) => client.named && right(client);
    }),
  },
  {
    ...MTLS,
    name: 'only-issuer-certificate-compared',
    title: 'The certificate of the issuer is compared by its fingerprint, and nothing else is checked.',
    seen: 'Code that walks to `issuerCertificate` and compares its fingerprint with a constant, dates and purpose left out.',
    why: 'Everything that the authority ever issued passes: to other clients, to servers, expired or not valid yet.',
    fix: AFTER,
    replace: alsoLettingIn((parts) => {
      const fingerprint = authorityOf(parts)?.fingerprint256;
      return ({ certificate, socket }) =>
        certificate !== null && socket.getPeerCertificate(true).issuerCertificate?.fingerprint256 === fingerprint;
    }),
  },
  {
    ...MTLS,
    name: 'certificate-remembered-by-serial-number',
    title: 'A certificate that was verified once is known again by its serial number alone.',
    seen: 'Caches in front of an expensive verification (OCSP, a directory) whose key is the serial number.',
    why: 'The serial number is public and can be copied. A false certificate with it is taken for the one in the cache.',
    fix: {
      rule: 'Keep the outcome of a verification under the fingerprint (SHA-256) of the whole certificate, or not at all.',
      express:
        'Use `getPeerCertificate().fingerprint256` as the key, and refuse unless `req.socket.authorized` is true.',
    },
    replace: alsoLettingIn(() => {
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
    title: 'Every client certificate of the authority is taken, whoever it was issued to.',
    seen: 'Authorities of a company or a platform that issue to many clients, trusted as a whole.',
    why: 'Every other client of that authority can deliver in the name of the service.',
    fix: EXACT,
    severity: 'medium',
    forbidden: false,
    replace: alsoLettingIn(
      () =>
        ({ certificate, fault }) =>
          certificate !== null && fault === null,
    ),
  },
  {
    ...MTLS,
    name: 'part-of-subject-compared',
    title: 'The certificate is taken when its subject contains the agreed name somewhere.',
    seen: '`subject.includes(name)`, expressions without anchors, and `if ($ssl_client_s_dn ~ name)` in nginx.',
    why: 'Whoever gets a certificate of the same authority for a longer name that contains this one can deliver.',
    fix: EXACT,
    severity: 'medium',
    forbidden: false,
    equivalentTo: {
      name: 'every-client-of-authority-accepted',
      reason:
        'The one certificate of somebody else that the harness presents has a name that contains the right one, so that it finds both.',
    },
    replace: alsoLettingIn(({ config }) => {
      const allowed = config.clientCertificate?.from === 'connection' ? (config.clientCertificate.allowed ?? []) : [];
      return ({ certificate, fault }) =>
        certificate !== null &&
        fault === null &&
        allowed.some((name) => JSON.stringify(certificate.subject).includes(name));
    }),
  },
];
