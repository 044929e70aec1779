import { addHeaders, addQuery, withoutHeader } from '../changes/addressing.ts';
import { presenting } from '../changes/connecting.ts';
import { wrongKey } from '../changes/keying.ts';
import { signedWith, unsigned } from '../changes/signing.ts';
import { certificateRefused, clientAsked, privateAuthoritiesNamed, refused } from '../expectations.ts';
import { deposit, order, paymentMethod, refund, tracking, wallet } from '../samples.ts';
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
    change: { connect: { label: 'a new connection with the right client certificate' }, ...change },
    expect: refused,
    why: `The certificate says who connected, and nothing about the delivery. Where it replaces the ${what}, whoever gets hold of the certificate, or of a way through the proxy, can deliver anything.`,
    fix: `Keep the check of the ${what} whatever the connection looks like: do not return early when a client certificate is there.`,
  };
}

/** The right client certificate does not replace the other credentials. Specification: Authentication (independent features). */
const mtlsCredentials: readonly ProbeScenario[] = [
  behindCertificate(
    'unsigned',
    'Refuses an unsigned delivery although the client certificate is right',
    'hmac',
    { sign: unsigned },
    'signature',
  ),
  behindCertificate(
    'wrong-signature',
    'Refuses a wrong signature although the client certificate is right',
    'hmac',
    { sign: signedWith('signed with a random secret', (kit) => kit.nonce(40)) },
    'signature',
  ),
  behindCertificate(
    'no-key',
    'Refuses a missing API key although the client certificate is right',
    'api-key',
    { address: withoutHeader('api-key', 'no API key header') },
    'API key',
  ),
  behindCertificate(
    'wrong-key',
    'Refuses a wrong API key although the client certificate is right',
    'api-key',
    { address: wrongKey },
    'API key',
  ),
];

const must = { level: 'must', requirements: ['mtls-verified'], needs: ['https', 'mtls'] } as const;

/** That the certificate is asked for at all, and that nothing leads around the check. Specification: TLS (mutual TLS). */
const mtlsByways: readonly (ProbeScenario | FlowScenario | HandshakeScenario)[] = [
  {
    ...must,
    level: 'should',
    id: 'mtls/asks-for-certificate',
    title: 'Asks for a client certificate in the handshake',
    hello: { version: 'TLSv1.2', suites: ['modern', 'cbc'], clientCertificate: true },
    onlyWhereSpoken: true,
    expect: clientAsked,
    why: 'A client shows its certificate only to who asks. Servers that ask later, by renegotiation, are refused by current clients and by TLS 1.3.',
    fix: 'Ask in the handshake, for the whole port: Node `requestCert: true`, nginx `ssl_verify_client`. Is the configuration with mutual TLS the one that runs?',
  },
  {
    ...must,
    level: 'should',
    id: 'mtls/names-private-authorities',
    title: 'Names no public authority among those whose client certificates it takes',
    hello: { version: 'TLSv1.2', suites: ['modern', 'cbc'], clientCertificate: 'of-private-authority' },
    onlyWhereSpoken: true,
    expect: privateAuthoritiesNamed,
    why: 'What stands in this list is what the server trusts. A public authority issues certificates to everybody who owns a domain, so everybody could connect with one.',
    fix: 'Trust for client certificates only the authority that issues them: Node `ca`, nginx `ssl_client_certificate` with that one file, and never the bundle of the system.',
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
    id: 'mtls/no-certificate-other-kinds',
    title: 'Refuses deliveries without a client certificate of every other kind of notification',
    flow: (kit) => [
      [
        { label: 'SELL', notification: order(kit, 'SELL', 'COMPLETED') },
        { label: 'ORDER_TRACKING', notification: tracking(kit, 'SELL', 'COMPLETED') },
        { label: 'REFUND', notification: refund(kit, 'SUCCESS') },
        { label: 'PAYMENT_METHOD', notification: paymentMethod(kit, 'STAGED') },
        { label: 'WALLET', notification: wallet(kit) },
        { label: 'CAAS_BLOCKCHAIN', notification: deposit(kit) },
      ].map(({ label, notification }) => ({
        label,
        change: { compose: () => notification, connect: presenting('none') },
        expect: certificateRefused,
      })),
    ],
    why: 'A check inside the function that handles one type leaves the others open, and every test with that type passes.',
    fix: 'Check the certificate in the handshake, or before the body is read: in one place for every type.',
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

/** Who may connect. Specification: TLS (mutual TLS). */
export const mtlsSuite: Suite = {
  name: 'mtls',
  title: 'Mutual TLS: the client certificate is verified',
  scenarios: [...mtlsCertificates, ...mtlsResumption, ...mtlsForgedHeaders, ...mtlsByways, ...mtlsCredentials],
};
