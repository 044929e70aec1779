/**
 * The section about the client certificate: what is configured, and how the endpoint treats it. Pure. Specification:
 * mutual TLS.
 */
import { type Attempt, isAboutClientCertificate } from '../transport/index.ts';
import type { ClientIdentity } from './configuration.ts';
import type { DoctorFinding, DoctorSection, FactsOf, Reception } from './doctor-document.ts';
import { advice, examined, info, present, problem } from './sections.ts';

/** The observed behaviour of the endpoint. */
export interface CertificateProbe {
  readonly requested: boolean | null;
  /** The names of the CAs that the endpoint lists. */
  readonly cas: readonly string[];
  /** The requests with the certificate and without one; null if not sent. */
  readonly with: Attempt | null;
  readonly without: Attempt | null;
}

/** The value if there is no endpoint to probe. */
export const NOT_PROBED: CertificateProbe = { requested: null, cas: [], with: null, without: null };

export interface ClientSection {
  readonly section: DoctorSection;
  /** Whether the sender's handshake fails because of the certificate or its absence. */
  readonly refused: boolean;
}

interface View {
  /** Whether a certificate or a key is configured; `presented`: both are usable. */
  readonly configured: boolean;
  readonly presented: boolean;
  /** Whether the files themselves have problems. */
  readonly faulty: boolean;
  readonly requested: boolean | null;
  readonly caNamed: boolean | null;
  readonly cas: readonly string[];
  readonly with: Reception | null;
  readonly without: Reception | null;
  /** The status of the request without a certificate; null if there was no answer. */
  readonly statusWithout: number | null;
}

export function clientSection(
  client: ClientIdentity | null,
  from: { readonly certificateFrom: string | null; readonly keyFrom: string | null },
  probe: CertificateProbe,
): ClientSection {
  const { requested, cas } = probe;
  const presented = client?.pem != null;
  const receptionOfAttempt = (attempt: Attempt | null) => attempt && receptionOf(attempt, requested === true);
  const view: View = {
    configured: client !== null,
    presented,
    faulty: client?.findings.some(({ severity }) => severity === 'problem') === true,
    requested,
    caNamed: client === null || !presented ? null : isNamed(client, cas),
    cas,
    with: receptionOfAttempt(probe.with),
    without: receptionOfAttempt(probe.without),
    statusWithout: probe.without?.answer?.status ?? null,
  };
  const facts: FactsOf<'client-certificate'> = {
    certificateFrom: from.certificateFrom,
    keyFrom: from.keyFrom,
    certificates: client?.certificates ?? [],
    pair: client?.pair ?? null,
    requested: requested ?? (isRefusedWithout(view) ? true : null),
    caNamed: view.caNamed,
    with: view.with,
    without: view.without,
  };
  const findings = present([
    presented ? withCertificate(view) : withoutCertificate(view),
    view.caNamed === false && !isRefusedWith(view) && caNotNamed(view),
    ...(client?.findings ?? []),
  ]);
  return {
    section: examined('client-certificate', facts, findings),
    refused: presented ? isRefusedWith(view) : isRefusedWithout(view),
  };
}

/** Matches the page with which a server such as nginx rejects the certificate over HTTP, after the handshake. */
const REFUSAL_PAGE = /SSL certificate error|No required SSL certificate|client certificate/i;

/**
 * Determines how the endpoint treated the client certificate of a request. With TLS 1.3, a rejection arrives only after
 * the handshake, so only an answer proves acceptance. `requested`: the server is known to request a certificate, so an
 * unspecific failure concerns it.
 */
function receptionOf({ answer, error }: Attempt, requested: boolean): Reception {
  if (answer !== null) {
    const { status } = answer;
    const refusedInHttp = status >= 400 && REFUSAL_PAGE.test(Buffer.from(answer.body).toString('latin1'));
    const outcome = refusedInHttp || status === 495 || status === 496 ? 'refused' : 'answered';
    return { outcome, evidence: `HTTP ${status}` };
  }
  if (error === null) return { outcome: 'unclear', evidence: 'no answer' };
  const { kind, alert, phase, code, message } = error;
  if (alert !== undefined && (isAboutClientCertificate(alert) || (requested && alert === 'handshake_failure'))) {
    return { outcome: 'refused', evidence: `TLS alert ${alert}` };
  }
  if (kind === 'tls' && alert === undefined && code !== 'EPROTO' && !code.startsWith('ERR_SSL_')) {
    return { outcome: 'closed', evidence: 'the connection was closed during the handshake, without an alert' };
  }
  if (kind === 'reset' && (phase === 'send' || phase === 'answer')) {
    return { outcome: 'closed', evidence: 'the connection was closed after the handshake, without an answer' };
  }
  return { outcome: 'unclear', evidence: message };
}

/**
 * Returns whether the request was rejected. A close without an alert counts as a rejection if the other request is
 * answered.
 */
