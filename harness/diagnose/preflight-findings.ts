import type { ChainAnalysis } from '../../certs/index.ts';
import type { ChainFaultCode } from '../../contract/index.ts';
import { type Attempt, isAboutClientCertificate, type TransportErrorKind } from '../transport/index.ts';

/** What the diagnosis says: which mistake the endpoint makes, why it happens, and how to mend it. */
export interface Finding {
  /** Stable name of the fault. */
  readonly fault: string;
  readonly title: string;
  readonly why: string;
  readonly fix: string;
}

/** Explains why even the plain valid delivery is not accepted. Pure. */

/** The first delivery of a run and, when it was not accepted, a second one with more patience. */
export interface Gate {
  readonly first: Attempt;
  readonly second: Attempt | null;
}

const TRANSPORT: Readonly<Record<Exclude<TransportErrorKind, 'timeout' | 'local'>, Finding>> = {
  dns: {
    fault: 'name-does-not-resolve',
    title: 'The host name of the endpoint does not resolve',
    why: 'There is no address to connect to: the name is misspelt, not published yet, or known only inside another network.',
    fix: 'Check the spelling of the URL, and look the name up from the machine that runs hookproof (`getent hosts NAME`).',
  },
  refused: {
    fault: 'nothing-listens',
    title: 'Nothing listens at the endpoint',
    why: 'The machine answered that the port is closed: the receiver is not running, or listens on another port or address.',
    fix: 'Start the receiver, and check host and port of the URL. In a container, listen on 0.0.0.0 and publish the port.',
  },
  unreachable: {
    fault: 'cannot-be-reached',
    title: 'The endpoint cannot be reached',
    why: 'No connection came about: a firewall drops the packets, there is no route, or the machine is off.',
    fix: 'Allow connections from the machine that runs hookproof, and from the addresses of the sender in production.',
  },
  'tls-untrusted': {
    fault: 'certificate-not-trusted',
    title: 'The certificate of the endpoint is not trusted',
    why: 'The sender verifies the certificate like any HTTPS client and does not deliver when it is self-signed, expired, for another name, or comes without its intermediate certificates.',
    fix: 'Serve a valid certificate with its full chain. For a test endpoint with an authority of your own, pass it with `--ca FILE`.',
  },
  tls: {
    fault: 'tls-handshake-fails',
    title: 'The TLS handshake fails',
    why: 'The two sides find no common ground: the port speaks plain HTTP, TLS is older than 1.2, or a client certificate is required and was not accepted.',
    fix: 'Serve TLS 1.2 or higher on this port. When the endpoint asks for a client certificate, pass it with `--client-cert` and `--client-key`.',
  },
  reset: {
    fault: 'closes-without-answer',
    title: 'The endpoint closes the connection without an answer',
    why: 'It took the delivery and hung up: the handler crashed before it answered, or a proxy in front has nothing behind it.',
    fix: 'Look at the log of the receiver for the moment of the delivery; every path through the handler has to end in an answer.',
  },
  'invalid-http': {
    fault: 'not-http',
    title: 'What comes back is not HTTP',
    why: 'The bytes of the answer cannot be read as an HTTP answer: another service listens on this port, or the port speaks TLS.',
    fix: 'Check the port, and whether the URL should begin with https.',
  },
  'headers-too-large': {
    fault: 'answer-headers-too-large',
    title: 'The headers of the answer are too large',
    why: 'The endpoint sends more than 16 KiB of headers, which no HTTP client has to read.',
    fix: 'Answer with a status and a short body; look for cookies or debug headers that a framework adds.',
  },
};

const NEVER_ANSWERS: Finding = {
  fault: 'never-answers',
  title: 'The endpoint takes the delivery and never answers',
  why: 'The connection stands and nothing comes back. Usual causes: the body was read before the handler, which now waits for it for ever; a promise that is never settled; a handler that forgets to end the response.',
  fix: 'Read the raw body once, in one place, and answer on every path through the handler.',
};

