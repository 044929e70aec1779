/** Mutants that reject clients without a valid certificate incorrectly, and those that reject valid ones. */
import { refuse, type Stage } from '../receiver/stages/stage.ts';
import type { FaultParts, StageFault } from './fault.ts';
import { type Client, handleClients, MTLS } from './lenient-certificate.ts';

const HANDSHAKE = {
  rule: 'Refuse in the handshake, or answer 401 or 403, and treat a missing certificate as an ordinary case.',
  express:
    'Set `rejectUnauthorized: true`; or check `getPeerCertificate()?.raw` before you read any of it, and answer 401.',
} as const;

/** Answers clients without a certificate differently, and rejects the others correctly. */
function missing(stage: (parts: FaultParts) => Stage): StageFault['replace'] {
  return handleClients((parts) => {
    const answer = stage(parts);
    return ({ certificate }) => (certificate === null ? answer : null);
  });
}

const wrong = ({ certificate, fault, named }: Client) => certificate === null || fault !== null || !named;

export const mtlsRefusalsFaults: readonly StageFault[] = [
  {
    ...MTLS,
    name: 'certificate-missing-is-500',
    title: 'Answers 500 to a missing client certificate',
    seen: 'Middleware that reads `getPeerCertificate().subject.CN` of an empty object.',
    why: 'The delivery is not accepted, but monitoring raises a false alarm, and the sender retries after a 500.',
    fix: HANDSHAKE,
    severity: 'low',
    forbidden: false,
    replace: missing(() => (_req, res) => refuse(res, 500, 'internal')),
  },
  {
    ...MTLS,
    name: 'certificate-missing-ends-the-process',
    title: 'Ends the process on a connection without a client certificate',
    seen:
      'Listeners on `secureConnection` that read the subject of an empty certificate, where no framework catches ' +
      'the exception.',
    why: 'Anyone who connects without a certificate, such as a scanner, stops the endpoint for everyone.',
    fix: HANDSHAKE,
    severity: 'high',
    replace: missing(
      ({ crash }) =>
        () =>
          crash(100),
    ),
  },
  {
    ...MTLS,
    name: 'certificate-self-signed-ends-the-process',
    title: 'Ends the process on a self-signed client certificate',
    seen:
      'Code that follows `issuerCertificate` to the end of the chain: in Node, a self-signed certificate is its own ' +
      'issuer, so the loop never ends.',
    why: 'Anyone can make such a certificate and stop the endpoint with it.',
    fix: {
      rule: 'Refuse in the handshake, so that your code never sees an unverified certificate.',
      express: 'Set `rejectUnauthorized: true`, and stop following the chain when a fingerprint repeats.',
    },
    severity: 'high',
    replace: handleClients(
      ({ crash }) =>
        ({ fault }) =>
          fault === 'DEPTH_ZERO_SELF_SIGNED_CERT' ? () => crash(100) : null,
    ),
  },
  {
    ...MTLS,
    name: 'certificate-missing-is-redirected',
    title: 'Redirects a client without a certificate to a page',
    seen: 'nginx `error_page 496 = /login`, and single sign-on for the whole site.',
    why:
      'A sender that follows the redirect posts the notification to a page that answers 200, and the notification ' +
      'is lost.',
    fix: HANDSHAKE,
    severity: 'medium',
    forbidden: false,
    replace: missing(() => (_req, res) => refuse(res, 302, 'moved', { headers: { Location: '/login' } })),
  },
  {
    ...MTLS,
    name: 'certificate-missing-is-404',
    title: 'Answers 404 to a client without a certificate',
    seen: 'Gateways that hide what is behind mutual TLS, and routes that exist only for clients with a certificate.',
    why: 'If the sender loses its certificate by a configuration mistake, it searches for a wrong URL.',
    fix: HANDSHAKE,
    severity: 'low',
    forbidden: false,
    replace: missing(() => (_req, res) => refuse(res, 404, 'not-found')),
  },
  {
    ...MTLS,
    name: 'certificate-refused-with-200',
    title: 'Answers 200 to a delivery with an invalid or missing certificate and discards it',
    seen: 'Handlers that answer first and check afterwards, and proxy error pages with status 200.',
    why:
      'If the check is faulty, or the sender has a new certificate, every delivery is lost while the sender ' +
      'believes it was accepted.',
    fix: HANDSHAKE,
    severity: 'high',
    replace: handleClients(() => (client) => (wrong(client) ? (_req, res) => refuse(res, 200, 'certificate') : null)),
  },
  {
    ...MTLS,
    name: 'right-certificate-refused',
    equivalentTo: {
      name: 'answers-403-to-everything',
      reason: 'Both answer 403 to the first delivery, so nothing else is judged.',
    },
    title: 'Rejects the valid client certificate',
    seen:
      'Lists of allowed subjects in another format (`/CN=sender` instead of `CN=sender`), fingerprints of the ' +
      'previous certificate, and trust stores without the issuing CA.',
    why: 'No delivery is accepted.',
    fix: {
      rule:
        'Compare names instead of their formatting, and trust the CA instead of one certificate, so that a renewal ' +
        'changes nothing.',
      express: 'Compare `getPeerCertificate().subject.CN`, and pass the CA with its intermediates as `ca`.',
    },
    replace: handleClients(() => () => (_req, res) => refuse(res, 403, 'forbidden')),
  },
  {
    ...MTLS,
    name: 'right-certificate-refused-over-tls-1-2',
    title: 'Rejects the valid client certificate over TLS 1.2',
    seen:
      'Servers whose TLS 1.2 signature algorithms do not include the type of the client key, and listeners with a ' +
      'trust store per version.',
    why: 'It works until the sender, or a proxy in between, uses TLS 1.2.',
    fix: {
      rule: 'Use one trust store and one set of algorithms for every version, or disable the version.',
      express: 'Leave `sigalgs` and `ecdhCurve` of `https.createServer` at their defaults.',
    },
    severity: 'high',
    replace: handleClients(
      () =>
        ({ socket }) =>
          socket.getProtocol() === 'TLSv1.2' ? (_req, res) => refuse(res, 403, 'forbidden') : null,
    ),
  },
  {
    ...MTLS,
    name: 'resumed-session-refused',
    title: 'Rejects a client that resumes its session, although it started with the valid certificate',
    seen:
      'Checks that take the certificate from the handshake, where a resumed session has none (libraries that do not ' +
      'store it with the session).',
    why:
      'The first delivery is accepted, and those on later connections are not until the session expires. It looks ' +
      'random.',
    fix: {
      rule: 'Take the certificate from the session, or disable sessions.',
      express: 'Read `req.socket.getPeerCertificate()` for each request, and store nothing in the handshake.',
    },
    severity: 'high',
    replace: handleClients(
      () =>
        ({ socket }) =>
          socket.isSessionReused() ? (_req, res) => refuse(res, 403, 'forbidden') : null,
    ),
  },
];
