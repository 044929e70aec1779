/** What the endpoint does over TLS, and what is wrong with its certificates. Pure. Specification: TLS. */
import { type ChainFaultCode, tlsVersionName } from '../../../contract/index.ts';
import type { FactsOf, Severity } from '../doctor-document.ts';
import { advice, type DoctorFinding, info, problem } from './finding.ts';

type Tls = FactsOf<'tls'>;

/** As the suite tls has it: what it fails for is a problem, what it warns of is advice. */
const SEVERITIES: Partial<Record<ChainFaultCode, Severity>> = {
  'expires-soon': 'advice',
  misordered: 'advice',
  duplicate: 'advice',
  unrelated: 'advice',
  'root-sent': 'info',
};

const SPEAK_TLS = 'Serve TLS 1.2 or higher on this port, or correct port and scheme of the URL.';

/** `aboutClient`: the handshake failed over the client certificate, which is told in its own section. */
export function tlsFindings(tls: Tls, aboutClient: boolean): DoctorFinding[] {
  const { chain, trusted, trustCode } = tls;
  const spoken = tls.hellos.filter(({ outcome }) => outcome === 'granted');
  const faults = (chain?.faults ?? []).map(
    ({ code, text, fix }): DoctorFinding => ({
      severity: SEVERITIES[code] ?? 'problem',
      code,
      title: text,
      detail: '',
      fix,
    }),
  );
  const explained = faults.some(({ severity }) => severity === 'problem');
  return [
    ...(spoken.length === 0 && !aboutClient ? [noHandshake(tls)] : []),
    ...(spoken.length > 0 && !aboutClient && tls.error !== null ? [handshakeFails(tls)] : []),
    ...faults,
    ...(trusted === false && !explained ? [untrusted(trustCode)] : []),
    ...(spoken.length === 1 ? [oneVersion(tls)] : []),
  ];
}

/** Neither version got an answer of TLS that can be used. */
function noHandshake({ hellos }: Tls): DoctorFinding {
  const is = (wanted: Tls['hellos'][number]['outcome']) => hellos.find(({ outcome }) => outcome === wanted);
  const plain = is('not-tls');
  if (plain !== undefined) {
    const isHttp = plain.detail?.startsWith('HTTP/') === true;
    return isHttp
      ? problem(
          'plain-http-on-port',
          'The port speaks plain HTTP and no TLS, and the URL begins with https.',
          SPEAK_TLS,
        )
      : problem('not-tls', 'What comes back on this port is not TLS.', SPEAK_TLS);
  }
  const alert = is('alert');
  if (alert !== undefined) return refused(alert.detail ?? 'unknown');
  const other = is('declined');
  if (other !== undefined) {
    const version = other.detail === null ? 'another version' : `${other.detail.replace('v', ' ')}`;
    return problem('tls-too-old', `The endpoint answers with ${version} in place of TLS 1.2 or 1.3.`, SPEAK_TLS);
  }
  if (is('timeout') !== undefined) {
    return problem(
      'tls-silent',
      'The endpoint takes the connection and does not answer in TLS within the time limit.',
      'Look at what listens there: a process that hangs, a port of another service, or a proxy that waits for something behind it.',
    );
  }
  const lost = is('connect-error');
  if (lost !== undefined) {
    const title = `A connection for TLS did not come about, although one before it did. ${lost.detail}`;
    return problem('connection-lost', title, 'The endpoint may limit connections, or be overloaded: try it again.');
  }
  return problem(
    'closes-in-handshake',
    'The endpoint closes the connection during the TLS handshake, without an alert.',
    'Look at its log: usual causes are a server without a certificate for this name, a proxy without anything behind it, and a list of allowed addresses.',
  );
}

function refused(alert: string): DoctorFinding {
  const title = `The endpoint refuses the TLS handshake with the alert ${alert}.`;
  switch (alert) {
    case 'protocol_version':
      return problem('tls-too-old', 'The endpoint speaks neither TLS 1.2 nor TLS 1.3.', 'Turn TLS 1.2 and 1.3 on.');
    case 'unrecognized_name':
      return problem('name-not-served', title, 'Configure the server, or the proxy in front, for the host of the URL.');
    case 'handshake_failure':
    case 'insufficient_security':
      return problem(
        'no-common-cipher',
        title,
        'There is no cipher in common, or no certificate for this name: allow the modern ciphers (ECDHE with AES-GCM or ChaCha20), and check the certificate of the server.',
      );
    default:
      return problem('handshake-refused', title, 'Look at the log of the server, or of the proxy in front of it.');
  }
}

function handshakeFails({ error }: Tls): DoctorFinding {
  const title = error?.message ?? 'The handshake fails.';
  return problem('handshake-fails', title, 'Look at the log of the server for the moment of the connection.');
}

/** The analysis found nothing, and Node does not trust it all the same. */
function untrusted(code: string | null): DoctorFinding {
  const title = `Node does not trust the certificate${code === null ? '' : ` (${code})`}.`;
  return problem('untrusted', title, 'Serve a certificate of a trusted authority with its full chain.');
}

function oneVersion({ hellos }: Tls): DoctorFinding {
  const missing = hellos.find(({ outcome }) => outcome !== 'granted');
  const version = tlsVersionName(missing?.version ?? 'TLSv1.3');
  return version === 'TLS 1.3'
    ? info(
        'no-tls13',
        'TLS 1.3 is not spoken. TLS 1.2 is enough.',
        'Turn TLS 1.3 on when you can: it is faster and simpler.',
      )
    : info('no-tls12', 'TLS 1.2 is not spoken. TLS 1.3 is enough for this service.', null);
}

/** What an http URL means. `speaksTls`: the port answers a TLS handshake. */
export function plainHttpFindings(speaksTls: boolean, isLoopback: boolean, hasMaterial: boolean): DoctorFinding[] {
  const findings: DoctorFinding[] = [];
  if (speaksTls) {
    const fix = 'Begin the URL with https.';
    findings.push(problem('tls-on-port', 'The port speaks TLS, and the URL begins with http.', fix));
  } else if (isLoopback) {
    const title = 'The URL is plain HTTP, which is fine on this machine alone. The service asks for HTTPS.';
    findings.push(info('plain-http', title, 'Register an https URL: TLS 1.2 or higher and a trusted certificate.'));
  } else {
    const title = 'The URL is plain HTTP: whoever is in between reads and changes deliveries, and takes the API key.';
    findings.push(advice('plain-http', title, 'Serve HTTPS, and register an https URL.'));
  }
  if (hasMaterial) {
    const title = 'Certificates are configured, and over plain HTTP they are not used.';
    findings.push(advice('material-not-used', title, 'Use an https URL, or leave them out.'));
  }
  return findings;
}
