/** Findings about a failed preflight: why not even the plain valid delivery is accepted. Pure. */

import type { ChainAnalysis } from '../../certs/index.ts';
import { CHAIN_FAULTS, type ChainFaultCode } from '../../contract/index.ts';
import type { Diagnosis } from '../report/result-document.ts';
import { type Attempt, isAboutClientCertificate, type TransportErrorKind } from '../transport/index.ts';

/** A fault of the endpoint: its stable name, what it does wrong, why that happens, and how to fix it. */
export type Finding = Pick<Diagnosis, 'fault' | 'title' | 'why' | 'fix'>;

/** The first delivery of a run and, when it was not accepted, a second one with more time. */
export interface PreflightAttempts {
  readonly first: Attempt;
  readonly second: Attempt | null;
}

/** Which credentials the delivery contains: a signature by the secret, and an API key. */
export interface Credentials {
  readonly secret: boolean;
  readonly apiKey: boolean;
}

const BOTH: Credentials = { secret: true, apiKey: true };

/** Explains a failed preflight. Null when it passed. */
export function explainPreflight({ first, second }: PreflightAttempts, credentials = BOTH): Finding | null {
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
    if (!isRejection) return findingForStatus(answer.status);
    return credentials.secret || credentials.apiKey ? rejectsCredentials(answer.status, credentials) : NO_CREDENTIALS;
  }
  if (error === null || error.kind === 'local') return null;
  return TRANSPORT[error.kind];
}

const TRANSPORT: Readonly<Record<Exclude<TransportErrorKind, 'timeout' | 'local'>, Finding>> = {
  dns: {
    fault: 'name-does-not-resolve',
    title: 'The host name of the endpoint does not resolve',
    why:
      'There is no address to connect to: the name is misspelt, not published yet, or known only inside another ' +
      'network.',
    fix:
      'Check the spelling of the URL, and look up the name on the machine that runs hookproof (`getent hosts ' +
      'NAME`).',
  },
  refused: {
    fault: 'nothing-listens',
    title: 'Nothing is listening on the port of the endpoint',
    why: 'The port is closed: the receiver is not running, or it listens on another port or address.',
    fix:
      'Start the receiver, and check the host and port of the URL. In a container, listen on 0.0.0.0 and publish the ' +
      'port.',
  },
  unreachable: {
    fault: 'cannot-be-reached',
    title: 'The endpoint cannot be reached',
    why: 'No connection was established: a firewall drops the packets, there is no route, or the machine is off.',
    fix: 'Allow connections from the machine that runs hookproof, and from the addresses of the sender in production.',
  },
  'tls-untrusted': {
    fault: 'certificate-not-trusted',
    title: 'The certificate of the endpoint is not trusted',
    why:
      'The sender verifies the certificate like any HTTPS client. It delivers nothing when the certificate is ' +
      'self-signed, expired, for another name, or served without its intermediate certificates.',
    fix: 'Serve a valid certificate with its full chain. For a test endpoint with a private CA, use `--ca FILE`.',
  },
  tls: {
    fault: 'tls-handshake-fails',
    title: 'The TLS handshake fails',
    why:
      'The port speaks plain HTTP, supports only TLS versions below 1.2, or requires a client certificate and did ' +
      'not accept the one presented.',
    fix:
      'Serve TLS 1.2 or higher on this port. When the endpoint requires a client certificate, use `--client-cert` ' +
      'and `--client-key`.',
  },
  reset: {
    fault: 'closes-without-answer',
    title: 'The endpoint closes the connection without an answer',
    why: 'The handler crashed before it answered, or a proxy has no upstream server.',
    fix:
      'Check the log of the receiver at the time of the delivery; every path through the handler must end in an ' +
      'answer.',
  },
  'invalid-http': {
    fault: 'not-http',
    title: 'The answer is not HTTP',
    why: 'The answer cannot be parsed as HTTP: another service listens on this port, or the port speaks TLS.',
    fix: 'Check the port, and whether the URL must begin with https.',
  },
  'headers-too-large': {
    fault: 'answer-headers-too-large',
    title: 'The headers of the answer are too large',
    why: 'The endpoint sends more than 16 KiB of headers, which HTTP clients need not read.',
    fix: 'Answer with a status and a short body; look for cookies or debug headers that a framework adds.',
  },
};

/** The URL begins with http, and the port answers a TLS handshake. */
export const TLS_ON_PORT: Finding = {
  fault: 'tls-on-port',
  title: 'The port speaks TLS, and the URL begins with http',
  why: 'The endpoint gives no answer in plain HTTP, and answers a TLS handshake.',
  fix: 'Begin the URL with https.',
};

const NEVER_ANSWERS: Finding = {
  fault: 'never-answers',
  title: 'The endpoint reads the delivery and never answers',
  why:
    'The connection stays open without an answer. Usual causes: the body was read before the handler, which waits ' +
    'for it forever; a promise that never settles; a handler that does not end the response.',
  fix: 'Read the raw body once, in one place, and answer on every path through the handler.',
};