const ANSWERS_TOO_LATE: Finding = {
  fault: 'answers-too-late',
  title: 'The endpoint answers, but later than the sender waits',
  why: 'The work is done before the answer goes out. The sender gives up, takes the delivery for lost, and may send it again.',
  fix: 'Store the notification, answer 200 at once, and do the work afterwards.',
};

const ENDLESS: Finding = {
  fault: 'endless-answer',
  title: 'The answer of the endpoint does not end',
  why: 'The status is there, but the body goes on and on, so the delivery never completes.',
  fix: 'Answer with a short body and end it; check for a stream or an event source on this path.',
};

function ofStatus(status: number): Finding {
  if (status >= 300 && status < 400) {
    return {
      fault: 'redirects',
      title: `The endpoint redirects (${status})`,
      why: 'A sender does not follow redirects: the delivery ends here, and a redirected POST would become a GET. Usual causes: http to https, a missing or extra slash at the end, a login page in front.',
      fix: 'Register the final URL, and take the path out of whatever logs users in.',
    };
  }
  if (status === 404 || status === 410) {
    return {
      fault: 'wrong-path',
      title: `Nothing is served at this path (${status})`,
      why: 'The server is there, the path is not.',
      fix: 'Compare the path of the URL with the route of the receiver, a prefix of a reverse proxy included.',
    };
  }
  if (status === 405 || status === 501) {
    return {
      fault: 'post-not-allowed',
      title: `The path does not take POST (${status})`,
      why: 'A route exists, but for another method.',
      fix: 'Register the handler for POST at exactly this path.',
    };
  }
  if (status === 401 || status === 403) {
    return {
      fault: 'refuses-right-credentials',
      title: `The endpoint refuses a delivery whose credentials are right (${status})`,
      why: 'The same secret, key and header names have to be configured on both sides. None of the usual wrong encodings was accepted either, so the secret or the key itself is the first suspect.',
      fix: 'Compare secret, API key and header names on both sides (a newline at the end of a secret file counts). `hookproof verify` says offline why a signature does not match.',
    };
  }
  if (status === 429) {
    return {
      fault: 'rate-limits',
      title: 'The endpoint limits the rate of deliveries (429)',
      why: 'Even single deliveries with pauses between them are turned away.',
      fix: 'Raise the limit for the sender, or run with `--concurrency 1` once the limit has passed.',
    };
  }
  if (status >= 500) {
    return {
      fault: 'fails-on-valid-delivery',
      title: `The endpoint fails on a valid delivery (${status})`,
      why: 'The handler throws, or what stands behind the proxy is down.',
      fix: 'Look at the log of the receiver for the moment of the delivery. Is the raw body undefined? `express.raw()` alone skips application/json: `express.raw({ type: () => true })` takes every type.',
    };
  }
  if (status >= 200 && status < 300) {
    return {
      fault: 'other-2xx',
      title: `The endpoint accepts with ${status} in place of 200`,
      why: 'Only 200 is agreed to mean accepted; about any other status the sender promises nothing.',
      fix: 'Answer 200 explicitly: some frameworks choose 201, 202 or 204 by themselves.',
    };
  }
  return {
    fault: 'refuses-the-payload',
    title: `The endpoint refuses a valid notification (${status})`,
    why: 'The payload is valid by the specification: the receiver validates more strictly than agreed, or does not take the content type.',
    fix: 'Accept application/json and every field, type and status of the specification; ignore what is unknown.',
  };
}

const NOTHING_SENT: Finding = {
  fault: 'no-credentials-configured',
  title: 'The endpoint asks for credentials, and none are configured here',
  why: 'Neither a signature nor an API key was sent, because hookproof was given neither a secret nor a key.',
  fix: 'Set HOOKPROOF_SECRET and HOOKPROOF_API_KEY (exported, when a shell sets them), or name files with --secret-file and --api-key-file.',
};

