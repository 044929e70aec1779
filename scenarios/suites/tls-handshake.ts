import { type OfferedTlsVersion, TLS_VERSIONS, tlsVersionName } from '../../contract/index.ts';
import { offerDeclined, offerMet, offerRefused, offerTaken } from '../expectations.ts';
import type { HandshakeScenario } from '../scenario.ts';

const OLD_FIX =
  'Set the minimum version to TLS 1.2 where TLS ends: nginx `ssl_protocols TLSv1.2 TLSv1.3;`, Node `minVersion: ' +
  '"TLSv1.2"`, the security policy of a load balancer.';
const CIPHER_FIX =
  'Use the cipher list of a current server or load balancer policy, and remove additions to it (`ALL`, ' +
  '`@SECLEVEL=0`, `+RC4`).';

const version = { level: 'must', requirements: ['tls-version'], needs: ['https'], expect: offerRefused } as const;
const cipher = { level: 'should', requirements: ['tls-strength'], needs: ['https'], expect: offerRefused } as const;

/** Every suite that an old server may have: the probe is about the version. */
const OLD_SUITES = ['legacy', 'static-rsa', '3des', 'rc4'] as const;

/** What the sender offers: deliveries fail without it, but do not show the reason. */
function agreesToHttp1(version: OfferedTlsVersion): HandshakeScenario {
  return {
    level: 'should',
    requirements: ['tls-http1'],
    needs: ['https'],
    id: `tls/${version === 'TLSv1.2' ? 'tls-1-2' : 'tls-1-3'}-http-1-1`,
    title: `Agrees to HTTP/1.1 in the handshake of ${tlsVersionName(version)}`,
    defect: `Does not agree to HTTP/1.1 in the handshake of ${tlsVersionName(version)}`,
    hello: { version, suites: version === 'TLSv1.2' ? ['modern', 'cbc'] : ['tls13'], alpn: ['http/1.1'] },
    onlyWhereSpoken: true,
    expect: offerMet,
    why: 'The sender offers HTTP/1.1 only. An endpoint that requires HTTP/2 aborts the handshake.',
    fix: 'Enable HTTP/1.1 as well as HTTP/2: Node `allowHTTP1: true`, or the protocol list of the proxy.',
  };
}

/** ClientHellos that the sender never sends, except for the last two. Specification: TLS (1.2 or higher). */
export const tlsHandshakes: readonly HandshakeScenario[] = [
  {
    ...version,
    id: 'tls/ssl-3-0-refused',
    title: 'Rejects SSL 3.0',
    hello: { version: 'SSLv3', suites: ['legacy', '3des', 'rc4'] },
    why: 'SSL 3.0 is broken (POODLE): an attacker on the path can read what is sent. TLS 1.2 is the required minimum.',
    fix: OLD_FIX,
  },
  {
    ...version,
    id: 'tls/tls-1-0-refused',
    title: 'Rejects TLS 1.0',
    hello: { version: 'TLSv1', suites: OLD_SUITES },
    why:
      'TLS 1.0 relies on MD5 and SHA-1 and was withdrawn in 2021 (RFC 8996). An attacker can force a downgrade to ' +
      'it.',
    fix: OLD_FIX,
  },
  {
    ...version,
    id: 'tls/tls-1-1-refused',
    title: 'Rejects TLS 1.1',
    hello: { version: 'TLSv1.1', suites: OLD_SUITES },
    why: 'TLS 1.1 was withdrawn together with TLS 1.0 (RFC 8996), and the specification requires 1.2 or higher.',
    fix: OLD_FIX,
  },
  {
    ...version,
    level: 'info',
    id: 'tls/tls-1-2-spoken',
    title: 'Records whether TLS 1.2 is supported',
    hello: { version: 'TLSv1.2', suites: ['modern'] },
    expect: offerTaken,
    why: 'An endpoint with TLS 1.3 only is correct, but older clients cannot connect.',
    fix: 'No change needed: TLS 1.2 or TLS 1.3 is enough.',
  },
  {
    ...version,
    level: 'info',
    id: 'tls/tls-1-3-spoken',
    title: 'Records whether TLS 1.3 is supported',
    hello: { version: 'TLSv1.3', suites: ['tls13'] },
    expect: offerTaken,
    why: 'TLS 1.3 saves a round trip per connection and removes the weaknesses of older versions.',
    fix: 'No change needed: TLS 1.2 or TLS 1.3 is enough. Consider adding `TLSv1.3` to the protocols of the server.',
  },
  {
    ...cipher,
    id: 'tls/rc4-refused',
    title: 'Rejects cipher suites with RC4',
    hello: { version: 'TLSv1.2', suites: ['rc4'] },
    why: 'RC4 reveals data that is sent often, such as an API key. It is forbidden in TLS (RFC 7465).',
    fix: CIPHER_FIX,
  },
  {
    ...cipher,
    id: 'tls/3des-refused',
    title: 'Rejects cipher suites with triple DES',
    hello: { version: 'TLSv1.2', suites: ['3des'] },
    why: 'Its 64-bit blocks repeat on long connections, which reveals their content (SWEET32).',
    fix: CIPHER_FIX,
  },
  {
    ...cipher,
    id: 'tls/null-refused',
    title: 'Rejects cipher suites without encryption',
    hello: { version: 'TLSv1.2', suites: ['null'] },
    why: 'Such a connection looks like TLS, but API keys and payloads are readable on the network.',
    fix: CIPHER_FIX,
  },
  {
    ...cipher,
    id: 'tls/export-refused',
    title: 'Rejects export-grade cipher suites',
    hello: { version: 'TLSv1.2', suites: ['export'] },
    why: 'Keys of 40 bits can be broken in minutes, and an attacker can force a downgrade to them (FREAK, Logjam).',
    fix: CIPHER_FIX,
  },
  {
    ...cipher,
    id: 'tls/anonymous-refused',
    title: 'Rejects cipher suites without a certificate',
    hello: { version: 'TLSv1.2', suites: ['anonymous'] },
    why: 'Without a certificate, the sender cannot identify the endpoint.',
    fix: CIPHER_FIX,
  },
  {
    ...cipher,
    id: 'tls/compression-declined',
    title: 'Does not compress the TLS connection',
    defect: 'Compresses the TLS connection',
    hello: { version: 'TLSv1.2', suites: ['modern'], compression: true },
    expect: offerDeclined,
    why: 'Compression below HTTP reveals secrets in headers by the length of the data (CRIME).',
    fix: 'Turn off TLS compression. Current servers have it off by default.',
  },
  {
    ...cipher,
    level: 'info',
    id: 'tls/forward-secrecy',
    title: 'Records whether suites without forward secrecy are accepted',
    hello: { version: 'TLSv1.2', suites: ['static-rsa'] },
    why: 'With a static RSA key exchange, an attacker who gets the private key later can decrypt recorded traffic.',
    fix: 'Keep only ECDHE suites in the cipher list.',
  },
  ...TLS_VERSIONS.map(agreesToHttp1),
];
