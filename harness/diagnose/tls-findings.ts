/** Explains how an endpoint treats client certificates, from the results of a run. Pure. */
import type { Diagnosis, ScenarioResult } from '../result/result-document.ts';
import type { Finding } from './finding.ts';
import { counted } from './whole-findings.ts';

const NOT_ASKED: Finding = {
  fault: 'client-certificate-not-required',
  title: 'Deliveries are accepted without a client certificate',
  why: 'Mutual TLS is agreed, and the endpoint asks for a certificate without insisting on one, or never asks. Usual causes: `rejectUnauthorized: false` without a look at `socket.authorized`, nginx `ssl_verify_client optional` without a check of `$ssl_client_verify`, or a load balancer that ends TLS in front and does not verify.',
  fix: 'Require and verify the certificate where TLS ends: Node `requestCert: true, rejectUnauthorized: true, ca`; nginx `ssl_verify_client on` with `ssl_client_certificate`.',
};

const ANY_TAKEN: Finding = {
  fault: 'any-client-certificate-accepted',
  title: 'Any client certificate is accepted, whoever issued it',
  why: 'A certificate is asked for and not verified, so anybody can make one that works. Usual causes: nginx `optional_no_ca`, a verify callback that returns true, or a trust list with more authorities than the agreed one.',
  fix: 'Verify against the one authority that issues the client certificate: nginx `ssl_verify_client on` with `ssl_client_certificate`; Node `rejectUnauthorized: true` with `ca`.',
};

const HEADERS_BELIEVED: Finding = {
  fault: 'forged-certificate-header-believed',
  title: 'A header that claims a client certificate is believed from anybody',
  why: 'The application trusts what a proxy should have verified, and does not make sure that the proxy said it.',
  fix: 'Have the proxy overwrite these headers on every request, let nobody reach the application past it, and ignore them everywhere else.',
};

const wasAccepted = ({ verdict, observed }: ScenarioResult) => verdict === 'fail' && /^2\d\d/.test(observed);
const wasTried = ({ verdict }: ScenarioResult) => verdict !== 'not-applicable' && verdict !== 'inconclusive';

function found(finding: Finding, telling: readonly ScenarioResult[]): Diagnosis | null {
  const accepted = telling.filter(wasAccepted);
  return accepted.length === 0 ? null : counted(finding, accepted, telling.length);
}

/** What is wrong with mutual TLS. One cause at most: without a certificate nothing else can be told apart. */
export function explainClientCertificates(results: readonly ScenarioResult[]): Diagnosis | null {
  const tried = results.filter((result) => result.suite === 'mtls' && wasTried(result));
  const ending = (...ends: string[]) => tried.filter(({ id }) => ends.some((end) => id.endsWith(end)));
  return (
    found(NOT_ASKED, ending('-no-certificate')) ??
    found(ANY_TAKEN, ending('-self-signed', '-unknown-authority', '-same-names')) ??
    found(
      HEADERS_BELIEVED,
      tried.filter(({ id }) => id.startsWith('mtls/forged-')),
    )
  );
}
