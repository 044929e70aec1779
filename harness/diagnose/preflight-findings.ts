/** Findings about a failed preflight: why not even the plain valid delivery is accepted. All functions are pure. */

import type { ChainAnalysis } from '../../certs/index.ts';
import { CHAIN_FAULTS, type ChainFaultCode } from '../../contract/index.ts';
import { CHAIN_MISTAKES } from '../../contract/mistakes/index.ts';
import { type Attempt, isAboutClientCertificate, type TransportErrorKind } from '../transport/index.ts';
import { type Finding, findingOf } from './finding.ts';
import { type Credentials, FAILS_FOR_ALL, KEY_HINT, type Stage } from './refused-delivery.ts';
import { outageFinding } from './run-findings.ts';
import { SETTING_TEXTS } from './setting-texts.ts';

/**
 * The first delivery of a run and, if it was not accepted, a second one. If the first got no answer, the second has a
 * longer time limit.
 */
export interface PreflightAttempts {
  readonly first: Attempt;
  readonly second: Attempt | null;
}

const BOTH: Credentials = { secret: true, apiKey: true };

/** Explains a failed preflight. Returns null if it passed. `stage` states when the delivery was rejected, if known. */
export function explainPreflight(
  { first, second }: PreflightAttempts,
  credentials = BOTH,
  stage: Stage = 'after',
): Finding | null {
  const last = second ?? first;
  const { answer, error } = first;
  if (error?.kind === 'timeout') {
    if (last.answer !== null && last.error === null) return last.answer.truncated ? ENDLESS : ANSWERS_TOO_LATE;
    return first.timings.firstByteMs === null ? NEVER_ANSWERS : ENDLESS;
  }
  if (answer !== null && answer.status >= 200 && answer.status < 300) {
    return second !== null && (second.error !== null || second.answer?.truncated) ? ENDLESS : null;
  }
  if (answer !== null) {
    const isRejection = answer.status === 401 || answer.status === 403;
    const isOpen = !credentials.secret && !credentials.apiKey;
    if (!isRejection) return findingForStatus(answer.status, isOpen ? 'after' : stage);
    if (isOpen) return NO_CREDENTIALS;
    const found = rejectsCredentials(answer.status, credentials);
    return stage === 'before' ? { ...found, why: `${found.why} ${NOT_FOUND}` } : found;
  }
  if (error === null || error.kind === 'local') return null;
  return hasEnded({ first, second }) ? STAYS_DOWN : TRANSPORT[error.kind];
}

/** Whether the process ended on the first delivery: it closed the connection, and later nothing was listening. */
export function hasEnded({ first, second }: PreflightAttempts): boolean {
  return first.error?.kind === 'reset' && second?.error?.kind === 'refused';
}

const STAYS_DOWN = outageFinding({ outcome: 'closed', sign: '' }, true, 'the first delivery');

const NOT_FOUND =
  'A delivery without the credential gets the same answer, so the receiver may not find the header: it may look for ' +
  'another name or another letter case, or a proxy drops it.';

const TRANSPORT: Readonly<Record<Exclude<TransportErrorKind, 'timeout' | 'local'>, Finding>> = {
  dns: findingOf('name-does-not-resolve', 'The host name of the endpoint does not resolve', 'host-name-not-published'),
  refused: findingOf('nothing-listens', 'Nothing is listening on the port of the endpoint', 'port-not-served'),
  unreachable: findingOf('cannot-be-reached', 'The endpoint cannot be reached', 'sender-blocked-by-network'),
  'tls-untrusted': findingOf(
    'certificate-not-trusted',
    'The certificate of the endpoint is not trusted',
    'untrusted-certificate',
    'It may also be expired, for another name, or served without its intermediates.',
  ),
  tls: findingOf(
    'tls-handshake-fails',
    'The TLS handshake fails',
    'protocol-mismatch',
    'The endpoint may also have rejected the client certificate, or require one.',
  ),
  reset: findingOf('closes-without-answer', 'The endpoint closes the connection without an answer', 'handler-failure'),
  'invalid-http': findingOf('not-http', 'The answer is not HTTP', 'protocol-mismatch'),
  'headers-too-large': findingOf(
    'answer-headers-too-large',
    'The headers of the answer are too large',
    'oversized-response-headers',
  ),
};