const ANSWERS_TOO_LATE: Finding = {
  fault: 'answers-too-late',
  title: 'The endpoint answers later than the sender waits',
  why:
    'The work is done before the answer is sent. The sender gives up, counts the delivery as failed, and may send ' +
    'it again.',
  fix: 'Store the notification, answer 200 at once, and do the work afterwards.',
};

const ENDLESS: Finding = {
  fault: 'endless-answer',
  title: 'The answer of the endpoint does not end',
  why: 'The status arrives, but the body never ends, so the delivery never completes.',
  fix: 'Answer with a short body and end it; look for a stream or an event source on this path.',
};

const NO_CREDENTIALS: Finding = {
  fault: 'no-credentials-configured',
  title: 'The endpoint requires credentials, and none are configured',
  why: 'Neither a signature nor an API key was sent, because hookproof has neither a secret nor a key.',
  fix:
    'Set HOOKPROOF_SECRET and HOOKPROOF_API_KEY (exported, in a shell), or name files with --secret-file and ' +
    '--api-key-file.',
};

const KEY_HINT = 'If the endpoint requires an API key, set HOOKPROOF_API_KEY or use `--api-key-file`.';

/**
 * A delivery is rejected because of its credentials. `words`: what the answer says about them. A missing secret
 * comes first, unless the answer names the key; a missing key, if the answer names it.
 */
export function rejectsCredentials(status: number, { secret, apiKey }: Credentials, words?: string): Finding {
  const said = words ?? '';
  const needsSecret = !secret && !/api.?key/i.test(said);
  // Most receivers that verify signatures need no key: only an answer that names it shows that it is missing.
  const needsKey = !apiKey && /api.?key/i.test(said);
  const title = needsSecret
    ? 'No secret is configured, so this delivery was not signed, and the endpoint rejects it'
    : needsKey
      ? 'No API key is configured, and the endpoint rejects the signed delivery'
      : 'The endpoint rejects a delivery with valid credentials';
  const fix = [
    needsSecret && 'If the endpoint verifies signatures, set HOOKPROOF_SECRET or use `--secret-file`.',
    needsKey && KEY_HINT,
    'Compare secret, API key and header names on both sides (a newline at the end of a secret file counts).',
    !apiKey && !needsKey && !/signature|hmac|same byte length|timing.?safe/i.test(said) && KEY_HINT,
    secret &&
      'If they are the same, log the signature that the receiver computes and the body that it reads, then run ' +
        '`hookproof verify body.json --signature "$COMPUTED"`. `hookproof proxy --to URL` shows the deliveries of ' +
        'the real sender, and why their signatures do not match.',
    status !== 401 && 'Answer 401 to invalid credentials.',
  ];
  return {
    fault: 'refuses-right-credentials',
    title: `${title} (${status})`,
    why: `${
      words === undefined
        ? 'Both sides must be configured with the same secret, key and header names.'
        : `Its answer contains "${words}", so it seems to reject the credentials and not the payload.`
    } ${
      secret
        ? 'None of the signing mistakes that were tried was accepted. ' +
          `Either the secret${apiKey ? ' or the key' : ''} differs, or the signature is computed in a way ` +
          'that was not tried.'
        : 'The API key was not accepted in another usual header either.'
    }`,
    fix: fix.filter((part) => part !== false).join(' '),
  };
}

const LOOKED_UP =
  'If the receiver looks ids up or needs additional fields, list known ids and these fields under `samples` in the ' +
  'configuration file.';

function findingForStatus(status: number): Finding {
  if (status >= 300 && status < 400) {
    return {
      fault: 'redirects',
      title: `The endpoint redirects (${status})`,
      why:
        'A sender does not follow redirects, and a redirected POST would become a GET. Usual causes: http to ' +
        'https, a missing or extra trailing slash, a login page.',
      fix: 'Register the final URL, and exclude the path from the login of users.',
    };
  }
  if (status === 404 || status === 410) {
    return {
      fault: 'wrong-path',
      title: `No handler serves this path (${status})`,
      why: 'The server answers, but has no route for this path or does not know an id in the notification.',
      fix:
        'Compare the path of the URL with the route of the receiver, including the prefix of a reverse proxy. ' +
        LOOKED_UP,
    };
  }
  if (status === 405 || status === 501) {
    return {
      fault: 'post-not-allowed',
      title: `The path does not accept POST (${status})`,
      why: 'A route exists, but for another method.',
      fix: 'Register the handler for POST at exactly this path.',
    };
  }
  if (status === 429) {
    return {
      fault: 'rate-limits',
      title: 'The endpoint limits the rate of deliveries (429)',
      why: 'Even single deliveries with pauses between them are rejected.',
      fix: 'Raise the limit for the sender, or run with `--concurrency 1` once the limit has reset.',
    };
  }
  if (status >= 500) {
    return {
      fault: 'fails-on-valid-delivery',
      title: `The endpoint fails on a valid delivery (${status})`,
      why: 'The handler throws, or the server behind the proxy is down.',
      fix:
        'Check the log of the receiver at the time of the delivery. Is the raw body undefined? `express.raw()` ' +
        'skips application/json: `express.raw({ type: () => true })` reads every type.',
    };
  }
  return {
    fault: 'refuses-the-payload',
    title: `The endpoint rejects a valid notification (${status})`,
    why:
      'The payload is valid by the specification: the receiver validates more strictly, rejects the content type, ' +
      'or does not know an id in it.',
    fix:
      'Accept application/json and every field, type and status of the specification; ignore unknown ones. ' +
      LOOKED_UP,
  };
}

