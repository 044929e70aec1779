/** What the endpoint makes of the client certificate, or of the lack of one. Pure. Specification: mutual TLS. */
import type { FactsOf, Reception } from '../doctor-document.ts';
import { advice, type DoctorFinding, info, problem } from './finding.ts';

type Client = FactsOf<'client-certificate'>;

export interface ClientView {
  /** A certificate or a key is configured; `presented`: both can be used. */
  readonly configured: boolean;
  readonly presented: boolean;
  /** Something is found wrong with it besides, before anybody was asked. */
  readonly faulty: boolean;
  readonly requested: boolean | null;
  readonly authorityNamed: boolean | null;
  /** The names that the endpoint lists. */
  readonly authorities: readonly string[];
  readonly with: Client['with'];
  readonly without: Client['without'];
}

/** A connection that is closed without a word is a refusal when the other way of asking is answered. */
function isRefused(one: Reception | null, other: Reception | null): boolean {
  return one?.outcome === 'refused' || (one?.outcome === 'closed' && (other === null || other.outcome !== 'closed'));
}

export function isRefusedWithout(view: ClientView): boolean {
  if (!view.presented) return view.without?.outcome === 'refused';
  return isRefused(view.without, view.with);
}

export function isRefusedWith(view: ClientView): boolean {
  return view.presented && isRefused(view.with, view.without);
}

export function clientCertificateFindings(view: ClientView): DoctorFinding[] {
  if (!view.presented) return withoutCertificate(view);
  const accepted = view.with?.outcome === 'answered';
  if (isRefusedWith(view)) return [refused(view)];
  if (!accepted) return [];
  if (isRefusedWithout(view)) return [];
  return [notRequired(view)];
}

function withoutCertificate(view: ClientView): DoctorFinding[] {
  const { configured, without, requested, authorities } = view;
  const lacking = configured ? 'the configured one cannot be presented' : 'none is configured';
  const give = `Give one and its key with --client-cert and --client-key${issuedBy(authorities)}.`;
  const fix = configured ? 'Mend what is found about its files.' : give;
  if (isRefusedWithout(view)) {
    const title = `The endpoint requires a client certificate, and ${lacking} (${without?.evidence}).`;
    return [problem('client-certificate-required', title, fix)];
  }
  if (requested !== true) return [];
  const title = `The endpoint asks for a client certificate, and ${lacking}. It answers without one.`;
  return [info('client-certificate-requested', title, configured ? fix : `${give} Only where it is agreed.`)];
}

function issuedBy(authorities: readonly string[]): string {
  return authorities.length === 0 ? '' : `, issued by one of the authorities that it names (${listed(authorities)})`;
}

function listed(authorities: readonly string[]): string {
  const more = authorities.length > 3 ? ` and ${authorities.length - 3} more` : '';
  return `${authorities.slice(0, 3).join('; ')}${more}`;
}

function refused({ authorityNamed, authorities, faulty, with: seen }: ClientView): DoctorFinding {
  const title = `The endpoint refuses the client certificate (${seen?.evidence}).`;
  const named =
    authorityNamed === false
      ? `Its authority is not among those that the endpoint names: ${listed(authorities)}.`
      : faulty
        ? 'The reason is most likely what is found about it below.'
        : 'Usual causes: it has expired, is of an authority that the endpoint does not trust, is not meant for clients, or lacks its intermediate certificate.';
  const fix =
    authorityNamed === false
      ? 'Use a certificate of an authority that the endpoint trusts, or have the receiver trust the one that issued it (nginx ssl_client_certificate; Node ca).'
      : 'Mend what is found about the certificate itself, or have the receiver trust the authority that issued it. Its log says which it is.';
  return problem('client-certificate-refused', title, fix, named);
}

/** It is accepted, and so is its absence. */
function notRequired({ requested, without }: ClientView): DoctorFinding {
  const answer = without === null ? '' : ` (${without.evidence})`;
  if (requested === false) {
    return advice(
      'client-certificate-not-requested',
      'A client certificate is configured, and the endpoint does not ask for one: mutual TLS is off there.',
      'Turn it on where TLS ends: nginx `ssl_verify_client on`; Node `requestCert: true, rejectUnauthorized: true, ca`. Without it, leave the certificate out.',
    );
  }
  const title = `A request without a client certificate is answered too${answer}, so the endpoint does not insist on one in the handshake.`;
  const fix =
    'Require it in the handshake, or see to it that the application refuses deliveries without one: `hookproof run --suite mtls` shows it.';
  // 401 and 403 are what an application answers that looks at the certificate itself, and to a request without credentials too.
  return / 40[13]$/.test(without?.evidence ?? '')
    ? info('client-certificate-optional', title, fix)
    : advice('client-certificate-optional', title, fix);
}
