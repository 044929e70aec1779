import type { Suite } from '../scenario.ts';
import { tlsChain } from './tls-chain.ts';
import { tlsConnection } from './tls-connection.ts';
import { tlsHandshakes } from './tls-handshake.ts';

/** What the endpoint serves to everybody who connects. Specification: TLS. */
export const tlsSuite: Suite = {
  name: 'tls',
  title: 'HTTPS: versions, certificates and ciphers',
  scenarios: [...tlsChain, ...tlsHandshakes, ...tlsConnection],
};
