import type { StageFault } from './fault.ts';
import { alsoLettingIn, dealing, isOfNobody, MTLS } from './lenient-certificate.ts';

const VERIFY = {
  rule: 'Ask for the certificate in the handshake, verify it there against the one authority that issues it, and refuse the connection otherwise.',
  express:
    'Use `https.createServer({ requestCert: true, rejectUnauthorized: true, ca })`; where the handshake has to let everyone in, refuse in a middleware unless `req.socket.authorized` is true and `getPeerCertificate()` is not empty.',
  spring: 'Set `server.ssl.client-auth=need` and a trust store that holds that authority alone.',
  go: 'Set `ClientAuth: tls.RequireAndVerifyClientCert` and `ClientCAs`; `RequireAnyClientCert` does not verify.',
  dotnet: 'Set `ClientCertificateMode.RequireCertificate` and do not install a validation callback that returns true.',
} as const;

const always = () => true;

/** Receivers that do not verify the client certificate, or not whose it is. */
export const uncheckedCertificates: readonly StageFault[] = [
  {
    ...MTLS,
    name: 'client-certificate-never-asked-for',
    title: 'No client certificate is asked for, and none is needed.',
    seen: 'Endpoints whose mutual TLS was set up on one load balancer while another one, without it, serves the same name.',
    why: 'Whoever knows the URL connects. What was agreed on as a lock is not there, and every delivery still works.',
    fix: VERIFY,
    options: { requestCert: false },
    replace: dealing(() => () => (_req, _res, next) => next()),
  },
  {
    ...MTLS,
    name: 'client-certificate-asked-for-only',
    title: 'A client certificate is asked for, and what comes is not looked at.',
    seen: '`requestCert: true, rejectUnauthorized: false` without a look at `socket.authorized`, and nginx `optional_no_ca` without a check behind it.',
    why: 'Traces show a request for a certificate and a right answer to it, so the check seems to work. It takes everybody, with any certificate or none.',
    fix: VERIFY,
    replace: alsoLettingIn(() => always),
  },
  {
    ...MTLS,
    name: 'client-certificate-optional',
    title: 'A wrong client certificate is refused, and a missing one is not.',
    seen: 'nginx `ssl_verify_client optional` without a check of `$ssl_client_verify`, Spring `client-auth=want`, and Go `VerifyClientCertIfGiven`.',
    why: 'A forger leaves the certificate out. Tests with a wrong certificate pass, so the gap is hard to notice.',
    fix: VERIFY,
    replace: alsoLettingIn(
      () =>
        ({ certificate }) =>
          certificate === null,
    ),
  },
  {
    ...MTLS,
    name: 'client-certificate-presence-is-enough',
    title: 'Any client certificate is taken, as long as there is one.',
    seen: 'Verify callbacks that return true, Go `RequireAnyClientCert`, and code that asks whether `getPeerCertificate()` is empty.',
    why: 'Anybody makes a certificate in a second, with any name and any dates.',
    fix: VERIFY,
    replace: alsoLettingIn(
      () =>
        ({ certificate }) =>
          certificate !== null,
    ),
  },
  {
    ...MTLS,
    name: 'any-authority-accepted',
    title: 'A client certificate of any authority is taken, if its dates and its purpose are right.',
    seen: 'nginx `optional_no_ca`, which checks dates and not the issuer, and callbacks that forgive an unknown issuer because the authority is private.',
    why: 'A forger sets up an authority of their own. Tests with an expired certificate pass, so the check seems to work.',
    fix: VERIFY,
    replace: alsoLettingIn(() => isOfNobody),
  },
  {
    ...MTLS,
    name: 'self-signed-client-accepted',
    title: 'Self-signed client certificates are taken beside those of the authority.',
    seen: 'Callbacks that forgive `DEPTH_ZERO_SELF_SIGNED_CERT`, written for a partner who had no authority, or for tests.',
    why: 'A self-signed certificate is vouched for by nobody: anybody makes one with the right name.',
    fix: {
      ...VERIFY,
      rule: 'Take self-signed certificates only by their fingerprint, one by one, and everything else through the authority.',
    },
    replace: alsoLettingIn(
      () =>
        ({ fault }) =>
          fault === 'DEPTH_ZERO_SELF_SIGNED_CERT',
    ),
  },
];
