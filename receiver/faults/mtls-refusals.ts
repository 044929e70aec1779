/** Mutants that reject clients without a valid certificate incorrectly, and those that reject valid ones. */
import { refuse, type Stage } from '../stages/stage.ts';
import type { FaultParts, StageFault } from './fault.ts';
import { type Client, dealing, MTLS } from './lenient-certificate.ts';

const HANDSHAKE = {
  rule: 'Refuse in the handshake, or answer 401 or 403, and treat a missing certificate as the usual case that it is.',
  express:
    'Set `rejectUnauthorized: true`; or check `getPeerCertificate()?.raw` before anything of it is read, and answer 401.',
} as const;

/** Answers another way to those who have no certificate, and refuses the others rightly. */
function missing(stage: (parts: FaultParts) => Stage): StageFault['replace'] {
  return dealing((parts) => {
    const answer = stage(parts);
    return ({ certificate }) => (certificate === null ? answer : null);
  });
}

const wrong = ({ certificate, fault, named }: Client) => certificate === null || fault !== null || !named;

export const mtlsRefusalsFaults: readonly StageFault[] = [
  {
    ...MTLS,
    name: 'certificate-missing-is-500',
    title: 'A missing client certificate is answered with 500.',
    seen: 'Middlewares that read `getPeerCertificate().subject.CN` of an empty object.',
    why: 'Nobody gets in, but monitors raise an alarm for what is none, and a sender takes the 500 for a reason to try again.',
    fix: HANDSHAKE,
    severity: 'low',
    forbidden: false,
    replace: missing(() => (_req, res) => refuse(res, 500, 'internal')),
  },
  {
    ...MTLS,
    name: 'certificate-missing-ends-the-process',
    title: 'A connection without a client certificate ends the process.',
    seen: 'Listeners on `secureConnection` that read the subject of an empty certificate, where no framework catches the exception.',
    why: 'Whoever connects without a certificate, a scanner for example, takes the endpoint down for everybody.',
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
    title: 'A self-signed client certificate ends the process.',
    seen: 'Code that follows `issuerCertificate` to the end of the chain: in Node, that of a self-signed certificate is the certificate itself, so the walk never ends.',
    why: 'Anybody can make such a certificate, and take the endpoint down with it.',
    fix: {
      rule: 'Refuse in the handshake, so that no code of your own sees what does not verify.',
      express:
        'Set `rejectUnauthorized: true`; and end a walk up the chain when a fingerprint comes for the second time.',
    },
    severity: 'high',
    replace: dealing(
      ({ crash }) =>
        ({ fault }) =>
          fault === 'DEPTH_ZERO_SELF_SIGNED_CERT' ? () => crash(100) : null,
    ),
  },
  {
    ...MTLS,
    name: 'certificate-missing-is-redirected',
    title: 'A client without a certificate is redirected to a page.',
    seen: 'nginx `error_page 496 = /login`, and single sign-on in front of the whole site.',
    why: 'Nobody gets in, but a sender that follows the redirect posts the notification to a page that answers 200, and it is lost.',
    fix: HANDSHAKE,
    severity: 'medium',
    forbidden: false,
    replace: missing(() => (_req, res) => refuse(res, 302, 'moved', { headers: { Location: '/login' } })),
  },
  {
    ...MTLS,
    name: 'certificate-missing-is-404',
    title: 'A client without a certificate is answered with 404.',
    seen: 'Gateways that hide what is behind mutual TLS, and routes that exist only for clients with a certificate.',
    why: 'Nobody gets in, but a sender whose certificate was lost in a configuration looks for a wrong URL.',
    fix: HANDSHAKE,
    severity: 'low',
    forbidden: false,
    replace: missing(() => (_req, res) => refuse(res, 404, 'not-found')),
  },
  {
    ...MTLS,
    name: 'certificate-refused-with-200',
    title: 'A delivery with a wrong certificate, or without one, is answered with 200 and thrown away.',
    seen: 'Handlers that answer first and check afterwards, and error pages of proxies that are served with 200.',
    why: 'When the own check is wrong, or the certificate of the sender was changed, every delivery is lost and the sender believes that it arrived.',
    fix: HANDSHAKE,
    severity: 'high',
    equivalentTo: {
      name: 'client-certificate-asked-for-only',
      reason: 'From outside, 200 means that the delivery was accepted. What became of it cannot be seen.',
    },
    replace: dealing(() => (client) => (wrong(client) ? (_req, res) => refuse(res, 200, 'certificate') : null)),
  },
  {
    ...MTLS,
    name: 'right-certificate-refused',
    equivalentTo: {
      name: 'answers-403-to-everything',
      reason: 'Both answer 403 to the first delivery, so that nothing else is asked.',
    },
    title: 'The right client certificate is refused.',
    seen: 'Lists of allowed subjects in another format (`/CN=sender` in place of `CN=sender`), fingerprints of the certificate before the renewal, and trust stores without the issuing authority.',
    why: 'No delivery arrives.',
    fix: {
      rule: 'Compare names and not their rendering, and trust the authority in place of one certificate, so that a renewal changes nothing.',
      express: 'Compare `getPeerCertificate().subject.CN`, and give the authority with its intermediates as `ca`.',
    },
    replace: dealing(() => () => (_req, res) => refuse(res, 403, 'forbidden')),
  },
  {
    ...MTLS,
    name: 'right-certificate-refused-over-tls-1-2',
    title: 'The right client certificate is refused over TLS 1.2; over TLS 1.3 it is taken.',
    seen: 'Servers whose list of signature algorithms for TLS 1.2 lacks the kind of the client key, and listeners with a trust store for each version.',
    why: 'It works until the sender, or something in between, speaks TLS 1.2.',
    fix: {
      rule: 'Use one trust store and one set of algorithms for every version, or switch the version off.',
      express: 'Leave `sigalgs` and `ecdhCurve` of `https.createServer` at their defaults.',
    },
    severity: 'high',
    replace: dealing(
      () =>
        ({ socket }) =>
          socket.getProtocol() === 'TLSv1.2' ? (_req, res) => refuse(res, 403, 'forbidden') : null,
    ),
  },
  {
    ...MTLS,
    name: 'resumed-session-refused',
    title: 'A client that resumes its session is refused, although it began with the right certificate.',
    seen: 'Checks that take the certificate from the handshake, where a resumed session has none (libraries that do not keep it with the session).',
    why: 'The first delivery arrives, and those on the next connections do not, until the session has expired. It looks like chance.',
    fix: {
      rule: 'Take the certificate from the session, which keeps it, or hand out no sessions.',
      express: 'Read `req.socket.getPeerCertificate()` for each request, and note nothing in the handshake.',
    },
    severity: 'high',
    replace: dealing(
      () =>
        ({ socket }) =>
          socket.isSessionReused() ? (_req, res) => refuse(res, 403, 'forbidden') : null,
    ),
  },
];