function isRefused(one: Reception | null, other: Reception | null): boolean {
  return one?.outcome === 'refused' || (one?.outcome === 'closed' && (other === null || other.outcome !== 'closed'));
}

function isRefusedWithout(view: View): boolean {
  if (!view.presented) return view.without?.outcome === 'refused';
  return isRefused(view.without, view.with);
}

function isRefusedWith(view: View): boolean {
  return view.presented && isRefused(view.with, view.without);
}

/**
 * Returns whether the server names the certificate's CA; null if it names none, because it then accepts any CA that it
 * trusts.
 */
function isNamed({ certificates }: ClientIdentity, cas: readonly string[]): boolean | null {
  if (cas.length === 0 || certificates.length === 0) return null;
  const named = new Set(cas.map(canonicalName));
  return certificates.some(
    ({ subject, issuer }) => named.has(canonicalName(issuer)) || named.has(canonicalName(subject)),
  );
}

/** Removes the differences between two name parsers: escaping, and how the parts of one element are joined. */
function canonicalName(name: string): string {
  return name
    .replace(/\\/g, '')
    .replace(/\+(?=\w+=)/g, ', ')
    .replace(/\s+/g, ' ')
    .toLowerCase();
}

function withoutCertificate(view: View): DoctorFinding | null {
  const { configured, without, requested, cas } = view;
  const lacking = configured ? 'the configured one cannot be used' : 'none is configured';
  const issued = cas.length === 0 ? '' : `, issued by one of the CAs that it names (${listUpToThree(cas)})`;
  const give = `Give a certificate and its key with \`--client-cert\` and \`--client-key\`${issued}.`;
  const fix = configured ? 'Fix the problems of its files.' : give;
  if (isRefusedWithout(view)) {
    const title = `The endpoint requires a client certificate, but ${lacking} (${without?.evidence}).`;
    return problem('client-certificate-required', title, fix);
  }
  if (requested !== true) return null;
  const title = `The endpoint requests a client certificate, but ${lacking}. It also answers without one.`;
  return info('client-certificate-requested', title, configured ? fix : `${give} Do so only if it was agreed.`);
}

function withCertificate(view: View): DoctorFinding | null {
  if (isRefusedWith(view)) return refused(view);
  return view.with?.outcome === 'answered' && !isRefusedWithout(view) ? notRequired(view) : null;
}

function refused({ caNamed, cas, faulty, with: seen }: View): DoctorFinding {
  const title = `The endpoint rejects the client certificate (${seen?.evidence}).`;
  if (caNamed === false) {
    return problem(
      'client-certificate-refused',
      title,
      'Use a certificate from a CA that the endpoint trusts, or have the receiver trust its CA ' +
        '(nginx ssl_client_certificate; Node ca).',
      `Its CA is not among those that the endpoint names: ${listUpToThree(cas)}.`,
    );
  }
  return problem(
    'client-certificate-refused',
    title,
    'Fix the problems of the certificate itself, or have the receiver trust its CA. The log of the receiver shows ' +
      'the reason.',
    faulty
      ? 'The certificate problem listed below is the likely reason.'
      : 'Usual causes: it has expired, its CA is not trusted, it is not for clients, or its intermediate ' +
          'certificate is missing.',
  );
}

/** The finding about an endpoint that accepts the certificate, but also a request without one. */
function notRequired({ requested, without, statusWithout }: View): DoctorFinding {
  if (requested === false) {
    return advice(
      'client-certificate-not-requested',
      'A client certificate is configured, but the endpoint does not request one: mutual TLS is off.',
      'Enable it where TLS is terminated: nginx `ssl_verify_client on`; Node `requestCert: true, ' +
        'rejectUnauthorized: true, ca`. If mutual TLS was not agreed, remove the certificate from the configuration.',
    );
  }
  const answer = without === null ? '' : ` (${without.evidence})`;
  const title = `A request without a client certificate is also answered${answer}: the handshake does not require one.`;
  const fix =
    'Require it in the handshake, or make sure that the application rejects deliveries without one: ' +
    '`hookproof run --suite mtls` shows whether it does.';
  // 401 or 403 may come from an application that checks the certificate itself, or from one that rejects any request
  // without credentials.
  return statusWithout === 401 || statusWithout === 403
    ? info('client-certificate-optional', title, fix)
    : advice('client-certificate-optional', title, fix);
}

function caNotNamed({ cas }: View): DoctorFinding {
  return advice(
    'client-authority-not-named',
    `The CA of the client certificate is not among those that the endpoint names (${listUpToThree(cas)}).`,
    'Some clients then present no certificate. Have the receiver trust the CA (nginx ssl_client_certificate; Node ca).',
  );
}

function listUpToThree(names: readonly string[]): string {
  const more = names.length > 3 ? ` and ${names.length - 3} more` : '';
  return `${names.slice(0, 3).join('; ')}${more}`;
}