/** Explains a gate that did not open. Null when it did. `credentials` says whether any were sent. */
export function explainGate({ first, second }: Gate, credentials = true): Finding | null {
  const last = second ?? first;
  const error = first.error;
  if (error?.kind === 'timeout') {
    if (last.answer !== null && last.error === null) return last.answer.truncated ? ENDLESS : ANSWERS_TOO_LATE;
    return first.timings.firstByteMs === null ? NEVER_ANSWERS : ENDLESS;
  }
  if (first.answer?.status === 200)
    return second !== null && (second.error !== null || second.answer?.truncated) ? ENDLESS : null;
  const refused = first.answer?.status === 401 || first.answer?.status === 403;
  if (refused && !credentials) return NOTHING_SENT;
  if (first.answer !== null) return ofStatus(first.answer.status);
  if (error === null || error.kind === 'local') return null;
  return TRANSPORT[error.kind];
}

/** Explains a first delivery that failed for its client certificate, or for want of one. Pure. */

/** What is known about client certificates when the first delivery fails. */
interface ClientCertificateContext {
  /** Whether the partner's configuration has one. */
  readonly presented: boolean;
  /** Whether the endpoint asks for one; null when it cannot be told. */
  readonly requested: boolean | null;
}

/** What nginx writes into its 400, which Apache and others leave to an alert. */
const NGINX_PAGE = /No required SSL certificate was sent|The SSL certificate error/i;

const WANTED: Finding = {
  fault: 'client-certificate-wanted',
  title: 'The endpoint asks for a client certificate, and none is configured here',
  why: 'With mutual TLS the endpoint turns away everybody who does not show a certificate of its authority.',
  fix: 'Pass the certificate that was agreed on: `--client-cert FILE --client-key FILE`, or HOOKPROOF_CLIENT_CERT and HOOKPROOF_CLIENT_KEY.',
};

const REFUSED: Finding = {
  fault: 'client-certificate-refused',
  title: 'The endpoint refuses the client certificate',
  why: 'It is expired, not meant for clients, or of another authority than the endpoint trusts; or the endpoint lacks an intermediate certificate between the two.',
  fix: 'Have the endpoint trust the authority that issued the certificate (nginx `ssl_client_certificate`, Node `ca`), and send the intermediates along in the certificate file. `hookproof doctor` looks at both sides.',
};

const PERHAPS_REFUSED: Finding = {
  fault: 'closes-without-answer',
  title: 'The endpoint closes the connection without an answer',
  why: 'Either it does not accept the client certificate (over TLS 1.3 that shows only after the handshake, and some servers, Node among them, then close without a word), or the handler crashed before it answered.',
  fix: 'Look at the log of the endpoint for the moment of the delivery. `hookproof doctor` tells the two apart: it connects with and without the certificate.',
};

function isAboutIt({ answer, error }: Attempt, requested: boolean | null): boolean {
  if (answer !== null) {
    return answer.status === 400 && NGINX_PAGE.test(Buffer.from(answer.body).toString('latin1'));
  }
  if (error?.alert !== undefined && isAboutClientCertificate(error.alert)) return true;
  if (error?.alert === 'no_application_protocol') return false;
  // Node closes without a word, and TLS 1.2 has one alert for everything: then it counts that a certificate was asked for.
  return requested === true && (error?.kind === 'tls' || error?.kind === 'reset');
}

/** The finding, or null when the failure is about something else. */
export function explainClientCertificate(first: Attempt, context: ClientCertificateContext): Finding | null {
  const isOpen = context.presented && context.requested === null && first.error?.kind === 'reset';
  if (!isAboutIt(first, context.requested)) return isOpen ? PERHAPS_REFUSED : null;
  return context.presented ? REFUSED : WANTED;
}

/** Explains certificates that the sender does not trust, from their analysis. Pure. */

/** The faults for which a sender does not connect, the most telling first. */
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

/** The reason why the chain is not trusted, or null when the analysis knows none. */
export function explainCertificates({ faults }: ChainAnalysis): Finding | null {
  const [first] = FATAL.flatMap((code) => faults.filter((fault) => fault.code === code));
  if (first === undefined) return null;
  return {
    fault: `certificate-${first.code}`,
    title: first.text.replace(/\.$/, ''),
    why: 'The sender verifies the certificate like any HTTPS client and delivers nothing to an endpoint that it cannot tell from an impostor.',
    fix: first.fix,
  };
}
