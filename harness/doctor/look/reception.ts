/** What became of a request as far as the client certificate is concerned. Pure. */

import { type Attempt, isAboutClientCertificate } from '../../transport/index.ts';
import type { Reception } from '../doctor-document.ts';

/** A server behind which TLS ends says it in HTTP: nginx with 400 and a page. */
const SAID_IN_HTTP = /SSL certificate error|No required SSL certificate|client certificate/i;

/**
 * With TLS 1.3 a refusal comes only after the handshake, so only an answer shows that none came. `requested`: the server is known to
 * ask for a certificate, so that an unspecific failure of the handshake is about it.
 */
export function receptionOf({ answer, error }: Attempt, requested: boolean): Reception {
  if (answer !== null) {
    const { status } = answer;
    const said = status >= 400 && SAID_IN_HTTP.test(Buffer.from(answer.body).toString('latin1'));
    const outcome = said || status === 495 || status === 496 ? 'refused' : 'answered';
    return { outcome, evidence: `HTTP ${status}` };
  }
  const { kind, alert, phase, message } = error ?? { kind: 'local', phase: 'dns', message: 'no answer' };
  if (alert !== undefined && (isAboutClientCertificate(alert) || (requested && alert === 'handshake_failure'))) {
    return { outcome: 'refused', evidence: `TLS alert ${alert}` };
  }
  if (kind === 'tls' && alert === undefined && /closed the connection/.test(message)) {
    return { outcome: 'closed', evidence: 'the connection was closed during the handshake, without an alert' };
  }
  if (kind === 'reset' && (phase === 'send' || phase === 'answer')) {
    return { outcome: 'closed', evidence: 'the connection was closed after the handshake, without an answer' };
  }
  return { outcome: 'unclear', evidence: message };
}
