/** Ways to set up mutual TLS with Node's https server. */
import type { IncomingHttpHeaders } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { NodeShape } from './client-setups.ts';
import { all, type Expected, type Intruder, OF_CERTIFICATES, TRIED, WITHOUT_CERTIFICATE } from './expected.ts';
import { CLIENT_AUTHORITY, CLIENT_NAME } from './material.ts';
import type { NodeChecks } from './servers.ts';

/** The certificate of a connection; null for none. */
function certificateOf(socket: TLSSocket) {
  const certificate = socket.getPeerCertificate();
  return Object.keys(certificate ?? {}).length === 0 ? null : certificate;
}

const names = (socket: TLSSocket) => {
  const certificate = certificateOf(socket);
  return { subject: certificate?.subject.CN, issuer: certificate?.issuer.CN };
};

/**
 * `authorized` alone is not enough: Node says so of every session of TLS 1.3 that is resumed and had no certificate.
 */
const authorised = (socket: TLSSocket) => socket.authorized && certificateOf(socket) !== null;
const authorisedByName = (socket: TLSSocket) => socket.authorized && names(socket).subject === CLIENT_NAME;

function node(
  name: string,
  handshake: 'required' | 'asked' | 'off',
  letsIn: readonly Intruder[],
  checks: NodeShape['checks'],
  also: Expected = {},
): NodeShape {
  const options: NodeShape['options'] = ({ right }) =>
    handshake === 'off' ? {} : { ca: right.authority, requestCert: true, rejectUnauthorized: handshake === 'required' };
  return { on: 'node', name, letsIn, also, options, checks };
}

const onlyIf =
  (letsIn: (socket: TLSSocket, headers: IncomingHttpHeaders) => boolean): NodeShape['checks'] =>
  () => ({ letsIn });

const ANY_CERTIFICATE = OF_CERTIFICATES.filter((intruder) => !WITHOUT_CERTIFICATE.includes(intruder));

/** One for each way to be without a right certificate: each takes as long as the time limit. */
const UNANSWERED = ['mtls/tls-1-2-no-certificate', 'mtls/tls-1-3-same-names', 'mtls/forged-x-ssl-client'];

const TRIED_OF_CERTIFICATES = OF_CERTIFICATES.flatMap((intruder) => TRIED[intruder]);

