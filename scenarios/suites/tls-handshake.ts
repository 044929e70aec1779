import { type OfferedTlsVersion, TLS_VERSIONS, tlsVersionName } from '../../contract/index.ts';
import { offerDeclined, offerMet, offerRefused, offerTaken } from '../expectations.ts';
import type { HandshakeScenario } from '../scenario.ts';

const OLD_FIX =
  'Set the lowest version to TLS 1.2 where TLS ends: nginx `ssl_protocols TLSv1.2 TLSv1.3;`, Node `minVersion: "TLSv1.2"`, a load balancer by its security policy.';
const CIPHER_FIX =
  'Use the cipher list of a current server or of a current policy of the load balancer, and take out whatever adds to it (`ALL`, `@SECLEVEL=0`, `+RC4`).';

const version = { level: 'must', requirements: ['tls-version'], needs: ['https'], expect: offerRefused } as const;
const cipher = { level: 'should', requirements: ['tls-strength'], needs: ['https'], expect: offerRefused } as const;

/** Whatever a server of that age may have: the version is what is asked about, not the cipher. */
const OLD_SUITES = ['legacy', 'static-rsa', '3des', 'rc4'] as const;

/** What a right sender offers: the deliveries themselves fail without it, and do not say why. */
function agreesToHttp1(version: OfferedTlsVersion): HandshakeScenario {
  return {
    level: 'must',
    requirements: ['tls-http1'],
    needs: ['https'],
    id: `tls/${version === 'TLSv1.2' ? 'tls-1-2' : 'tls-1-3'}-http-1-1`,
    title: `Agrees to HTTP/1.1 in the handshake of ${tlsVersionName(version)}`,
    hello: { version, suites: version === 'TLSv1.2' ? ['modern', 'cbc'] : ['tls13'], alpn: ['http/1.1'] },
    onlyWhereSpoken: true,
    expect: offerMet,
    why: 'The sender speaks HTTP/1.1 and says so. An endpoint that insists on HTTP/2 ends the handshake, and nothing can be delivered.',
    fix: 'Leave HTTP/1.1 switched on beside HTTP/2: Node `allowHTTP1: true`, or the protocol list of the proxy.',
  };
}

/** ClientHellos that no right sender sends, but for the last two. Specification: TLS (1.2 or higher). */
export const tlsHandshakes: readonly HandshakeScenario[] = [
  {
    ...version,
    id: 'tls/ssl-3-0-refused',
    title: 'Refuses SSL 3.0',
    hello: { version: 'SSLv3', suites: ['legacy', '3des', 'rc4'] },
    why: 'SSL 3.0 is broken (POODLE): who can listen and repeat requests reads what was sent. TLS 1.2 is the lowest version agreed on.',
    fix: OLD_FIX,
  },
  {
    ...version,
    id: 'tls/tls-1-0-refused',
    title: 'Refuses TLS 1.0',
    hello: { version: 'TLSv1', suites: OLD_SUITES },
    why: 'TLS 1.0 rests on MD5 and SHA-1 and was withdrawn in 2021 (RFC 8996). While it is on, an attacker in between can push for it.',
    fix: OLD_FIX,
  },
  {
    ...version,
    id: 'tls/tls-1-1-refused',
    title: 'Refuses TLS 1.1',
    hello: { version: 'TLSv1.1', suites: OLD_SUITES },
    why: 'TLS 1.1 was withdrawn together with TLS 1.0 (RFC 8996), and the agreement asks for 1.2 or higher.',
    fix: OLD_FIX,
  },
  {
    ...version,
    level: 'info',
    id: 'tls/tls-1-2-spoken',
    title: 'Records whether TLS 1.2 is spoken',
    hello: { version: 'TLSv1.2', suites: ['modern'] },
    expect: offerTaken,
    why: 'An endpoint that speaks only TLS 1.3 is right. Whoever has a client that is older than that should know it.',
    fix: 'Nothing to mend: TLS 1.2 or TLS 1.3 is enough.',
  },
  {
    ...version,
    level: 'info',
    id: 'tls/tls-1-3-spoken',
    title: 'Records whether TLS 1.3 is spoken',
    hello: { version: 'TLSv1.3', suites: ['tls13'] },
    expect: offerTaken,
    why: 'TLS 1.3 takes a round trip less for each new connection, and leaves out what went wrong in older versions.',
    fix: 'Nothing to mend: TLS 1.2 or TLS 1.3 is enough. Adding `TLSv1.3` to the protocols of the server is worth it.',
  },
  {
    ...cipher,
    id: 'tls/rc4-refused',
    title: 'Refuses cipher suites with RC4',
    hello: { version: 'TLSv1.2', suites: ['rc4'] },
    why: 'RC4 leaks what it encrypts when the same secret is sent often, as an API key is. It is forbidden in TLS (RFC 7465).',
    fix: CIPHER_FIX,
  },
  {
    ...cipher,
    id: 'tls/3des-refused',
    title: 'Refuses cipher suites with triple DES',
    hello: { version: 'TLSv1.2', suites: ['3des'] },
    why: 'Blocks of 64 bits repeat on long connections (SWEET32), and repeated blocks give away what they hold.',
    fix: CIPHER_FIX,
  },
  {
    ...cipher,
    id: 'tls/null-refused',
    title: 'Refuses cipher suites without encryption',
    hello: { version: 'TLSv1.2', suites: ['null'] },
    why: 'A connection that looks like TLS and encrypts nothing shows API keys and payloads to everybody on the way.',
    fix: CIPHER_FIX,
  },
  {
    ...cipher,
    id: 'tls/export-refused',
    title: 'Refuses export-grade cipher suites',
    hello: { version: 'TLSv1.2', suites: ['export'] },
    why: 'Keys of 40 bits are broken in minutes, and an attacker in between can push a connection towards them (FREAK, Logjam).',
    fix: CIPHER_FIX,
  },
  {
    ...cipher,
    id: 'tls/anonymous-refused',
    title: 'Refuses cipher suites without a certificate',
    hello: { version: 'TLSv1.2', suites: ['anonymous'] },
    why: 'Without a certificate the sender cannot tell the endpoint from an impostor.',
    fix: CIPHER_FIX,
  },
  {
    ...cipher,
    id: 'tls/compression-declined',
    title: 'Does not compress the connection',
    hello: { version: 'TLSv1.2', suites: ['modern'], compression: true },
    expect: offerDeclined,
    why: 'Compression below HTTP gives away secrets in headers by the length of what is sent (CRIME).',
    fix: 'Switch TLS compression off; every current server has it off unless told otherwise.',
  },
  {
    ...cipher,
    level: 'info',
    id: 'tls/forward-secrecy',
    title: 'Records whether suites without forward secrecy are taken',
    hello: { version: 'TLSv1.2', suites: ['static-rsa'] },
    why: 'With a static RSA key exchange, whoever gets hold of the private key later can read what was recorded today.',
    fix: 'Leave only ECDHE suites in the cipher list.',
  },
  ...TLS_VERSIONS.map(agreesToHttp1),
];
