/** What a run says of every right server, by what the server speaks and by its key. */
import type { Expected } from './expected.ts';
import type { Spoken } from './material.ts';

/** The suite `tls`, scenario by scenario: what looks at the certificates, at handshakes, and at deliveries. */
const CERTIFICATES = [
  'tls/trusted-authority',
  'tls/not-self-signed',
  'tls/genuine-issuer',
  'tls/chain-complete',
  'tls/chain-order',
  'tls/chain-tidy',
  'tls/chain-once',
  'tls/root-left-out',
  'tls/not-expired',
  'tls/issuers-not-expired',
  'tls/already-valid',
  'tls/renewed-in-time',
  'tls/host-name',
  'tls/alternative-name',
  'tls/key-size',
  'tls/issuers-key-size',
  'tls/signature-hash',
  'tls/issuers-may-issue',
  'tls/path-length',
  'tls/server-purpose',
];
export const HANDSHAKES = [
  'tls/ssl-3-0-refused',
  'tls/tls-1-0-refused',
  'tls/tls-1-1-refused',
  'tls/tls-1-2-spoken',
  'tls/tls-1-3-spoken',
  'tls/rc4-refused',
  'tls/3des-refused',
  'tls/null-refused',
  'tls/export-refused',
  'tls/anonymous-refused',
  'tls/compression-declined',
  'tls/forward-secrecy',
  'tls/tls-1-2-http-1-1',
  'tls/tls-1-3-http-1-1',
];
/** Without a connection that a right sender trusts these have no verdict. */
export const DELIVERED = ['tls/http-1-1', 'tls/no-protocol-offer', 'tls/no-server-name', 'tls/plain-http-refused'];
export const EVERYTHING = [...CERTIFICATES, ...HANDSHAKES, ...DELIVERED];

/**
 * A server as it should be. Whether it speaks a version is recorded, and so is that it keeps no secret for the future.
 */
export function rightServer(spoken: Spoken, key: 'rsa' | 'ec' = 'ec'): Expected {
  switch (spoken) {
    case 'TLS 1.2 only':
      return { 'tls/tls-1-3-spoken': 'recorded', 'tls/tls-1-3-http-1-1': 'not-applicable', ...staticRsa(key) };
    case 'TLS 1.3 only':
      return { 'tls/tls-1-2-spoken': 'recorded', 'tls/tls-1-2-http-1-1': 'not-applicable' };
    case 'both':
      return staticRsa(key);
  }
}

/**
 * The lists of Node, OpenSSL and nginx still have suites of TLS 1.2 with a static RSA key exchange, which take an RSA
 * key.
 */
function staticRsa(key: 'rsa' | 'ec'): Expected {
  return key === 'rsa' ? { 'tls/forward-secrecy': 'recorded' } : {};
}
