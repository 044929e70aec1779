import { rootCertificates, type Server as TlsServer } from 'node:tls';
import { secureContextOptions } from '../server-tls.ts';
import type { ConnectionFault } from './fault.ts';

/** Whom the receiver trusts to issue client certificates. */
export const tooManyAuthorities: readonly ConnectionFault[] = [
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
];