/** The URL begins with http, and the port answers a TLS handshake. */
export const TLS_ON_PORT = findingOf(
  'tls-on-port',
  'The port speaks TLS, but the URL begins with http',
  'protocol-mismatch',
);

const NEVER_ANSWERS = findingOf(
  'never-answers',
  'The endpoint reads the delivery and never answers',
  'never-ends-answer',
  'Often the body was read before the handler, which then waits for it forever.',
);

const ANSWERS_TOO_LATE = findingOf(
  'answers-too-late',
  'The endpoint answers after the sender has stopped waiting',
  'slow-answer',
);

const ENDLESS = findingOf(
  'endless-answer',
  'The answer of the endpoint does not end',
  'never-ends-answer',
  'The status arrives, but the body never ends: look for a stream or an event source.',
);

const NO_CREDENTIALS: Finding = {
  fault: 'no-credentials-configured',
  title: 'The endpoint requires credentials, but none are configured',
  mistake: null,
  why: 'Neither a signature nor an API key was sent, because hookproof has neither a secret nor a key.',
  fix: SETTING_TEXTS.both.flag,
};

/**
 * Explains a delivery that is rejected because of its credentials. `words` is what the answer says about them. A
 * missing secret is reported first, unless the answer names the API key. A missing API key is reported only if the
 * answer names it.
 */
export function rejectsCredentials(status: number, { secret, apiKey }: Credentials, words?: string): Finding {
  const said = words ?? '';
  const needsSecret = !secret && !/api.?key/i.test(said);
  // Most receivers that verify signatures need no API key, so it counts as missing only if the answer names it.
  const needsKey = !apiKey && /api.?key/i.test(said);
  const title = needsSecret
    ? 'No secret is configured, so this delivery was not signed, and the endpoint rejects it'
    : needsKey
      ? 'No API key is configured, and the endpoint rejects the signed delivery'
      : 'The endpoint rejects a delivery with valid credentials';
  const fix = [
    needsSecret && `If the endpoint verifies signatures, ${SETTING_TEXTS.secret.flag}.`,
    needsKey && KEY_HINT,
    SETTING_TEXTS.credentials.flag,
    !apiKey && !needsKey && !/signature|hmac|same byte length|timing.?safe/i.test(said) && KEY_HINT,
    status !== 401 && 'Answer 401 to invalid credentials.',
  ];
  return {
    fault: 'refuses-right-credentials',
    title: `${title} (${status})`,
    mistake: 'credentials-differ',
    why: `${
      words === undefined
        ? 'Both sides must be configured with the same secret, key and header names.'
        : `Its answer contains "${words}", so it seems to reject the credentials, not the payload.`
    } ${
      secret
        ? 'The endpoint accepted none of the known signing mistakes. ' +
          `Either the secret${apiKey ? ' or the key' : ''} differs, or the signature is computed in an ` +
          'unknown way.'
        : 'The API key was not accepted in another usual header either.'
    }`,
    fix: fix.filter((part) => part !== false).join(' '),
  };
}

function findingForStatus(status: number, stage: Stage = 'after'): Finding {
  if (status >= 300 && status < 400) {
    return findingOf('redirects', `The endpoint redirects (${status})`, 'redirect-before-handler');
  }
  if (status === 404 || status === 410) {
    return findingOf('wrong-path', `No handler serves this path (${status})`, 'route-mismatch');
  }
  if (status === 405 || status === 501) {
    return findingOf('post-not-allowed', `The path does not accept POST (${status})`, 'route-mismatch');
  }
  if (status === 429) {
    return findingOf('rate-limits', 'The endpoint limits the rate of deliveries (429)', 'sender-throttled');
  }
  if (status >= 500) {
    const title = `The endpoint fails ${FAILS_ON[stage]} (${status})`;
    const found = findingOf('fails-on-valid-delivery', title, 'handler-failure', FAILS_FOR_ALL[stage] || undefined);
    return stage === 'after' ? found : { ...found, fix: `${CHECKED} ${found.fix}` };
  }
  const title = `The endpoint rejects a valid notification (${status})`;
  return findingOf('refuses-the-payload', title, 'over-strict-validation');
}

const FAILS_ON: Readonly<Record<Stage, string>> = {
  before: 'on every delivery, regardless of its credentials',
  at: 'while it checks the credentials',
  after: 'on a valid delivery',
};
const CHECKED = 'Check that the raw body, the secret and the header used for verification are not undefined.';