/** What is known about client certificates when the preflight fails. */
interface ClientCertificateContext {
  /** Whether the partner's configuration has one. */
  readonly presented: boolean;
  /** Whether the endpoint requests one; null when unknown. */
  readonly requested: boolean | null;
}

/**
 * Explains a preflight that failed because of its client certificate, or without one; null when that is not the cause.
 */
export function explainClientCertificate(first: Attempt, context: ClientCertificateContext): Finding | null {
  if (isAboutCertificate(first, context.requested)) return context.presented ? REJECTED : REQUIRED;
  const isUnclear = context.presented && context.requested === null && first.error?.kind === 'reset';
  return isUnclear ? POSSIBLY_REJECTED : null;
}

/** The body of nginx's 400. Apache and others send a TLS alert instead. */
const NGINX_PAGE = /No required SSL certificate was sent|The SSL certificate error/i;

function isAboutCertificate({ answer, error }: Attempt, requested: boolean | null): boolean {
  if (answer !== null) {
    return answer.status === 400 && NGINX_PAGE.test(Buffer.from(answer.body).toString('latin1'));
  }
  if (error?.alert !== undefined && isAboutClientCertificate(error.alert)) return true;
  if (error?.alert === 'no_application_protocol') return false;
  // Node closes without an alert, and TLS 1.2 has one alert for everything: then it counts that a certificate was
  // requested.
  return requested === true && (error?.kind === 'tls' || error?.kind === 'reset');
}

const REQUIRED: Finding = {
  fault: 'client-certificate-wanted',
  title: 'The endpoint requires a client certificate, and none is configured',
  why: 'With mutual TLS the endpoint rejects every client without a certificate of its CA.',
  fix:
    'Configure the agreed certificate: `--client-cert FILE --client-key FILE`, or HOOKPROOF_CLIENT_CERT and ' +
    'HOOKPROOF_CLIENT_KEY.',
};

const REJECTED: Finding = {
  fault: 'client-certificate-refused',
  title: 'The endpoint rejects the client certificate',
  why:
    'The certificate is expired, not meant for clients, or issued by a CA that the endpoint does not trust; or the ' +
    'endpoint lacks an intermediate certificate.',
  fix:
    'Let the endpoint trust the CA that issued the certificate (nginx `ssl_client_certificate`, Node `ca`), and ' +
    'add the intermediates to the certificate file. `hookproof doctor` checks both sides.',
};

const POSSIBLY_REJECTED: Finding = {
  fault: 'closes-without-answer',
  title: 'The endpoint closes the connection without an answer',
  why:
    'Either it rejects the client certificate (over TLS 1.3 this shows only after the handshake, and some servers, ' +
    'Node among them, then close without an alert), or the handler crashed before it answered.',
  fix:
    'Check the log of the endpoint at the time of the delivery. `hookproof doctor` distinguishes the two: it ' +
    'connects with and without the certificate.',
};

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

/** Why the endpoint's certificates are not trusted, or null when the analysis finds no reason. */
export function explainCertificates({ faults }: ChainAnalysis): Finding | null {
  const [first] = FATAL.flatMap((code) => faults.filter((fault) => fault.code === code));
  if (first === undefined) return null;
  return {
    fault: `certificate-${first.code}`,
    title: first.text.replace(/\.$/, ''),
    why: NOT_TRUSTED,
    fix: first.fix,
  };
}

const NOT_TRUSTED =
  'The sender verifies the certificate like any HTTPS client, and delivers nothing to an endpoint that it ' +
  'cannot distinguish from an impostor.';

/** One status of each kind that is explained. */
const STATUSES = [302, 404, 405, 429, 500, 400];

/** Every finding of this module, for look-ups by name. Where a name has two causes, the general one is first. */
export function preflightFindings(): Finding[] {
  const certificates = FATAL.map((code) => ({
    fault: `certificate-${code}`,
    title: `The certificates of the endpoint are not trusted: ${CHAIN_FAULTS[code]}`,
    why: NOT_TRUSTED,
    fix: '`hookproof doctor URL` shows the chain as it is sent, and what is wrong with it.',
  }));
  const silent = [TLS_ON_PORT, NEVER_ANSWERS, ANSWERS_TOO_LATE, ENDLESS, NO_CREDENTIALS];
  const statuses = [rejectsCredentials(401, BOTH), ...STATUSES.map(findingForStatus)];
  return [...Object.values(TRANSPORT), ...silent, ...statuses, REQUIRED, REJECTED, ...certificates];
}
