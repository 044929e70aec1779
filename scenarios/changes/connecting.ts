/** Changes of the connect stage. */
import { type OfferedTlsVersion, tlsVersionName } from '../../contract/index.ts';
import type { ClientCertificate, ConnectChange } from '../scenario.ts';

const PRESENTED: Readonly<Record<ClientCertificate, string>> = {
  none: 'no client certificate',
  'self-signed': 'a self-signed client certificate',
  'unknown-authority': 'a client certificate of an unknown authority',
  'same-names': 'a client certificate of a false authority with the names of the right one',
  'issued-by-client': 'a client certificate that the right client certificate has signed',
  expired: 'an expired client certificate of the right authority',
  'not-yet-valid': 'a client certificate of the right authority that is not valid yet',
  'wrong-purpose': 'a certificate of the right authority that is not meant for clients',
  revoked: 'a revoked client certificate of the right authority',
  'other-subject': 'a client certificate of the right authority for somebody else',
};

/** Presents something else than the partner's client certificate, over one TLS version or whichever is agreed on. */
export function presenting(clientCertificate: ClientCertificate, version?: OfferedTlsVersion): ConnectChange {
  const over = version === undefined ? '' : ` over ${tlsVersionName(version)}`;
  return {
    label: `${PRESENTED[clientCertificate]}${over}`,
    clientCertificate,
    ...(version === undefined ? {} : { version }),
  };
}
