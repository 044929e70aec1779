import { withoutHeader, wrongKey } from '../changes/addressing.ts';
import { signedWith, unsigned } from '../changes/signing.ts';
import { presenting } from '../changes/transmitting.ts';
import { certificateRefused, clientAsked, privateCasNamed, refused } from '../expectations.ts';
import { type Crossing, scenarioOf } from '../forgery.ts';
import type { Change, Feature, FlowScenario, HandshakeScenario, ProbeScenario, Suite } from '../scenario.ts';
import { mtlsCertificates, mtlsResumption } from './mtls-certificates.ts';
import { mtlsForgedHeaders } from './mtls-forged-headers.ts';

function behindCertificate(slug: string, title: string, feature: Feature, change: Change, what: string): ProbeScenario {
  return {
    id: `mtls/${slug}`,
    title,
    level: 'must',
    requirements: ['mtls-verified', 'features-independent'],
    needs: ['https', 'mtls', feature],
    change: { connect: { label: 'a new connection with the valid client certificate' }, ...change },
    expect: refused,
    why:
      `The certificate identifies the client but does not protect the delivery. If it replaces the ${what}, an ` +
      `attacker with the certificate, or with access behind the proxy, can deliver anything.`,
    fix: `Check the ${what} on every connection: do not return early when a client certificate is present.`,
  };
}

/**
 * A valid client certificate does not replace the other credentials. Specification: Authentication (independent
 * features).
 */
const mtlsCredentials: readonly ProbeScenario[] = [
  behindCertificate(
    'unsigned',
    'Rejects an unsigned delivery with a valid client certificate',
    'hmac',
    { sign: unsigned },
    'signature',
  ),
  behindCertificate(
    'wrong-signature',
    'Rejects an invalid signature with a valid client certificate',
    'hmac',
    { sign: signedWith('signed with a different secret', (kit) => kit.nonce(40)) },
    'signature',
  ),
  behindCertificate(
    'no-key',
    'Rejects a missing API key with a valid client certificate',
    'api-key',
    { address: withoutHeader('api-key', 'no API key header') },
    'API key',
  ),
  behindCertificate(
    'wrong-key',
    'Rejects an invalid API key with a valid client certificate',
    'api-key',
    { address: wrongKey },
    'API key',
  ),
];

const must = { level: 'must', requirements: ['mtls-verified'], needs: ['https', 'mtls'] } as const;

/** The request for a certificate, and ways around the check. Specification: TLS (mutual TLS). */
const mtlsBypasses: readonly (ProbeScenario | FlowScenario | HandshakeScenario)[] = [
  {
    ...must,
    level: 'should',
    id: 'mtls/asks-for-certificate',
    title: 'Requests a client certificate in the handshake',
    defect: 'Does not request a client certificate in the handshake',
    hello: { version: 'TLSv1.2', suites: ['modern', 'cbc'], clientCertificate: true },
    onlyWhereSpoken: true,
    expect: clientAsked,
    why:
      'A client sends its certificate only on request. Current clients and TLS 1.3 reject a later request by ' +
      'renegotiation.',
    fix:
      'Request it in the handshake, for the whole port: Node `requestCert: true`, nginx `ssl_verify_client`. ' +
      'Check that the running configuration has mutual TLS.',
  },
  {
    ...must,
    level: 'should',
    id: 'mtls/names-private-authorities',
    title: 'Requests client certificates of private CAs only',
    defect: 'Requests client certificates of a public CA',
    hello: { version: 'TLSv1.2', suites: ['modern', 'cbc'], clientCertificate: 'of-private-authority' },
    onlyWhereSpoken: true,
    expect: privateCasNamed,
    why:
      'The server trusts the CAs in its request. A public CA issues certificates to every domain owner, so anyone ' +
      'could connect.',
    fix:
      'Trust only the CA that issues the client certificates (Node `ca`, nginx `ssl_client_certificate`), never ' +
      'the system bundle.',
  },
  {
    ...must,
    id: 'mtls/no-server-name',
    title: 'Rejects a delivery without a client certificate and without a server name (SNI)',
    change: {
      connect: { ...presenting('none'), label: 'no client certificate and no server name (SNI)', serverName: false },
    },
    expect: certificateRefused,
    why:
      'If mutual TLS is configured for one name only, the default site of the server accepts clients without a ' +
      'name.',
    fix:
      'Require certificates on the default site too, or let it serve nothing, and check the certificate in the ' +
      'application.',
  },
];

/** Deliveries of several types and shapes without a client certificate. */
export const certificateCrossings: readonly Crossing[] = [
  {
    id: 'mtls/no-certificate-with-query',
    title: 'Rejects a delivery without a client certificate to the same URL with a query string',
    flaw: 'no-certificate',
    shapes: ['any-query'],
    why: 'A rule that requires certificates for one exact URL does not apply with a query string.',
    fix: 'Apply the check to the route or to the whole port, not to the text of the URL.',
  },
  {
    id: 'mtls/no-certificate-other-kinds',
    title: 'Rejects deliveries without a client certificate for every other type of notification',
    flaw: 'no-certificate',
    shapes: ['sell', 'tracking', 'refund', 'payment-method', 'wallet', 'deposit'],
    why: 'A check inside the handler of one type leaves the others open, and every test with that type passes.',
    fix: 'Check the certificate in the handshake or before the body is read, for every type.',
  },
  {
    id: 'mtls/no-certificate-other-requests',
    title: 'Rejects a delivery without a client certificate that has another method, path, Content-Type or User-Agent',
    flaw: 'no-certificate',
    shapes: ['put', 'get', 'trailing-slash', 'double-slash', 'encoded-path', 'text', 'agent-probe'],
    why: 'A rule that requires certificates for one method, path or media type does not cover the handler.',
    fix: 'Require the certificate for the whole port. The report names the request that was accepted.',
  },
  {
    id: 'mtls/forwarded-loopback',
    title: 'Rejects a delivery without a client certificate with X-Forwarded-For: 127.0.0.1',
    flaw: 'no-certificate',
    shapes: ['loopback-addresses'],
    why: 'Any client can set this header, so an exception for internal checks is an exception for everyone.',
    fix: 'Use a separate port for internal checks, and do not trust an address that the request names.',
  },
];

/** Client certificates. Specification: TLS (mutual TLS). */
export const mtlsSuite: Suite = {
  name: 'mtls',
  title: 'Mutual TLS: the client certificate is verified',
  scenarios: [
    ...mtlsCertificates,
    ...mtlsResumption,
    ...mtlsForgedHeaders,
    ...mtlsBypasses,
    ...certificateCrossings.map(scenarioOf),
    ...mtlsCredentials,
  ],
};
