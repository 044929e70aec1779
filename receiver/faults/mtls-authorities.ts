import { X509Certificate } from 'node:crypto';
import { rootCertificates, type Server as TlsServer } from 'node:tls';
import { secureContextOptions } from '../server-tls.ts';
import type { Fault } from './fault.ts';
import { alsoLettingIn, MTLS } from './lenient-certificate.ts';

/** Whom the receiver trusts to issue client certificates. */
export const tooManyAuthorities: readonly Fault[] = [
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
];
