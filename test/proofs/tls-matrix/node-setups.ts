/** Setups of mutual TLS with Node's https server. */
import type { IncomingHttpHeaders } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { NodeSetup } from './client-setups.ts';
import {
  all,
  CERTIFICATE_CASES,
  type Expected,
  type InvalidClient,
  NO_CERTIFICATE_CASES,
  OTHER_SHAPES,
  SCENARIOS_OF,
} from './expected.ts';
import { CLIENT_CA, CLIENT_NAME } from './material.ts';
import type { NodeChecks } from './servers.ts';

/** Returns the certificate of a connection. Null if there is none. */
function certificateOf(socket: TLSSocket) {
  const certificate = socket.getPeerCertificate();
  return Object.keys(certificate ?? {}).length === 0 ? null : certificate;
}

const names = (socket: TLSSocket) => {
  const certificate = certificateOf(socket);
  return { subject: certificate?.subject.CN, issuer: certificate?.issuer.CN };
};

/**
 * Returns whether a client is authorised. `authorized` alone is not enough, because Node sets it for resumed TLS 1.3
 * sessions without a certificate.
 */
const isAuthorized = (socket: TLSSocket) => socket.authorized && certificateOf(socket) !== null;
const isAuthorizedByName = (socket: TLSSocket) => socket.authorized && names(socket).subject === CLIENT_NAME;

function node(
  name: string,
  handshake: 'required' | 'asked' | 'off',
  accepts: readonly InvalidClient[],
  checks: NodeSetup['checks'],
  also: Expected = {},
): NodeSetup {
  const options: NodeSetup['options'] = ({ client }) =>
    handshake === 'off' ? {} : { ca: client.ca, requestCert: true, rejectUnauthorized: handshake === 'required' };
  return { on: 'node', name, accepts, also, options, checks };
}

const onlyIf =
  (accepts: (socket: TLSSocket, headers: IncomingHttpHeaders) => boolean): NodeSetup['checks'] =>
  () => ({ accepts });

const ANY_CERTIFICATE = CERTIFICATE_CASES.filter((invalidClient) => !NO_CERTIFICATE_CASES.includes(invalidClient));

/** One scenario for each kind of missing certificate. Each lasts until the time limit. */
const UNANSWERED = ['mtls/tls-1-2-no-certificate', 'mtls/tls-1-3-same-names', 'mtls/forged-headers'];

const TRIED_OF_CERTIFICATES = CERTIFICATE_CASES.flatMap((invalidClient) => SCENARIOS_OF[invalidClient]);

/** Accepts one connection in five from an unknown CA, counted for each version. */
function oneInFive(): NodeChecks {
  const seen = new Map<string | null, number>();
  return {
    accepts(socket) {
      if (isAuthorizedByName(socket)) return true;
      const { subject, issuer } = names(socket);
      if (issuer === undefined || issuer === CLIENT_CA || issuer === subject || socket.isSessionReused()) return false;
      const version = socket.getProtocol();
      const count = (seen.get(version) ?? 0) + 1;
      seen.set(version, count);
      return count % 5 === 0;
    },
  };
}

function forwardedCertificate(header: string | string[] | undefined): string | undefined {
  const found = /Cert="([^"]*)"/.exec(String(header))?.[1];
  return found === undefined ? undefined : decodeURIComponent(found).trim();
}