/** What is known about client certificates after a failed preflight. */
interface ClientCertificateContext {
  /** Whether the partner's configuration has a client certificate. */
  readonly presented: boolean;
  /** Whether the endpoint requests a client certificate. Null if unknown. */
  readonly requested: boolean | null;
}

/** Explains a preflight that failed because of the client certificate or its absence; null if that is not the cause. */
export function explainClientCertificate(first: Attempt, context: ClientCertificateContext): Finding | null {
  if (isAboutCertificate(first, context.requested)) return context.presented ? REJECTED : REQUIRED;
  const isUnclear = context.presented && context.requested === null && first.error?.kind === 'reset';
  return isUnclear ? POSSIBLY_REJECTED : null;
}

/** Matches the body of nginx's 400. Apache and others send a TLS alert instead. */
const NGINX_PAGE = /No required SSL certificate was sent|The SSL certificate error/i;

function isAboutCertificate({ answer, error }: Attempt, requested: boolean | null): boolean {
  if (answer !== null) {
    return answer.status === 400 && NGINX_PAGE.test(Buffer.from(answer.body).toString('latin1'));
  }
  if (error?.alert !== undefined && isAboutClientCertificate(error.alert)) return true;
  if (error?.alert === 'no_application_protocol') return false;
  // Node closes without an alert, and TLS 1.2 uses one alert for many reasons, so the certificate request decides.
  return requested === true && (error?.kind === 'tls' || error?.kind === 'reset');
}

const REQUIRED: Finding = {
  fault: 'client-certificate-wanted',
  title: 'The endpoint requires a client certificate, but none is configured',
  mistake: null,
  why: 'With mutual TLS, the endpoint rejects every client without a certificate from its CA.',
  fix:
    'Configure the agreed certificate: `--client-cert FILE --client-key FILE`, or HOOKPROOF_CLIENT_CERT and ' +
    'HOOKPROOF_CLIENT_KEY.',
};

const REJECTED = findingOf(
  'client-certificate-refused',
  'The endpoint rejects the client certificate',
  'valid-certificate-rejected',
  'The certificate may also be expired or not for clients: `hookproof doctor` checks both sides.',
);

const POSSIBLY_REJECTED = findingOf(
  'closes-without-answer',
  'The endpoint closes the connection without an answer',
  'handler-failure',
  'It may also reject the client certificate, without an alert: `hookproof doctor` distinguishes the two.',
);

/** The faults that prevent a sender from connecting, the most specific first. */
const FATAL: readonly ChainFaultCode[] = [
  'missing-intermediate',
  'expired',
  'not-yet-valid',
  'host-mismatch',
  'self-signed',
  'forged-issuer',
  'issuer-not-authority',
  'path-too-long',
  'wrong-purpose',
  'weak-signature',
  'unknown-authority',
  'unreadable',
  'unexplained',
];

/** Explains why the endpoint's certificates are not trusted; null if the analysis finds no reason. */
export function explainCertificates({ faults }: ChainAnalysis): Finding | null {
  const [first] = FATAL.flatMap((code) => faults.filter((fault) => fault.code === code));
  if (first === undefined) return null;
  return findingOf(`certificate-${first.code}`, first.text.replace(/\.$/, ''), CHAIN_MISTAKES[first.code]);
}

/** One status for each explanation. */
const STATUSES = [302, 404, 405, 429, 500, 400];

/**
 * Returns every finding of this module, for look-ups by name. If a name has two causes, the general one comes first.
 */
export function preflightFindings(): Finding[] {
  const certificates = FATAL.map((code) => {
    const title = `The certificates of the endpoint are not trusted: ${CHAIN_FAULTS[code]}`;
    return findingOf(`certificate-${code}`, title, CHAIN_MISTAKES[code]);
  });
  const silent = [TLS_ON_PORT, NEVER_ANSWERS, ANSWERS_TOO_LATE, ENDLESS, NO_CREDENTIALS];
  const statuses = [rejectsCredentials(401, BOTH), ...STATUSES.map((status) => findingForStatus(status))];
  return [...Object.values(TRANSPORT), ...silent, ...statuses, REQUIRED, REJECTED, ...certificates];
}
