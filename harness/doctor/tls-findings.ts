/** Findings about TLS and the endpoint's certificates. Pure. Specification: TLS. */

import { type ChainFaultCode, tlsVersionName } from '../../contract/index.ts';
import { CHAIN_MISTAKES, explainMistake } from '../../contract/mistakes/index.ts';
import type { DoctorFinding, FactsOf, Severity } from './doctor-document.ts';
import { advice, info, present, problem } from './sections.ts';

type Tls = FactsOf<'tls'>;

/** Severities as in the suite tls: a failure there is a problem, a warning is advice. */
const SEVERITIES: Partial<Record<ChainFaultCode, Severity>> = {
  'expires-soon': 'advice',
  misordered: 'advice',
  duplicate: 'advice',
  unrelated: 'advice',
  'root-sent': 'info',
};

const SERVE_TLS = 'Serve TLS 1.2 or higher on this port, or correct port and scheme of the URL.';

/**
 * Returns the findings about TLS. `aboutClient`: the handshake failed because of the client certificate, which has a
 * separate section.
 */
export function tlsFindings(tls: Tls, aboutClient: boolean): DoctorFinding[] {
  const { chain, trusted, trustCode, error } = tls;
  const granted = tls.hellos.filter(({ outcome }) => outcome === 'granted');
  const faults = (chain?.faults ?? []).map(
    ({ code, text }): DoctorFinding => ({
      severity: SEVERITIES[code] ?? 'problem',
      code,
      title: text,
      detail: '',
      fix: explainMistake({ mistake: CHAIN_MISTAKES[code] }).fix,
    }),
  );
  const explained = faults.some(({ severity }) => severity === 'problem');
  return present([
    granted.length === 0 && !aboutClient && noHandshake(tls),
    granted.length > 0 &&
      !aboutClient &&
      error !== null &&
      problem('handshake-fails', error.message, 'Check the log of the server for the time of the connection.'),
    ...faults,
    trusted === false && !explained && untrusted(trustCode),
    granted.length === 1 && oneVersion(tls),
  ]);
}

/** Returns the finding for an endpoint that gives no usable TLS answer to either version. */
function noHandshake({ hellos }: Tls): DoctorFinding {
  const find = (wanted: Tls['hellos'][number]['outcome']) => hellos.find(({ outcome }) => outcome === wanted);
  const plain = find('not-tls');
  if (plain !== undefined) {
    const title = 'The port speaks plain HTTP without TLS, but the URL begins with https.';
    return plain.detail?.startsWith('HTTP/') === true
      ? problem('plain-http-on-port', title, SERVE_TLS)
      : problem('not-tls', 'The answer on this port is not TLS.', SERVE_TLS);
  }
  const alert = find('alert');
  if (alert !== undefined) return refused(alert.detail ?? 'unknown');
  const other = find('declined');
  if (other !== undefined) {
    const version = other.detail === null ? 'another version' : `${other.detail.replace('v', ' ')}`;
    return problem('tls-too-old', `The endpoint answers with ${version} instead of TLS 1.2 or 1.3.`, SERVE_TLS);
  }
  if (find('timeout') !== undefined) {
    return problem(
      'tls-silent',
      'The endpoint accepts the connection but does not answer the TLS handshake within the time limit.',
      'Check what is listening there: a process that hangs, a port of another service, or a proxy that waits for its ' +
        'server.',
    );
  }
  const lost = find('connect-error');
  if (lost !== undefined) {
    const title = `A second connection, for TLS, failed after the first one succeeded. ${lost.detail}`;
    return problem('connection-lost', title, 'The endpoint may limit connections, or be overloaded: try again.');
  }
  return problem(
    'closes-in-handshake',
    'The endpoint closes the connection during the TLS handshake, without an alert.',
    'Check its log: usual causes are a server without a certificate for this name, a proxy without a server behind ' +
      'it, and a list of allowed addresses.',
  );
}

function refused(alert: string): DoctorFinding {
  const title = `The endpoint refuses the TLS handshake with the alert ${alert}.`;
  switch (alert) {
    case 'protocol_version':
      return problem('tls-too-old', 'The endpoint supports neither TLS 1.2 nor TLS 1.3.', 'Enable TLS 1.2 and 1.3.');
    case 'unrecognized_name':
      return problem('name-not-served', title, 'Configure the server, or the proxy in front, for the host of the URL.');
    case 'handshake_failure':
    case 'insufficient_security':
      return problem(
        'no-common-cipher',
        title,
        'There is no cipher in common, or no certificate for this name: allow the modern ciphers (ECDHE with AES-GCM ' +
          'or ChaCha20), and check the certificate of the server.',
      );
    default:
      return problem('handshake-refused', title, 'Check the log of the server, or of the proxy in front of it.');
  }
}

/** Returns the finding for a certificate that Node does not trust although the analysis found no fault. */
function untrusted(code: string | null): DoctorFinding {
  const title = `Node does not trust the certificate${code === null ? '' : ` (${code})`}.`;
  return problem('untrusted', title, 'Serve a certificate from a trusted CA with its full chain.');
}

function oneVersion({ hellos }: Tls): DoctorFinding {
  const missing = hellos.find(({ outcome }) => outcome !== 'granted');
  const version = tlsVersionName(missing?.version ?? 'TLSv1.3');
  if (version !== 'TLS 1.3') {
    return info('no-tls12', 'TLS 1.2 is not supported. TLS 1.3 is enough for this service.', null);
  }
  const fix = 'Enable TLS 1.3 when you can: it is faster and simpler.';
  return info('no-tls13', 'TLS 1.3 is not supported. TLS 1.2 is enough.', fix);
}

/** Returns the findings about an http URL. `speaksTls`: the port answers a TLS handshake. */
export function plainHttpFindings(speaksTls: boolean, isLoopback: boolean, hasMaterial: boolean): DoctorFinding[] {
  const title = 'Certificates are configured but not used over plain HTTP.';
  const unused = advice('material-not-used', title, 'Use an https URL, or remove them.');
  return [plainHttp(speaksTls, isLoopback), ...(hasMaterial ? [unused] : [])];
}

function plainHttp(speaksTls: boolean, isLoopback: boolean): DoctorFinding {
  if (speaksTls) {
    return problem('tls-on-port', 'The port speaks TLS, but the URL begins with http.', 'Use an https URL.');
  }
  if (isLoopback) {
    const title = 'The URL is plain HTTP, which is acceptable only on this machine. The service requires HTTPS.';
    return info('plain-http', title, 'Register an https URL: TLS 1.2 or higher and a trusted certificate.');
  }
  const title =
    'The URL is plain HTTP: anyone on the network path can read and change deliveries, and take the API key.';
  return advice('plain-http', title, 'Serve HTTPS, and register an https URL.');
}
