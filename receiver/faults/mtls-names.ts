import type { PeerCertificate } from 'node:tls';
import type { FaultParts, StageFault } from './fault.ts';
import { alsoLettingIn, authorityOf, type Client, MTLS } from './lenient-certificate.ts';

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

/** Receivers that go by the words in a certificate, which anybody can write. */
export const comparedNames: readonly StageFault[] = [
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
