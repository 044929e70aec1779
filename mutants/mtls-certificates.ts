/** Mutants that do not verify client certificates, or verify them only in part. */
import { X509Certificate } from 'node:crypto';
import { type PeerCertificate, rootCertificates, type Server as TlsServer } from 'node:tls';
import { secureContextOptions } from '../receiver/server/tls.ts';
import { family } from './family.ts';
import type { Fault, FaultParts, StageFault } from './fault.ts';
import {
  alsoAcceptClients,
  alsoAcceptIf,
  type Client,
  handleClients,
  hasUntrustedIssuer,
  MTLS,
  trustedCaOf,
} from './lenient-certificate.ts';

/** Tolerates one verification error, given as Node's code, if the certificate has the agreed name. */
function tolerate(code: string): StageFault['replace'] {
  return alsoAcceptIf(({ certificate, fault, named }) => certificate !== null && named && fault === code);
}

/** Returns true if the certificate names the receiver's CA as its issuer. */
function namesTrustedIssuer(parts: FaultParts): (client: Client) => boolean {
  const subject = trustedCaOf(parts)?.toLegacyObject().subject;
  return ({ certificate }) => certificate !== null && same(certificate.issuer, subject);
}

function same(a: PeerCertificate['issuer'], b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

export const mtlsCertificatesFaults: readonly Fault[] = [
  ...family<StageFault>(
    { ...MTLS, mistake: 'verification-error-tolerated' },
    {
      // Mutants that do not verify the client certificate, or do not verify its owner.
      'client-certificate-never-asked-for': [
        'Does not request a client certificate',
        handleClients(() => () => (_req, _res, next) => next()),
        'client-without-certificate-accepted',
        { options: { requestCert: false } },
      ],
      'client-certificate-asked-for-only': [
        'Requests a client certificate but does not check it',
        alsoAcceptIf(() => true),
        'client-without-certificate-accepted',
      ],
      'client-certificate-optional': [
        'Rejects an invalid client certificate but accepts a missing one',
        alsoAcceptIf(({ certificate }) => certificate === null),
        'client-without-certificate-accepted',
        { note: 'Tests with an invalid certificate pass, so the gap is hard to notice.' },
      ],
      'client-certificate-presence-is-enough': [
        'Accepts any client certificate',
        alsoAcceptIf(({ certificate }) => certificate !== null),
        'client-certificate-not-verified',
      ],
      'any-authority-accepted': [
        'Accepts a client certificate from any CA if its dates and its purpose are valid',
        alsoAcceptIf(hasUntrustedIssuer),
        'client-certificate-not-verified',
        { note: 'Dates and purpose are checked, so tests with an expired certificate pass.' },
      ],
      'self-signed-client-accepted': [
        'Accepts self-signed client certificates in addition to those of the CA',
        alsoAcceptIf(({ fault }) => fault === 'DEPTH_ZERO_SELF_SIGNED_CERT'),
      ],
      // Mutants that tolerate errors found by the TLS library.
      'expired-client-certificate-accepted': ['Accepts expired client certificates', tolerate('CERT_HAS_EXPIRED')],
      'early-client-certificate-accepted': [
        'Accepts client certificates that are not valid yet',
        tolerate('CERT_NOT_YET_VALID'),
      ],
      'server-certificate-accepted-from-client': [
        'Accepts a client that presents a server certificate from the CA',
        tolerate('INVALID_PURPOSE'),
        { forbidden: false },
      ],
    },
  ),
  // Mutants that trust the wrong issuers of client certificates.
  {
    name: 'public-authorities-trusted-for-clients',
    area: 'mtls',
    title: 'Accepts client certificates from every public CA, because the system trusts them',
    mistake: 'public-client-ca',
    forbidden: false,
    stage: 'connection',
    server(server, { tls }) {
      if (tls?.ca === undefined) return;
      const ca = [tls.ca, ...rootCertificates].join('\n');
      (server as unknown as TlsServer).setSecureContext(secureContextOptions({ ...tls, ca }));
    },
  },
  ...family<StageFault>(
    { ...MTLS, mistake: 'hand-written-certificate-check' },
    {
      'client-certificate-taken-for-authority': [
        'Accepts a certificate signed by another client certificate, which is not a CA',
        alsoAcceptClients(() => {
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
        { note: 'Libraries had this defect too: CVE-2002-0862, and CVE-2021-3450 in OpenSSL with strict checks.' },
      ],
      // Mutants that trust names in a certificate, which anyone can write.
      'only-subject-name-compared': [
        'Compares the client name in the certificate but not its issuer',
        alsoAcceptIf(({ named }) => named),
      ],
      'only-issuer-name-compared': [
        'Compares the issuer name in the certificate but not its signature',
        alsoAcceptClients(namesTrustedIssuer),
      ],
      'only-both-names-compared': [
        'Compares the names of client and issuer but not the signature',
        alsoAcceptClients((parts) => {
          const namesIssuer = namesTrustedIssuer(parts);
          return (client) => client.named && namesIssuer(client);
        }),
      ],
      'only-issuer-certificate-compared': [
        'Compares the fingerprint of the issuer certificate and checks nothing else',
        alsoAcceptClients((parts) => {
          const fingerprint = trustedCaOf(parts)?.fingerprint256;
          return ({ certificate, socket }) =>
            certificate !== null && socket.getPeerCertificate(true).issuerCertificate?.fingerprint256 === fingerprint;
        }),
        { note: 'All certificates from the CA pass: those of other clients, those of servers, and even expired ones.' },
      ],
      'certificate-remembered-by-serial-number': [
        'Recognises a previously verified certificate by its serial number alone',
        alsoAcceptClients(() => {
          const known = new Set<string>();
          return ({ certificate, fault, named }) => {
            if (certificate === null) return false;
            if (fault === null && named) known.add(certificate.serialNumber);
            return known.has(certificate.serialNumber);
          };
        }),
      ],
      'every-client-of-authority-accepted': [
        'Accepts every client certificate from the CA, regardless of its subject',
        alsoAcceptIf(({ certificate, fault }) => certificate !== null && fault === null),
        'client-name-not-compared',
        { forbidden: false },
      ],
      'part-of-subject-compared': [
        'Accepts a certificate whose subject contains the agreed name anywhere',
        alsoAcceptClients(({ config }) => {
          const { clientCertificate: option } = config;
          const allowed = option?.from === 'connection' ? (option.allowed ?? []) : [];
          return ({ certificate, fault }) =>
            certificate !== null &&
            fault === null &&
            allowed.some((name) => JSON.stringify(certificate.subject).includes(name));
        }),
        'client-name-not-compared',
        {
          note: 'The attacker needs a certificate from the CA for a longer name that contains the agreed name.',
          forbidden: false,
          equivalentTo: {
            name: 'every-client-of-authority-accepted',
            reason:
              'The harness presents one certificate of another client, whose name contains the agreed name: it ' +
              'reveals both faults.',
          },
        },
      ],
    },
  ),
];
