/** Explains a first delivery that failed for its client certificate, or for want of one. Pure. */
import { type Attempt, isAboutClientCertificate } from '../sender/index.ts';
import type { Finding } from './finding.ts';

/** What is known about client certificates when the first delivery fails. */
export interface ClientCertificateContext {
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
