import { withoutHeader, wrongKey } from '../changes/addressing.ts';
import { signedWith, unsigned } from '../changes/signing.ts';
import { presenting } from '../changes/transmitting.ts';
import {
  certificateRefused,
  certificateRefusedByName,
  clientCertificateRequested,
  onlyPrivateCasListed,
  refused,
} from '../expectations.ts';
import { atAnotherUrl, type Crossing, scenarioOf } from '../forgery.ts';
import type { Delivery, Kit, Scenario, Suite } from '../scenario.ts';
import { family } from './family.ts';
import { mtlsCertificates, mtlsResumption } from './mtls-certificates.ts';
import { mtlsForgedHeaders } from './mtls-forged-headers.ts';

const shared = { suite: 'mtls', needs: ['https', 'mtls'], requirements: ['mtls-verified'] } as const;

const hello = { version: 'TLSv1.2', suites: ['modern', 'cbc'] } as const;

/** Sends deliveries under the other names in the certificate, under a sibling of the host, and under a random name. */
function underOtherNames(kit: Kit): Delivery[][] {
  return [...(kit.otherServerNames ?? []), `${kit.nonce()}.example`].map((serverName, at, { length }) => {
    const label = at === length - 1 ? 'a random server name (SNI)' : `the server name ${serverName} (SNI)`;
    const connect = { ...presenting('none'), label, serverName };
    return [{ ...atAnotherUrl({ connect }), expect: certificateRefusedByName, label }];
  });
}

/** The request for a client certificate, and ways to bypass its check. Specification: TLS (mutual TLS). */
const mtlsBypasses: readonly Scenario[] = [
  ...family(
    { ...shared, verb: 'Requests', level: 'should' },
    {
      'asks-for-certificate': [
        'a client certificate in the handshake',
        { hello: { ...hello, clientCertificate: true }, onlyWhereSpoken: true },
        'client-without-certificate-accepted',
        {
          defect: 'Does not request a client certificate in the handshake',
          expect: clientCertificateRequested,
          note: 'A client sends its certificate only on request, and TLS 1.3 has no renegotiation.',
        },
      ],
      'names-private-authorities': [
        'client certificates issued by private CAs only',
        { hello: { ...hello, clientCertificate: 'of-private-authority' }, onlyWhereSpoken: true },
        'public-client-ca',
        { defect: 'Requests client certificates issued by a public CA', expect: onlyPrivateCasListed },
      ],
    },
  ),
  ...family(
    { ...shared, verb: 'Rejects', level: 'must', expect: certificateRefused },
    {
      'no-server-name': [
        'a delivery without a client certificate and without a server name (SNI)',
        (label) => ({ connect: { ...presenting('none'), label, serverName: false } }),
        'certificate-check-conditional',
        { note: 'With mutual TLS for one name only, the default site accepts clients without a name.' },
      ],
      'other-server-names': [
        'a delivery without a client certificate under another server name (SNI), with the Host of the endpoint',
        { flow: underOtherNames },
        'certificate-check-conditional',
        { note: 'The server name may select the TLS settings, and the Host the application.' },
      ],
    },
  ),
];

/** Deliveries of several types and shapes without a client certificate. */
export const certificateCrossings: readonly Crossing[] = [
  {
    id: 'mtls/no-certificate-with-query',
    title: 'Rejects a delivery without a client certificate to the same URL with a query string',
    flaw: 'no-certificate',
    shapes: ['any-query'],
    mistake: 'certificate-check-conditional',
  },
  {
    id: 'mtls/no-certificate-other-kinds',
    title: 'Rejects deliveries without a client certificate for every other type of notification',
    flaw: 'no-certificate',
    shapes: ['sell', 'tracking', 'refund', 'payment-method', 'wallet', 'deposit'],
    mistake: 'certificate-check-conditional',
  },
  {
    id: 'mtls/no-certificate-other-requests',
    title: 'Rejects a delivery without a client certificate that has another method, path, Content-Type or User-Agent',
    flaw: 'no-certificate',
    shapes: ['put', 'get', 'trailing-slash', 'double-slash', 'encoded-path', 'text', 'agent-probe'],
    mistake: 'certificate-check-conditional',
  },
  {
    id: 'mtls/forwarded-loopback',
    title: 'Rejects a delivery without a client certificate with X-Forwarded-For: 127.0.0.1',
    flaw: 'no-certificate',
    shapes: ['loopback-addresses'],
    mistake: 'certificate-check-conditional',
    note: 'Any client can set this header, so an exception for it is an exception for everyone.',
  },
];

const credentials = {
  ...shared,
  verb: 'Rejects',
  level: 'must',
  requirements: ['mtls-verified', 'features-independent'],
  expect: refused,
} as const;
const connect = { label: 'a new connection with the valid client certificate' };

/**
 * A valid client certificate does not replace the other credentials. Specification: Authentication (independent
 * features).
 */
const mtlsCredentials: readonly Scenario[] = [
  ...family(
    { ...credentials, needs: ['https', 'mtls', 'hmac'], mistake: 'certificate-replaces-credentials' },
    {
      unsigned: ['an unsigned delivery with a valid client certificate', { connect, sign: unsigned }],
      'wrong-signature': [
        'an invalid signature with a valid client certificate',
        { connect, sign: signedWith('signed with a different secret', (kit) => kit.nonce(40)) },
      ],
    },
  ),
  ...family(
    { ...credentials, needs: ['https', 'mtls', 'api-key'], mistake: 'certificate-replaces-credentials' },
    {
      'no-key': [
        'a missing API key with a valid client certificate',
        { connect, address: withoutHeader('api-key', 'no API key header') },
      ],
      'wrong-key': ['an invalid API key with a valid client certificate', { connect, address: wrongKey }],
    },
  ),
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