export const NODE_SETUPS: readonly NodeSetup[] = [
  node('required', 'required', ['other subject'], () => ({})),
  node('required, and the name is compared', 'required', [], onlyIf(isAuthorizedByName)),
  node('requested; 401 without a valid one', 'asked', ['other subject'], onlyIf(isAuthorized)),
  node(
    'requested; 401 unless the socket is authorized',
    'asked',
    ['other subject'],
    onlyIf((socket) => socket.authorized),
    { 'mtls/tls-1-3-resumed-none': 'fail' },
  ),
  node('requested, and the name is compared', 'asked', [], onlyIf(isAuthorizedByName)),
  node('requested, and not checked', 'asked', CERTIFICATE_CASES, () => ({})),
  node('no mutual TLS', 'off', CERTIFICATE_CASES, () => ({}), { 'mtls/asks-for-certificate': 'warn' }),
  node(
    'the subject is compared, and nothing is verified',
    'asked',
    ['self-signed', 'same names', 'issued by a client', 'expired', 'not yet valid', 'wrong purpose'],
    onlyIf((socket) => names(socket).subject === CLIENT_NAME),
  ),
  node(
    'subject and issuer are compared, and nothing is verified',
    'asked',
    ['same names', 'expired', 'not yet valid', 'wrong purpose'],
    onlyIf((socket) => names(socket).subject === CLIENT_NAME && names(socket).issuer === CLIENT_CA),
  ),
  node(
    'any certificate is accepted',
    'asked',
    ANY_CERTIFICATE,
    onlyIf((socket) => certificateOf(socket) !== null),
  ),
  {
    ...node(
      'any RSA certificate is accepted, and no other can be presented',
      'asked',
      ['self-signed', 'unknown CA', 'same names', 'issued by a client', 'resumed, unknown CA'],
      onlyIf((socket) => certificateOf(socket) !== null),
    ),
    options: ({ client }) => ({
      ca: client.ca,
      requestCert: true,
      rejectUnauthorized: false,
      sigalgs: 'RSA-PSS+SHA256:RSA+SHA256',
    }),
    certificates: 'rsa',
  },
  {
    ...node('required, with the revocation list', 'required', [], () => ({})),
    options: ({ client, revocations }) => ({
      ca: client.ca,
      ...(revocations !== undefined && { crl: revocations }),
      requestCert: true,
      rejectUnauthorized: true,
    }),
    certificates: 'revoked',
  },
  { ...node('required, without the revocation list', 'required', ['revoked'], () => ({})), certificates: 'revoked' },
  node('an unknown CA is accepted one time in five', 'asked', ['unknown CA'], oneInFive),
  node(
    'an expired certificate is accepted',
    'asked',
    ['expired'],
    onlyIf((socket) => isAuthorizedByName(socket) || String(socket.authorizationError) === 'CERT_HAS_EXPIRED'),
  ),
  node(
    'a certificate that is not valid yet is accepted',
    'asked',
    ['not yet valid'],
    onlyIf((socket) => isAuthorizedByName(socket) || String(socket.authorizationError) === 'CERT_NOT_YET_VALID'),
  ),
  node(
    'a server certificate is accepted',
    'asked',
    ['wrong purpose'],
    onlyIf((socket) => isAuthorizedByName(socket) || String(socket.authorizationError) === 'INVALID_PURPOSE'),
  ),
  node(
    'X-SSL-Client-Verify is trusted',
    'asked',
    ['forged headers'],
    onlyIf((socket, headers) => isAuthorizedByName(socket) || headers['x-ssl-client-verify'] === 'SUCCESS'),
  ),
  node('X-Forwarded-Client-Cert is trusted', 'asked', ['forged headers'], ({ client }) => ({
    // The server even compares the certificate, which is public.
    accepts: (socket, headers) =>
      isAuthorizedByName(socket) || forwardedCertificate(headers['x-forwarded-client-cert']) === client.cert.trim(),
  })),
  node(
    'a resumed session is accepted',
    'asked',
    ['resumed, none', 'resumed, unknown CA'],
    onlyIf((socket) => isAuthorizedByName(socket) || socket.isSessionReused()),
  ),
  {
    ...node(
      'a resumed session is accepted, 300 ms away',
      'asked',
      [],
      onlyIf((socket) => isAuthorizedByName(socket) || socket.isSessionReused()),
      { 'mtls/tls-1-2-resumed-none': 'fail' },
    ),
    scenarios: ['mtls/tls-1-2-resumed-none'],
    tlsVersions: ['both'],
    oneWayMs: 150,
  },
  node(
    'the id is recorded before the certificate is checked',
    'asked',
    [],
    () => ({ accepts: isAuthorizedByName, recordsFirst: true }),
    all('fail', ['mtls/tls-1-2-refused-not-recorded', 'mtls/tls-1-3-refused-not-recorded']),
  ),
  node(
    'an invalid certificate gets 404',
    'asked',
    [],
    () => ({ accepts: isAuthorizedByName, rejection: 404 }),
    all(
      'warn',
      TRIED_OF_CERTIFICATES.filter((id) => !OTHER_SHAPES.includes(id)),
    ),
  ),
  {
    ...node(
      'an invalid certificate gets 500',
      'asked',
      [],
      () => ({ accepts: isAuthorizedByName, rejection: 500 }),
      // A 5xx to a query that the sender does not add is recorded.
      { ...all('warn', TRIED_OF_CERTIFICATES), 'mtls/no-certificate-with-query': 'recorded' },
    ),
  },
  node(
    'an invalid certificate gets 503',
    'asked',
    [],
    () => ({ accepts: isAuthorizedByName, rejection: 503 }),
    all('inconclusive', TRIED_OF_CERTIFICATES),
  ),
  {
    ...node(
      'an invalid certificate gets no answer',
      'asked',
      [],
      () => ({ accepts: isAuthorizedByName, rejection: 'none' }),
      all('inconclusive', UNANSWERED),
    ),
    scenarios: UNANSWERED,
    tlsVersions: ['both'],
  },
  node('with a certificate, the signature is not checked', 'required', ['other subject', 'no signature'], () => ({
    skipsSignature: isAuthorized,
  })),
  {
    ...node('with a certificate, the API key is not checked', 'required', ['other subject', 'no API key'], () => ({
      skipsKey: isAuthorized,
    })),
  },
];