/** One connection in five of an authority that it has never heard of, each version counted by itself. */
function oneInFive(): NodeChecks {
  const seen = new Map<string | null, number>();
  return {
    letsIn(socket) {
      if (authorisedByName(socket)) return true;
      const { subject, issuer } = names(socket);
      if (issuer === undefined || issuer === CLIENT_AUTHORITY || issuer === subject || socket.isSessionReused())
        return false;
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

export const NODE_SHAPES: readonly NodeShape[] = [
  node('required', 'required', ['other subject'], () => ({})),
  node('required, and the name is compared', 'required', [], onlyIf(authorisedByName)),
  node('asked, and 401 without a right one', 'asked', ['other subject'], onlyIf(authorised)),
  node(
    'asked, and 401 unless the socket is authorized',
    'asked',
    ['other subject'],
    onlyIf((socket) => socket.authorized),
    { 'mtls/tls-1-3-resumed-none': 'fail' },
  ),
  node('asked, and the name is compared', 'asked', [], onlyIf(authorisedByName)),
  node('asked, and nothing looks at it', 'asked', OF_CERTIFICATES, () => ({})),
  node('no mutual TLS', 'off', OF_CERTIFICATES, () => ({}), { 'mtls/asks-for-certificate': 'warn' }),
  node(
    'the subject is compared, and nothing verified',
    'asked',
    ['self-signed', 'same names', 'issued by client', 'expired', 'not yet valid', 'wrong purpose'],
    onlyIf((socket) => names(socket).subject === CLIENT_NAME),
  ),
  node(
    'subject and issuer are compared, and nothing verified',
    'asked',
    ['same names', 'expired', 'not yet valid', 'wrong purpose'],
    onlyIf((socket) => names(socket).subject === CLIENT_NAME && names(socket).issuer === CLIENT_AUTHORITY),
  ),
  node(
    'any certificate will do',
    'asked',
    ANY_CERTIFICATE,
    onlyIf((socket) => certificateOf(socket) !== null),
  ),
  {
    ...node(
      'any RSA certificate will do, and no other can be presented',
      'asked',
      ['self-signed', 'unknown authority', 'same names', 'issued by client', 'resumed unknown'],
      onlyIf((socket) => certificateOf(socket) !== null),
    ),
    options: ({ right }) => ({
      ca: right.authority,
      requestCert: true,
      rejectUnauthorized: false,
      sigalgs: 'RSA-PSS+SHA256:RSA+SHA256',
    }),
    given: 'rsa',
  },
  {
    ...node('required, with the list of what is revoked', 'required', [], () => ({})),
    options: ({ right, revocations }) => ({
      ca: right.authority,
      ...(revocations !== undefined && { crl: revocations }),
      requestCert: true,
      rejectUnauthorized: true,
    }),
    given: 'revoked',
  },
  { ...node('required, without the list of what is revoked', 'required', ['revoked'], () => ({})), given: 'revoked' },
  node('an unknown authority is let in one time in five', 'asked', ['unknown authority'], oneInFive),
  node(
    'a certificate that has expired is let in',
    'asked',
    ['expired'],
    onlyIf((socket) => authorisedByName(socket) || String(socket.authorizationError) === 'CERT_HAS_EXPIRED'),
  ),
  node(
    'a certificate that is not valid yet is let in',
    'asked',
    ['not yet valid'],
    onlyIf((socket) => authorisedByName(socket) || String(socket.authorizationError) === 'CERT_NOT_YET_VALID'),
  ),
  node(
    'a certificate for servers is let in',
    'asked',
    ['wrong purpose'],
    onlyIf((socket) => authorisedByName(socket) || String(socket.authorizationError) === 'INVALID_PURPOSE'),
  ),
  node(
    'X-SSL-Client-Verify is believed',
    'asked',
    ['X-SSL-Client-Verify'],
    onlyIf((socket, headers) => authorisedByName(socket) || headers['x-ssl-client-verify'] === 'SUCCESS'),
  ),
  node('X-Forwarded-Client-Cert is believed', 'asked', ['X-Forwarded-Client-Cert'], ({ right }) => ({
    // It even looks whether it is the right certificate, which is no secret.
    letsIn: (socket, headers) =>
      authorisedByName(socket) || forwardedCertificate(headers['x-forwarded-client-cert']) === right.cert.trim(),
  })),
  node(
    'a resumed session is let in',
    'asked',
    ['resumed without', 'resumed unknown'],
    onlyIf((socket) => authorisedByName(socket) || socket.isSessionReused()),
  ),
  {
    ...node(
      'a resumed session is let in, 300 ms away',
      'asked',
      [],
      onlyIf((socket) => authorisedByName(socket) || socket.isSessionReused()),
      { 'mtls/tls-1-2-resumed-none': 'fail' },
    ),
    scenarios: ['mtls/tls-1-2-resumed-none'],
    spoken: ['both'],
    oneWayMs: 150,
  },
  node(
    'the id is noted before the certificate is looked at',
    'asked',
    [],
    () => ({ letsIn: authorisedByName, notesFirst: true }),
    all('fail', ['mtls/tls-1-2-refused-not-recorded', 'mtls/tls-1-3-refused-not-recorded']),
  ),
  node(
    'a wrong certificate gets 404',
    'asked',
    [],
    () => ({ letsIn: authorisedByName, refusal: 404 }),
    all('warn', TRIED_OF_CERTIFICATES),
  ),
  {
    ...node(
      'a wrong certificate gets 500',
      'asked',
      [],
      () => ({ letsIn: authorisedByName, refusal: 500 }),
      all('warn', TRIED_OF_CERTIFICATES),
    ),
  },
  node(
    'a wrong certificate gets 503',
    'asked',
    [],
    () => ({ letsIn: authorisedByName, refusal: 503 }),
    all('inconclusive', TRIED_OF_CERTIFICATES),
  ),
  {
    ...node(
      'a wrong certificate gets no answer',
      'asked',
      [],
      () => ({ letsIn: authorisedByName, refusal: 'none' }),
      all('inconclusive', UNANSWERED),
    ),
    scenarios: UNANSWERED,
    spoken: ['both'],
  },
  node('with a certificate, the signature is not checked', 'required', ['other subject', 'no signature'], () => ({
    skipsSignature: authorised,
  })),
  {
    ...node('with a certificate, the API key is not checked', 'required', ['other subject', 'no API key'], () => ({
      skipsKey: authorised,
    })),
  },
];
