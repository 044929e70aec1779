import { addHeaders, addQuery } from '../changes/addressing.ts';
import { presenting } from '../changes/connecting.ts';
import type { HandshakeScenario, ProbeScenario } from '../scenario.ts';
import { certificateRefused, clientAsked } from '../tls-expectations.ts';

const must = { level: 'must', requirements: ['mtls-verified'], needs: ['https', 'mtls'] } as const;

/** That the certificate is asked for at all, and that nothing leads around the check. Specification: TLS (mutual TLS). */
export const mtlsByways: readonly (ProbeScenario | HandshakeScenario)[] = [
  {
    ...must,
    level: 'should',
    id: 'mtls/asks-for-certificate',
    title: 'Asks for a client certificate in the handshake',
    hello: { version: 'TLSv1.2', suites: ['modern'], clientCertificate: true },
    onlyWhereSpoken: true,
    expect: clientAsked,
    why: 'A client shows its certificate only to who asks. Servers that ask later, by renegotiation, are refused by current clients and by TLS 1.3.',
    fix: 'Ask in the handshake, for the whole port: Node `requestCert: true`, nginx `ssl_verify_client`. Is the configuration with mutual TLS the one that runs?',
  },
  {
    ...must,
    id: 'mtls/no-server-name',
    title: 'Refuses a delivery without a client certificate on a connection that names no server (no SNI)',
    change: {
      connect: { ...presenting('none'), label: 'no client certificate and no server name (SNI)', serverName: false },
    },
    expect: certificateRefused,
    why: 'Where mutual TLS is set for one name only, the default site of the same server lets everybody in who does not say the name, and leads to the same application.',
    fix: 'Ask for certificates at the default site too, or have it serve nothing; check in the application that a certificate was verified.',
  },
  {
    ...must,
    id: 'mtls/no-certificate-with-query',
    title: 'Refuses a delivery without a client certificate to the same URL with a query',
    change: {
      connect: presenting('none'),
      address: addQuery('a query that means nothing', (kit) => `probe=${kit.nonce(6)}`),
    },
    expect: certificateRefused,
    why: 'A rule that asks for certificates for one exact URL does not hold for the URL with a query, which leads to the same code.',
    fix: 'Bind the check to the route that handles deliveries, or to the whole port, and not to the text of the URL.',
  },
  {
    ...must,
    id: 'mtls/forwarded-loopback',
    title: 'Refuses a delivery without a client certificate that claims to come from the own machine',
    change: {
      connect: presenting('none'),
      address: addHeaders('headers that claim the own machine as the client', () => [
        ['X-Forwarded-For', '127.0.0.1'],
        ['X-Real-IP', '127.0.0.1'],
        ['Forwarded', 'for=127.0.0.1'],
      ]),
    },
    expect: certificateRefused,
    why: 'An exception for checks from inside, made by the address in a header, is one for everybody: the header is written by the client.',
    fix: 'Give checks from inside a port of their own, and derive no trust from an address that the request names.',
  },
];
