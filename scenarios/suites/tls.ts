import { accepted, offerAccepted, offerDeclined, offerRecorded, offerRefused } from '../expectations.ts';
import type { Expectation, RequestHead, Scenario, Suite } from '../scenario.ts';
import { family } from './family.ts';
import { tlsChain } from './tls-chain.ts';

const shared = { suite: 'tls', needs: ['https'] } as const;
const versions = { ...shared, level: 'must', requirements: ['tls-version'] } as const;
const ciphers = { ...shared, level: 'should', requirements: ['tls-strength'] } as const;
const http1 = { ...shared, level: 'should', requirements: ['tls-http1'] } as const;

/** Every group of cipher suites that an old server may support, because these probes are only about the version. */
const OLD_SUITES = ['legacy', 'static-rsa', '3des', 'rc4'] as const;

/** ClientHellos that the sender never sends, except for the last family. Specification: TLS (1.2 or higher). */
const tlsHandshakes: readonly Scenario[] = [
  ...family(
    { ...versions, verb: 'Rejects', expect: offerRefused, mistake: 'obsolete-tls-version' },
    {
      'ssl-3-0-refused': [
        'SSL 3.0',
        { hello: { version: 'SSLv3', suites: ['legacy', '3des', 'rc4'] } },
        { note: 'With POODLE, an attacker on the path can read what is sent over SSL 3.0.' },
      ],
      'tls-1-0-refused': ['TLS 1.0', { hello: { version: 'TLSv1', suites: OLD_SUITES } }],
      'tls-1-1-refused': ['TLS 1.1', { hello: { version: 'TLSv1.1', suites: OLD_SUITES } }],
    },
  ),
  ...family(
    { ...versions, verb: 'Records whether', level: 'info', expect: offerRecorded, mistake: 'narrow-tls-support' },
    {
      'tls-1-2-spoken': ['TLS 1.2 is supported', { hello: { version: 'TLSv1.2', suites: ['modern'] } }],
      'tls-1-3-spoken': ['TLS 1.3 is supported', { hello: { version: 'TLSv1.3', suites: ['tls13'] } }],
    },
  ),
  ...family(
    { ...ciphers, verb: 'Rejects', expect: offerRefused, mistake: 'outdated-cipher-suites' },
    {
      'rc4-refused': [
        'cipher suites with RC4',
        { hello: { version: 'TLSv1.2', suites: ['rc4'] } },
        { note: 'RC4 reveals data that is sent often, such as an API key (RFC 7465 forbids it).' },
      ],
      '3des-refused': [
        'cipher suites with triple DES',
        { hello: { version: 'TLSv1.2', suites: ['3des'] } },
        { note: '64-bit blocks repeat on long connections, which reveals content (SWEET32).' },
      ],
      'null-refused': ['cipher suites without encryption', { hello: { version: 'TLSv1.2', suites: ['null'] } }],
      'export-refused': [
        'export-grade cipher suites',
        { hello: { version: 'TLSv1.2', suites: ['export'] } },
        { note: 'Keys of 40 bits can be broken in minutes (FREAK, Logjam).' },
      ],
      'anonymous-refused': [
        'cipher suites without a certificate',
        { hello: { version: 'TLSv1.2', suites: ['anonymous'] } },
        { note: 'Without a certificate, the sender cannot identify the endpoint.' },
      ],
    },
  ),
  ...family(
    { ...ciphers, verb: 'Does not', expect: offerDeclined },
    {
      'compression-declined': [
        'compress the TLS connection',
        { hello: { version: 'TLSv1.2', suites: ['modern'], compression: true } },
        'tls-level-compression',
        { defect: 'Compresses the TLS connection' },
      ],
    },
  ),
  ...family(
    { ...ciphers, verb: 'Records whether', level: 'info', expect: offerRefused },
    {
      'forward-secrecy': [
        'suites without forward secrecy are accepted',
        { hello: { version: 'TLSv1.2', suites: ['static-rsa'] } },
        'outdated-cipher-suites',
        { note: 'With a static RSA key exchange, a key that leaks later decrypts recorded traffic.' },
      ],
    },
  ),
  // The sender itself makes these offers. If an endpoint declines them, deliveries fail without showing the reason.
  ...family(
    { ...http1, verb: 'Agrees to', expect: offerAccepted, mistake: 'http-1-1-not-offered' },
    {
      'tls-1-2-http-1-1': [
        'HTTP/1.1 in the handshake of TLS 1.2',
        { hello: { version: 'TLSv1.2', suites: ['modern', 'cbc'], alpn: ['http/1.1'] }, onlyWhereSpoken: true },
        { defect: 'Does not agree to HTTP/1.1 in the handshake of TLS 1.2' },
      ],
      'tls-1-3-http-1-1': [
        'HTTP/1.1 in the handshake of TLS 1.3',
        { hello: { version: 'TLSv1.3', suites: ['tls13'], alpn: ['http/1.1'] }, onlyWhereSpoken: true },
        { defect: 'Does not agree to HTTP/1.1 in the handshake of TLS 1.3' },
      ],
    },
  ),
];

/** Plain HTTP on the TLS port. An error or a redirect to HTTPS passes. A missing answer allows no conclusion. */
const notServedUnencrypted: Expectation = {
  text: '400, a redirect or a closed connection',
  authentic: false,
  pass: [400, 426, '3xx', 'closed', 'alert'],
  warn: [403, 404, 405],
  unclear: ['none'],
};

const NEEDED = new Set(['host', 'content-type', 'content-length']);

/** Removes the credentials, because the connection is not encrypted. */
function bare(head: RequestHead): RequestHead {
  return { ...head, headers: head.headers.filter(([name]) => NEEDED.has(name.toLowerCase())) };
}

/** Checks of the connection, apart from the handshake. Specification: TLS; Delivery endpoint. */
const tlsConnection: readonly Scenario[] = [
  ...family(
    { ...http1, verb: 'Accepts', expect: accepted, mistake: 'http-1-1-not-offered' },
    {
      'http-1-1': [
        'a delivery over a connection that offers HTTP/1.1 only',
        (label) => ({ connect: { label, alpn: ['http/1.1'] } }),
      ],
      'no-protocol-offer': [
        'a delivery over a connection without ALPN',
        (label) => ({ connect: { label, alpn: [] } }),
        { note: 'Simple TLS clients, health checks and older proxies offer no protocol.' },
      ],
    },
  ),
  ...family(
    { ...shared, verb: 'Records whether', level: 'info', requirements: ['tls-trusted'] },
    {
      'no-server-name': [
        'a delivery without a server name (SNI) is accepted',
        { connect: { label: 'no server name (SNI)', serverName: false } },
        'narrow-tls-support',
        {
          expect: {
            text: 'recorded: whether the endpoint needs the server name',
            authentic: true,
            pass: [200],
            note: ['2xx', '3xx', '4xx', '5xx', 'closed', 'alert', 'untrusted'],
            unclear: ['none'],
          },
        },
      ],
    },
  ),
  ...family(
    { ...versions, verb: 'Rejects', expect: notServedUnencrypted },
    {
      'plain-http-refused': [
        'plain HTTP on the TLS port',
        (label) => ({ connect: { label, plain: true }, address: { label: 'no credentials', make: bare } }),
        'plain-http-served',
      ],
    },
  ),
];

/** What the endpoint serves to every client. Specification: TLS. */
export const tlsSuite: Suite = {
  name: 'tls',
  title: 'HTTPS: versions, certificates and ciphers',
  scenarios: [...tlsChain, ...tlsHandshakes, ...tlsConnection],
};
